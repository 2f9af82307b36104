#!/usr/bin/env python3
"""Times the everyday commands on millions of rows, as ratios to `inspect` and to scikit-learn, in one run.

    bench_everyday.py EQUIPOISE [ROWS] [TIMES]    a release build; 5,000,000 rows and 3 times without a word

Makes two tables of predictions of the same rows (y, p, group) with a fresh seed, which it prints, and runs all commands in turn, so
many times; the least time of each is printed, since whatever else the machine does only adds to it. Beside the time on the clock stands
that of processors, whose ratios hold on a machine that is busy with other things too.
scikit-learn, where it is installed, reads the first with pandas and does what comes closest: the thresholds of a ROC curve and an
F-measure with 100 bootstrap draws.
"""

import pathlib
import resource
import secrets
import subprocess
import sys
import tempfile
import time

import numpy as np

COMMANDS = {
    "inspect": "inspect one.csv --no-svg --no-group",
    "threshold": "threshold one.csv --metric 7:1 --no-svg --no-group",
    "threshold per group": "threshold one.csv --metric 7:1 --no-svg --per-group",
    "rank of two": "rank one.csv two.csv --metric 7:1 --no-group",
    "score": "score one.csv --metric 7:1 --no-group",
}


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    seed = secrets.randbits(32)
    random = np.random.default_rng(seed)
    print(f"{rows:,} rows, seed {seed}")
    with tempfile.TemporaryDirectory() as place:
        p = random.beta(0.6, 1.6, rows)
        y = random.random(rows) < p
        group = np.where(random.random(rows) < 0.3, "b", "a")
        for name, noise in (("one.csv", 0.0), ("two.csv", 0.15)):
            logit = np.log(np.clip(p, 1e-9, 1 - 1e-9) / np.clip(1 - p, 1e-9, 1)) + noise * random.standard_normal(rows)
            score = 1 / (1 + np.exp(-logit))
            with open(f"{place}/{name}", "w") as file:
                file.write("y,p,group\n")
                for start in range(0, rows, 100_000):
                    part = slice(start, start + 100_000)
                    lines = zip(y[part].astype(int), score[part], group[part])
                    file.writelines(f"{a},{b:.7f},{c}\n" for a, b, c in lines)
        took = {}
        for name, words in times * list(COMMANDS.items()):
            start = time.perf_counter()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([command, *words.split()], cwd=place, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found = (time.perf_counter() - start, worked)
            took[name] = tuple(map(min, found, took.get(name, found)))
            if done.returncode not in (0, 1):
                sys.exit(done.stderr)
        took.update(scikit_learn(f"{place}/one.csv"))
    reference = took.get("scikit-learn")
    for name, seconds in took.items():
        for what, n in (("clock", 0), ("processors", 1)):
            other = f", {seconds[n] / reference[n]:5.2f} x scikit-learn" if reference else ""
            print(f"{name:20} {what:10} {seconds[n]:7.2f} s, {seconds[n] / took['inspect'][n]:5.2f} x inspect{other}")


def scikit_learn(path):
    try:
        import pandas
        from sklearn.metrics import fbeta_score, roc_curve
    except ImportError:
        print("skipped: scikit-learn and pandas are not installed")
        return {}
    start, worked = time.perf_counter(), time.process_time()
    frame = pandas.read_csv(path)
    y, p = frame["y"].to_numpy(), frame["p"].to_numpy()
    roc_curve(y, p)
    random, predicted = np.random.default_rng(0), p >= 0.125
    for _ in range(100):
        fbeta_score(y, predicted, beta=2, sample_weight=random.poisson(1.0, len(y)))
    return {"scikit-learn": (time.perf_counter() - start, time.process_time() - worked)}


main()
