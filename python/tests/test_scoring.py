"""Scores agree with scikit-learn's confusion matrix, whatever the columns come in."""

import pickle

import numpy as np
import pytest

from equipoise import Metric, best_threshold, confusion_counts, elicited_score, rank_models
from seed import SEED

random = np.random.default_rng(SEED)


@pytest.mark.parametrize("dtype", ["i8", "i4", "i2", "i1", "u4", "u2", "u1", "?", "U3", "O"])
def test_counts_equal_those_of_scikit_learn(dtype):
    from sklearn.metrics import confusion_matrix

    k = 2 if dtype == "?" else 4
    truth, estimate = random.integers(0, k, size=(2, 1000)).astype("U3" if dtype == "O" else dtype).astype(dtype)
    weights = random.random(1000)
    ours = confusion_counts(truth, estimate, sample_weight=weights)
    assert ours.shape == (1, k, k)
    np.testing.assert_allclose(ours[0], confusion_matrix(truth, estimate, sample_weight=weights), rtol=1e-12)
    np.testing.assert_array_equal(confusion_counts(truth, estimate)[0], confusion_matrix(truth, estimate))


def test_groups_are_crossed_and_add_up():
    truth, estimate = random.integers(0, 3, size=(2, 500))
    sex, age = random.choice(["f", "m"], 500), random.choice(["old", "young"], 500)
    by_group = confusion_counts(truth, estimate, sensitive_features={"sex": sex, "age": age})
    assert by_group.shape == (4, 3, 3)
    np.testing.assert_array_equal(by_group.sum(axis=0), confusion_counts(truth, estimate)[0])
    chosen = (sex == "f") & (age == "young")
    np.testing.assert_array_equal(by_group[1], confusion_counts(truth[chosen], estimate[chosen], labels=[0, 1, 2])[0])


def test_data_frames_of_every_library_give_the_same_counts():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    truth, estimate = random.integers(0, 2, size=(2, 300))
    expected = confusion_counts(truth, estimate)
    chunked = [pa.chunked_array([column[:100], column[100:]]) for column in (truth, estimate)]
    for make in (pd.Series, pl.Series, pa.array, list):
        np.testing.assert_array_equal(confusion_counts(make(truth), make(estimate)), expected)
    np.testing.assert_array_equal(confusion_counts(*chunked), expected)


def test_names_of_classes_fix_their_order():
    document = {
        "format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost",
        "classes": ["well", "ill"], "weights": [1, 5],
    }  # fmt: skip
    metric = Metric(document)
    truth, estimate = ["ill", "ill", "well", "well"], ["well", "ill", "ill", "well"]
    assert metric(truth, estimate) == pytest.approx((1 + 5) / 4)
    assert elicited_score(truth, estimate, metric=metric) == pytest.approx(-(1 + 5) / 4)
    assert metric.records()[1] == {"truth": "ill", "estimate": "well", "group": 0, "cost": 5.0}


def test_one_clear_sentence_for_what_is_wrong():
    with pytest.raises(ValueError, match="y_pred has 2 rows, expected 3 as in y_true"):
        confusion_counts([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="y_pred has the label 2 in row 1, which is not among the labels"):
        confusion_counts([0, 1], [0, 2], labels=[0, 1])
    with pytest.raises(ValueError, match="sample_weight is -1.0 in row 1, expected a number of at least 0"):
        confusion_counts([0, 1], [0, 1], sample_weight=[1, -1])
    with pytest.raises(ValueError, match="pos_label is 'x', expected one of"):
        confusion_counts([0, 1], [0, 1], pos_label="x")
    with pytest.raises(ValueError, match="name is 'niceness'"):
        Metric.named("niceness")


def test_metrics_travel_between_processes():
    metric = Metric.named("f2", prevalence=[0.9, 0.1])
    assert pickle.loads(pickle.dumps(metric)) == metric


def test_metrics_are_scorers():
    pytest.importorskip("sklearn")
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    X, y = make_classification(random_state=0)
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, scoring=Metric.named("7:1").to_scorer(), cv=3, n_jobs=2
    ).fit(X, y)
    assert np.isfinite(search.best_score_)


