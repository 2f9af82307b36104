#!/usr/bin/env python3
"""From predictions to a metric, and from the metric to a model, on the files in this directory.

    python experiments/elicit.py [--ratios 1 4 9] [--seeds 1 2 3]

For every table of two classes in `predictions`, experts who hold a cost ratio are asked about the classifiers the table allows;
printed are the questions, the ratio that was found and the threshold it wants. For a pool of classifiers in `pools`, an
expert who holds costs of all mistakes is asked, and the pool is ranked by what was found. Needs numpy and polars beside the
package; nothing is downloaded.
"""

import argparse
import pathlib

import numpy as np
import polars as pl
from equipoise import Metric, Space, best_threshold, elicit, kendall_tau, simulated_expert

HERE = pathlib.Path(__file__).resolve().parent


def tables(ratios, seeds):
    print(f"{'predictions':<12} {'held':>5} {'found':>7} {'95 % interval':>15} {'questions':>10} {'threshold':>10}")
    for path in sorted((HERE / "predictions").glob("*.csv*")):
        rows = pl.read_csv(path)
        if "score" not in rows.columns:
            continue
        space = Space.from_predictions(rows["truth"], rows["score"])
        for ratio in ratios:
            for seed in seeds:
                # People err more the closer two classifiers are.
                noise = {"kind": "logistic", "slope": 300}
                expert = simulated_expert(Metric.named(f"{ratio:g}:1"), noise, random_state=seed)
                outcome = elicit(space, expert)
                low, high, _ = outcome.metric.cost_ratio_interval
                ends = f"{low:.2f} to " + ("?" if high is None else f"{high:.2f}")
                advice = best_threshold(rows["truth"], rows["score"], metric=outcome.metric, draws=20)
                print(
                    f"{path.name.split('.')[0]:<12} {ratio:>5g} {outcome.metric.cost_ratio:>7.2f} {ends:>15} "
                    f"{outcome.questions:>10} {advice.threshold:>10.3f}"
                )


def pool(name, seeds):
    """A metric of all kinds of mistakes from comparisons; how it orders a pool that was not asked about."""
    counts = pl.read_csv(HERE / "pools" / f"{name}.csv")
    classes = counts["truth"].unique().sort().to_list()
    k = len(classes)
    order = ["model", "truth", "estimate"]
    cells = counts.group_by(order).agg(pl.col("count").sum()).sort(order)
    matrices = cells["count"].to_numpy().astype(float).reshape(-1, k, k)
    shared = {"format": 1, "kind": "linear", "measure": "off_diagonal_rates", "sense": "cost", "classes": classes}
    space = Space.from_document({"kind": "sphere", "measure": "off_diagonal_rates", "classes": k, "radius": 0.2})
    print(f"\n{name}: {len(matrices)} classifiers of {k} classes")
    for seed in seeds:
        weights = np.random.default_rng(seed).dirichlet(np.ones(k * k - k))
        hidden = Metric({**shared, "weights": weights.tolist()})
        outcome = elicit(space, simulated_expert(hidden), tolerance=0.05, seed=seed)
        held, found = ([metric.value(matrix) for matrix in matrices] for metric in (hidden, outcome.metric))
        angle = outcome.metric.difference(hidden)["angle"]
        print(
            f"  {outcome.questions} questions, weights {angle:.3f} rad from the expert's, "
            f"Kendall's tau of the two orders {kendall_tau(held, found):.3f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratios", type=float, nargs="+", default=[1.0, 4.0, 9.0], help="false alarms per missed case")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--pool", default="wine", help="a file of pools, without .csv")
    args = parser.parse_args()
    tables(args.ratios, args.seeds)
    pool(args.pool, args.seeds)


if __name__ == "__main__":
    main()
