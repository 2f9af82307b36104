"""Whatever is passed to a public function, what comes back is a value, a ValueError or a TypeError: never a panic."""

import json

import numpy as np
import pytest

import equipoise
from equipoise import Interview, Metric, Question, Space, export, simulated_expert
from seed import SEED

SPACE = {"kind": "logistic", "slope": 5}
ROUNDS = 60


def things(random):
    """Something a person might pass by mistake, or somebody out of malice."""
    n = int(random.integers(0, 6))
    made = [
        lambda: None,
        lambda: random.choice([0, 1, -1, 2**63 - 1, -(2**63), 2**80, 10**400]) if random.random() < 0.5 else True,
        lambda: float(random.choice([0.0, -0.0, 1.5, -1.0, np.nan, np.inf, -np.inf, 5e-324, 1e308])),
        lambda: str(random.choice(["", "accuracy", "f1", "7:1", "0:0", "f-1", "fnan", "\x00", "é", "linear", "{}", "[]", "null"])),
        lambda: b"bytes",
        lambda: random.integers(-2, 3, n),
        lambda: random.random(n),
        lambda: random.random((n, int(random.integers(0, 4)))),
        lambda: random.random((n, 2, 2)) * random.choice([1.0, 0.0, -1.0, np.nan, 1e308]),
        lambda: random.choice(["a", "b"], n),
        lambda: random.random(n) < 0.5,
        lambda: np.array([None, 1, "x"], dtype=object),
        lambda: np.array(["2020-01-01"], dtype="M8[D]"),
        lambda: random.random(n).astype(np.complex128),
        lambda: random.integers(0, 2, n).astype(np.uint64)[::-1],
        lambda: random.integers(0, 2, 2 * n)[::2],
        lambda: [things(random) for _ in range(n)],
        lambda: {str(k): things(random) for k in range(n)},
        lambda: {"kind": str(random.choice(["linear", "flip", "sphere", "logistic"])), "weights": [np.nan, 1]},
        lambda: object(),
        lambda: Metric.named("7:1"),
        lambda: Metric.named("g_mean", classes=3),
        lambda: Space.from_document(SPACE),
        lambda: lambda *_: "first",
    ]
    return made[int(random.integers(len(made)))]()


def answered(random):
    """An interview with some answers, and its document with a piece changed."""
    interview = Interview(Space.from_document(SPACE))
    for _ in range(3):
        interview.answer("first")
    document = json.loads(interview.to_json())
    part = random.choice(list(document))
    document[part] = things(random) if random.random() < 0.5 else None
    return json.dumps(document, default=str)


