"""Rows that stay where they are, known by their counts.

Every statement is an aggregate: totals by class and group, rows by score, counts of rules and of the labels of models; their text
is the core's, the same as that of the command. After every statement the counts are added up, and must be as many as there are rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _inputs, _names
from ._engines import Engine
from ._predictions import _meant

#: Different scores up to which each is counted by itself, and parts of [0, 1] that more are counted in.
BUCKETS = 65_536
#: Classes and groups beyond which a column is taken for something else.
MOST_CLASSES, MOST_GROUPS = 256, 1_000
#: Rules in one statement: more are slower together than one after the other.
MOST_RULES = 8
#: Different combinations of labels up to which models are drawn again together.
MOST_CELLS = 65_536

_Weights = tuple[NDArray[np.float64], NDArray[np.float64]]
_Arrays = tuple[NDArray[np.float64], NDArray[np.uint16], NDArray[np.bool_], NDArray[np.uint64], _Weights | None, bool]


class Cells(NamedTuple):
    """Rows that agree in class, group and the labels of all models, in order."""

    #: One row per cell: class, the label of every model, group.
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None


class Source:
    """Asks an engine for counts; the core asks this."""

    def __init__(self, engine: Engine, truth: str, scores: list[str], groups: list[str], weight: str | None) -> None:
        self.engine = engine
        self.truth, self.scores, self.group_columns, self.weight = truth, scores, groups, weight
        self.classes: list[Any] = []
        self.groups: list[str] = []
        self.rows = 0
        #: The largest weight, by which the core has sums made exactly.
        self.heaviest = 0.0
        #: Statements so far, and the most different scores any of them was about.
        self.asked = 0
        self.buckets = False
        self._class: dict[Any, int] = {}
        self._group: dict[tuple[Any, ...], int] = {}

    # What is there

    def check(self) -> None:
        """Refuses what cannot be used: names that are not there, values that are missing or are no probabilities."""
        there = self.engine.columns()
        wanted = [self.truth, *self.scores, *self.group_columns, *([self.weight] if self.weight else [])]
        self.must_have(wanted, there)
        n, classes, *rest = self._ask(self._statements().check(), 1)[0]
        self.rows = int(n)
        if self.rows == 0:
            raise ValueError(f"{self.engine.called} has no rows")
        missing, rest = rest[: len(wanted)], rest[len(wanted) :]
        for name, count in zip(wanted, missing, strict=True):
            if count:
                raise ValueError(
                    f"column {name!r} has no value in {count} of {self.rows} rows; query='SELECT ... WHERE ... IS NOT NULL' leaves "
                    "them out"
                )
        outside, rest = rest[: len(self.scores)], rest[len(self.scores) :]
        for name, count in zip(self.scores, outside, strict=True):
            if count:
                raise ValueError(self._no_probability(name, int(count)))
        if self.weight is not None:
            if rest.pop(0):
                raise ValueError(f"column {self.weight!r} has weights below 0 or without end, expected numbers of at least 0")
            self.heaviest = float(rest.pop())
        if classes > MOST_CLASSES:
            raise ValueError(f"column {self.truth!r} has {classes} different values, expected at most {MOST_CLASSES} classes")
        for name, count in zip(self.group_columns, rest, strict=False):
            if count > MOST_GROUPS:
                raise ValueError(f"column {name!r} has {count} different values, expected at most {MOST_GROUPS} groups")

    def must_have(self, wanted: Sequence[str], there: Sequence[str] | None = None) -> None:
        """Refuses names that are no columns, with those that are."""
        there = self.engine.columns() if there is None else there
        for name in wanted:
            if there.count(name) != 1:
                found = "no column" if name not in there else f"{there.count(name)} columns"
                raise ValueError(f"{self.engine.called} has {found} {name!r}; it has {_listed(there)}")

    def _no_probability(self, name: str, count: int) -> str:
        low, high = self._ask(self._statements().range(name), 1)[0]
        helps = ""
        if low >= 0 and 5 < high <= 100:
            helps = f"; percentages are read with query='SELECT ..., {name} / 100.0 AS {name} FROM ...'"
        elif low < 0:
            helps = f"; logits are read with query='SELECT ..., 1 / (1 + EXP(-{name})) AS {name} FROM ...'"
        return f"column {name!r} is outside [0, 1] in {count} of {self.rows} rows (from {low:.4g} to {high:.4g}){helps}"

    def totals(self) -> list[tuple[Any, ...]]:
        """Class, groups, rows and the sums of weights and of their squares."""
        found = self._ask(self._statements().totals(), MOST_CLASSES * MOST_GROUPS)
        width = 1 + len(self.group_columns)
        found = [(*(_plain(value) for value in row[:width]), *row[width:]) for row in found]
        self._adds_up(sum(int(row[width]) for row in found))
        return found

    def known(self, classes: list[Any], groups: list[tuple[Any, ...]], names: list[str]) -> None:
        """Fixes the order of classes and groups."""
        self.classes, self.groups = classes, names
        self._class = {label: n for n, label in enumerate(classes)}
        self._group = {group: n for n, group in enumerate(groups)}

    # What the core asks

    def profile(self, of: int, other: int | None) -> _Arrays:
        """Rows by score: the probability of a class, or its share of that and another one's."""
        statements = self._statements()
        different = int(self._ask(statements.different(of, other), 1)[0][0])
        buckets = different > BUCKETS
        self.buckets = self.buckets or buckets
        most = min(different, BUCKETS + 1) * max(len(self.classes) * max(len(self._group), 1), 1)
        found = self._ask(statements.profile(of, other, buckets), most)
        width = 1 + len(self.group_columns)
        self._adds_up(sum(int(row[width + 1]) for row in found))
        truth = [self._class_of(row) for row in found]
        kept = [n for n, code in enumerate(truth) if other is None or code in (of, other)]
        found, truth = [found[n] for n in kept], [truth[n] for n in kept]
        scores = np.array([float(row[width]) for row in found], dtype=np.float64)
        return (
            scores / BUCKETS if buckets else scores,
            np.array([self._group_of(row) for row in found], dtype=np.uint16),
            np.array(truth) == of,
            np.array([row[width + 1] for row in found], dtype=np.uint64),
            self._weights(found, width + 2),
            buckets,
        )

    def _weights(self, found: list[tuple[Any, ...]], place: int) -> _Weights | None:
        """The sums of weights and of their squares, from this place of the answers on."""
        if not self.weight:
            return None
        weights, squares = ([row[n] for row in found] for n in (place, place + 1))
        return np.array(weights, dtype=np.float64), np.array(squares, dtype=np.float64)

    def confusions(self, rules: Sequence[Sequence[Sequence[float]]]) -> list[list[float]]:
        """The counts of rules by group, true class and estimated class; a rule is a matrix of rewards per group, or one for all."""
        # Every matrix is tried on all rows; of one that is for a group, the rows of that group are taken.
        matrices = [tuple(matrix) for rule in rules for matrix in rule]
        different = list(dict.fromkeys(matrices))
        counted: dict[tuple[float, ...], NDArray[np.float64]] = {}
        for start in range(0, len(different), MOST_RULES):
            some = different[start : start + MOST_RULES]
            counted.update(zip(some, self._counted(some), strict=True))
        answers = []
        for rule in rules:
            tables = [counted[tuple(matrix)] for matrix in rule]
            groups = max(len(self.groups), 1)
            answers.append(np.concatenate([tables[min(g, len(tables) - 1)][g].ravel() for g in range(groups)]).tolist())
        return answers

    def _counted(self, matrices: Sequence[tuple[float, ...]]) -> list[NDArray[np.float64]]:
        k = len(self.classes)
        statement = self._statements().confusions(k, [list(matrix) for matrix in matrices])
        found = [np.zeros((max(len(self.groups), 1), k, k)) for _ in matrices]
        rows = self._ask(statement, k * max(len(self._group), 1))
        width = 1 + len(self.group_columns)
        self._adds_up(sum(int(row[width]) for row in rows))
        for row in rows:
            values = np.array(row[width + 1 :], dtype=np.float64).reshape(len(matrices), k)
            if not self.weight and (values.sum(axis=1) != row[width]).any():
                raise ValueError(f"{self.engine.called} does not count every row once; are there scores that are no numbers?")
            for n, counts in enumerate(values):
                found[n][self._group_of(row), self._class_of(row)] = counts
        return found

    # What the labels of models are

    def cells(self, models: Sequence[str]) -> Cells | None:
        """Rows by class, group and the labels of all models; None where that would be too many counts."""
        self.must_have([self.truth, *models])
        statements = self._statements()
        if int(self._ask(statements.different_labels(list(models)), 1)[0][0]) > MOST_CELLS:
            return None
        found = self._ask(statements.labels(list(models)), MOST_CELLS)
        width = 1 + len(models) + len(self.group_columns)
        self._adds_up(sum(int(row[width]) for row in found))
        made = []
        for row in found:
            labels = [self._label(row[n + 1], model) for n, model in enumerate(models)]
            group = self._group[tuple(_plain(value) for value in row[1 + len(models) : width])]
            weight = float(row[width + 1]) if self.weight else 0.0
            made.append(((self._class[_plain(row[0])], *labels, group), int(row[width]), weight))
        made.sort()
        weights = np.array([cell[2] for cell in made]) if self.weight else None
        return Cells(np.array([cell[0] for cell in made], dtype=np.int64), np.array([cell[1] for cell in made]), weights)

    def _label(self, value: Any, model: str) -> int:
        label = _plain(value)
        if label is None or label not in self._class:
            what = "no label" if label is None else f"the label {label!r}"
            raise ValueError(f"column {model!r} has {what}, expected one of {self.classes}; labels= names more classes")
        return self._class[label]

    # Parts of statements

    def _ask(self, statement: str, most: int) -> list[tuple[Any, ...]]:
        self.asked += 1
        return self.engine.run(statement, most)

    def _adds_up(self, rows: int) -> None:
        if rows != self.rows:
            raise ValueError(f"{self.engine.called} had {self.rows} rows and now has {rows}: it changed while it was read")

    def _statements(self) -> _core.Statements:
        """The text of statements about the columns as they are known by now."""
        engine = self.engine
        columns = self.truth, self.scores, self.group_columns, self.weight
        return _core.Statements(engine.dialect, engine.table, *columns, self.heaviest)

    def check_sums(self) -> None:
        """Refuses probabilities that do not sum to 1 over the classes."""
        statement = self._statements().sums()
        if statement is None:
            return
        count = int(self._ask(statement, 1)[0][0])
        if count:
            raise ValueError(
                f"columns {_listed(self.scores)} do not sum to 1 in {count} of {self.rows} rows, expected probabilities over the "
                "classes; of several models, name the columns of one"
            )

    def _class_of(self, row: Sequence[Any]) -> int:
        return self._class[_plain(row[0])]

    def _group_of(self, row: Sequence[Any]) -> int:
        return self._group[tuple(_plain(value) for value in row[1 : 1 + len(self.group_columns)])]


