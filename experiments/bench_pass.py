#!/usr/bin/env python3
"""Times the confusion pass of NumPy, Polars and Equipoise for the same work, in one run.

    cargo build --release -p equipoise-data --example pass
    python3 experiments/bench_pass.py [ROWS] [--binary target/release/examples/pass]

The work: for every row the class with the largest weighted sum of three probabilities, then how often each class is
taken for each class; for one rule, and for 64. Needs numpy and polars. Prints milliseconds, best of three: on the clock,
and spent by all cores together, which is the one to compare on a busy machine; with their ratios to Equipoise.
"""

import argparse
import pathlib
import re
import subprocess
import time

import numpy as np
import polars as pl


def best(work, repeats=3):
    """Milliseconds: (on the clock, spent by all threads of this process)."""
    times = []
    for _ in range(repeats):
        start, cores = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - start, time.process_time() - cores))
    clock, cores = zip(*times)
    return 1e3 * min(clock), 1e3 * min(cores)


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


def query(frame, rewards):
    def score(j):
        return sum(float(rewards[i, j]) * pl.col(f"p{i}") for i in range(3))

    best_of_two = pl.max_horizontal(score(0), score(1))
    estimate = pl.when(score(2) > best_of_two).then(2).when(score(1) > score(0)).then(1).otherwise(0)
    return frame.lazy().group_by("y", estimate.alias("estimate")).len()


def with_polars(frame, rewards):
    return query(frame, rewards).collect().sort("y", "estimate")["len"].to_numpy()


def ours(binary, rows):
    output = subprocess.run([binary, str(rows), "3"], check=True, capture_output=True, text=True).stdout
    print(output)
    found = re.findall(r"^\s*(\d+) rules\s+([\d.]+) ms\s+([\d.]+) cpu ms", output, re.M)
    return {int(rules): (float(clock), float(cores)) for rules, clock, cores in found}


def show(rules, mine, others):
    print(f"{rules:16} {'ms':>10} {'x Equipoise':>12} {'cpu ms':>10} {'x Equipoise':>12}")
    for name, (clock, cores) in {"Equipoise": mine, **others}.items():
        # Where the system does not tell what the cores spent, the example prints 0.
        ratio = f"{cores / mine[1]:12.1f}" if mine[1] > 0 else f"{'-':>12}"
        print(f"{name:16} {clock:10.1f} {clock / mine[0]:12.1f} {cores:10.1f} {ratio}")
    print()


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
    show("1 rule", equipoise[1], others)
    batch = [random.random((3, 3)) for _ in range(64)]
    others = {
        "NumPy, columns": best(lambda: [with_columns(truth, columns, rewards) for rewards in batch], repeats=1),
        # All queries at once, so that Polars may share what they have in common.
        "Polars": best(lambda: pl.collect_all([query(frame, rewards) for rewards in batch]), repeats=1),
    }
    show("64 rules", equipoise[64], others)


if __name__ == "__main__":
    main()
