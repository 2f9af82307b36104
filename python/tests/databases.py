"""Databases with real tables in them, for tests and benchmarks. What is not installed is skipped by its name."""

import contextlib
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

TYPES = {"i": "BIGINT", "f": "DOUBLE PRECISION", "b": "BOOLEAN"}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def created(table, columns):
    kinds = ", ".join(f"{quoted(name)} {TYPES.get(values.dtype.kind, 'TEXT')}" for name, values in columns.items())
    return f"CREATE TABLE {quoted(table)} ({kinds})"


def rows(columns):
    return list(zip(*(values.tolist() for values in columns.values()), strict=True))


def need(module):
    if find_spec(module.split(".")[0]) is None:
        pytest.skip(f"{module} is not installed")


def sqlite(table, columns):
    connection = sqlite3.connect(":memory:")
    connection.execute(created(table, columns))
    connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * len(columns))})", rows(columns))
    return connection


def duckdb(table, columns):
    need("duckdb")
    need("pyarrow")
    import duckdb
    import pyarrow

    connection = duckdb.connect()
    connection.register("given", pyarrow.table(columns))
    connection.execute(f"CREATE TABLE {quoted(table)} AS SELECT * FROM given")
    connection.unregister("given")
    return connection


def duckdb_file(place, tables):
    """A file of DuckDB with tables by their names, in a format that older libraries read, too."""
    need("duckdb")
    need("pyarrow")
    import duckdb
    import pyarrow

    with contextlib.closing(duckdb.connect()) as connection:
        connection.execute(f"ATTACH '{place}' AS place (STORAGE_VERSION 'v1.2.0')")
        for name, columns in tables.items():
            connection.register("given", pyarrow.table(columns))
            connection.execute(f"CREATE TABLE place.{quoted(name)} AS SELECT * FROM given")
            connection.unregister("given")
        connection.execute("DETACH place")


class Postgres:
    """A server of its own on loopback, in a folder that goes with it."""

    def __init__(self):
        need("psycopg")
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        if not found:
            pytest.skip("postgresql is not installed")
        self.programs = found[-1].parent
        self.folder = Path(tempfile.mkdtemp(prefix="equipoise-postgres-"))
        self.user = None
        if os.getuid() == 0:
            # The server refuses to be run by root.
            self.user = "postgres"
            shutil.chown(self.folder, pwd.getpwnam(self.user).pw_name)
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        data = str(self.folder / "data")
        self.call("initdb", "-D", data, "-U", "equipoise", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off"
        options += " -c jit=off -c statement_timeout=60s -c lock_timeout=10s"
        self.call("pg_ctl", "-D", data, "-l", str(self.folder / "log"), "-w", "-o", options, "start")
        self.count = 0

    def url(self, database):
        return f"postgresql://equipoise@127.0.0.1:{self.port}/{database}"

    def call(self, program, *arguments):
        command = [str(self.programs / program), *arguments]
        if self.user is not None:
            command = ["runuser", "-u", self.user, "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder, timeout=60)

    def stop(self):
        self.call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def loaded(self, table, columns):
        """A connection to a database of its own, so that nobody waits for what others have not ended."""
        import psycopg

        self.count += 1
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE d{self.count}")
        connection = psycopg.connect(self.url(f"d{self.count}"))
        connection.execute(created(table, columns))
        with connection.cursor() as cursor, cursor.copy(f"COPY {quoted(table)} FROM STDIN") as copy:
            for row in rows(columns):
                copy.write_row(row)
        connection.commit()
        return connection


class Places:
    """Every place that rows can be in; ``space`` puts them there and asks."""

    def __init__(self):
        self._postgres = None
        self._spark = None
        self._open = []

    def postgres(self):
        if self._postgres is None:
            self._postgres = Postgres()
        return self._postgres

    def close(self):
        for connection in self._open:
            connection.close()
        if self._postgres is not None:
            self._postgres.stop()
        if self._spark is not None:
            self._spark.stop()

    def _kept(self, connection):
        self._open.append(connection)
        return connection

    def space(self, place, columns, table="predictions", **options):
        # Whoever wants a database for the command alone needs no package.
        from equipoise import Space

        match place:
            case "sqlite3":
                return Space.from_sql(self._kept(sqlite(table, columns)), table=table, **options)
            case "duckdb":
                return Space.from_sql(self._kept(duckdb(table, columns)), table=table, **options)
            case "postgresql":
                return Space.from_sql(self._kept(self.postgres().loaded(table, columns)), table=table, **options)
            case "adbc":
                need("adbc_driver_postgresql")
                need("pyarrow")
                from adbc_driver_postgresql import dbapi

                server = self.postgres()
                server.loaded(table, columns).close()
                return Space.from_sql(self._kept(dbapi.connect(server.url(f"d{server.count}"))), table=table, **options)
            case "ibis":
                need("ibis")
                need("pyarrow")
                import ibis

                backend = ibis.sqlite.from_connection(self._kept(sqlite(table, columns)))
                return Space.from_ibis(backend.table(table), **options)
            case "polars":
                need("polars")
                import polars as pl

                return Space.from_lazy(pl.LazyFrame(columns), **options)
            case "spark":
                need("pyspark")
                need("pandas")
                if shutil.which("java") is None:
                    pytest.skip("a Java runtime is not installed")
                return Space.from_spark(self.spark().createDataFrame(rows(columns), list(columns)), **options)
        raise ValueError(place)

    def spark(self):
        if self._spark is None:
            from pyspark.sql import SparkSession

            builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
            builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.bindAddress", "127.0.0.1")
            self._spark = builder.getOrCreate()
            self._spark.sparkContext.setLogLevel("ERROR")
        return self._spark


PLACES = ["sqlite3", "duckdb", "postgresql", "adbc", "ibis", "polars", "spark"]
