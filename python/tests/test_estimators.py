"""The estimators keep scikit-learn's conventions, and find what they say."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_iris, make_classification  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from equipoise import BlackBoxClassifier, Metric, PostShiftClassifier, ThresholdClassifier  # noqa: E402

#: Every check that is expected to fail, by estimator, with the reason: the whole list, which docs/python/README.md repeats.
BEST_ON_ROWS = "asks that predictions are those with the largest probability; what is best on held-out rows may say otherwise"
EXCEPTIONS = {
    "ThresholdClassifier": {"check_classifiers_train": BEST_ON_ROWS},
    "PostShiftClassifier": {"check_classifiers_train": BEST_ON_ROWS},
    "BlackBoxClassifier": {"check_classifiers_train": BEST_ON_ROWS},
}


def exceptions(estimator):
    """The Bayes rule of accuracy is the largest probability, so with it nothing is expected to fail."""
    by_theory = "bayes" in (getattr(estimator, "method", None), getattr(estimator, "threshold", None))
    return {} if by_theory else EXCEPTIONS.get(type(estimator).__name__, {})


@pytest.mark.filterwarnings("default")  # scikit-learn's checks provoke warnings of its own
@parametrize_with_checks(
    [
        ThresholdClassifier(),
        ThresholdClassifier(threshold="bayes"),
        PostShiftClassifier(),
        PostShiftClassifier(method="bayes"),
        BlackBoxClassifier(),
    ],
    expected_failed_checks=exceptions,
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_theory_wins_ties_among_thresholds():
    """Every threshold in a wide gap is as good on the rows, and one half is theory's."""
    X = np.array([[-2.0], [-1.9], [-1.8], [1.8], [1.9], [2.0]] * 10)
    y = (X[:, 0] > 0).astype(int)
    for model in (ThresholdClassifier(), PostShiftClassifier(method="search")):
        np.testing.assert_array_equal(model.fit(X, y).predict(X), model.predict_proba(X).argmax(axis=1))
    assert ThresholdClassifier().fit(X, y).threshold_ == 0.5


def test_the_measured_threshold_beats_one_half():
    X, y = load_breast_cancer(return_X_y=True)
    metric = Metric.named("9:1")
    plain = GaussianNB().fit(X[::2], y[::2])
    rule = ThresholdClassifier(plain, metric, prefit=True).fit(X[1::2], y[1::2])
    assert metric(y[1::2], rule.predict(X[1::2])) >= metric(y[1::2], plain.predict(X[1::2]))
    advised = ThresholdClassifier(plain, metric, prefit=True, threshold="advised").fit(X[1::2], y[1::2])
    assert 0.0 <= advised.threshold_ <= 1.0


def test_groups_get_thresholds_of_their_own():
    X, y = make_classification(1000, random_state=1, weights=[0.7])
    group = np.where(X[:, 0] > 0, "a", "b")
    one = PostShiftClassifier(metric="accuracy", random_state=0).fit(X, y, sensitive_features=group)
    two = PostShiftClassifier(metric="accuracy", per_group=True, random_state=0).fit(X, y, sensitive_features=group)
    assert two.value_ >= one.value_
    assert len(two.predict(X, sensitive_features=group)) == 1000
    with pytest.raises(ValueError, match="pass sensitive_features to predict"):
        two.predict(X)
    with pytest.raises(ValueError, match="'c', which fit has not seen"):
        two.predict(X[:1], sensitive_features=["c"])