METRIC = Metric.named("7:1")
QUESTION = Interview(Space.from_document(SPACE)).question()
FRONT = {"name": ["a", "b", "c"], "price": [1, 2, 3], "recall": [0.5, 0.7, 0.9]}
WEIGHED = equipoise.choose(FRONT, oracle={"price": 1}, budget=1).metric
THREE = Metric({"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "weights": [1, 2, 3, 4, 5, 6]})

CALLS = {
    "Metric": lambda t: Metric(t()),
    "Metric.named": lambda t: Metric.named(t(), prevalence=t()),
    "Metric.named, classes": lambda t: Metric.named("accuracy", classes=t()),
    "Metric.from_json": lambda t: Metric.from_json(t()),
    "Metric.value": lambda t: METRIC.value(t()),
    "Metric.__call__": lambda t: METRIC(t(), t(), labels=t(), pos_label=t(), sample_weight=t(), sensitive_features=t()),
    "Metric.expected": lambda t: METRIC.expected(t(), t(), sample_weight=t()),
    "Metric.difference": lambda t: METRIC.difference(t()),
    "Metric.to_python_source": lambda t: METRIC.to_python_source(draws=t(), random_state=t()),
    "confusion_counts": lambda t: equipoise.confusion_counts(t(), t(), labels=t(), sensitive_features=t()),
    "confusion_counts, columns": lambda t: equipoise.confusion_counts(t(), t()),
    "elicited_score": lambda t: equipoise.elicited_score(t(), t(), metric=t()),
    "elicited_score, three": lambda t: equipoise.elicited_score(t(), t(), metric=THREE),
    "Space.from_predictions": lambda t: Space.from_predictions(t(), t(), labels=t(), pos_label=t(), sensitive_features=t()),
    "Space.from_document": lambda t: Interview(Space.from_document(t())),
    "Interview": lambda t: Interview(Space.from_document(SPACE), t(), t()),
    "Interview, options": lambda t: Interview(Space.from_document(SPACE), tolerance=t(), seed=t()),
    "Interview.from_json": lambda t: Interview.from_json(t()),
    "Interview.answer": lambda t: Interview(Space.from_document(SPACE)).answer(t(), shown=t()),
    "Interview.answer, shown": lambda t: Interview(Space.from_document(SPACE)).answer("first", shown=(t(), t())),
    "elicit": lambda t: equipoise.elicit(t(), t()),
    "simulated_expert": lambda t: simulated_expert(METRIC, t(), t())(QUESTION),
    "simulated_expert, metric": lambda t: simulated_expert(t())(QUESTION),
    "rank_models": lambda t: equipoise.rank_models(t(), {"a": t()}, metric=METRIC, draws=3, level=t()),
    "rank_models, mapping": lambda t: equipoise.rank_models([0, 1], t(), metric=METRIC, draws=t()),
    "nearest_named_metric": lambda t: equipoise.nearest_named_metric(METRIC, t()),
    "kendall_tau": lambda t: equipoise.kendall_tau(t(), t()),
    "ndcg": lambda t: equipoise.ndcg(t(), t()),
    "best_threshold": lambda t: equipoise.best_threshold(t(), t(), metric=METRIC, draws=2, requirements=t()),
    "best_threshold, numbers": lambda t: equipoise.best_threshold([0, 1], [0.2, 0.7], metric=METRIC, draws=2, level=t()),
    "decision_curve": lambda t: equipoise.decision_curve(t(), t(), thresholds=t()),
    "choose": lambda t: equipoise.choose(t(), oracle=t()),
    "choose, columns": lambda t: equipoise.choose({"price": t(), "recall": t()}, oracle=t()),
    "choose, options": lambda t: equipoise.choose(FRONT, name=t(), minimize=t(), ignore=t(), scale=t()),
    "choose, rules": lambda t: equipoise.choose(FRONT, regret=t(), budget=t(), random_state=t()),
    "choose, who": lambda t: equipoise.choose(FRONT, oracle=t(), noise=t(), budget=1),
    "Choice.answer": lambda t: equipoise.choose(FRONT).answer(t()),
    "Choice.from_json": lambda t: equipoise.Choice.from_json(t()),
    "Metric.score_candidates": lambda t: WEIGHED.score_candidates(t()),
    "Metric.rank_candidates": lambda t: WEIGHED.rank_candidates(FRONT, name=t(), draws=t(), random_state=t()),
    "doors.Front.with_column": lambda t: equipoise.doors.Front(FRONT).with_column(t(), t(), t()),
    "doors.from_sklearn": lambda t: equipoise.doors.from_sklearn(t()),
    "doors.from_mlflow": lambda t: equipoise.doors.from_mlflow({"run_id": ["a", "b"], "metrics.x": t()}),
    "export.cost_records": lambda t: export.cost_records(t(), t()),
    "export.error_costs": lambda t: export.error_costs(THREE, t()),
}


@pytest.mark.parametrize("name", CALLS)
def test_nonsense_is_a_value_error_or_a_type_error(name):
    random = np.random.default_rng([SEED, *name.encode()])
    for round_ in range(ROUNDS):
        passed = []

        def thing():
            passed.append(things(random))
            return passed[-1]

        try:
            CALLS[name](thing)
        except (ValueError, TypeError) as refused:
            assert len(str(refused)) > 8, (SEED, round_, passed)
        except BaseException as other:
            pytest.fail(f"seed {SEED}, round {round_}: {type(other).__name__}: {other}\npassed {passed!r}")


def test_broken_interviews_are_refused():
    random = np.random.default_rng(SEED)
    for _ in range(200):
        text = answered(random)
        try:
            Interview.from_json(text).question()
        except (ValueError, TypeError) as refused:
            assert str(refused)


def test_broken_choices_are_refused():
    random = np.random.default_rng(SEED)
    choice = equipoise.choose(FRONT)
    choice.answer("first")
    for _ in range(200):
        document = json.loads(choice.to_json())
        part = random.choice(list(document))
        if part == "front" and random.random() < 0.8:
            document[part][random.choice(list(document[part]))] = things(random)
        else:
            document[part] = things(random)
        try:
            equipoise.Choice.from_json(json.dumps(document, default=str)).question()
        except (ValueError, TypeError) as refused:
            assert str(refused)


def test_broken_metric_documents_are_refused():
    random = np.random.default_rng(SEED)
    text = THREE.to_json()
    for _ in range(500):
        cut = int(random.integers(len(text)))
        broken = text[:cut] + chr(int(random.integers(32, 127))) * int(random.integers(0, 3)) + text[cut + int(random.integers(0, 3)):]
        try:
            Metric.from_json(broken).value(np.ones((3, 3)))
        except ValueError as refused:
            assert str(refused)


@pytest.mark.parametrize("estimator", ["ThresholdClassifier", "PostShiftClassifier", "BlackBoxClassifier"])
def test_estimators_refuse_nonsense(estimator):
    pytest.importorskip("sklearn")
    random = np.random.default_rng([SEED, 5])
    made = getattr(equipoise, estimator)
    X, y = random.normal(size=(40, 2)), np.arange(40) % 2
    options = [name for name in made().get_params(deep=False) if name != "estimator"]
    for round_ in range(40):
        name, value = str(random.choice(options)), things(random)
        try:
            made(**{name: value, **({} if name == "iterations" or estimator[0] == "T" else {"iterations": 2})}).fit(X, y)
        except (ValueError, TypeError) as refused:
            assert str(refused)
        except BaseException as other:
            pytest.fail(f"seed {SEED}, round {round_}, {name}={value!r}: {type(other).__name__}: {other}")


@pytest.mark.parametrize("iterations", [-1, 0, 2**80])
def test_iterations_out_of_range_are_a_value_error(iterations):
    pytest.importorskip("sklearn")
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match="iterations is .*, expected a whole number"):
        equipoise.BlackBoxClassifier(iterations=iterations).fit(X, y)


def test_questions_are_made_of_what_they_are_given():
    with pytest.raises(ValueError, match="classes are \\['a'\\], expected at least 2"):
        Question(1, np.array([1.0]), np.array([]), "binary", ["a"], [], np.array([[1.0]]))
    with pytest.raises(ValueError, match=r"second has shape \(0,\), expected 2 coordinates"):
        Question(1, np.array([1.0, 0.0]), np.array([]), "binary", ["a", "b"], [], np.array([[0.5, 0.5]]))


def test_more_jobs_than_there_could_be_are_as_many_as_there_are_folds():
    pytest.importorskip("sklearn")
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    usual = equipoise.ThresholdClassifier(cv=2).fit(X, y).predict(X)
    assert (equipoise.ThresholdClassifier(cv=2, n_jobs=2**63 - 1).fit(X, y).predict(X) == usual).all()


@pytest.mark.parametrize("jobs", [float("inf"), float("-inf"), float("nan"), "two"])
def test_jobs_that_are_no_whole_number_are_refused(jobs):
    pytest.importorskip("sklearn")
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(TypeError, match="n_jobs is .*, expected a whole number or None"):
        equipoise.ThresholdClassifier(n_jobs=jobs).fit(X, y)
