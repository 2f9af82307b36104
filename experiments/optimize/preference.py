#!/usr/bin/env python3
"""Adult by a G-mean that only answers comparisons, beside the same G-mean as a number.

    preference.py EQUIPOISE

Half of the stored predictions of adult are validation rows, the other half test rows. Both programs count how often they are
asked. Printed are the G-means on validation and test rows and the calls.
"""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

PROGRAM = """
import json, sys
truth = [int(line.split(",")[0]) for line in open("val.csv").read().splitlines()[1:]]
open("calls", "a").write("x")
def g_mean(rows):
    found, size = [0.0, 0.0], [0.0, 0.0]
    for y, row in zip(truth, rows):
        size[y] += 1
        found[y] += row[y]
    return (found[0] / size[0] * found[1] / size[1]) ** 0.5
rows = [json.loads(line) for line in sys.stdin]
if sys.argv[1] == "number":
    print(g_mean(rows))
else:
    first, second = (g_mean([row[n] for row in rows]) for n in (0, 1))
    print("first" if first > second else "second" if second > first else "equal")
"""


def g_mean(truth, predicted):
    recall = lambda y: sum(a == b == y for a, b in zip(truth, predicted)) / truth.count(y)
    return (recall("0") * recall("1")) ** 0.5


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve())
    with gzip.open(HERE.parent / "predictions" / "adult_sex.csv.gz", "rt") as file:
        header, *rows = list(csv.reader(file))
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        for name, part in (("val.csv", rows[::2]), ("test.csv", rows[1::2])):
            (place / name).write_text("\n".join(",".join(row) for row in [header, *part]) + "\n")
        (place / "program.py").write_text(PROGRAM)
        for option, word in (("--metric-command", "number"), ("--preference-command", "words")):
            (place / "calls").write_text("")
            words = ["optimize", "--train", "val.csv", "--validation", "val.csv", "--truth", "truth", "--scores", "p_0,p_1"]
            words += ["--no-group", option, f"{sys.executable} program.py {word}", "--json"]
            done = subprocess.run([command, *words], cwd=place, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            queries = json.loads(done.stdout)["queries"]
            values = []
            for table, part in (("val.csv", rows[::2]), ("test.csv", rows[1::2])):
                applied = subprocess.run([command, "apply", table, "--json"], cwd=place, capture_output=True, text=True)
                values.append(g_mean([row[0] for row in part], json.loads(applied.stdout)["predictions"]))
            calls = len((place / "calls").read_text())
            print(f"{option:22} G-mean {values[0]:.4f} validation, {values[1]:.4f} test; {calls} calls, {queries} of them by the method")


main()