def test_a_better_model_is_ranked_first():
    truth = random.integers(0, 2, 400)
    good = np.where(random.random(400) < 0.1, 1 - truth, truth)
    bad = np.where(random.random(400) < 0.4, 1 - truth, truth)
    ranking = rank_models(truth, {"bad": bad, "good": good}, metric=Metric.named("accuracy"), draws=200)
    assert [s.name for s in ranking] == ["good", "bad"]
    assert ranking.standings[0].probability_best > 0.95
    low, high = ranking.standings[0].interval
    assert low < (good == truth).mean() < high


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_an_f_measure_is_that_f_measure_whatever_the_prevalence(beta):
    from sklearn.metrics import f1_score, fbeta_score

    random = np.random.default_rng(8)
    truth = (random.random(500) < 0.1).astype(int)
    estimate = np.where(random.random(500) < 0.1, 1 - truth, truth)
    p = np.clip(0.5 * truth + random.random(500) * 0.5, 0, 1)
    metric = Metric.named(f"f{beta}", prevalence=[0.5, 0.5])
    expected = fbeta_score(truth, estimate, beta=beta)
    assert metric(truth, estimate) == pytest.approx(expected)
    module = {}
    exec(metric.to_python_source(), module)
    assert module["score"](truth, estimate).value == pytest.approx(expected)
    ranking = rank_models(truth, {"model": estimate}, metric=metric, draws=100)
    assert ranking.standings[0].value == pytest.approx(expected)
    assert ranking.standings[0].interval[0] < expected < ranking.standings[0].interval[1] <= 1.0
    best = max(fbeta_score(truth, p >= t, beta=beta) for t in np.unique(p))
    assert best_threshold(truth, p, metric=metric, draws=0).measured_value == pytest.approx(best)
    macro = Metric.named("macro_f", prevalence=[0.5, 0.5])
    assert macro(truth, estimate) == pytest.approx(f1_score(truth, estimate, average="macro"))


def test_demographic_parity_is_that_of_the_rows():
    random = np.random.default_rng(2)
    truth, estimate = (random.random((2, 600)) < 0.3).astype(int)
    group = random.choice(["f", "m"], 600)
    metric = Metric.named("demographic_parity", prevalence=[[0.4, 0.1], [0.2, 0.3]])
    rates = [estimate[group == g].mean() for g in ("f", "m")]
    assert metric(truth, estimate, sensitive_features=group) == pytest.approx(abs(rates[0] - rates[1]))


def test_a_fold_of_one_class_is_scored_with_the_models_classes():
    from sklearn.dummy import DummyClassifier

    X, y = np.zeros((20, 1)), np.array([1, 2] * 10)
    model = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    scorer = Metric.named("7:1").to_scorer()
    # Ten rows of class 1, which is the negative one beside 2: right, and worth 1 each.
    assert scorer(model, X[:10], np.ones(10, dtype=int)) == pytest.approx(1.0)
    assert pickle.loads(pickle.dumps(scorer))(model, X[:10], np.full(10, 2)) == pytest.approx(0.0)
    module = {}
    exec(Metric.named("7:1").to_python_source(), module)
    assert module["scorer"](model, X[:10], np.ones(10, dtype=int)) == pytest.approx(1.0)


def test_names_are_metrics_wherever_one_is_taken():
    from sklearn.metrics import fbeta_score

    random = np.random.default_rng(9)
    truth = (random.random(300) < 0.2).astype(int)
    p = np.clip(0.5 * truth + random.random(300) * 0.5, 0, 1)
    estimate = (p > 0.4).astype(int)
    expected = fbeta_score(truth, estimate, beta=2)
    assert elicited_score(truth, estimate, metric="f2") == pytest.approx(expected)
    assert rank_models(truth, {"m": estimate}, metric="f2", draws=0).standings[0].value == pytest.approx(expected)
    assert best_threshold(truth, p, metric="7:1", draws=0).bayes == pytest.approx(1 / 8)
    with pytest.raises(ValueError, match="name is 'niceness'"):
        elicited_score(truth, estimate, metric="niceness")
