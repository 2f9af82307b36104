"""Interviews ask what the core asks, for every family, and come to what it comes to."""

import json
from pathlib import Path

import numpy as np
import pytest

from equipoise import Interview, Metric, Space, elicit, simulated_expert

GOLDEN = json.loads((Path(__file__).parent / "golden_interviews.json").read_text())


def predictions(rows=600, classes=3, groups=0, seed=5):
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    scores = np.eye(classes)[truth] * 1.5 + random.gumbel(size=(rows, classes))
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    names = np.array(["a", "b", "c"])[random.integers(0, groups, rows)] if groups else None
    return truth, proba, names


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_simulations_of_the_core_come_out_alike(case):
    document = case["simulation"]
    plan = dict(document["plan"])
    oracle = document["oracle"]
    shared = {"prevalence": document["space"]["prevalence"]} if "prevalence" in document["space"] else {}
    hidden = Metric({"format": 1, **oracle["metric"], **shared})
    expert = simulated_expert(hidden, oracle.get("noise"), document.get("seed", 0))
    space = Space.from_document(document["space"])
    outcome = elicit(space, expert, family=plan.pop("kind"), method=plan.pop("method", "paper"), **plan)
    assert outcome.questions == case["queries"]
    found, expected = json.loads(outcome.metric.to_json()), case["metric"]
    assert found["kind"] == expected["kind"]
    for key, value in expected.items():
        if key != "classes":
            assert numbers(found[key]) == pytest.approx(numbers(value), rel=0, abs=1e-12)


def numbers(part):
    """All numbers of a part of a document, in order."""
    if isinstance(part, (list, dict)):
        return [n for entry in (part.values() if isinstance(part, dict) else part) for n in numbers(entry)]
    return [part] if isinstance(part, (int, float)) else []


FAMILIES = {
    2: ["linear", "linear_fractional", "quadratic", "polynomial"],
    3: ["linear", "linear_fractional", "diagonal_linear", "diagonal_linear_fractional"],
}


@pytest.mark.parametrize(("classes", "family"), [(k, family) for k, names in FAMILIES.items() for family in names])
def test_every_family_has_an_interview_on_predictions(classes, family):
    truth, proba, _ = predictions(classes=classes)
    space = Space.from_predictions(truth, proba)
    interview = Interview(space, family)
    question = interview.question()
    assert question is not None and question.difference().startswith(("With B", "A and B"))
    for matrix in question.confusions():
        assert matrix.sum() == pytest.approx(1.0)
    interview.answer("first")
    assert interview.answered == 1


@pytest.mark.parametrize("family", ["group_fair", "group_fair_quadratic"])
def test_groups_are_told_apart(family):
    truth, proba, groups = predictions(classes=2, groups=2)
    space = Space.from_predictions(truth, proba, sensitive_features=groups)
    question = Interview(space, family, around="coin").question()
    assert question.groups == ["a", "b"]
    assert "predicted as 1 among" in question.difference() or "predicted as 0 among" in question.difference()


def test_the_same_answers_lead_to_the_same_questions_saved_or_not():
    truth, proba, _ = predictions()
    space = Space.from_predictions(truth, proba)
    hidden = Metric(
        {"format": 1, "kind": "linear", "measure": "off_diagonal_rates", "sense": "cost", "weights": [1, 2, 1, 4, 8, 1]}
    )
    expert = simulated_expert(hidden)
    options = {"around": "coin", "answers": "exact", "seed": 7, "tolerance": 0.05, "budget": 100}
    first, second = (Interview(space, **options) for _ in range(2))
    while (question := first.question()) is not None:
        again = second.question()
        np.testing.assert_array_equal(question.first, again.first)
        np.testing.assert_array_equal(question.second, again.second)
        answer = expert(question)
        first.answer(answer)
        second.answer(answer)
        second = Interview.from_json(second.to_json(), space)
    assert second.question() is None
    assert first.result().metric.difference(hidden)["angle"] < 0.05
    assert first.result().metric == second.result().metric


def test_undo_takes_the_last_answer_back():
    interview = Interview(Space.from_document({"kind": "logistic", "slope": 5}))
    assert not interview.undo()
    before = interview.question()
    interview.answer("tie")
    assert interview.undo()
    np.testing.assert_array_equal(interview.question().first, before.first)


def test_wrong_answers_and_options_are_named():
    interview = Interview(Space.from_document({"kind": "logistic", "slope": 5}))
    with pytest.raises(ValueError, match='answer is "C", expected "first"'):
        interview.answer("C")
    with pytest.raises(ValueError, match="shown has 3 and 2 entries, expected 2 of each classifier"):
        interview.answer("tie", shown=([0.1, 0.2, 0.3], [0.1, 0.2]))
    with pytest.raises(ValueError, match="the interview is not done"):
        interview.result()
    with pytest.raises(ValueError, match="tolerence"):
        Interview(Space.from_document({"kind": "logistic", "slope": 5}), tolerence=0.1)
    with pytest.raises(ValueError, match="plan.budget is -1, expected a whole number"):
        Interview(Space.from_document({"kind": "logistic", "slope": 5}), budget=-1)
    with pytest.raises(ValueError, match="plan.kind is \"niceness\""):
        Interview(Space.from_document({"kind": "logistic", "slope": 5}), "niceness")
    with pytest.raises(ValueError, match="noise"):
        simulated_expert(Metric.named("6:1"), {"kind": "loud"})


