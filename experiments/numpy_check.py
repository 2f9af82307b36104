#!/usr/bin/env python3
"""Every number that `score`, `rank`, `threshold` and `optimize` print, computed again with NumPy, to 1e-9.

    numpy_check.py EQUIPOISE                      predictions in experiments/predictions, all rows
    numpy_check.py EQUIPOISE --data RAW           credit default too, trained here (needs scikit-learn)
    numpy_check.py EQUIPOISE --write DIR          small samples and what NumPy finds on them, for the tests of the command

EQUIPOISE is the command. Nothing is shared with it but the definition of a draw: how often a row is taken is a Poisson(1) number
that a hash of seed, draw and row decides (`population/resample.rs`).
"""

import argparse
import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent
U = np.uint64


def mixed(state):
    with np.errstate(over="ignore"):
        z = np.asarray(state, dtype=U) + U(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
        return z ^ (z >> U(31))


POISSON = np.cumsum([math.exp(-1.0) / math.factorial(n) for n in range(20)])


def times(seed, draw, rows):
    """How often each row is taken in a draw."""
    state = mixed(mixed(mixed(U(seed)) ^ U(draw)) ^ U(0))
    drawn = (mixed(state ^ np.arange(rows, dtype=U)) >> U(11)).astype(float) / 2.0**53
    return np.searchsorted(POISSON, drawn, side="right").astype(float)


def spread(values, level=0.95):
    tail = 0.5 * (1.0 - level)
    return dict(zip(("low", "high"), np.quantile(values, [tail, 1.0 - tail])))


def confusion(truth, estimate, k, weights=None):
    counts = np.zeros((k, k))
    np.add.at(counts, (truth, estimate), np.ones(len(truth)) if weights is None else weights)
    return counts / counts.sum()


def recalls(c):
    return np.diag(c) / c.sum(axis=1)


def mcc(c):
    chance = c.sum(axis=1) @ c.sum(axis=0)
    return (np.trace(c) - chance) / math.sqrt((1 - (c.sum(axis=0) ** 2).sum()) * (1 - (c.sum(axis=1) ** 2).sum()))


METRICS = {
    "accuracy": np.trace,
    # Summed up as it is said, so that rules that are equally good stay so to the last digit.
    "error_rate": lambda c: sum(c[i, j] for i in range(len(c)) for j in range(len(c)) if i != j),
    "balanced_accuracy": lambda c: recalls(c).mean(),
    "q_mean": lambda c: ((1.0 - recalls(c)) ** 2).mean(),
    "g_mean": lambda c: recalls(c).prod() ** (1.0 / len(c)),
    "mcc": mcc,
    "f1": lambda c: 2 * c[1, 1] / (2 * c[1, 1] + c[1, 0] + c[0, 1]),
    "7:1": lambda c: 7 * c[1, 1] + c[0, 0],
}
COSTS = {"error_rate", "q_mean"}
# These have the shares of the classes among their constants: draws are brought to the shares of the table.
HELD = {"f1", "mcc"}


class Table:
    def __init__(self, path):
        opener = gzip.open if str(path).endswith(".gz") else open
        with opener(path, "rt") as file:
            rows = list(csv.DictReader(file))
        self.path, self.rows = path, rows
        self.classes = sorted({row["truth"] for row in rows})
        self.truth = np.array([self.classes.index(row["truth"]) for row in rows])
        self.p = np.array([[float(row[f"p_{name}"]) for name in self.classes] for row in rows])
        self.p /= self.p.sum(axis=1, keepdims=True)
        names = sorted({row["group"] for row in rows}) if "group" in rows[0] else []
        self.group = np.array([names.index(row["group"]) for row in rows]) if names else np.zeros(len(rows), int)
        self.groups = names

    def __len__(self):
        return len(self.truth)


def held(c, whole):
    return c / c.sum(axis=1, keepdims=True) * whole.sum(axis=1, keepdims=True)


def drawn_values(table, estimate, metric, draws, seed=0):
    """The metric in every draw of the rows, those left out that lost a class."""
    k, whole = len(table.classes), confusion(table.truth, estimate, len(table.classes))
    found = []
    for draw in range(draws):
        weights = times(seed, draw, len(table))
        c = confusion(table.truth, estimate, k, weights)
        if (c.sum(axis=1) > 0).all():
            found.append(METRICS[metric](held(c, whole) if metric in HELD else c))
    return np.array(found)


def draws_of(rows):
    return min(max(200_000_000 // max(rows, 1), 100), 1000)


def estimates(table, rule):
    if rule == "most-likely":
        return table.p.argmax(axis=1)
    return (table.p[:, 1] >= rule).astype(int)


def score(table, metric, rule):
    estimate = estimates(table, rule)
    values = drawn_values(table, estimate, metric, draws_of(len(table)))
    c = confusion(table.truth, estimate, len(table.classes))
    return {
        "value": METRICS[metric](c),
        "expected": values.mean(),
        "interval": spread(values),
        "confusion": (c * len(table)).tolist(),
    }


def rank(tables, metric, rules):
    """Models of the same rows, drawn alike."""
    rows = sum(len(table) for table in tables)
    values = [drawn_values(t, estimates(t, r), metric, draws_of(rows)) for t, r in zip(tables, rules)]
    liking = np.array(values) * (-1.0 if metric in COSTS else 1.0)
    top = liking.max(axis=0)
    best = (liking == top) / (liking == top).sum(axis=0)
    ahead = (liking[:, None, :] < liking[None, :, :]) + 0.5 * (liking[:, None, :] == liking[None, :, :])
    return [
        {
            "probability_best": best[n].mean(),
            "expected_rank": 0.5 + ahead[n].sum(axis=0).mean(),
            "expected_regret": (top - liking[n]).mean(),
            "value": METRICS[metric](confusion(t.truth, estimates(t, r), len(t.classes))),
        }
        for n, (t, r) in enumerate(zip(tables, rules))
    ]


def threshold(table, metric, bayes):
    """The best of all thresholds, what Bayes' comes to, the interval and what the best gains on rows left out."""
    p, truth = table.p[:, 1], table.truth
    order = np.lexsort((truth, table.group, -p))
    p, truth = p[order], truth[order]
    ends = np.flatnonzero(np.append(p[:-1] != p[1:], True)) + 1
    sign = -1.0 if metric in COSTS else 1.0

    def sweep(weights):
        accepted = np.array([np.append(0.0, np.cumsum(weights * (truth == y))[ends - 1]) for y in (0, 1)])
        totals = accepted[:, -1]
        values = [value(totals, accepted[:, n]) for n in range(accepted.shape[1])]
        n = int(np.argmax([sign * v for v in values]))
        low, high = (p[ends[n - 1] - 1] if n else None), (p[ends[n]-1] if n < len(ends) else None)
        at = np.nextafter(high, 2) if low is None else low if high is None else high + 0.5 * (low - high)
        return values[n], at

    def value(totals, accepted):
        c = np.array([[totals[0] - accepted[0], accepted[0]], [totals[1] - accepted[1], accepted[1]]]) / totals.sum()
        return METRICS[metric](c)

    def at(cut, weights):
        inside = p >= cut
        of = lambda which: np.array([(weights * which * (truth == y)).sum() for y in (0, 1)])
        return value(of(np.ones(len(p))), of(inside))

    ones = np.ones(len(p))
    best, cut = sweep(ones)
    cuts, gains = [], []
    draws = min(max(50_000_000 // len(p), 50), 200)
    for draw in range(draws):
        taken = times(1, draw, len(p))
        cuts.append(sweep(taken)[1])
        left = (taken == 0).astype(float)
        gains.append(sign * (at(cuts[-1], left) - at(bayes, left)))
    return {
        "best": best,
        "threshold": cut,
        "bayes_value": at(bayes, ones),
        "interval": spread(cuts),
        "gain": spread(gains),
        "better": float((np.array(gains) > 0).mean()),
    }


class Checks:
    def __init__(self):
        self.count, self.far = 0, 0.0

    def __call__(self, what, found, expected):
        pairs = [(found, expected)]
        if isinstance(expected, dict):
            pairs = [(found[key], expected[key]) for key in expected]
        for a, b in pairs:
            a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
            distance = float(np.max(np.abs(a - b))) if a.shape == b.shape else math.inf
            self.count += 1
            self.far = max(self.far, distance)
            if not distance <= 1e-9:
                sys.exit(f"{what}: the command says {a.tolist()}, NumPy {b.tolist()}")


def run(command, *words, cwd=None):
    done = subprocess.run([command, *map(str, words), "--json"], capture_output=True, text=True, cwd=cwd)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


TWO_CLASSES = [("7:1", 1 / 8), ("accuracy", 0.5), ("error_rate", 0.5), ("f1", 0.3), ("mcc", 0.4), ("q_mean", 0.5)]
MANY = ["accuracy", "balanced_accuracy", "g_mean", "mcc", "q_mean"]
LINEAR = [("7:1", 1 / 8), ("accuracy", 0.5), ("error_rate", 0.5)]


def expectations(table):
    """What NumPy finds on a table, with the words that ask the command for it."""
    file = pathlib.Path(table.path).name
    asked = []
    if len(table.classes) == 2:
        for metric, cut in TWO_CLASSES:
            asked.append((["score", file, "--metric", metric, "--threshold", cut, "--no-group"], score(table, metric, cut)))
        for metric, cut in LINEAR:
            words = ["threshold", file, "--metric", metric, "--no-svg", "--no-group"]
            ungrouped = Table(table.path)
            ungrouped.group[:] = 0
            asked.append((words, threshold(ungrouped, metric, cut)))
    else:
        for metric in MANY:
            words = ["score", file, "--metric", metric, "--threshold", "most-likely"]
            asked.append((words, score(table, metric, "most-likely")))
    return asked


def compare(check, words, expected, found):
    what = " ".join(map(str, words))
    if words[0] == "score":
        model = found["models"][0]
        for key in ("value", "expected", "interval", "confusion"):
            check(f"{what}: {key}", model[key], expected[key])
        return
    check(what, found["best"]["value"], expected["best"])
    check(what, found["best"]["cut"]["threshold"], expected["threshold"])
    check(what, found["bayes_value"], expected["bayes_value"])
    check(what, found["uncertain"]["interval"], expected["interval"])
    check(what, found["gain"]["interval"], expected["gain"])
    check(what, found["gain"]["better"], expected["better"])


def rank_twins(table, place):
    """The table, and the same rows with flatter probabilities: two models."""
    twin = pathlib.Path(place) / f"flat_{pathlib.Path(table.path).name.removesuffix('.gz')}"
    with open(twin, "w") as file:
        names = [f"p_{name}" for name in table.classes]
        file.write(",".join(["truth", *names]) + "\n")
        for row, p in zip(table.rows, np.round(np.sqrt(table.p) / np.sqrt(table.p).sum(axis=1, keepdims=True), 6)):
            p[-1] = 1.0 - p[:-1].sum()
            file.write(",".join([row["truth"], *(f"{x:.6f}" for x in p)]) + "\n")
    return Table(twin)


def check_table(check, command, table, place):
    place = pathlib.Path(place)
    local = place / pathlib.Path(table.path).name
    if local.resolve() != pathlib.Path(table.path).resolve():
        local.write_bytes(pathlib.Path(table.path).read_bytes())
    for words, expected in expectations(table):
        compare(check, words, expected, run(command, *words, cwd=place))
    twin = rank_twins(table, place)
    metric, rule, word = ("7:1", 1 / 8, "0.125") if len(table.classes) == 2 else ("accuracy", "most-likely", "most-likely")
    tables = [table, twin]
    found = run(command, "rank", local.name, twin.path.name, "--metric", metric, "--threshold", word, "--no-group", cwd=place)
    for standing in found["ranking"]["standings"]:
        expected = rank(tables, metric, [rule, rule])[standing["index"]]
        check("rank", standing["score"]["value"], expected.pop("value"))
        for key, value in expected.items():
            check(f"rank: {key}", standing[key], value)
    scores = ",".join(f"p_{name}" for name in table.classes)
    words = ["optimize", "--train", local.name, "--validation", local.name, "--test", local.name]
    words += ["--truth", "truth", "--scores", scores, "--metric", "g_mean", "--no-group"]
    found = run(command, *words, cwd=place)
    applied = run(command, "apply", local.name, cwd=place)["predictions"]
    estimate = np.array([table.classes.index(name) for name in applied])
    for at in ("train", "validation", "test"):
        k = len(table.classes)
        check(f"optimize: {at}", found["value"][at], METRICS["g_mean"](confusion(table.truth, estimate, k)))
        before = METRICS["g_mean"](confusion(table.truth, table.p.argmax(axis=1), k))
        check(f"optimize, before: {at}", found["before"][at], before)


def train_default(data, place):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = np.genfromtxt(gzip.open(pathlib.Path(data) / "credit_default.csv.gz", "rt"), delimiter=",", skip_header=1)
    order = np.random.default_rng(5).permutation(len(rows))
    train, test = rows[order[:15000]], rows[order[15000:19000]]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(train[:, :-1], train[:, -1])
    path = pathlib.Path(place) / "default.csv"
    with open(path, "w") as file:
        file.write("truth,p_0,p_1,group\n")
        for row, p in zip(test, model.predict_proba(test[:, :-1])[:, 1]):
            p = round(float(p), 4)
            file.write(f"{int(row[-1])},{1 - p:.4f},{p:.4f},{'male' if row[1] == 1 else 'female'}\n")
    return path


def small(path, place, rows=240):
    """The first rows of a table under a name of its own."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        lines = [next(file) for _ in range(rows + 1)]
    to = pathlib.Path(place) / pathlib.Path(path).name.removesuffix(".gz")
    to.write_text("".join(lines))
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--data")
    parser.add_argument("--write")
    args = parser.parse_args()
    command = str(pathlib.Path(args.command).resolve())
    paths = [HERE / "predictions" / name for name in ("adult_sex.csv.gz", "wine.csv.gz")]
    with tempfile.TemporaryDirectory() as place:
        if args.data:
            paths.append(train_default(args.data, place))
        if args.write:
            for path in paths:
                table = Table(small(path, args.write))
                plain = lambda value: value.tolist() if hasattr(value, "tolist") else str(value)
                asked = [{"words": list(map(str, words)), "expected": expected} for words, expected in expectations(table)]
                to = pathlib.Path(args.write) / (pathlib.Path(table.path).stem + ".json")
                to.write_text(json.dumps(asked, default=plain, indent=1) + "\n")
            return
        for path in paths:
            check = Checks()
            check_table(check, command, Table(path), place)
            print(f"{pathlib.Path(path).name}: {check.count} numbers, at most {check.far:.1e} apart")


main()
