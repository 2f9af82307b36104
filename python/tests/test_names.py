"""Classes and groups are found by name, whatever order the data have; names that are not there are refused."""

import pickle

import numpy as np
import pytest

from equipoise import Interview, Metric, Space, best_threshold, elicit, elicited_score, rank_models, simulated_expert

pytest.importorskip("sklearn")

from sklearn.datasets import make_classification  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from equipoise import PostShiftClassifier, ThresholdClassifier  # noqa: E402

#: The positive class comes first in the alphabet, so that scikit-learn's order is not the metric's.
COSTS = Metric(
    {"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "classes": ["well", "ill"], "weights": [1, 20]}
)


def patients(rows=2000):
    X, y = make_classification(rows, n_features=5, weights=[0.8], flip_y=0.1, random_state=4)
    return X, np.where(y == 1, "ill", "well")


def cost(y, estimate):
    """By hand: a missed ill is 20, a false alarm 1."""
    return (20 * ((y == "ill") & (estimate == "well")) + ((y == "well") & (estimate == "ill"))).mean()


def model_of(X, y):
    return LogisticRegression().fit(X, y)


@pytest.mark.parametrize("threshold", ["measured", "bayes", "advised"])
def test_a_threshold_is_on_the_metrics_positive_class(threshold):
    X, y = patients()
    model = model_of(X, y)
    rule = ThresholdClassifier(model, COSTS, threshold=threshold, prefit=True).fit(X, y)
    p = model.predict_proba(X)[:, 0]  # of ill
    tried = min(cost(y, np.where(p >= t, "ill", "well")) for t in np.unique(p))
    found = cost(y, rule.predict(X))
    assert found <= tried + (1e-12 if threshold == "measured" else 0.1)
    assert found == pytest.approx(COSTS(y, rule.predict(X)))
    assert rule.threshold_ < 0.5 and list(rule.classes_) == ["ill", "well"]


def test_pos_label_says_which_class_a_ratio_misses():
    X, y = patients()
    model = model_of(X, y)
    ratio = ThresholdClassifier(model, "20:1", pos_label="ill", prefit=True).fit(X, y)
    assert cost(y, ratio.predict(X)) == pytest.approx(
        cost(y, ThresholdClassifier(model, COSTS, prefit=True).fit(X, y).predict(X))
    )
    shifted = PostShiftClassifier(model, "20:1", pos_label="ill", prefit=True).fit(X, y)
    assert cost(y, shifted.predict(X)) == pytest.approx(cost(y, ratio.predict(X)))
    with pytest.raises(ValueError, match="pos_label is 'well', but the positive class of the metric is 'ill'"):
        ThresholdClassifier(model, COSTS, pos_label="well", prefit=True).fit(X, y)
    with pytest.raises(ValueError, match="pos_label is 'sick', expected one of"):
        ThresholdClassifier(model, "20:1", pos_label="sick", prefit=True).fit(X, y)


@pytest.mark.parametrize("method", ["bayes", "search", "frank_wolfe"])
def test_many_classes_are_shifted_by_name(method):
    X, codes = make_classification(1500, n_classes=3, n_informative=6, flip_y=0.2, random_state=1)
    y = np.array(["bus", "car", "van"])[codes]
    weights = [1, 1, 1, 30, 1, 1]  # of van as car, van as bus, car as van, car as bus, ...
    names = ["van", "car", "bus"]
    costs = Metric({"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "classes": names, "weights": weights})
    model = LogisticRegression(max_iter=500).fit(X, y)
    rule = PostShiftClassifier(model, costs, method=method, prefit=True).fit(X, y)
    counts = [[((y == a) & (rule.predict(X) == b)).mean() for b in names] for a in names]
    by_hand = sum(w * counts[i][j] for w, (i, j) in zip(weights, [(i, j) for i in range(3) for j in range(3) if i != j]))
    assert rule.value_ == pytest.approx(by_hand)
    assert by_hand < costs(y, model.predict(X)) / 2


def test_best_threshold_and_expected_values_go_by_name():
    X, y = patients()
    model = model_of(X, y)
    both = model.predict_proba(X)
    advice = best_threshold(y, both, metric=COSTS, draws=0)
    assert advice.positive == "ill" and advice.bayes == pytest.approx(1 / 21)
    assert advice.measured_value == pytest.approx(cost(y, np.where(both[:, 0] >= advice.measured, "ill", "well")))
    one = best_threshold(y, both[:, 0], metric=COSTS, draws=0)
    assert one.measured == advice.measured
    with pytest.raises(ValueError, match="pos_label is 'well', but the metric's threshold is on the probability of 'ill'"):
        best_threshold(y, both[:, 1], metric=COSTS, pos_label="well", draws=0)
    by_hand = (20 * both[y == "ill", 1].sum() + both[y == "well", 0].sum()) / len(y)
    for found in (
        COSTS.expected(y, both),
        COSTS.expected(y, both[:, 0]),
        COSTS.expected(y, both[:, 1], pos_label="well"),
        COSTS.expected(y, both[:, ::-1], labels=["well", "ill"]),
    ):
        assert found == pytest.approx(by_hand)


def test_names_that_are_not_there_are_refused():
    X, y = patients(300)
    other = np.where(y == "ill", "sick", "fine")
    model = model_of(X, other)
    with pytest.raises(ValueError, match="the metric is about the classes well, ill, but the data have fine, sick"):
        ThresholdClassifier(model, COSTS, prefit=True).fit(X, other)
    for wrong in (
        lambda: COSTS(other, other),
        lambda: COSTS.expected(other, model.predict_proba(X)),
        lambda: best_threshold(other, model.predict_proba(X), metric=COSTS),
        lambda: rank_models(other, {"a": other}, metric=COSTS),
    ):
        with pytest.raises(ValueError, match="'fine', but the metric is about the classes well, ill; metric.with_class_names"):
            wrong()
    renamed = COSTS.with_class_names(["fine", "sick"])
    assert renamed(other, model.predict(X)) == pytest.approx(COSTS(y, np.where(model.predict(X) == "sick", "ill", "well")))
    with pytest.raises(ValueError, match="pos_label is 'well', but the positive class of the metric is 'ill'"):
        COSTS(y, y, pos_label="well")


def test_truth_values_and_whole_numbers_are_names_too():
    metric = Metric.named("9:1").with_class_names(["0", "1"])
    truth, estimate = np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0])
    expected = (9 * 1 + 2) / 4
    for kind in (int, bool, float, str):
        assert metric(truth.astype(kind), estimate.astype(kind)) == pytest.approx(expected)


def test_groups_are_found_by_name():
    random = np.random.default_rng(3)
    y, estimate = random.integers(0, 2, size=(2, 400))
    group = random.choice(["a", "b"], 400)
    fair = {"format": 1, "kind": "group_fair", "measure": "group_rates", "sense": "cost", "trade_off": 0.3, "performance": [1, 3],
            "fairness": [{"groups": [0, 1], "weights": [1, 2]}]}  # fmt: skip
    one = Metric({**fair, "prevalence": [[0.6, 0.7], [0.4, 0.3]], "group_names": ["a", "b"]})
    other = Metric({**fair, "prevalence": [[0.4, 0.3], [0.6, 0.7]], "group_names": ["b", "a"]})
    plain = Metric({**fair, "prevalence": [[0.6, 0.7], [0.4, 0.3]]})
    expected = plain(y, estimate, sensitive_features=group)
    assert one(y, estimate, sensitive_features=group) == pytest.approx(expected)
    assert other(y, estimate, sensitive_features=group) == pytest.approx(expected)
    ranking = rank_models(y, {"a": estimate}, metric=other, sensitive_features=group, draws=0)
    assert ranking.standings[0].value == pytest.approx(expected)
    assert pickle.loads(pickle.dumps(other)).group_names == ["b", "a"]
    with pytest.raises(ValueError, match="the metric is about the groups b, a, but the data have x, y"):
        other(y, estimate, sensitive_features=np.where(group == "a", "x", "y"))
    module = {}
    exec(other.to_python_source(), module)
    assert module["score"](y, estimate, sensitive_features=group).value == pytest.approx(-expected)


def test_interviews_keep_the_names_of_classes_and_groups():
    random = np.random.default_rng(5)
    truth = random.integers(0, 2, 600)
    p = np.clip(0.3 + 0.4 * truth + random.normal(0, 0.2, 600), 0, 1)
    y = np.where(truth == 1, "ill", "well")
    group = random.choice(["men", "women"], 600)
    space = Space.from_predictions(y, p, pos_label="ill", sensitive_features=group)
    interview = Interview(space)
    question = interview.question()
    for again in (Interview.from_json(interview.to_json()), pickle.loads(pickle.dumps(interview))):
        assert again.question().classes == question.classes == ["well", "ill"]
        assert str(again.question()) == str(question)
        while again.question() is not None:
            again.answer("A")
        assert again.result().metric.class_names == ["well", "ill"]
    fair = Interview(space, "group_fair", budget=5)
    fair = Interview.from_json(fair.to_json())
    assert fair.question().groups == ["men", "women"]
    while fair.question() is not None:
        fair.answer("first")
    assert fair.result().metric.group_names == ["men", "women"]


def test_an_elicited_metric_goes_straight_to_work():
    X, y = patients()
    model = model_of(X, y)
    space = Space.from_predictions(y, model.predict_proba(X)[:, 0], pos_label="ill")
    metric = elicit(space, simulated_expert(Metric.named("20:1"))).metric
    assert metric.class_names == ["well", "ill"]
    rule = ThresholdClassifier(model, metric, prefit=True).fit(X, y)
    assert cost(y, rule.predict(X)) < cost(y, model.predict(X)) / 2
    assert elicited_score(y, rule.predict(X), metric=metric) > elicited_score(y, model.predict(X), metric=metric)
