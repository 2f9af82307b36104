"""Choosing among candidates: the rules of the command line, questions, answers, and the metric that comes out."""

import json
import os
import pickle
import subprocess
import time

import numpy as np
import pytest

from equipoise import Choice, Interview, Metric, Space, choose, simulated_expert

FRONT = {
    "model": ["m1", "m2", "m3", "m4", "m5", "m6", "worse"],
    "latency_ms": [20, 35, 60, 120, 300, 480, 490],
    "price_usd": [9, 4, 3, 6, 2, 8, 9],
    "recall": [0.70, 0.78, 0.85, 0.91, 0.89, 0.95, 0.69],
    "seed": [1, 2, 3, 4, 5, 6, 7],
}
WEIGHTS = {"latency_ms": 1, "price_usd": 1, "recall": 6}
RECORDS = [dict(zip(FRONT, row, strict=True)) for row in zip(*FRONT.values(), strict=True)]


def chosen(frame=FRONT, **options):
    return choose(frame, **{"ignore": ["seed"], "oracle": WEIGHTS, **options})


def says(frame, **options):
    with pytest.raises(ValueError) as caught:
        choose(frame, **{"oracle": {}, **options})
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_a_simulated_person_gets_their_candidate_with_how_sure_it_is():
    found = chosen()
    assert found.best in ("m4", "m6") and FRONT["model"][found.row] == found.best
    assert found.probability > 0.4 and 0 <= found.regret <= found.regret_bound and found.enough
    assert found.dominated == {"worse": "m3"}
    assert sorted(one.name for one in found.ranking) == ["m1", "m2", "m3", "m4", "m5", "m6"]
    assert all(FRONT["model"][one.row] == one.name for one in found.ranking)
    assert sum(one.weight for one in found.weights) == pytest.approx(1)
    assert [one.attribute for one in found.weights] == ["latency_ms", "price_usd", "recall"]
    assert all(one.interval[0] <= one.weight <= one.interval[1] for one in found.weights)
    latency, _, recall = found.weights
    assert (latency.transform, latency.direction, latency.unit) == ("log", "minimize", "ms")
    assert recall.range == (0.69, 0.95) and recall.weight > 0.4
    assert 'more of "recall" is taken to be better, as its name says' in found.notes


@pytest.mark.parametrize("kind", ["records", "pandas", "index", "polars", "lazy", "arrow", "numpy"])
def test_every_kind_of_frame_is_read_alike(kind):
    if kind == "records":
        frame = RECORDS
    elif kind in ("pandas", "index"):
        frame = pytest.importorskip("pandas").DataFrame(FRONT)
        frame = frame.set_index("model") if kind == "index" else frame
    elif kind in ("polars", "lazy"):
        frame = pytest.importorskip("polars").DataFrame(FRONT)
        frame = frame.lazy() if kind == "lazy" else frame
    elif kind == "arrow":
        frame = pytest.importorskip("pyarrow").table(FRONT)
    else:
        frame = {name: np.array(values) for name, values in FRONT.items()}
    assert chosen(frame) == chosen()


