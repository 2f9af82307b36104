#!/usr/bin/env python3
"""The same table in memory, streamed, on a cluster, in an object store and in databases: the same output, and what each costs.

    bench_places.py EQUIPOISE [ROWS] [DATABASE_ROWS]     10,000,000 and 1,000,000 rows without a word

EQUIPOISE is a command with the features cluster, object-store and adbc. Writes ROWS rows of two classes and of three (four groups, 8 files of
Parquet each) into a scratch folder and runs commands on them in every place, each in a process of its own. What is printed must be the
same, byte for byte, as from memory; with weights, every number to 12 digits. As many rows of two classes are loaded into DuckDB, and DATABASE_ROWS into SQLite and a PostgreSQL of
its own, whose thresholds must be the same, and the values of `score`, with weights to 12 digits; its intervals are not, since rows
have no numbers in a database. Places that are not installed here are skipped by name. Prints seconds on the clock, of processors (of the command and,
on a cluster, of the executors) and the most memory of the command. Deletes everything. Needs NumPy and pyarrow.
"""

import contextlib
import json
import os
import pathlib
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/tests"))
import test_stores  # noqa: E402
from databases import Postgres, created, duckdb_file  # noqa: E402

FILES = 8
#: Rows beyond which only what takes a few passes is run.
MANY = 1_000_000
LINES = {
    "two": [
        ["inspect", "two", "--no-svg"],
        ["threshold", "two", "--metric", "6:1", "--no-svg"],
        ["score", "two", "--metric", "f1", "--draws", "50"],
    ],
    "three": [
        ["score", "three", "--metric", "accuracy", "--draws", "50"],
        ["inspect", "three", "--no-svg"],
    ],
}


#: Every number of these is compared to 12 digits.
WEIGHTED = [
    ["score", "two", "--metric", "f1", "--draws", "50", "--json", "--weight", "heavy"],
    ["score", "three", "--metric", "accuracy", "--draws", "50", "--json", "--weight", "heavy"],
    ["threshold", "two", "--metric", "6:1", "--no-svg", "--json", "--weight", "heavy"],
]


def table(rows, classes, seed):
    random = np.random.default_rng(seed)
    sizes = random.random((rows, classes))
    truth = random.integers(0, classes, rows)
    sizes[np.arange(rows), truth] += 0.6
    p = np.round(sizes / sizes.sum(axis=1, keepdims=True), 4)
    group = random.choice(["a", "b", "c", "d"], rows)
    columns = {"y": truth.astype(np.int64), "group": group, "heavy": random.integers(1, 5, rows) / 7.0}
    if classes == 2:
        return {**columns, "score": p[:, 1]}
    p[:, 0] = 1 - p[:, 1:].sum(axis=1)
    return {**columns, **{f"p_{n}": p[:, n] for n in range(classes)}}


