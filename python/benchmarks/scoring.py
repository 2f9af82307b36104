"""How long it takes to score ten million rows, beside scikit-learn's confusion matrix and NumPy, in one run.

python python/benchmarks/scoring.py [rows]

Exits with 1 unless columns that need no copy are scored at least 20 times as fast. Needs a package built for release:
`pip install .` at the root of the repository, with scikit-learn, pandas, polars and pyarrow.
"""

import sys
import time

import numpy as np

from equipoise import Metric, elicited_score

WANTED = 20


def fastest(function, times):
    """The shortest of several runs, in seconds, and what came out."""
    best, value = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        value = function()
        best = min(best, time.perf_counter() - start)
    return best, value


def kinds(truth, estimate):
    """Both columns in every library's clothes, and whether they are read where they lie."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = (truth, estimate)
    yield "NumPy int64", columns, True
    yield "NumPy uint8", [c.astype(np.uint8) for c in columns], True
    yield "NumPy bool", [c.astype(bool) for c in columns], True
    yield "Arrow", [pa.array(c) for c in columns], True
    yield "Arrow, 4 chunks", [pa.chunked_array(np.array_split(c, 4)) for c in columns], True
    yield "Arrow, 153 chunks", [pa.chunked_array(np.array_split(c, 153)) for c in columns], True
    yield "pandas", [pd.Series(c) for c in columns], True
    yield "Polars", [pl.Series(c) for c in columns], True
    yield "Polars, 4 chunks", [pl.concat([pl.Series(p) for p in np.array_split(c, 4)], rechunk=False) for c in columns], True
    # Arrow packs eight booleans into a byte.
    yield "Arrow bool", [pa.array(c.astype(bool)) for c in columns], False


def main(rows):
    from sklearn.metrics import confusion_matrix

    random = np.random.default_rng(0)
    truth = random.integers(0, 2, rows)
    estimate = np.where(random.random(rows) < 0.1, 1 - truth, truth)
    metric = Metric.named("7:1")

    def theirs(y_true, y_pred):
        (tn, fp), (fn, tp) = confusion_matrix(y_true, y_pred) / rows
        return 7.0 * tp + tn

    print(f"{rows:,} rows; milliseconds, the fastest of several runs")
    print(f"{'columns':<20} {'scikit-learn':>13} {'equipoise':>10} {'times as fast':>14}")
    slow, expected = fastest(lambda: theirs(truth, estimate), 3)
    missed = []
    for name, (y_true, y_pred), uncopied in kinds(truth, estimate):
        quick, value = fastest(lambda: elicited_score(y_true, y_pred, metric=metric), 7)  # noqa: B023
        assert abs(value - expected) < 1e-12, (value, expected)
        # scikit-learn is fastest with NumPy's own integers, so that is what all are compared with.
        print(f"{name:<20} {slow * 1e3:>13.1f} {quick * 1e3:>10.1f} {slow / quick:>14.1f}")
        if uncopied and slow / quick < WANTED:
            missed.append(name)
    if missed:
        print(f"less than {WANTED} times as fast: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000))
