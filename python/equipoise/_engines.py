"""Where rows are: databases through DB-API 2 or ADBC, Ibis, Polars and Spark, each sent the same statements.

An engine says what its columns are called, answers a statement with a bounded number of rows, and names the dialect that
statements are written in, of which the core has three.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from . import _checks

#: Roots of modules whose quotes are backticks.
_BACKTICKS = ("MySQLdb", "pymysql", "mysql", "mariadb", "pyspark")


class Engine:
    """Whoever answers statements about one table."""

    #: What stands behind FROM.
    table: str
    #: What the table is called in a message.
    called: str
    #: How statements are written: "standard", "sqlite" or "backticks".
    dialect = "standard"

    def columns(self) -> list[str]:
        """The names of the columns."""
        raise NotImplementedError

    def answer(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        """The rows of an answer, at most so many and one."""
        raise NotImplementedError

    def run(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        """The rows of an answer, which are never more than ``most``: rows of the table itself do not leave it."""
        try:
            rows = self.answer(statement, most)
        except Exception as error:
            raise ValueError(f"{self.called} cannot be counted: {_first_line(error)}") from error
        if len(rows) > most:
            raise ValueError(f"{self.called} answers with more than {most} counts; did it change while it was read?")
        return rows

    def quoted(self, name: str) -> str:
        """A name as the dialect wants it, whatever is in it."""
        if "\0" in name:
            raise ValueError(f"a name is {name!r}, expected one without a NUL")
        mark = "`" if self.dialect == "backticks" else '"'
        return mark + name.replace(mark, 2 * mark) + mark


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _source(engine: Engine, table: Any, query: Any) -> None:
    """What stands behind FROM: a name, a name within a schema, or a statement in parentheses."""
    if (table is None) == (query is None):
        raise TypeError("expected table= or query=, and not both")
    if query is not None:
        text = _checks.instance(query, str, "query").strip().rstrip(";")
        engine.table, engine.called = f"({text}) AS asked", "the query"
        return
    names = [table] if isinstance(table, str) else _checks.words(table, "table")
    if not names:
        raise ValueError("table is empty, expected a name, or a schema and a name")
    engine.table = ".".join(engine.quoted(name) for name in names)
    engine.called = f"table {'.'.join(names)}"


class Database(Engine):
    """A DB-API 2 connection, of ADBC as well."""

    def __init__(self, connection: Any, table: Any, query: Any) -> None:
        if not callable(getattr(connection, "cursor", None)):
            raise TypeError(
                f"connection is a {type(connection).__name__}, expected one of DB-API 2 or ADBC, such as sqlite3, duckdb or psycopg "
                "have; Space.from_ibis, from_lazy and from_spark take frames"
            )
        self._connection = connection
        root = type(connection).__module__.split(".")[0].lstrip("_")
        vendor = ""
        if callable(getattr(connection, "adbc_get_info", None)):
            vendor = str(connection.adbc_get_info().get("vendor_name", "")).lower()
        if root == "sqlite3" or "sqlite" in vendor:
            self.dialect = "sqlite"
        self._is_duckdb = root == "duckdb"
        if root in _BACKTICKS:
            self.dialect = "backticks"
        _source(self, table, query)

    def _cursor(self) -> Any:
        # A cursor of DuckDB is a connection of its own, which does not see what was registered with this one.
        return self._connection if self._is_duckdb else self._connection.cursor()

    def columns(self) -> list[str]:
        cursor = self._cursor()
        try:
            cursor.execute(f"SELECT * FROM {self.table} WHERE 1 = 0")
            return [str(column[0]) for column in cursor.description]
        except Exception as error:
            helps = "" if self.called == "the query" else "; a schema is named as table=('schema', 'name')"
            raise ValueError(f"{self.called} cannot be read: {_first_line(error)}{helps}") from error
        finally:
            self._close(cursor)

    def answer(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        cursor = self._cursor()
        try:
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchmany(most + 1)]
        finally:
            self._close(cursor)

    def _close(self, cursor: Any) -> None:
        if cursor is not self._connection:
            cursor.close()


class Ibis(Engine):
    """A table of Ibis, wherever its backend has it."""

    def __init__(self, table: Any) -> None:
        if not (callable(getattr(table, "alias", None)) and callable(getattr(table, "to_pyarrow", None))):
            raise TypeError(f"table is a {type(table).__name__}, expected a table of Ibis")
        self._name = _unique()
        self._table = table
        # Statements are translated from a dialect that has names in double quotes.
        self.table, self.called = self.quoted(self._name), "the table of Ibis"

    def columns(self) -> list[str]:
        return [str(name) for name in self._table.columns]

    def answer(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        found = self._table.alias(self._name).sql(statement, dialect="postgres").to_pyarrow()
        return _of_arrow(found)


class Lazy(Engine):
    """A lazy frame of Polars, which may be larger than memory."""

    def __init__(self, frame: Any) -> None:
        if type(frame).__name__ != "LazyFrame" or not type(frame).__module__.startswith("polars"):
            helps = "; frame.lazy() makes one" if callable(getattr(frame, "lazy", None)) else ""
            raise TypeError(f"frame is a {type(frame).__name__}, expected a LazyFrame of Polars{helps}")
        self._frame = frame
        self.table, self.called = self.quoted("asked"), "the lazy frame"

    def columns(self) -> list[str]:
        try:
            return list(self._frame.collect_schema().names())
        except Exception as error:
            raise ValueError(f"{self.called} cannot be read: {_first_line(error)}") from error

    def answer(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        import polars as pl

        lazy = pl.SQLContext(asked=self._frame).execute(statement, eager=False)
        return list(lazy.collect(engine="streaming").rows())


class Spark(Engine):
    """A data frame of Spark."""

    dialect = "backticks"

    def __init__(self, frame: Any) -> None:
        if not (callable(getattr(frame, "createOrReplaceTempView", None)) and hasattr(frame, "sparkSession")):
            raise TypeError(f"frame is a {type(frame).__name__}, expected a DataFrame of Spark")
        self._frame = frame
        self._name = _unique()
        self.table, self.called = self.quoted(self._name), "the frame of Spark"

    def columns(self) -> list[str]:
        return list(self._frame.columns)

    def answer(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        session = self._frame.sparkSession
        self._frame.createOrReplaceTempView(self._name)
        try:
            return [tuple(row) for row in session.sql(statement).limit(most + 1).collect()]
        finally:
            session.catalog.dropTempView(self._name)


def _unique() -> str:
    return f"equipoise_{uuid.uuid4().hex}"


def _of_arrow(table: Any) -> list[tuple[Any, ...]]:
    columns: Sequence[list[Any]] = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True))