def write(folder, rows, classes):
    folder.mkdir()
    for file in range(FILES):
        columns = table(rows * (file + 1) // FILES - rows * file // FILES, classes, seed=10 * classes + file)
        columns["group"] = pyarrow.array(columns["group"]).dictionary_encode()
        pyarrow.parquet.write_table(
            pyarrow.table(columns), folder / f"part-{file}.parquet", row_group_size=125_000, compression="zstd"
        )
    return sum(file.stat().st_size for file in folder.iterdir())


def processors(process):
    """Seconds of processors that a running process has taken."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most_memory(process):
    """The most kilobytes that a process has had; nothing once it has ended."""
    with contextlib.suppress(OSError, ValueError):
        text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")), 0)
    return 0


def without_names(printed):
    """The same whatever the table is called, which columns are as wide as."""
    named = printed.replace("s3://bucket/deep/parts", "T").replace("own.parquet", "T")
    return re.sub(r"[ ─]+", " ", re.sub(r"\b(two|parts|own)\b", "T", named))


def apart(one, other, path=""):
    """How far the numbers of two documents are from each other, at most; what is no number must be the same, but for notes on how
    rows were read."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((apart(one[key], other[key], f"{path}.{key}") for key in one if key != "notes"), default=0.0)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max((apart(a, b, f"{path}[{n}]") for n, (a, b) in enumerate(zip(one, other, strict=True))), default=0.0)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) / max(abs(one), abs(other), 1e-300)
    if one != other:
        sys.exit(f"{path}: {other} instead of {one}")
    return 0.0


class Bench:
    def __init__(self, program, place):
        self.program, self.place = program, place

    def run(self, where, line, more=(), environment=None, helpers=()):
        """What is printed; the costs are shown."""
        before, start = sum(map(processors, helpers)), time.perf_counter()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [self.program, *line, *more]
        with open(self.place / "out", "w+") as out:
            surroundings = {**os.environ, **(environment or {})}
            with open(self.place / "err", "w") as err:
                child = subprocess.Popen(command, cwd=self.place, stdout=out, stderr=err, env=surroundings)
            peak = 0
            while child.poll() is None:
                # Not of the resources that a process has used: these begin with those of the one that started it.
                peak = max(peak, most_memory(child))
                time.sleep(0.02)
            said = (self.place / "err").read_text()
            out.seek(0)
            printed = out.read()
        if child.returncode not in (0, 1):
            sys.exit(f"{where}: {' '.join(line)} failed: {said}")
        clock = time.perf_counter() - start
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = ended.ru_utime + ended.ru_stime - used.ru_utime - used.ru_stime
        others = sum(map(processors, helpers)) - before
        shared = f" + {others:6.1f}" if helpers else " " * 9
        print(f"{where:22} {' '.join(line[:2]):16} {clock:7.1f} s, {own:6.1f}{shared} s of processors, "
              f"{peak / 1024:6,.0f} MB", flush=True)
        return printed

    def same(self, where, line, expected, **how):
        # A place has a name of its own for the table.
        found = self.run(where, line, **how)
        if found != expected:
            sys.exit(f"{where}: {' '.join(line)} prints something else than memory:\n{expected}\n---\n{found}")


    def close(self, where, expected, **how):
        """With weights, numbers to 12 digits."""
        for line, document in expected:
            distance = apart(document, json.loads(self.run(f"{where}, weighted", line, **how)))
            print(f"{where}: {' '.join(line[:2])} with weights {distance:.0e} apart")
            if distance > 1e-12:
                sys.exit(f"{where}: {' '.join(line)} is {distance:.1e} from memory")


def part(program, place, *arguments):
    """A scheduler or an executor, and its address."""
    process = subprocess.Popen(
        [program, "cluster", *arguments], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return process, process.stdout.readline().split()[-1]


def on_clusters(bench, expected, weighted):
    scheduler, address = part(bench.program, bench.place, "scheduler", "--listen", "127.0.0.1:0")
    started = [scheduler]
    try:
        for executors in (1, 2):
            started.append(part(bench.program, bench.place, "executor", address, "--tasks", "1")[0])
            for line, printed in expected:
                how = {"more": ["--cluster", address], "helpers": started[1:]}
                bench.same(f"cluster, {executors} executor{'s'[executors == 1:]}", line, printed, **how)
            bench.close(f"cluster of {executors}", weighted, more=["--cluster", address], helpers=started[1:])
    finally:
        for process in started:
            process.kill()
            process.wait()


def in_store(bench, expected):
    from types import SimpleNamespace

    parts = SimpleNamespace(iterdir=lambda: (bench.place / "two").iterdir())
    files = type("Files", (), {"__truediv__": lambda self, name: parts})()
    served = test_stores.store.__wrapped__(files)
    environment = next(served)
    try:
        for line, printed in expected:
            if line[1] == "two":
                there = [line[0], "s3://bucket/deep/parts", *line[2:]]
                found = bench.run("object store", there, environment=environment)
                if without_names(found) != without_names(printed):
                    sys.exit(f"object store: {' '.join(line)} prints something else than memory:\n{printed}\n---\n{found}")
    finally:
        served.close()


def duckdb_library(place):
    """DuckDB's own library, which is a driver: $DUCKDB_LIBRARY, or the one that its package for Node.js has."""
    if "DUCKDB_LIBRARY" in os.environ:
        return os.environ["DUCKDB_LIBRARY"]
    package = "@duckdb/node-bindings-linux-x64"
    try:
        packed = subprocess.run(["npm", "pack", "--silent", package], cwd=place, check=True, capture_output=True, text=True)
        subprocess.run(["tar", "xzf", packed.stdout.split()[-1]], cwd=place, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"{package} could not be fetched ({error})")
    return str(place / "package/libduckdb.so")


def loaded(kind, columns, place, stack):
    """The options that lead to a database of this kind with the rows in its table `two`."""
    arrow = pyarrow.table(columns)
    if kind == "SQLite":
        file = place / "two.sqlite"
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute(created("two", columns))
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO two VALUES ({marks})", zip(*(c.to_pylist() for c in arrow), strict=True))
            connection.commit()
        return ["--adbc", test_stores.library("adbc_driver_sqlite"), "--uri", str(file)]
    if kind == "DuckDB":
        file = place / "two.duckdb"
        duckdb_file(file, {"two": columns})
        return ["--adbc", duckdb_library(place), "--uri", str(file)]
    server = Postgres()
    stack.callback(server.stop)
    server.loaded("two", columns).close()
    return ["--adbc", test_stores.library("adbc_driver_postgresql"), "--uri", server.url(f"d{server.count}")]


def in_databases(bench, kinds, rows):
    """Thresholds print the same; of what draws at random, everything else is the same."""
    columns = table(rows, 2, seed=99)
    pyarrow.parquet.write_table(pyarrow.table(columns), bench.place / "own.parquet")
    line = ["threshold", "own.parquet", "--metric", "6:1", "--no-svg"]
    rule = bench.run(f"memory, {rows:,} rows", line)
    score = ["score", "own.parquet", "--metric", "f1", "--draws", "50", "--json"]
    value = json.loads(bench.run("memory", score))["models"][0]["value"]
    weighted = json.loads(bench.run("memory, weighted", [*score, "--weight", "heavy"]))["models"][0]["value"]
    for kind in kinds:
        with contextlib.ExitStack() as stack:
            try:
                there = loaded(kind, columns, bench.place, stack)
            except (pytest.skip.Exception, ImportError) as missing:
                print(f"skipped: {kind}, {missing}")
                continue
            found = bench.run(kind, [line[0], "two", *line[2:]], there)
            if without_names(found) != without_names(rule):
                sys.exit(f"{kind} prints something else than memory:\n{rule}\n---\n{found}")
            other = json.loads(bench.run(kind, [score[0], "two", *score[2:]], there))["models"][0]["value"]
            if other != value:
                sys.exit(f"{kind}: {other} instead of {value}")
            line_there = [score[0], "two", *score[2:], "--weight", "heavy"]
            other = json.loads(bench.run(f"{kind}, weighted", line_there, there))["models"][0]["value"]
            apart = abs(other / weighted - 1)
            print(f"{kind}: {rows:,} rows have the threshold and the value of memory; with weights {apart:.0e} apart")
            if apart > 1e-12:
                sys.exit(f"{kind}: {other} instead of {weighted}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    in_database = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    test_stores.BINARY = program
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(program, pathlib.Path(place))
        for classes, name in ((2, "two"), (3, "three")):
            size = write(bench.place / name, rows, classes)
            print(f"{name}: {rows:,} rows of {classes} classes, {size / 1e6:,.0f} MB of Parquet, {size / rows:.1f} bytes a row")
        # With more than two classes `inspect` makes more than a hundred passes.
        lines = [line for some in LINES.values() for line in some if rows <= MANY or line[:2] != ["inspect", "three"]]
        expected = [(line, bench.run("memory", line)) for line in lines]
        for line, printed in expected:
            bench.same("streamed", line, printed, more=["--stream"])
        weighted = [(line, json.loads(bench.run("memory, weighted", line))) for line in WEIGHTED]
        bench.close("streamed", weighted, more=["--stream"])
        on_clusters(bench, expected, weighted)
        try:
            in_store(bench, expected)
        except pytest.skip.Exception as missing:
            print(f"skipped: object store, {missing}")
        in_databases(bench, ["DuckDB"], rows)
        in_databases(bench, ["SQLite", "PostgreSQL"], in_database)
        print("the same output everywhere")


if __name__ == "__main__":
    main()
