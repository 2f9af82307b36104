"""The package and the command `equipoise` ask the same questions and find the same metrics.

The command is the one that EQUIPOISE names; without it these tests are skipped, and golden files have to do.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise import Interview, Metric, Space, elicit, simulated_expert

BINARY = os.environ.get("EQUIPOISE")
ROOT = Path(__file__).parent.parent.parent
SIMULATIONS = sorted(path.stem for path in (ROOT / "examples" / "simulations").glob("*.json"))
NOISES = {
    "none": {"kind": "none"},
    "flip": {"kind": "flip", "probability": 0.1},
    "logistic": {"kind": "logistic", "slope": 50},
    "band": {"kind": "band", "width": 0.01},
    "adversarial_band": {"kind": "adversarial_band", "width": 0.002},
}

pytestmark = pytest.mark.skipif(not BINARY, reason="EQUIPOISE names no binary of the command line")


def output(*command, given=None, codes=(0, 1)):
    """What the command prints; 1 is a finding, such as a metric that the answers do not single out."""
    run = subprocess.run([BINARY, *map(str, command)], input=given, capture_output=True, text=True)
    assert run.returncode in codes, run.stderr
    return run.stdout


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SIMULATIONS)
def test_every_procedure_ends_alike_under_every_noise(name, noise):
    document = json.loads((ROOT / "examples" / "simulations" / f"{name}.json").read_text())
    document["oracle"]["noise"] = NOISES[noise]
    document["seed"] = 11
    # Coarse searches ask few questions, and every one of them decides the next.
    if document["plan"].get("tolerance", 1) < 0.01:
        document["plan"]["tolerance"] = 0.01
    theirs = json.loads(output("simulate", "-", "--json", given=json.dumps(document)))
    plan, oracle = dict(document["plan"]), document["oracle"]
    shared = {"prevalence": document["space"]["prevalence"]} if "prevalence" in document["space"] else {}
    expert = simulated_expert(Metric({"format": 1, **oracle["metric"], **shared}), oracle["noise"], document["seed"])
    # What the file leaves open stays open: the package would take the method with the fewest questions.
    found = elicit(
        Space.from_document(document["space"]), expert, plan.pop("kind"), plan.pop("method", "paper"), **plan
    )
    assert found.questions == theirs["queries"]
    ours = json.loads(found.metric.to_json())
    for key, value in theirs["metric"].items():
        if key not in ("classes", "provenance"):
            assert numbers(ours[key]) == pytest.approx(numbers(value), rel=0, abs=1e-12), key


def numbers(part):
    """All numbers of a part of a document, in order."""
    if isinstance(part, (list, dict)):
        return [n for entry in (part.values() if isinstance(part, dict) else part) for n in numbers(entry)]
    return [part] if isinstance(part, (int, float)) else []


FAMILIES = {
    ("screening", "linear"): ("adaptive", "antipodal", "paper"),
    ("screening", "linear_fractional"): ("paper",),
    ("screening", "quadratic"): ("antipodal", "paper"),
    ("screening", "polynomial"): ("antipodal", "paper"),
    ("screening", "group_fair"): ("adaptive", "antipodal", "paper"),
    ("screening", "group_fair_quadratic"): ("antipodal", "paper"),
    ("triage", "linear"): ("adaptive", "antipodal", "paper"),
    ("triage", "linear_fractional"): ("adaptive", "antipodal", "paper"),
}
ASKED = [(table, family, method) for (table, family), methods in FAMILIES.items() for method in methods]


@pytest.mark.parametrize("noise", ["none", "flip:0.1", "logistic:50", "band:0.01"])
@pytest.mark.parametrize(("table", "family", "method"), ASKED)
def test_the_command_asks_the_same_questions(table, family, method, noise, tmp_path):
    pl = pytest.importorskip("polars")
    file, saved = ROOT / "examples" / "tables" / f"{table}.csv", tmp_path / "interview.json"
    command = ["elicit", file, "--family", family, "--method", method, "--save", saved, "--seed", "3", "--json",
               "--out", tmp_path / "metric.json", "--oracle", "accuracy", "--noise", noise]  # fmt: skip
    # The interval of a cost ratio ends that interview, an angle every other.
    adaptive_ratio = (table, family, method) == ("screening", "linear", "adaptive")
    coarse = "0.3" if (family, method) == ("linear_fractional", "adaptive") else "0.1"
    output(*command, *(["--width", "2"] if adaptive_ratio else ["--tolerance", coarse]))
    document = json.loads(saved.read_text())
    document = document.get("interview", document)
    plan = {key: value for key, value in document["plan"].items() if key != "space"}
    rows = pl.read_csv(file)
    classes = sorted(set(rows["y"]))
    space = Space.from_predictions(
        rows["y"], rows.select([f"p_{name}" for name in classes]), labels=classes, sensitive_features=rows["group"]
    )
    # A simulated expert is asked about a ball, and the sides are those of the plan.
    probes = {"probes": 0} if method == "adaptive" else {}
    options = {"around": "coin", "shuffle": False, **probes, **plan}
    interview = Interview(space, options.pop("kind"), options.pop("method", "paper"), **options)
    assert document["transcript"]
    for line in document["transcript"]:
        question = interview.question()
        np.testing.assert_allclose(question.first, line["query"]["first"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(question.second, line["query"]["second"], rtol=0, atol=1e-12)
        shown = line.get("shown")
        interview.answer(line["preference"], shown=shown and (shown["first"], shown["second"]))
    assert interview.question() is None


#: Who answers by what counts cost them; read by the command and by the package.
PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    cost = [sum((1 + 2 * (r["truth"] > r["estimate"])) * r["count"] for r in asked[side] if r["truth"] != r["estimate"])
            for side in ("first", "second")]
    print("first" if cost[0] <= cost[1] else "second", flush=True)
"""


