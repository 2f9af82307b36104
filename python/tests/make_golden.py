"""Writes golden_interviews.json: what the command `equipoise` finds for simulation files, and the questions it asks.

Run it at the root of the repository after `cargo build`: python python/tests/make_golden.py path/to/equipoise
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SIMULATIONS = [
    "logistic_linear",
    "logistic_linear_adaptive",
    "logistic_linear_antipodal",
    "logistic_linear_fractional_closed_form",
    "softmax_diagonal_linear",
    "softmax_diagonal_linear_fractional",
    "softmax_diagonal_monotone",
    "sphere_linear_adaptive",
    "sphere_linear_adaptive_flips",
    "sphere_linear_antipodal",
    "sphere_linear_noisy",
    "sphere_linear_paper",
    "sphere_linear_fractional_antipodal",
    "quadratic_antipodal",
    "polynomial_antipodal",
    "group_fair_antipodal",
    "group_fair_quadratic_antipodal",
    "trade_off_antipodal",
    "quadratic_trade_off_antipodal",
]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(binary):
    here = Path(__file__).parent
    examples = here.parent.parent / "examples"
    cases = []
    for name in SIMULATIONS:
        file = examples / "simulations" / f"{name}.json"
        report = json.loads(output(binary, "simulate", file, "--json"))
        metric = {key: value for key, value in report["metric"].items() if key not in ("posterior", "interval")}
        cases.append(
            {"name": name, "simulation": json.loads(file.read_text()), "queries": report["queries"], "metric": metric}
        )
    (here / "golden_interviews.json").write_text(json.dumps(cases, indent=1) + "\n")
    with tempfile.TemporaryDirectory() as scratch:
        for table, seed in (("screening", 3), ("triage", 3)):
            saved = Path(scratch) / "interview.json"
            csv = examples / "tables" / f"{table}.csv"
            metric = Path(scratch) / "metric.json"
            output(binary, "elicit", csv, "--oracle", "accuracy", "--save", saved, "--seed", str(seed), "--json", "--out", metric)
            document = json.loads(saved.read_text())
            asked = [[line["query"]["first"], line["query"]["second"], line["preference"]] for line in transcript(document)]
            golden = {"table": f"{table}.csv", "plan": without_space(document), "asked": asked}
            (here / f"golden_{table}.json").write_text(json.dumps(golden) + "\n")
            saved.unlink()


def transcript(document):
    return document.get("transcript") or document["interview"]["transcript"]


def without_space(document):
    plan = document.get("plan") or document["interview"]["plan"]
    return {key: value for key, value in plan.items() if key != "space"}


if __name__ == "__main__":
    main(sys.argv[1])