def _plain(value: Any) -> Any:
    """A cell as Python has it: whole decimals are whole numbers, bytes are text."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    return value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


class Found(NamedTuple):
    """Predictions elsewhere, in the core and as the caller has them."""

    core: _core.Elsewhere
    source: Source
    classes: list[Any]
    groups: list[str]


def read(engine: Engine, truth: str, scores: Any, group: Any, weight: str | None, labels: Any, pos_label: Any) -> Found:
    """Counts classes and groups, and of two classes the scores."""
    by_class = dict(_checks.mapping(scores, "scores")) if isinstance(scores, Mapping) else None
    columns = list(by_class.values()) if by_class is not None else [scores] if isinstance(scores, str) else scores
    columns = _checks.words(columns, "scores")
    if not columns:
        raise ValueError("scores are empty, expected the column of the positive class, or a column per class")
    groups = [] if group is None else [group] if isinstance(group, str) else _checks.words(group, "group")
    source = Source(
        engine,
        _checks.instance(truth, str, "truth"),
        columns,
        groups,
        None if weight is None else _checks.instance(weight, str, "weight"),
    )
    source.check()
    totals = source.totals()
    classes = _classes(source, {row[0] for row in totals}, labels, pos_label)
    source.scores, classes = _scores(source, by_class, columns, classes, labels, pos_label)
    source.check_sums()
    parts = [sorted({row[1 + n] for row in totals}, key=_order) for n in range(len(groups))]
    used = {row[1 : 1 + len(groups)] for row in totals}
    keys = [key for key in product(*parts) if key in used]
    names = [" & ".join(str(part) for part in key) for key in keys] if groups else []
    source.known(classes, keys, names)
    shape = (max(len(names), 1), len(classes))
    counts = [np.zeros(shape), np.zeros(shape), np.zeros(shape)]
    for row in totals:
        at = source._group_of(row), source._class_of(row)
        for table, value in zip(counts, row[1 + len(groups) :], strict=False):
            table[at] = value
    empty = [label for n, label in enumerate(classes) if not counts[0][:, n].any()]
    if empty:
        raise ValueError(f"{engine.called} has no row of class {empty[0]!r}, expected at least one of every class")
    weighed = (counts[1].tolist(), counts[2].tolist()) if weight is not None else None
    core = _core.Elsewhere([str(label) for label in classes], names, counts[0].astype(np.int64).tolist(), weighed, source)
    return Found(core, source, classes, names)


def _order(value: Any) -> tuple[str, Any]:
    return ("", value) if isinstance(value, (int, float)) else (type(value).__name__, value)


def _classes(source: Source, found: set[Any], labels: Any, pos_label: Any) -> list[Any]:
    kinds = {type(label) for label in found}
    if not kinds <= {str, int, bool, float}:
        kind = next(kind for kind in kinds if kind not in (str, int, bool, float))
        raise TypeError(f"column {source.truth!r} holds {kind.__name__}, expected classes as text, numbers or truth values")
    classes = _inputs._in_order(_inputs._sorted(found) if labels is None else labels, pos_label)
    unknown = sorted(str(label) for label in found if label not in classes)
    if unknown:
        raise ValueError(f"column {source.truth!r} has the class {unknown[0]!r}, which is not among the labels {classes}")
    if len(classes) < 2:
        raise ValueError(f"column {source.truth!r} has the class {classes[0]!r} only, expected two or more")
    return classes


def _scores(
    source: Source, by_class: dict[Any, str] | None, columns: list[str], classes: list[Any], labels: Any, pos_label: Any
) -> tuple[list[str], list[Any]]:
    """The score columns in the order of the classes, and the classes, the positive one last."""
    if by_class is not None:
        named = {_names.spelled(label): column for label, column in by_class.items()}
        if set(named) != set(map(_names.spelled, classes)):
            raise ValueError(f"scores are for the classes {list(by_class)}, expected {classes} as in column {source.truth!r}")
        return [named[_names.spelled(label)] for label in classes], classes
    about = [[column for column in columns if _meant(column, _names.spelled(label))] for label in classes]
    if len(columns) == 1:
        if len(classes) != 2:
            raise ValueError(f"column {source.truth!r} has the classes {classes}; scores names a column for each of them")
        speaks = [label for label, found in zip(classes, about, strict=True) if found]
        if len(speaks) == 1 and speaks[0] != classes[-1]:
            if labels is not None or pos_label is not None:
                raise ValueError(f"column {columns[0]!r} is about {speaks[0]!r}, but the positive class is {classes[-1]!r}")
            classes = classes[::-1]
        return columns, classes
    if len(columns) != len(classes):
        raise ValueError(f"scores are {_listed(columns)}, expected a column for each of the classes {classes}")
    if all(len(found) == 1 for found in about):
        return [found[0] for found in about], classes
    if any(about):
        missing = next(label for label, found in zip(classes, about, strict=True) if len(found) != 1)
        raise ValueError(f"scores are {_listed(columns)}, of which not one is about {missing!r}; pass a dict from class to column")
    return columns, classes