def test_the_command_line_comes_to_the_same(tmp_path):
    program = os.environ.get("EQUIPOISE")
    if not program:
        pytest.skip("needs the command equipoise, in EQUIPOISE")
    rows = [",".join(FRONT)] + [",".join(map(str, record.values())) for record in RECORDS]
    (tmp_path / "front.csv").write_text("\n".join(rows) + "\n")
    line = [program, "choose", "front.csv", "--ignore", "seed", "--json"]
    oracle = ["--oracle", ",".join(f"{name}={weight}" for name, weight in WEIGHTS.items())]
    run = subprocess.run([*line, *oracle], cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs, ours = json.loads(run.stdout), chosen()
    assert theirs["best"] == {
        "name": ours.best, "probability": ours.probability, "regret": ours.regret, "regret_bound": ours.regret_bound
    }  # fmt: skip
    assert [(one["name"], one["value"]) for one in theirs["ranking"]] == [(one.name, one.value) for one in ours.ranking]
    assert [one["weight"] for one in theirs["weights"]] == [one.weight for one in ours.weights]
    assert (theirs["questions"], theirs["notes"]) == (ours.questions, ours.notes)
    metric = Metric.load(tmp_path / "metric.json")
    values = metric.score_candidates(FRONT)
    assert values[ours.row] == pytest.approx(next(one.value for one in ours.ranking if one.name == ours.best))
    # Answers that were given here go on there.
    choice = choose(FRONT, ignore=["seed"])
    choice.answer("first")
    (tmp_path / "kept.json").write_text(choice.to_json())
    resume = [*line, "--resume", "kept.json", "--out", "other.json"]
    stopped = subprocess.run(resume, cwd=tmp_path, capture_output=True, text=True, input="1\nq\n", check=True)
    assert json.loads(stopped.stdout)["questions"] == 2
    assert Choice.from_json((tmp_path / "kept.json").read_text()).answered == 2


def test_a_function_is_asked_about_attributes_by_name():
    asked = []

    def by_recall(question):
        asked.append(question)
        if question.first["recall"] == question.second["recall"]:
            return "equal"
        return "first" if question.first["recall"] > question.second["recall"] else "B"

    found = chosen(oracle=by_recall)
    assert found.best == "m6" and len(asked) == found.questions
    first = asked[0]
    assert set(first.first) == {"latency_ms", "price_usd", "recall"} and first.number == 1
    assert any(question.names for question in asked) and any(question.names is None for question in asked)
    assert all("candidates" in question.remark for question in asked)
    # Either stands on either side.
    sides = [question.first["recall"] > question.second["recall"] for question in asked]
    assert any(sides) and not all(sides)


def test_a_choice_is_made_step_by_step():
    choice = choose(FRONT, ignore=["seed"], random_state=4)
    question = choice.question()
    text = str(question)
    assert text.startswith("Question 1 of about ") and "which would you rather have?" in text
    assert text.splitlines()[1].split() == ["A", "B"] and question.remark in text
    assert question.difference().count(" or ") == len(question.rows) == 2
    assert "<table" in question._repr_html_() and "<table" in choice._repr_html_()
    assert repr(choice).startswith("<Choice among 6 candidates, open, 0 of about ")
    with pytest.raises(ValueError, match="there is a question to answer"):
        choice.result()
    assert not choice.undo()
    choice.answer("A")
    second = choice.question()
    choice.answer("can't tell")
    assert choice.answered == 2 and choice.undo() and choice.question() == second
    with pytest.raises(ValueError, match="expected \"first\""):
        choice.answer("maybe")
    again = Choice.from_json(choice.to_json())
    assert again.question() == second and pickle.loads(pickle.dumps(choice)).question() == second
    for asked in choice:
        weights = (1, 1, 6)
        worth = [sum(w * one for w, one in zip(weights, point, strict=True)) for point in worths(asked)]
        choice.answer("first" if worth[0] > worth[1] else "second")
    found = choice.result()
    assert found.best in ("m4", "m6") and found.questions == choice.answered
    assert str(found).startswith("Your best candidate: m") and "over the range shown" in str(found)
    assert found._repr_html_().count("<table") == 3 and choice._repr_html_() == found._repr_html_()
    assert "done" in repr(choice)
    with pytest.raises(ValueError, match="no question to answer"):
        choice.answer("A")


def test_kept_answers_are_read_by_what_they_are_about():
    choice = choose(FRONT, ignore=["seed"])
    with pytest.raises(ValueError, match="is a choice among candidates, which Choice.from_json reads"):
        Interview.from_json(choice.to_json())
    interview = Interview(Space.from_document({"kind": "logistic", "slope": 5}))
    with pytest.raises(ValueError, match="is an interview about classifiers, which Interview.from_json reads"):
        Choice.from_json(interview.to_json())
    with pytest.raises(ValueError, match="front does not fit the candidates"):
        Choice.from_json(json.dumps({**json.loads(choice.to_json()), "front": {"rows": 7}}))


def worths(question):
    """What the attributes are worth between the ends of their ranges, times and money by ratio."""
    for point in (question.first, question.second):
        latency = 1 - np.log(point["latency_ms"] / 20) / np.log(490 / 20)
        price = 1 - np.log(point["price_usd"] / 2) / np.log(9 / 2)
        yield latency, price, (point["recall"] - 0.69) / (0.95 - 0.69)


def test_whoever_sits_there_is_asked(monkeypatch, capsys):
    typed = iter(["x", "u", *"ab" * 40])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    found = choose(FRONT, ignore=["seed"]).ask()
    told = capsys.readouterr().out
    assert "Question 1 of about" in told and "is not an answer" in told
    assert found.questions > 3 and found.metric.kind == "attributes"


def test_buttons_show_the_question_and_then_the_result():
    pytest.importorskip("ipywidgets")
    choice = choose({"price": [1, 2, 3], "recall": [0.5, 0.7, 0.9]}, budget=3)
    assert choice.ask("buttons") is None


def test_the_metric_scores_and_ranks_later_candidates(tmp_path):
    found = chosen()
    metric = found.metric
    assert metric.kind == "attributes" and repr(metric).startswith("<Metric of attributes: recall ")
    assert "weighs" in metric._repr_html_()
    metric.save(tmp_path / "metric.json")
    assert Metric.load(tmp_path / "metric.json") == metric and pickle.loads(pickle.dumps(metric)) == metric
    by_name = {one.name: one.value for one in found.ranking}
    values = metric.score_candidates(FRONT)
    assert [by_name[name] for name in FRONT["model"][:6]] == pytest.approx(values[:6].tolist())
    later = [
        {"name": "good", "latency_ms": 30, "price_usd": 2, "recall": 0.99},
        {"name": "bad", "latency_ms": 900, "price_usd": 12, "recall": 0.5},
    ]
    ranked = metric.rank_candidates(later[::-1])
    assert [(one.name, one.row) for one in ranked] == [("good", 1), ("bad", 0)]
    assert ranked[0].value > 1 > 0 > ranked[1].value and ranked[0].probability == 1
    assert ranked[0].interval[0] <= ranked[0].value <= ranked[0].interval[1]
    with pytest.raises(ValueError, match="no column 'recall', which the metric weighs"):
        metric.score_candidates([{"latency_ms": 30, "price_usd": 2}])
    with pytest.raises(ValueError, match="column 'recall' is '' in row 2, expected a number"):
        metric.score_candidates({"latency_ms": [30, 20], "price_usd": [2, 2], "recall": [0.9, None]})
    with pytest.raises(ValueError, match="above 0, since its logarithm counts"):
        metric.score_candidates({"latency_ms": [0], "price_usd": [2], "recall": [0.9]})
    with pytest.raises(ValueError, match="is about classification errors"):
        Metric.named("accuracy").score_candidates(FRONT)


def test_a_metric_of_attributes_judges_no_predictions():
    from equipoise import best_threshold, elicited_score, export, nearest_named_metric, rank_models

    metric = chosen().metric
    truth = [0, 1, 0, 1]
    for judged in (
        lambda: metric(truth, truth),
        lambda: metric.value([[1, 0], [0, 1]]),
        lambda: metric.expected(truth, [0.1, 0.9, 0.2, 0.8]),
        lambda: metric.to_scorer(),
        lambda: metric.to_python_source(),
        lambda: metric.records(),
        lambda: elicited_score(truth, truth, metric=metric),
        lambda: rank_models(truth, {"a": truth}, metric=metric),
        lambda: best_threshold(truth, [0.1, 0.9, 0.2, 0.8], metric=metric),
        lambda: nearest_named_metric(metric, [[[1, 0], [0, 1]]]),
        lambda: export.error_costs(metric),
    ):
        with pytest.raises(ValueError, match="the metric is about attributes of candidates"):
            judged()


def test_whoever_holds_what_was_found_chooses_alike():
    found = chosen()
    assert chosen(oracle=found.metric).best == found.best
    assert chosen(oracle=simulated_expert(found.metric)).best == found.best
    erring = [chosen(noise="relative:3", random_state=n).questions for n in range(3)]
    assert len(set(erring)) > 1 or erring[0] != found.questions
    assert says(FRONT, ignore=["seed"], oracle=Metric.named("7:1")).startswith("the metric of oracle is of kind 'linear'")
    other = choose({"price": [1, 2], "recall": [0.5, 0.9]}, oracle={"price": 1}).metric
    assert "is about price, recall, expected latency_ms" in says(FRONT, ignore=["seed"], oracle=other)


def test_options_do_what_they_say():
    few = chosen(budget=2)
    assert (few.enough, few.stopped_by, few.questions) == (False, "budget", 2)
    assert "less is known than wanted" in str(few)
    assert chosen(regret=0.3).questions <= chosen().questions
    every = chosen(among="all")
    assert len(every.ranking) == 7 and every.dominated == {"worse": "m3"}
    assert chosen(scale={"latency_ms": "linear"}).weights[0].transform == "linear"
    names = []
    chosen(only_real=True, oracle=lambda question: names.append(question.names) or "first")
    assert all(names)
    flipped = chosen(minimize=["recall"], oracle={"recall": 1})
    # Who wants little recall and nothing else wants a model that has least of it, or a hundredth more.
    assert flipped.best in ("worse", "m1") and flipped.weights[-1].direction == "minimize"
    assert chosen(name="seed", ignore=["model"]).best in ("4", "6")
    assert chosen(ignore=["model", "seed"]).best in ("row 4", "row 6")


def test_nothing_is_asked_where_nothing_is_open():
    frame = {"name": ["x", "y", "z"], "price": [2, 1, 3], "recall": [0.5, 0.9, 0.4]}
    found = choose(frame, oracle={"price": 1})
    assert (found.best, found.row, found.questions, found.stopped_by, found.metric) == ("y", 1, 0, "dominance", None)
    assert found.dominated == {"x": "y", "z": "y"} and "there is nothing to ask" in str(found)
    choice = choose(frame)
    assert choice.question() is None and choice.result() == found and list(choice) == []
    assert Choice.from_json(choice.to_json()).result() == found
    assert choice.ask("keyboard") == found and not choice.undo() and "nothing to ask" in choice._repr_html_()
    words = choose({**frame, "colour": ["red", "blue", "red"], "cheap": [True, False, True]})
    assert words.result().notes[-2:] == ['column "colour" is text and left out', 'column "cheap" is text and left out']
    one = choose({"name": ["x", "y"], "price": [2, 1], "depth": [3, 3]})
    assert one.result().best == "y" and '"depth" is 3 everywhere and left out' in one.result().notes


def test_what_is_wrong_with_a_frame_is_one_sentence():
    two = {"name": ["x", "y"], "price": [1, 2], "recall": [0.5, 0.9]}
    assert says({key: values[:1] for key, values in two.items()}) == "the table has 1 candidates, expected at least 2 to choose from"
    assert says([]).startswith("the table has 0 candidates")
    assert says({**two, "recall": [None, 0.9]}).endswith('has no number in row 1: fill it in, leave the row out, or ignore=["recall"]')
    assert "has no number in row 2" in says({**two, "recall": [0.5, float("nan")]})
    assert says(two, minimize=["colour"]) == 'there is no column "colour", expected one of name, price, recall'
    assert says(two, minimize=["name"]) == 'column "name" is "x" in row 1, expected numbers'
    assert says(two, minimize=["recall"], maximize=["recall"]).endswith("minimized and maximized, expected one of them")
    assert 'better: maximize=["depth"], minimize=["depth"] or ignore=["depth"]' in says({**two, "depth": [1, 2]})
    assert says({**two, "name": ["x", "x"]}) == (
        'two candidates have the name "x" in column "name"; name="COL" takes another column'
    )
    assert "above 0" in says({**two, "price": [0, 2]}, scale={"price": "log"})
    assert says(two, scale={"price": "cubic"}).endswith('expected "linear", "log" or "logit"')
    assert says({**two, "price": [1, 1], "recall": [0.5, 0.5]}).endswith("so nothing to choose by")
    assert says({**two, "price": [1]}) == "column 'price' has 1 rows, expected 2 as in column 'name'"
    assert says(two, among="some") == "among is 'some', expected 'pareto' or 'all'"
    assert says(two, regret=2).endswith("expected a number strictly between 0 and 1")
    assert "budget" in says(two, budget=0)
    assert says(two, oracle={"depth": 1}) == "oracle names 'depth', expected one of price, recall"
    for weight in (-1, float("nan"), float("inf"), 10**400, True, "1"):
        assert "not negative" in says(two, oracle={"price": weight})
    assert choose(two, oracle={"price": np.int64(1)}).best == "x"
    assert "weights" in says(two, oracle={"price": 0})
    for who in (None, lambda question: "first"):
        assert says(two, oracle=who, noise="flip:0.1").startswith("noise is for a simulated person")
    assert "expected a number after the colon" in says(two, oracle={"price": 1}, noise="flip:much")
    many = {f"cost {n}": [n, n + 1] if n % 2 else [n + 1, n] for n in range(1, 50)}
    assert "from 2 to 40" in says(many)
    for wrong in (3, "front.csv", None, [1, 2]):
        with pytest.raises(TypeError, match="expected a"):
            choose(wrong)
    with pytest.raises(TypeError, match="minimize is 'recall', expected a list of strings"):
        choose(two, minimize="recall")


def test_ten_thousand_candidates_are_asked_about_without_a_wait():
    random = np.random.default_rng(1)
    worth = random.dirichlet(np.ones(7), 10_000)  # a front: nobody is dominated
    frame = {f"cost {n}": (1 - worth[:, n]).tolist() for n in range(7)}
    choice = choose(frame)
    choice.question()
    choice.answer("first")
    began = time.perf_counter()
    assert choice.question() is not None
    took = time.perf_counter() - began
    assert took < 20, took
