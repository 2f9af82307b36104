"""How long it takes to score ten million rows, beside scikit-learn's confusion matrix and NumPy, in one run.

python python/benchmarks/scoring.py [rows]
"""

import subprocess
import sys
import time

import numpy as np

from equipoise import Metric, elicited_score


def fastest(function, times):
    """The shortest of several runs, in seconds, and what came out."""
    best, value = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        value = function()
        best = min(best, time.perf_counter() - start)
    return best, value


def main(rows):
    from sklearn.metrics import confusion_matrix

    random = np.random.default_rng(0)
    truth = random.integers(0, 2, rows)
    estimate = np.where(random.random(rows) < 0.1, 1 - truth, truth)
    metric = Metric.named("7:1")

    def theirs():
        (tn, fp), (fn, tp) = confusion_matrix(truth, estimate) / rows
        return 7.0 * tp + tn

    slow, expected = fastest(theirs, 2)
    print(f"rows                       {rows:>12,}")
    print(f"scikit-learn and NumPy     {slow * 1e3:>9.1f} ms")
    columns = {"NumPy": (truth, estimate), "NumPy, labels=": (truth, estimate)}
    try:
        import pyarrow as pa

        columns["Arrow"] = (pa.array(truth), pa.array(estimate))
        columns["Arrow, 4 chunks"] = tuple(
            pa.chunked_array(np.array_split(column, 4)) for column in (truth, estimate)
        )
    except ImportError:
        print("skipped: pyarrow is not installed")
    for name, (y_true, y_pred) in columns.items():
        labels = [0, 1] if "labels" in name else None
        quick, value = fastest(lambda: elicited_score(y_true, y_pred, metric=metric, labels=labels), 5)  # noqa: B023
        assert abs(value - expected) < 1e-12, (value, expected)
        print(f"equipoise, {name:<15} {quick * 1e3:>9.1f} ms   {slow / quick:>6.1f} times as fast")
    command = [sys.executable, "-X", "importtime", "-c", "import equipoise; equipoise.Metric"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    took = [int(line.split("|")[1]) for line in lines if line.split("|")[-1].strip() in ("equipoise", "equipoise.metric")]
    print(f"import equipoise           {sum(took) / 1e3:>9.1f} ms   (with Metric, and NumPy for it)")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
