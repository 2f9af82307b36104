#!/usr/bin/env python3
"""Times the confusion pass of NumPy, Polars and Equipoise for the same work, in one run.

    cargo build --release -p equipoise-data --example pass
    python3 experiments/bench_pass.py [ROWS] [--binary target/release/examples/pass]

The work: for every row the class with the largest weighted sum of three probabilities, then how often each class is
taken for each class. Needs numpy and polars. Prints milliseconds, best of three, and ratios.
"""

import argparse
import pathlib
import re
import subprocess
import time

import numpy as np
import polars as pl


def best(work, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def generate(rows):
    random = np.random.default_rng(7)
    parts = random.exponential(size=(3, rows))
    columns = parts / parts.sum(axis=0)
    drawn = random.random(rows)
    truth = (drawn > columns[0]).astype(np.uint8) + (drawn > columns[0] + columns[1]).astype(np.uint8)
    return truth, [np.ascontiguousarray(column) for column in columns]


def with_columns(truth, columns, rewards):
    """Class by class: no intermediate matrix, comparisons instead of argmax."""
    p, q, r = columns
    a, b, c = (rewards[0, j] * p + rewards[1, j] * q + rewards[2, j] * r for j in range(3))
    estimate = (b > a).astype(np.uint8)
    estimate[c > np.maximum(a, b)] = 2
    return np.bincount(3 * truth + estimate, minlength=9)


def with_matrix(truth, matrix, rewards):
    """The short way: a matrix product and argmax."""
    return np.bincount(3 * truth + (matrix @ rewards).argmax(axis=1), minlength=9)


def with_polars(frame, rewards):
    def score(j):
        return sum(float(rewards[i, j]) * pl.col(f"p{i}") for i in range(3))

    best_of_two = pl.max_horizontal(score(0), score(1))
    estimate = pl.when(score(2) > best_of_two).then(2).when(score(1) > score(0)).then(1).otherwise(0)
    counts = frame.lazy().group_by("y", estimate.alias("estimate")).len().collect()
    return counts.sort("y", "estimate")["len"].to_numpy()


def ours(binary, rows):
    output = subprocess.run([binary, str(rows), "3"], check=True, capture_output=True, text=True).stdout
    print(output)
    return {int(rules): float(ms) for rules, ms in re.findall(r"^\s*(\d+) rules\s+([\d.]+) ms", output, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="?", type=int, default=10_000_000)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--binary", default=root / "target/release/examples/pass")
    arguments = parser.parse_args()

    truth, columns = generate(arguments.rows)
    matrix = np.ascontiguousarray(np.stack(columns, axis=1))
    frame = pl.DataFrame({"y": truth, **{f"p{i}": column for i, column in enumerate(columns)}})
    random = np.random.default_rng(11)
    rewards = random.random((3, 3))
    counts = with_columns(truth, columns, rewards)
    assert (counts == with_matrix(truth, matrix, rewards)).all()
    assert (counts[counts > 0] == with_polars(frame, rewards)).all()

    equipoise = ours(arguments.binary, arguments.rows)
    others = {
        "NumPy, columns": best(lambda: with_columns(truth, columns, rewards)),
        "NumPy, matrix": best(lambda: with_matrix(truth, matrix, rewards)),
        "Polars": best(lambda: with_polars(frame, rewards)),
    }
    print(f"{'Equipoise, 1 rule':20} {equipoise[1]:9.1f} ms")
    for name, ms in others.items():
        print(f"{name + ', 1 rule':20} {ms:9.1f} ms   {ms / equipoise[1]:6.1f} x Equipoise")
    batch = [random.random((3, 3)) for _ in range(64)]
    ms = best(lambda: [with_columns(truth, columns, rewards) for rewards in batch], repeats=1)
    print(f"{'Equipoise, 64 rules':20} {equipoise[64]:9.1f} ms")
    print(f"{'NumPy, 64 rules':20} {ms:9.1f} ms   {ms / equipoise[64]:6.1f} x Equipoise")


if __name__ == "__main__":
    main()
