#!/usr/bin/env python3
"""Counts a folder of Parquet that need not fit in memory: peak memory, rows a second, and whether the printed results are the same.

    bench_stream.py EQUIPOISE [ROWS] [DIGITS]     10,000,000 rows and scores of 5 digits without a word; DIGITS 0 rounds nothing

Writes the rows (y, score, group) in files of five million into a scratch folder, runs `inspect` and `threshold` with --stream, each in
a process of its own, and up to 20,000,000 rows also without, whose output must then be the same. Deletes the folder. Needs NumPy and
pyarrow.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow
import pyarrow.parquet

FILE = 5_000_000
#: Rows up to which memory is asked too.
COMPARED = 20_000_000


def write(folder, rows, digits):
    random = np.random.default_rng(1)
    for start in range(0, rows, FILE):
        count = min(FILE, rows - start)
        p = random.beta(0.6, 1.6, count)
        y = (random.random(count) < p).astype(np.int32)
        group = pyarrow.array(np.where(random.random(count) < 0.3, "b", "a")).dictionary_encode()
        score = np.round(p, digits) if digits else p
        table = pyarrow.table({"y": y, "score": score, "group": group})
        name = f"{folder}/part-{start // FILE:04}.parquet"
        pyarrow.parquet.write_table(table, name, row_group_size=500_000, compression="zstd")
    return sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())


def run(command, place):
    """What is printed, seconds on the clock and of processors, and the most memory in MB."""
    start = time.perf_counter()
    with open(f"{place}/out", "w+") as out:
        child = subprocess.Popen(command, cwd=place, stdout=out, stderr=subprocess.PIPE, text=True)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        out.seek(0)
        printed = out.read()
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {code}: {said}")
    return printed, time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    digits = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as place:
        folder = f"{place}/parts"
        os.mkdir(folder)
        size = write(folder, rows, digits)
        print(f"{rows:,} rows in {size / 1e6:,.0f} MB of Parquet, {size / rows:.1f} bytes a row; scores of {digits or 'all'} digits")
        for name in (["inspect", "parts"], ["threshold", "parts", "--metric", "6:1"]):
            command = [program, *name, "--no-svg"]
            printed, seconds, cpu, peak = run([*command, "--stream"], place)
            print(f"{name[0]:10} streamed  {seconds:7.1f} s, {cpu:7.1f} s of processors, {rows / cpu / 1e6:5.2f} million rows a second and core, {peak:6,.0f} MB")
            if rows <= COMPARED:
                expected, seconds, cpu, peak = run(command, place)
                same = "the same output" if printed == expected else "ANOTHER OUTPUT"
                print(f"{name[0]:10} in memory {seconds:7.1f} s, {cpu:7.1f} s of processors, {rows / cpu / 1e6:5.2f} million rows a second and core, {peak:6,.0f} MB; {same}")
                if printed != expected and digits:
                    sys.exit("streamed and in memory differ")


if __name__ == "__main__":
    main()
