"""The estimators keep scikit-learn's conventions, and find what they say."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_iris, make_classification  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from equipoise import BlackBoxClassifier, Metric, PostShiftClassifier, ThresholdClassifier  # noqa: E402

#: Every check that is expected to fail, by estimator, with the reason: the whole list, which docs/python/README.md repeats.
EXCEPTIONS = {
    "PostShiftClassifier": {
        "check_classifiers_train": "asks that predictions of three classes are those with the largest probability; the "
        "weights that are best on held-out rows may say otherwise, which is their point",
    }
}


def exceptions(estimator):
    """The Bayes rule of accuracy is the largest probability, so with it nothing is expected to fail."""
    by_rows = getattr(estimator, "method", "auto") == "auto"
    return EXCEPTIONS.get(type(estimator).__name__, {}) if by_rows else {}


@pytest.mark.filterwarnings("default")  # scikit-learn's checks provoke warnings of its own
@parametrize_with_checks(
    [
        ThresholdClassifier(cv=2),
        PostShiftClassifier(cv=2),
        PostShiftClassifier(cv=2, method="bayes"),
        BlackBoxClassifier(cv=2, iterations=3),
    ],
    expected_failed_checks=exceptions,
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


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
