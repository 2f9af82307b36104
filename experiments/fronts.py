"""Fronts of candidates for `equipoise bench choose`, from the pools and tables of this repository.

    python3 experiments/fronts.py            writes experiments/fronts/*.csv

Errors and gaps between groups are counted. What a model takes is computed from what its name says of it, by the formulas
below: numbers it holds (size), operations for a prediction (latency, at 1,000 operations a microsecond) and operations to
train it. Only candidates that no other is better than in everything are kept; of more than 60, evenly spaced ones.
Needs nothing but Python.
"""

import csv
import math
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUTS = 50  # columns of the data a model is given, about


def effort(model):
    """Numbers that a model holds, operations for a prediction, operations to train it (in thousands of millions)."""
    kind, setting, *rest = model.split("-")
    rows = 20_000
    if kind == "reweighed":
        # By groups, before training: a linear model or trees of so many leaves, 60 of them.
        return effort(f"{setting}-plain-{rest[-1]}" + ("-60" if setting == "lightgbm" else ""))
    if kind == "logistic":
        return INPUTS + 1, 2 * INPUTS, rows * INPUTS * 4e-7 * (2 - math.log10(float(rest[0])))
    if kind not in ("lightgbm", "perceptron"):
        # Support vectors or neighbours: a tenth of the rows are kept, a linear kernel folds them into one.
        kept = 1 if setting == "linear" else rows // 10
        return kept * (INPUTS + 1), 2 * kept * INPUTS, rows * rows * INPUTS * 1e-10
    if kind == "lightgbm":
        leaves, trees = int(rest[0]), int(rest[1])
        return 3 * leaves * trees, 40 * trees * math.log2(leaves + 1), rows * INPUTS * trees * math.log2(leaves + 1) * 1e-8
    layers = [INPUTS] + [int(n) for n in setting.split("x")] + [1]
    weights = sum((a + 1) * b for a, b in zip(layers, layers[1:]))
    return weights, 2 * weights, rows * weights * 200e-9


def pool(name):
    """Counts of each model: group, truth, estimate."""
    models = defaultdict(lambda: defaultdict(float))
    with open(HERE / "pools" / f"{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            models[row["model"]][row.get("group", ""), row["truth"], row["estimate"]] += float(row["count"])
    return models


def rate(counts, truth, estimates, group=None):
    of = [(key, n) for key, n in counts.items() if key[1] == truth and group in (None, key[0])]
    all_ = sum(n for _, n in of)
    return sum(n for key, n in of if key[2] in estimates) / all_ if all_ else 0.0


def gap(counts, truth, estimates):
    groups = sorted({key[0] for key in counts})
    rates = [rate(counts, truth, estimates, group) for group in groups]
    return max(rates) - min(rates)


def two_classes(name, positive, negative, attributes):
    rows = []
    for model, counts in pool(name).items():
        size, latency, training = effort(model)
        values = {
            "missed": rate(counts, positive, {negative}),
            "false_alarms": rate(counts, negative, {positive}),
            "gap_missed": gap(counts, positive, {negative}),
            "gap_false_alarms": gap(counts, negative, {positive}),
            "size_kb": size * 4 / 1000,
            "latency_us": latency / 1000,
            "training_cost": training,
        }
        rows.append((model, [values[name] for name in attributes]))
    return rows


def screening():
    with open(HERE.parent / "examples" / "tables" / "screening.csv", newline="") as file:
        cases = list(csv.DictReader(file))
    rows = []
    for n in range(1, 60):
        threshold = 1 / (1 + math.exp(4 - 0.13 * n))
        counts = defaultdict(float)
        for case in cases:
            found = "malignant" if float(case["p_malignant"]) >= threshold else "benign"
            counts[case["group"], case["y"], found] += 1
        missed, alarms = ("malignant", {"benign"}), ("benign", {"malignant"})
        values = [rate(counts, *missed), rate(counts, *alarms), gap(counts, *missed)]
        rows.append((f"threshold {threshold:.3f}", values))
    return rows


def many_classes(name):
    rows = []
    for model, counts in pool(name).items():
        size, latency, _ = effort(model)
        classes = sorted({key[1] for key in counts})
        wrong = [rate(counts, c, set(classes) - {c}) for c in classes]
        all_ = sum(counts.values())
        error = sum(n for key, n in counts.items() if key[1] != key[2]) / all_
        rows.append((model, [error, sum(wrong) / len(wrong), max(wrong), size * 4 / 1000, latency / 1000]))
    return rows


def undominated(rows):
    def covers(a, b):
        return a != b and all(x <= y for x, y in zip(a, b))

    seen, kept = set(), []
    for name, values in rows:
        values = [float(f"{x:.4g}") for x in values]
        if tuple(values) not in seen:
            seen.add(tuple(values))
            kept.append((name, values))
    front = [row for row in kept if not any(covers(other[1], row[1]) for other in kept)]
    front.sort(key=lambda row: row[1])
    step = max(1.0, len(front) / 60)
    return [front[int(n * step)] for n in range(min(60, len(front)))]


FRONTS = {
    "screening": (["missed", "false_alarms", "gap_missed"], screening()),
    "default": (
        ["missed", "false_alarms", "gap_missed", "size_kb"],
        two_classes("default", "1", "0", ["missed", "false_alarms", "gap_missed", "size_kb"]),
    ),
    "adult": (
        ["missed", "false_alarms", "gap_missed", "gap_false_alarms", "latency_us"],
        two_classes("adult_sex", "1", "0", ["missed", "false_alarms", "gap_missed", "gap_false_alarms", "latency_us"]),
    ),
    "covtype": (["error", "mean_error_of_classes", "worst_error_of_classes", "size_kb", "latency_us"], many_classes("covtype")),
    "crime": (
        ["missed", "false_alarms", "gap_missed", "gap_false_alarms", "size_kb", "latency_us", "training_cost"],
        two_classes(
            "crime", "high", "low", # three classes: missed is high taken for low, a false alarm low taken for high
            ["missed", "false_alarms", "gap_missed", "gap_false_alarms", "size_kb", "latency_us", "training_cost"],
        ),
    ),
}

if __name__ == "__main__":
    (HERE / "fronts").mkdir(exist_ok=True)
    for name, (attributes, rows) in FRONTS.items():
        front = undominated(rows)
        with open(HERE / "fronts" / f"{name}.csv", "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["model", *attributes])
            out.writerows([model, *values] for model, values in front)
        print(f"{name}: {len(front)} of {len(rows)} candidates, {len(attributes)} attributes")