def test_metrics_of_other_entries_answer_too():
    truth, proba, _ = predictions(classes=2, rows=2000)
    space = Space.from_predictions(truth, proba)
    document = {"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "weights": [1, 3]}
    outcome = elicit(space, simulated_expert(Metric(document)))
    assert 2 < outcome.metric.cost_ratio < 4.5


@pytest.mark.parametrize(
    "noise",
    [
        {"kind": "flip", "probability": 0.1},
        {"kind": "logistic", "slope": 50},
        {"kind": "band", "width": 0.01},
        {"kind": "adversarial_band", "width": 0.001},
    ],
)
def test_every_noise_has_an_expert(noise):
    space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    answers = []
    for _ in range(2):
        expert = simulated_expert(Metric.named("6:1"), noise, random_state=3)
        interview = Interview(space, budget=12)
        for question in interview:
            answer = expert(question)
            answers.append(answer)
            interview.answer(answer)
    half = len(answers) // 2
    assert answers[:half] == answers[half:]


def test_questions_show_whole_numbers_that_add_up():
    truth, proba, _ = predictions(classes=3)
    question = Interview(Space.from_predictions(truth, proba), around="coin").question()
    for counts in question.counts():
        np.testing.assert_array_equal(counts.sum(axis=-1), question.out_of)
    html = question._repr_html_()
    assert html.count("<svg") == 2 and html.count("<path") == 18
    shown = question.shown()
    assert np.abs(shown[0] - question.first).max() <= 1 / question.out_of


def test_the_keyboard_asks_until_all_is_known(monkeypatch, capsys):
    interview = Interview(Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3}), width=2.0)
    expert = simulated_expert(Metric.named("6:1"))
    typed = iter(["x", "u", "a", "u"])

    def type_in(prompt):
        return next(typed, None) or {"first": "a", "second": "b"}[expert(interview.question())]

    monkeypatch.setattr("builtins.input", type_in)
    outcome = interview.ask()
    assert 3 < outcome.metric.cost_ratio < 12
    said = capsys.readouterr().out
    assert "'x' is not an answer" in said and "There is no answer to take back yet." in said
    assert "Took the last answer back." in said and "─┬─▶" in said


def test_quitting_keeps_the_answers(monkeypatch):
    interview = Interview(Space.from_document({"kind": "logistic", "slope": 5}))
    typed = iter(["a", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    with pytest.raises(KeyboardInterrupt):
        interview.ask()
    assert interview.answered == 1


@pytest.mark.parametrize("table", ["screening", "triage"])
def test_the_command_line_asked_the_same_questions(table):
    pl = pytest.importorskip("polars")
    here = Path(__file__).parent
    golden = json.loads((here / f"golden_{table}.json").read_text())
    rows = pl.read_csv(here.parent.parent / "examples" / "tables" / golden["table"])
    classes = sorted(set(rows["y"]))
    probabilities = rows.select([f"p_{name}" for name in classes])
    # The command line guesses the column of groups; sums over groups round differently.
    space = Space.from_predictions(rows["y"], probabilities, labels=classes, sensitive_features=rows["group"])
    plan = golden["plan"]
    # A simulated expert is asked about a ball, and no probes; the sides are those of the plan.
    options = {"around": "coin", "shuffle": False, "probes": 0, **plan}
    interview = Interview(space, options.pop("kind"), options.pop("method"), **options)
    for first, second, preference in golden["asked"]:
        question = interview.question()
        np.testing.assert_allclose(question.first, first, rtol=0, atol=1e-12)
        np.testing.assert_allclose(question.second, second, rtol=0, atol=1e-12)
        interview.answer(preference)
    assert interview.question() is None


def test_an_option_does_not_change_the_method_in_silence():
    space = Space.from_document({"kind": "logistic", "slope": 5})
    assert Interview(space).method == "adaptive"
    with pytest.raises(ValueError, match='plan.tolerance is not a field.*that is the method "adaptive", and method="antipodal"'):
        Interview(space, tolerance=0.01)
    assert Interview(space, method="antipodal", tolerance=0.01).method == "antipodal"


def test_an_answer_after_the_end_is_refused():
    interview = Interview(Space.from_document({"kind": "logistic", "slope": 5}), width=3.0)
    for _ in interview:
        interview.answer("B")
    answered = interview.answered
    with pytest.raises(ValueError, match="the interview is done: there is no question to answer"):
        interview.answer("A")
    assert interview.answered == answered


FAMILIES_ASKED = [
    ("logistic", "linear", {}),
    ("three", "linear", {}),
    ("three", "linear", {"tolerance": 0.3, "around": "coin"}),
    ("three", "quadratic", {"budget": 40}),
]


@pytest.mark.parametrize(("space", "family", "options"), FAMILIES_ASKED)
def test_whoever_can_never_tell_teaches_nothing(space, family, options):
    if space == "logistic":
        space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    else:
        truth, proba, _ = predictions()
        space = Space.from_predictions(truth, proba)
    interview = Interview(space, family, **{"budget": 60, **options})
    seen = 0
    for seen, _ in enumerate(interview, 1):
        interview.answer("can't tell")
    outcome = interview.result()
    assert seen > 0 and not outcome.identifiable
    assert any("answers prefers a classifier, so the metric is not known" in remark for remark in outcome.remarks)
    interval = outcome.metric.cost_ratio_interval
    assert interval is None or interval.high is None or interval.high > 20 * interval.low


def test_equal_tells_much_and_cannot_tell_nothing():
    space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    spread = {}
    for word in ("equal", "can't tell"):
        interview = Interview(space, budget=3)
        before = interview.question()
        for asked in interview:
            assert asked.number == 1 or not np.array_equal(asked.first, before.first)  # no question twice
            before = asked
            interview.answer(word)
        spread[word] = interview.result().metric.cost_ratio_interval
    # Where nothing was learnt, the interval has no end.
    assert spread["equal"].high / spread["equal"].low < 200 and spread["can't tell"].high is None