@pytest.mark.parametrize("method", ["bayes", "search", "frank_wolfe"])
def test_costs_of_three_classes_are_heeded(method):
    X, y = load_iris(return_X_y=True)
    costs = {"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "weights": [1, 1, 1, 1, 1, 20]}
    metric = Metric(costs)
    model = GaussianNB().fit(X, y)
    rule = PostShiftClassifier(model, metric, method=method, prefit=True).fit(X, y)
    assert metric(y, rule.predict(X)) <= metric(y, model.predict(X))
    assert rule.value_ == pytest.approx(metric(y, rule.predict(X)))


def test_fair_metrics_of_groups_are_optimised():
    X, y = make_classification(3000, n_classes=3, n_informative=6, random_state=3)
    group = np.where(X[:, 1] > 0.3, "a", "b")
    y = np.where((group == "b") & (np.random.default_rng(0).random(3000) < 0.3), 0, y)
    shares = [[((group == g) & (y == c)).mean() for c in range(3)] for g in ("a", "b")]
    metric = Metric.named("equalised_odds", prevalence=shares)
    model = LogisticRegression(max_iter=500).fit(X, y)
    rule = PostShiftClassifier(model, metric, prefit=True).fit(X, y, sensitive_features=group)
    assert rule.method_ == "frank_wolfe"
    before = metric(y, model.predict(X), sensitive_features=group)
    after = metric(y, rule.predict(X, sensitive_features=group), sensitive_features=group)
    assert after <= before


def g_mean(y_true, y_soft):
    """The geometric mean of the expected recalls."""
    return np.prod([y_soft[y_true == c, c].mean() for c in range(y_soft.shape[1])]) ** (1 / y_soft.shape[1])


def test_a_black_box_is_maximised():
    X, y = make_classification(2000, n_classes=3, n_informative=6, weights=[0.8, 0.15], random_state=0)
    model = LogisticRegression(max_iter=500).fit(X, y)
    rule = BlackBoxClassifier(model, g_mean, prefit=True).fit(X, y)
    assert rule.value_ > g_mean(y, np.eye(3)[model.predict(X)]) + 0.05
    np.testing.assert_array_equal(rule.predict(X), rule.predict(X))


@pytest.mark.parametrize("seed", range(4))
def test_a_black_box_of_two_classes_needs_some_thirty_calls(seed):
    X, y = make_classification(3000, weights=[0.9], flip_y=0.05, random_state=seed)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)[:, 1]

    def recall(y_true, y_soft):
        return min(y_soft[y_true == c, c].mean() for c in (0, 1))

    rule = BlackBoxClassifier(model, recall, prefit=True).fit(X, y)
    tried = max(min((p[y == 1] >= t).mean(), (p[y == 0] < t).mean()) for t in np.unique(p))
    assert rule.calls_ <= 40 and rule.value_ >= tried - 1e-12
    assert rule.value_ == pytest.approx(recall(y, np.eye(2)[rule.predict(X)]))
    few = BlackBoxClassifier(model, recall, prefit=True, max_calls=12).fit(X, y)
    assert few.calls_ <= 12 and few.value_ >= recall(y, np.eye(2)[model.predict(X)])
    # A value that does not exist everywhere is no reason to stop.
    precise = BlackBoxClassifier(model, lambda t, s: t[s[:, 1] == 1].mean() if s[:, 1].any() else np.nan, prefit=True).fit(X, y)
    assert 0.5 < precise.value_ <= 1


def test_errors_of_a_black_box_come_through():
    X, y = make_classification(200, random_state=0)

    def broken(y_true, y_soft):
        raise ZeroDivisionError("the metric's own")

    with pytest.raises(ZeroDivisionError, match="the metric's own"):
        BlackBoxClassifier(metric=broken).fit(X, y)
    with pytest.raises(ValueError, match="expected a finite number"):
        BlackBoxClassifier(metric=lambda y_true, y_soft: np.nan).fit(X, y)


def test_estimators_are_cloned_pickled_and_searched():
    X, y = make_classification(300, random_state=0)
    rule = ThresholdClassifier(LogisticRegression(), Metric.named("5:1"), random_state=0)
    search = GridSearchCV(clone(rule), {"estimator__C": [0.1, 1.0]}, cv=2, scoring=Metric.named("5:1").to_scorer())
    fitted = search.fit(X, y).best_estimator_
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def test_groups_are_routed_through_a_search():
    from sklearn import config_context

    X, y = make_classification(300, random_state=0)
    group = np.where(X[:, 0] > 0, "a", "b")
    with config_context(enable_metadata_routing=True):
        rule = ThresholdClassifier(metric="3:1", per_group=True)
        rule = rule.set_fit_request(sensitive_features=True).set_predict_request(sensitive_features=True)
        search = GridSearchCV(rule, {"cv": [2, 3]}, cv=2, scoring=lambda model, X, y: 0.0)
        fitted = search.fit(X, y, sensitive_features=group).best_estimator_
    assert set(fitted.thresholds_) == {"a", "b"}


def people(rows=1500, seed=7):
    """Rows with a column of groups, which the model is not to see."""
    pd = pytest.importorskip("pandas")
    X, y = make_classification(rows, n_features=5, weights=[0.7], flip_y=0.1, random_state=seed)
    X = pd.DataFrame(X, columns=list("abcde")).assign(sex=np.where(X[:, 0] + 0.3 * y > 0, "f", "m"))
    return X, y, make_pipeline(make_column_transformer(("passthrough", list("abcde"))), LogisticRegression())


