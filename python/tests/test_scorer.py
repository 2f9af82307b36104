"""The Python file that scores by a metric says what the core says, and needs nothing but Python."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise import Metric, Space, confusion_counts, elicit, elicited_score, simulated_expert
from seed import SEED

random = np.random.default_rng(SEED)
SHARES = [[0.3, 0.2], [0.15, 0.35]]


def documents():
    """A metric of every family and measure, with random coefficients."""
    for k, measures in ((2, ["binary"]), (3, ["diagonal", "off_diagonal", "diagonal_rates", "off_diagonal_rates"])):
        for measure in measures:
            d = {"binary": 2}.get(measure, k if measure.startswith("diagonal") else k * k - k)
            weights, matrix = random.normal(size=d), random.normal(size=(d, d))
            symmetric = (matrix + matrix.T).tolist()
            shared = {"format": 1, "measure": measure, "sense": "cost" if "off" in measure else "utility"}
            yield {**shared, "kind": "linear", "weights": weights.tolist()}
            yield {**shared, "kind": "linear_fractional", "numerator": weights.tolist(),
                   "denominator": random.random(d).tolist(), "denominator_offset": 1.5}  # fmt: skip
            yield {**shared, "kind": "quadratic", "linear": weights.tolist(), "quadratic": symmetric, "constant": 0.25}
            yield {**shared, "kind": "polynomial", "degree": 2, "tensors": [weights.tolist(), sum(symmetric, [])]}


METRICS = [Metric(document) for document in documents()] + [
    Metric.named(name, prevalence=SHARES)
    for name in ("g_mean", "group_g_mean", "macro_f", "demographic_parity", "equalised_odds", "equal_opportunity", "error_rate_balance", "q_mean")
] + [
    Metric({"format": 1, "kind": "group_fair_quadratic", "measure": "group_rates", "sense": "cost", "trade_off": 0.4,
            "performance": [1, 3], "fairness": [{"groups": [0, 1], "matrix": [[2, 1], [1, 5]]}],
            "prevalence": [[0.6, 0.4], [0.4, 0.6]]})
]  # fmt: skip


def written(metric, **options):
    """The module that the file is."""
    module = {"__name__": "scorer"}
    exec(compile(metric.to_python_source(**options), "scorer.py", "exec"), module)
    return module


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: f"{metric.kind}-{metric.measure}")
def test_values_are_those_of_the_core(metric):
    # 10^5 random matrices over all metrics.
    count = -(-100_000 // len(METRICS))
    k, groups = metric._core.class_count, metric._core.group_count
    counts = random.integers(1, 1000, size=(count, groups, k, k)).astype(float)
    ours = np.array([metric.value(matrix) for matrix in counts])
    value = written(metric)["value"]
    theirs = np.array([value(matrix) for matrix in counts.tolist()])
    assert np.abs(theirs - ours).max() <= 1e-12 * max(1.0, np.abs(ours).max())


def elicited():
    space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    return elicit(space, simulated_expert(Metric.named("6:1"))).metric


def test_intervals_of_the_metric_are_those_of_the_core():
    metric = elicited()
    module = written(metric, draws=300, random_state=7)
    assert len(module["DRAWS"]) == 300
    drawn = metric._core.draws(300, 7)
    for counts in random.integers(1, 500, size=(50, 1, 2, 2)).astype(float):
        values = [draw.value(counts) for draw in drawn]
        low, high = module["interval"](counts.tolist(), sampling=False)
        assert (low, high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), rel=0, abs=1e-12)


def test_intervals_allow_for_the_sample():
    metric = Metric.named("accuracy")
    truth = random.integers(0, 2, 2000)
    estimate = np.where(random.random(2000) < 0.2, 1 - truth, truth)
    score = written(metric)["score"](truth, estimate)
    value, low, high = score
    assert value == pytest.approx(elicited_score(truth, estimate, metric=metric), abs=1e-12)
    expected = 2 * 1.96 * np.sqrt(value * (1 - value) / 2000)
    assert low < value < high and high - low == pytest.approx(expected, rel=0.15)


def test_labels_weights_and_groups_are_read_as_the_package_reads_them():
    truth, estimate = random.choice(["ill", "well"], size=(2, 300))
    weights, groups = random.random(300), random.choice(["f", "m"], 300)
    costs = {"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost",
             "classes": ["well", "ill"], "weights": [1, 5]}  # fmt: skip
    metric = Metric(costs)
    found = written(metric)["score"](truth, estimate, sample_weight=weights)
    assert found.value == pytest.approx(elicited_score(truth, estimate, metric=metric, sample_weight=weights), abs=1e-12)
    assert found.low < found.value < found.high <= 0
    fair = written(Metric.named("equalised_odds", prevalence=SHARES))
    counts = fair["confusion"](truth, estimate, sensitive_features=groups)
    np.testing.assert_allclose(counts, confusion_counts(truth, estimate, sensitive_features=groups))
    with pytest.raises(ValueError, match="sensitive_features have 1 groups, expected 2"):
        fair["score"](truth, estimate)
    with pytest.raises(ValueError, match="y_pred has 299 rows, expected 300 as in y_true"):
        fair["score"](truth, estimate[1:])
    with pytest.raises(ValueError, match="expected 2 classes; name them with labels="):
        fair["score"](["a", "b"], ["c", "d"])
    with pytest.raises(ValueError, match="y_pred has the label 'b' in row 1, which is not among"):
        fair["score"](["a", "c"], ["a", "b"], labels=["a", "c"])


def test_scikit_learn_takes_the_file(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import GaussianNB

    metric = elicited()
    (tmp_path / "doctors_scorer.py").write_text(metric.to_python_source(draws=50))
    monkeypatch.syspath_prepend(tmp_path)
    import doctors_scorer

    X, y = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(GaussianNB(), X, y, scoring=metric.to_scorer(), cv=3)
    np.testing.assert_allclose(cross_val_score(GaussianNB(), X, y, scoring=doctors_scorer.scorer, cv=3), ours, rtol=1e-12)
    assert pickle.loads(pickle.dumps(doctors_scorer.scorer)) is doctors_scorer.scorer
    del sys.modules["doctors_scorer"]


def interpreters():
    """Python in the versions that are installed."""
    return [f"3.{minor}" for minor in range(9, 15)]


@pytest.mark.parametrize("version", interpreters())
def test_every_python_runs_the_file(version, tmp_path):
    python = shutil.which(f"python{version}")
    works = python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0
    if not works:
        pytest.skip(f"Python {version} is not installed")
    metric = elicited()
    (tmp_path / "scorer.py").write_text(metric.to_python_source(draws=20))
    code = "import json, scorer; print(json.dumps(scorer.score([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])))"
    run = subprocess.run([python, "-S", "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    value, low, high = json.loads(run.stdout)
    assert value == pytest.approx(metric([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]), abs=1e-12) and low < high
    assert not Path(tmp_path / "equipoise").exists()