@pytest.mark.parametrize(("table", "family"), [("screening", "linear"), ("triage", "linear"), ("screening", "group_fair")])
def test_a_program_is_asked_the_same_as_by_the_command(table, family, tmp_path):
    pl = pytest.importorskip("polars")
    file, saved, program = ROOT / "examples" / "tables" / f"{table}.csv", tmp_path / "saved.json", tmp_path / "program.py"
    program.write_text(PROGRAM)
    output("elicit", file, "--family", family, "--save", saved, "--seed", "5", "--json", "--out", tmp_path / "metric.json",
           "--oracle-command", f"{sys.executable} {program}")  # fmt: skip
    document = json.loads(saved.read_text())
    rows = pl.read_csv(file)
    classes = sorted(set(rows["y"]))
    space = Space.from_predictions(
        rows["y"], rows.select([f"p_{name}" for name in classes]), sensitive_features=rows["group"]
    )
    interview = Interview(space, family, seed=5)
    for question in interview:
        cost = []
        for counts in question.counts():
            heavier = np.tril(np.ones_like(counts[0]), -1)
            cost.append(((1 + 2 * heavier) * counts * (1 - np.eye(len(heavier)))).sum())
        interview.answer("A" if cost[0] <= cost[1] else "B", shown=question.shown())
    ours = json.loads(interview.to_json())
    assert len(ours["transcript"]) == len(document["transcript"])
    for mine, theirs in zip(ours["transcript"], document["transcript"]):
        assert mine["preference"] == theirs["preference"]
        assert numbers(mine["query"]) == pytest.approx(numbers(theirs["query"]), rel=0, abs=1e-9)
        assert numbers(mine["shown"]) == pytest.approx(numbers(theirs["shown"]), rel=0, abs=1e-9)
    for key, value in ours["plan"].items():
        if key != "space":
            assert document["plan"][key] == value, key
    assert Interview.from_json(saved.read_text()).question() is None  # what the command saved is read


def test_the_command_writes_the_same_scorer(tmp_path):
    space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    metric = elicit(space, simulated_expert(Metric.named("6:1"))).metric
    metric.save(tmp_path / "metric.json")
    found = output("scorer", tmp_path / "metric.json", "--draws", 30, "--seed", 5, codes=(0,))
    assert found == metric.to_python_source(draws=30, random_state=5)