def test_groups_are_a_column_of_the_rows():
    X, y, model = people()
    rule = PostShiftClassifier(model, "3:1", per_group=True, sensitive_features="sex", random_state=0)
    assert np.isfinite(cross_val_score(rule, X, y, cv=3, scoring=Metric.named("3:1").to_scorer())).all()
    search = GridSearchCV(rule, {"estimator__logisticregression__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.group_names_ == ["f", "m"]
    by_column = rule.fit(X, y).predict(X)
    by_hand = PostShiftClassifier(model, "3:1", per_group=True, random_state=0).fit(X, y, sensitive_features=X["sex"])
    np.testing.assert_array_equal(by_column, by_hand.predict(X, sensitive_features=X["sex"]))
    polars = pytest.importorskip("polars")
    groups = _inputs_columns(polars.from_pandas(X), "sex")
    assert list(groups["sex"]) == list(X["sex"])
    numbers = ThresholdClassifier(metric="3:1", per_group=True, sensitive_features=0)
    X0 = np.column_stack([X["sex"] == "f", X[list("abcde")]]).astype(float)
    assert len(numbers.fit(X0, y).thresholds_) == 2
    with pytest.raises(ValueError, match="sensitive_features is 'gender', which is no column of X; it has a, b, c, d, e, sex"):
        PostShiftClassifier(model, sensitive_features="gender").fit(X, y)
    with pytest.raises(ValueError, match="sensitive_features is 'sex', but X has no column names"):
        PostShiftClassifier(sensitive_features="sex").fit(X0, y)


def _inputs_columns(X, name):
    from equipoise import _inputs

    return _inputs.columns_of(X, name)


def test_weights_reach_the_model_and_the_rule():
    X, y = make_classification(600, weights=[0.6], flip_y=0.2, random_state=2)
    weight = np.where(y == 1, 5.0, 1.0)
    inner = LogisticRegression().fit(X, y, sample_weight=weight)
    rule = ThresholdClassifier(metric="accuracy").fit(X, y, weight)
    np.testing.assert_allclose(rule.predict_proba(X), inner.predict_proba(X))
    fixed = LogisticRegression().fit(X, y)
    p = fixed.predict_proba(X)[:, 1]
    for rule in (
        ThresholdClassifier(fixed, prefit=True).fit(X, y, sample_weight=weight),
        PostShiftClassifier(fixed, prefit=True).fit(X, y, sample_weight=weight),
    ):
        value = np.average(rule.predict(X) == y, weights=weight)
        assert value >= max(np.average((p >= t) == y, weights=weight) for t in np.unique(p)) - 1e-12
    three = (X[:, 0] > 0.5).astype(int) + y
    softly = PostShiftClassifier(metric="accuracy", method="frank_wolfe").fit(X, three, np.where(three == 2, 9.0, 1.0))
    plain = PostShiftClassifier(metric="accuracy", method="frank_wolfe").fit(X, three)
    assert (softly.predict(X) == 2).sum() > (plain.predict(X) == 2).sum()
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    np.testing.assert_array_less(0, ThresholdClassifier(steps).fit(X, y, weight).threshold_)
    seen = []
    BlackBoxClassifier(metric=lambda y, soft, sample_weight: seen.append(sample_weight) or 0.0, max_calls=20).fit(X, y, weight)
    assert seen and all(given is seen[0] for given in seen)
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.warns(UserWarning, match="KNeighborsClassifier takes no sample_weight"):
        ThresholdClassifier(KNeighborsClassifier(), "3:1").fit(X, y, weight)


def test_scores_serve_where_there_are_no_probabilities():
    from sklearn.svm import LinearSVC

    X, y = make_classification(600, weights=[0.7], flip_y=0.1, random_state=3)
    model = LinearSVC(dual=False).fit(X, y)
    score = model.decision_function(X)
    for names, truth in (([0, 1], y), (["ill", "well"], np.where(y == 1, "ill", "well"))):
        model = LinearSVC(dual=False).fit(X, truth)
        positive = names[1] if names == [0, 1] else "ill"
        rule = ThresholdClassifier(model, "5:1", pos_label=positive, prefit=True).fit(X, truth)
        score = model.decision_function(X) * (1 if positive == model.classes_[1] else -1)
        predicted = rule.predict(X) == positive
        np.testing.assert_array_equal(predicted, score >= rule.threshold_)
        is_positive = np.asarray(truth) == positive
        cost = lambda accepted: (5 * (is_positive & ~accepted) + (~is_positive & accepted)).mean()  # noqa: E731
        assert cost(predicted) <= min(cost(score >= t) for t in np.unique(score)) + 1e-12
        assert not hasattr(rule, "predict_proba")
    unfitted = ThresholdClassifier(LinearSVC(dual=False), "5:1").fit(X, y)
    assert np.isfinite(unfitted.threshold_)
    forced = ThresholdClassifier(LogisticRegression(), "5:1", response_method="decision_function").fit(X, y)
    assert forced.threshold_ < 0
    with pytest.raises(ValueError, match="threshold is 'bayes', which needs probabilities"):
        ThresholdClassifier(LinearSVC(dual=False), threshold="bayes").fit(X, y)
    with pytest.raises(ValueError, match="response_method is 'guess', expected"):
        ThresholdClassifier(response_method="guess").fit(X, y)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_what_the_rule_compares_is_above_zero_where_it_accepts(pos_label):
    X, y = make_classification(400, flip_y=0.2, random_state=5)
    for rule in (ThresholdClassifier(metric="4:1", pos_label=pos_label), PostShiftClassifier(metric="4:1", pos_label=pos_label)):
        rule = rule.fit(X, y)
        np.testing.assert_array_equal(rule.predict(X), rule.classes_[(rule.decision_function(X) > 0).astype(int)])
    X, y = load_iris(return_X_y=True)
    costs = Metric.from_costs([[0, 1, 1], [1, 0, 1], [1, 20, 0]], [0, 1, 2])
    rule = PostShiftClassifier(GaussianNB(), costs, method="bayes").fit(X, y)
    np.testing.assert_array_equal(rule.predict(X), rule.decision_function(X).argmax(axis=1))
    assert not hasattr(BlackBoxClassifier().fit(X, y), "decision_function")


def test_a_fitted_model_stays_fitted_in_cross_validation():
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    rule = ThresholdClassifier(model, "9:1", prefit=True)
    assert clone(rule).estimator is model
    assert np.isfinite(cross_val_score(rule, X[1::2], y[1::2], cv=3)).all()


def test_folds_are_fitted_beside_each_other():
    X, y = make_classification(300, random_state=0)
    one, two = (ThresholdClassifier(metric="3:1", n_jobs=jobs, random_state=1).fit(X, y) for jobs in (None, 2))
    assert one.threshold_ == two.threshold_


def gap(X, y, positive, sex, truth):
    return np.ptp([positive[(sex == g) & (y == truth)].mean() for g in ("f", "m")])


def test_gaps_between_groups_are_kept():
    X, y, model = people()
    model = model.fit(X, y)
    free = PostShiftClassifier(model, "accuracy", prefit=True, per_group=True, sensitive_features="sex").fit(X, y)
    tied = PostShiftClassifier(
        model, "accuracy", prefit=True, per_group=True, sensitive_features="sex", requirements=["gap:recall:1<=0.01"]
    ).fit(X, y)
    sex = X["sex"].to_numpy()
    assert gap(X, y, tied.predict(X) == 1, sex, 1) <= 0.01 < gap(X, y, free.predict(X) == 1, sex, 1)
    assert tied.value_ <= free.value_
    threshold = ThresholdClassifier(
        model, "accuracy", prefit=True, per_group=True, sensitive_features="sex", requirements=["gap:recall:1<=0.01"]
    ).fit(X, y)
    np.testing.assert_array_equal(threshold.predict(X), tied.predict(X))
    with pytest.raises(ValueError, match="a gap needs at least 2 groups"):
        ThresholdClassifier(model, prefit=True, requirements=["gap:recall:1<=0.01"]).fit(X, y)
    with pytest.raises(ValueError, match="a gap is bounded by <="):
        PostShiftClassifier(model, prefit=True, sensitive_features="sex", requirements=["gap:fpr:1>=0.01"]).fit(X, y)


def test_rules_that_draw_reach_equal_rates():
    X, y, model = people()
    model, sex = model.fit(X, y), X["sex"].to_numpy()
    options = {"prefit": True, "per_group": True, "sensitive_features": "sex"}
    both = ["gap:recall:1<=0.001", "gap:fpr:1<=0.001"]
    drawn = PostShiftClassifier(model, "accuracy", randomize=True, requirements=both, random_state=4, **options).fit(X, y)
    groups = (sex == "m").astype(np.uint16)
    chances = drawn.rule_.chances(model.predict_proba(X), groups)
    for truth in (0, 1):
        assert gap(X, y, chances, sex, truth) <= 0.001 + 1e-9
    expected = np.where(y == 1, chances, 1 - chances).mean()
    assert drawn.value_ == pytest.approx(expected, abs=1e-9)
    # An independent search: one point below both curves, and the best accuracy there.
    assert expected >= equal_rates(model.predict_proba(X)[:, 1], y, groups) - 1e-4
    np.testing.assert_array_equal(drawn.predict(X), drawn.predict(X))
    assert abs((drawn.predict(X) == 1).mean() - chances.mean()) < 0.03
    fair = Metric.named("equalised_odds", prevalence=[[((sex == g) & (y == c)).mean() for c in (0, 1)] for g in ("f", "m")])
    better = PostShiftClassifier(model, fair, randomize=True, random_state=0, **options).fit(X, y)
    plain = PostShiftClassifier(model, fair, **options).fit(X, y)
    assert better.value_ <= plain.value_
    with pytest.raises(ValueError, match="randomize is for the method 'search' of 2 classes"):
        PostShiftClassifier(randomize=True).fit(*load_iris(return_X_y=True))


def equal_rates(p, y, groups):
    """The best accuracy at rates that both groups can have, on a grid."""
    from scipy.spatial import ConvexHull

    grid = np.linspace(0, 1, 401)
    top = []
    for g in (0, 1):
        cuts = [2.0, *np.unique(p[groups == g])]
        points = [[((p >= t) & (groups == g) & (y == c)).sum() / ((groups == g) & (y == c)).sum() for c in (0, 1)] for t in cuts]
        points = np.array([*points, [1.0, 0.0]])
        hull = points[ConvexHull(points).vertices]
        hull = hull[(hull[:, 1] >= hull[:, 0])]
        hull = hull[np.lexsort((hull[:, 1], hull[:, 0]))]
        top.append(np.interp(grid, hull[:, 0], hull[:, 1]))
    positive = y.mean()
    return (positive * np.minimum(*top) + (1 - positive) * (1 - grid)).max()


def test_a_rule_that_draws_has_the_least_variance_of_all_with_its_rates():
    from equipoise import _randomised
    from scipy.optimize import minimize

    random = np.random.default_rng(5)
    scores = random.random(300).round(2)
    truth = (random.random(300) < scores).astype(float)
    weights = random.integers(1, 4, 300).astype(float)
    for mass in (None, weights):
        (hull,) = _randomised.hulls(truth, scores, None, 1, mass)
        w = np.ones(300) if mass is None else mass
        for total, share in ((0.6, 0.5), (1.1, 0.8), (1.0, 0.0), (0.9, 0.99), (1.0, 1.0)):
            difference = share * float(hull.most(np.array(total)))
            cuts, chances = hull.steps(total, difference)
            found = np.asarray(chances)[np.searchsorted(cuts, scores, side="right")]
            rates = [np.average(found, weights=w * (truth == c)) for c in (1, 0)]
            assert rates == pytest.approx([(total + difference) / 2, (total - difference) / 2], abs=1e-9)
            assert 0.0 <= min(chances) and max(chances) <= 1.0 and np.all(np.diff(cuts) > 0)
            if share == 1.0:
                continue
            # Any chances between the same cuts, by another method.
            a, b = np.diff(hull.hit), np.diff(hull.alarm)
            size = [(w * (truth == c)).sum() ** 2 / ((w * (truth == c)) ** 2).sum() for c in (1, 0)]
            spread = lambda f, a=a, b=b, size=size: (a @ f**2) / size[0] + (b @ f**2) / size[1]
            same = [{"type": "eq", "fun": lambda f, s=s, r=r: s @ f - r} for s, r in ((a, rates[0]), (b, rates[1]))]
            other = minimize(lambda f: 1e3 * spread(f), np.full(len(a), 0.5), bounds=[(0, 1)] * len(a), constraints=same, tol=1e-12)
            by_cut = np.asarray(chances)[np.searchsorted(cuts, (hull.cuts[1:] + 1e-12).clip(0.0), side="right")]
            assert other.success and spread(by_cut) == pytest.approx(spread(other.x), rel=1e-4)


def test_a_black_box_that_draws_finds_what_a_linear_programme_finds():
    from equipoise import _randomised
    from scipy.optimize import linprog

    X, y, model = people()
    model, sex = model.fit(X, y), X["sex"].to_numpy()
    groups = (sex == "m").astype(np.uint16)
    hulls = _randomised.hulls(y.astype(float), model.predict_proba(X)[:, 1], groups, 2, None)
    size = [len(hull.hit) for hull in hulls]
    for trade_off in (0.1, 0.3, 0.5, 0.7):

        def unfair(y_true, y_soft, trade_off=trade_off):
            rates = [[y_soft[(sex == g) & (y_true == c), 1].mean() for g in ("f", "m")] for c in (0, 1)]
            error = np.where(y_true == 1, y_soft[:, 0], y_soft[:, 1]).mean()
            return -(1 - trade_off) * error - trade_off * np.ptp(rates, axis=1).max()

        # How often each vertex of each hull is drawn, and the gap.
        part = [slice(0, size[0]), slice(size[0], sum(size))]
        cost, gaps, ones = np.zeros(sum(size) + 1), np.zeros((4, sum(size) + 1)), np.zeros((2, sum(size) + 1))
        for g, hull in enumerate(hulls):
            shares = [((groups == g) & (y == c)).mean() for c in (0, 1)]
            cost[part[g]] = (1 - trade_off) * (shares[0] * hull.alarm - shares[1] * hull.hit)
            for n, rate in enumerate((hull.hit, hull.alarm)):
                gaps[2 * n, part[g]], gaps[2 * n + 1, part[g]] = (-1) ** g * rate, -((-1) ** g) * rate
            ones[g, part[g]] = 1.0
        cost[-1], gaps[:, -1] = trade_off, -1.0
        exact = linprog(cost, A_ub=gaps, b_ub=np.zeros(4), A_eq=ones, b_eq=[1, 1])
        drawn = BlackBoxClassifier(
            model, unfair, randomize=True, prefit=True, per_group=True, sensitive_features="sex", max_calls=300, random_state=0
        ).fit(X, y)
        assert -drawn.value_ == pytest.approx(exact.fun + (1 - trade_off) * y.mean(), abs=3e-4), trade_off


def test_a_black_box_may_draw_too():
    X, y, model = people()
    model, sex = model.fit(X, y), X["sex"].to_numpy()

    def unfair(y_true, y_soft):
        rates = [[y_soft[(sex == g) & (y_true == c), 1].mean() for g in ("f", "m")] for c in (0, 1)]
        error = np.where(y_true == 1, y_soft[:, 0], y_soft[:, 1]).mean()
        return -0.4 * error - 0.6 * np.ptp(rates, axis=1).max()

    options = {"prefit": True, "per_group": True, "sensitive_features": "sex", "max_calls": 300, "random_state": 0}
    drawn = BlackBoxClassifier(model, unfair, randomize=True, **options).fit(X, y)
    plain = BlackBoxClassifier(model, unfair, **options).fit(X, y)
    assert drawn.calls_ <= 300 and drawn.value_ > plain.value_
    chances = drawn.rule_.chances(model.predict_proba(X), (sex == "m").astype(np.uint16))
    assert drawn.value_ == pytest.approx(unfair(y, np.column_stack([1 - chances, chances])))
    again = pickle.loads(pickle.dumps(drawn.rule_))
    groups = (sex == "m").astype(np.uint16)
    np.testing.assert_array_equal(drawn.classes_[again(model.predict_proba(X), groups)], drawn.predict(X))


def test_the_list_of_exceptions_is_in_the_guide():
    from pathlib import Path

    guide = (Path(__file__).parent.parent.parent / "docs" / "python" / "README.md").read_text()
    for estimator, checks in EXCEPTIONS.items():
        for check in checks:
            assert f"| `{estimator}` | `{check}` |" in guide


def test_what_is_wrong_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ThresholdClassifier().fit(X, y)
    with pytest.raises(ValueError, match="method is 'magic'"):
        PostShiftClassifier(method="magic").fit(X, y)
    with pytest.raises(ValueError, match="threshold is 'half'"):
        ThresholdClassifier(threshold="half").fit(X, y > 0)
    with pytest.raises(ValueError, match="per_group needs sensitive_features"):
        ThresholdClassifier(per_group=True).fit(X, y > 0)
