"""Counts from databases against rows in memory: python python/benchmarks/sql.py [ROWS] [PLACE...]

Loads the same rows (one million unless said otherwise) into SQLite (sqlite3), DuckDB (duckdb) and a PostgreSQL server of its own
(postgresql), or those that are named, asks each for the score profile, a threshold, questions and a ranking, and compares every number
with that of rows in memory, bit for bit; with weights to 12 digits.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from databases import Places

from equipoise import Space, rank_models

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PLACES = sys.argv[2:] or ["sqlite3", "duckdb", "postgresql"]


def table():
    random = np.random.default_rng(1)
    p = random.random(ROWS)
    y = (random.random(ROWS) < p).astype(np.int64)
    wrong = random.random((2, ROWS)) < [[0.1], [0.12]]
    return {
        "y": y,
        "p": np.round(p, 4),
        "fine": p,
        "g": random.choice(["f", "m"], ROWS),
        "one": np.where(wrong[0], 1 - y, y),
        "other": np.where(wrong[1], 1 - y, y),
        "w": random.integers(1, 5, ROWS) / 7.0,
    }


def asked(make, rank):
    """What everything comes to, and how long it took."""
    start = time.perf_counter()
    space = make()
    counted = time.perf_counter()
    found = [space.summary(), space.document("linear"), space.document("group_fair"), space.best_threshold("6:1", draws=50).document]
    thought = time.perf_counter()
    ranking = rank(space)
    found.append((ranking.standings, ranking.statement))
    return found, (counted - start, thought - counted, time.perf_counter() - thought)


def weighted(space):
    """Numbers that follow from weights."""
    advice = space.best_threshold("6:1", draws=0)
    return [space.prevalence, space.counts(threshold=0.3), advice.measured, advice.measured_value]


def distance(ours, theirs):
    return float(np.max(np.abs(np.asarray(ours) / np.asarray(theirs) - 1)))


rows, models = table(), ["one", "other"]
groups = {"g": rows["g"]}
expected, seconds = asked(
    lambda: Space.from_predictions(rows["y"], rows["p"], sensitive_features=groups),
    lambda _: rank_models(rows["y"], {m: rows[m] for m in models}, metric="6:1", sensitive_features=groups, draws=200),
)
heavy = Space.from_predictions(rows["y"], rows["p"], sensitive_features=groups, sample_weight=rows["w"])
print(f"{ROWS:,} rows, {len(np.unique(rows['p'])):,} different scores; seconds to count, to think, to rank")
print("memory      {:6.2f} {:6.2f} {:6.2f}".format(*seconds))
places, far = Places(), []
try:
    for place in PLACES:
        space = places.space(place, rows, truth="y", scores="p", group="g")
        engine = space._source.engine
        again = {"table": "predictions", "truth": "y", "group": "g"}
        found, seconds = asked(
            lambda: Space.from_sql(engine._connection, scores="p", **again),
            lambda space: space.rank(models, metric="6:1", draws=200),
        )
        assert found == expected, f"{place} has other numbers than memory"
        weighed = Space.from_sql(engine._connection, scores="p", weight="w", **again)
        apart = max(distance(ours, theirs) for ours, theirs in zip(weighted(weighed), weighted(heavy), strict=True))
        if apart > 1e-12:
            far.append(f"{place}: weights come to numbers that differ by {apart:.1e}, expected at most 1e-12")
        start = time.perf_counter()
        fine = Space.from_sql(engine._connection, scores="fine", **again)
        assert fine.summary()["scores"].startswith("counted in 65,536 parts")
        buckets = time.perf_counter() - start
        print(f"{place:11} {seconds[0]:6.2f} {seconds[1]:6.2f} {seconds[2]:6.2f}  the same bits; {buckets:.2f} in buckets; weighted {apart:.0e} apart")
finally:
    places.close()
sys.exit("; ".join(far) or None)
