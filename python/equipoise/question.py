"""Questions: two classifiers, in numbers a person can compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_FAITHFUL = 0.1
#: With more kinds of error than these, only those that differ are listed.
MOST_ROWS = 20


@dataclass(frozen=True)
class Trade:
    """Two kinds of error traded around a real classifier, all else being equal, in whole numbers."""

    #: Cases of each class, the same from the first question of an interview to the last.
    out_of: int
    #: Every kind of error, in the order of all questions: of two groups also how far they are apart in it.
    kinds: list[str]
    #: Of each kind, with A and with B.
    counts: list[tuple[int, int]]
    #: Whether the kinds are error rates of classes, so that the counts say all there is.
    says_all: bool


@dataclass(frozen=True, eq=False)
class Question:
    """Two classifiers; which is better?

    In a notebook it shows as two flow charts from truth to prediction; ``print`` writes them as text. ``first`` and
    ``second`` have the coordinates of ``measure``; :meth:`rates` and :meth:`counts` have whole matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import Question
    >>> question = Question(
    ...     1, np.array([0.34, 0.6]), np.array([0.33, 0.62]), "binary", ["well", "ill"], [], np.array([[0.65, 0.35]])
    ... )
    >>> print(question)
    Question 1, out of 1,000 cases: which classifier is better?
      A                                  B
      350 ill  ─┬─▶ 340 as ill           350 ill  ─┬─▶ 330 as ill
                └─▶  10 as well                    └─▶  20 as well
      650 well ─┬─▶ 600 as well          650 well ─┬─▶ 620 as well
                └─▶  50 as ill                     └─▶  30 as ill
      With B there are 20 fewer well predicted as ill, and 10 more ill predicted as well.
    """

    #: Which question it is, counted from 1.
    number: int
    #: The coordinates of classifier A.
    first: NDArray[np.float64]
    #: The coordinates of classifier B.
    second: NDArray[np.float64]
    #: What the coordinates are: ``binary``, ``off_diagonal_rates``, ...
    measure: str
    #: The classes by name.
    classes: list[str]
    #: The groups by name; empty where questions do not tell groups apart.
    groups: list[str]
    #: Joint shares of groups (rows) and classes (columns).
    shares: NDArray[np.float64]
    #: About how many questions there are in all, where that is known.
    about: int | None = None
    #: What is traded for what, where the question is about a classifier and its neighbours.
    trade: Trade | None = None
    #: In how many cases it is told, where the whole interview is told in one number.
    told_in: int | None = None

    def __post_init__(self) -> None:
        k = len(self.classes)
        if k < 2:
            raise ValueError(f"classes are {self.classes}, expected at least 2")
        expected = k if "diagonal" in self.measure and "off" not in self.measure else k * k - k
        expected *= max(len(self.groups), 1)
        for name, point in (("first", self.first), ("second", self.second)):
            if np.shape(point) != (expected,):
                raise ValueError(f"{name} has shape {np.shape(point)}, expected {expected} coordinates")

    @property
    def _is_share_of_all(self) -> bool:
        """Whether the coordinates count in all cases, rather than in those of a class."""
        return self.measure in ("binary", "diagonal", "off_diagonal")

    def rates(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both classifiers as rates by group, true class and estimated class: each row sums to 1.

        Where a question tells only how often classes are right, mistakes are spread evenly.
        """
        return self._rates(self.first), self._rates(self.second)

    def _rates(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        k = len(self.classes)
        priors = self.shares.sum(axis=0)
        m = max(len(self.groups), 1)
        rates = np.zeros((m, k, k))
        if self.measure in ("binary", "diagonal", "diagonal_rates"):
            hits = point[::-1] if self.measure == "binary" else point  # of two classes the positive one comes first
            hits = hits / priors if self._is_share_of_all else hits
            rates[0] = ((1.0 - hits) / (k - 1))[:, np.newaxis]
            np.fill_diagonal(rates[0], hits)
        else:
            wrong = ~np.eye(k, dtype=bool)
            for group, errors in zip(rates, point.reshape(m, k * k - k), strict=True):
                group[wrong] = errors
                if self._is_share_of_all:
                    group /= priors[:, np.newaxis]
                np.fill_diagonal(group, 1.0 - group.sum(axis=1))
        return rates.clip(0.0, 1.0)

    def confusions(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both classifiers as shares of all cases by group, true class and estimated class."""
        shares = self.shares if self.groups else self.shares.sum(axis=0, keepdims=True)
        first, second = self.rates()
        return first * shares[:, :, np.newaxis], second * shares[:, :, np.newaxis]

    @property
    def out_of(self) -> int:
        """Of how many the numbers are shown: as few as tell the two classifiers apart as they are."""
        if self.trade is not None:
            return self.trade.out_of
        if self.told_in is not None:
            return self.told_in
        exact = self.rates()
        for size in _SIZES:
            shown = self.counts(size)
            missed = (shown[1] - shown[0]) / self._sizes(size)[..., np.newaxis] - (exact[1] - exact[0])
            if np.linalg.norm(missed) <= _FAITHFUL * np.linalg.norm(exact[1] - exact[0]):
                return size
        return _SIZES[-1]

    def _sizes(self, out_of: int) -> NDArray[np.float64]:
        """How many cases each true class has, by group: its share of all cases, or so many of each."""
        m = max(len(self.groups), 1)
        if not self._is_share_of_all:
            return np.full((m, len(self.classes)), float(out_of))
        sizes: NDArray[np.float64] = np.floor(self.shares.sum(axis=0) * out_of + 0.5)
        if self.measure == "binary":
            sizes[0] = out_of - sizes[1]
        return np.maximum(sizes, 1.0)[np.newaxis]

    def counts(self, out_of: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both classifiers in whole numbers by group, true class and estimated class; each class adds up.

        Two classes are shown as parts of ``out_of`` cases, more as so many cases of each class in each group.
        """
        sizes = self._sizes(self.out_of if out_of is None else out_of)
        first, second = self.rates()
        return _whole(first, sizes), _whole(second, sizes)

    def shown(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both classifiers as whole numbers show them, in the coordinates of the question."""
        if self.trade is not None:
            if not self.trade.says_all:  # groups round differently, and what is shown is their gaps
                return self.first, self.second
            shown = np.array(self.trade.counts) / self.trade.out_of
            return shown[:, 0], shown[:, 1]
        size = self.out_of
        if self.measure == "binary":
            told = [np.diagonal(counts[0])[::-1] / size for counts in self.counts(size)]
            return told[0], told[1]
        sizes = self._sizes(size)
        first, second = (count / sizes[..., np.newaxis] for count in self.counts(size))
        return self._point(first), self._point(second)

    def _point(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        k = len(self.classes)
        if self._is_share_of_all:
            rates = rates * self.shares.sum(axis=0)[:, np.newaxis]
        if self.measure in ("binary", "diagonal", "diagonal_rates"):
            hits = np.diagonal(rates[0])
            return np.array(hits[::-1] if self.measure == "binary" else hits)
        return rates[:, ~np.eye(k, dtype=bool)].reshape(-1)

    def mistakes(self) -> list[dict[str, Any]]:
        """Every kind of mistake in both classifiers' numbers, most different first.

        Records have ``truth``, ``estimate``, ``A`` and ``B``, and ``group`` where groups are told apart.
        """
        first, second = self.counts()
        rows = []
        for g, group in enumerate(self.groups or [""]):
            for i, truth in enumerate(self.classes):
                for j, estimate in enumerate(self.classes):
                    if i != j:
                        row: dict[str, Any] = {"truth": truth, "estimate": estimate}
                        if group:
                            row["group"] = group
                        rows.append({**row, "A": int(first[g, i, j]), "B": int(second[g, i, j])})
        return sorted(rows, key=lambda row: -abs(row["A"] - row["B"]))

    def difference(self) -> str:
        """What sets the two apart, in a sentence."""
        if self.trade is not None:
            return _traded(self.trade)
        told = []
        for row in [row for row in self.mistakes() if row["A"] != row["B"]][:2]:
            more = row["B"] - row["A"]
            among = f" among {row['group']}" if "group" in row else ""
            word = "more" if more > 0 else "fewer"
            told.append(f"{abs(more):,} {word} {row['truth']} predicted as {row['estimate']}{among}")
        return f"With B there are {', and '.join(told)}." if told else "A and B make the same mistakes."

    def heading(self) -> str:
        """The question, and what its numbers are counted in."""
        by_group = " in each group" if self.groups and self.trade is None else ""
        of = "cases" if self._is_share_of_all else "of each class" + by_group
        number = f"{self.number}" if self.about is None else f"{self.number} of about {max(self.about, self.number)}"
        return f"Question {number}, out of {self.out_of:,} {of}: which classifier is better?"

    def __str__(self) -> str:
        lines = [self.heading()]
        if self.trade is not None:
            lines += _traded_rows(self.trade)
        elif len(self.classes) == 2 and not self.groups:
            first, second = (_chart(count[0], self.classes) for count in self.counts())
            width = max(len(line) for line in first)
            charts = zip(["A", *first], ["B", *second], strict=True)
            lines += [f"  {left:<{width + 10}}{right}".rstrip() for left, right in charts]
        else:
            rows = self.mistakes()
            names = [
                (f"{row['group']}: " if "group" in row else "") + f"{row['truth']} predicted as {row['estimate']}"
                for row in rows
            ]
            width = max(map(len, names))
            lines.append(f"  {'':<{width}}  {'A':>7}  {'B':>7}")
            lines += [
                f"  {name:<{width}}  {row['A']:>7,}  {row['B']:>7,}" for name, row in zip(names, rows, strict=True)
            ]
        return "\n".join([*lines, f"  {self.difference()}"])

    def _repr_html_(self) -> str:
        from ._html import question

        return question(self)


def _traded(trade: Trade) -> str:
    """Every kind that differs, in a sentence."""
    told = []
    for kind, (a, b) in zip(trade.kinds, trade.counts, strict=True):
        if a != b and ": gap between" in kind:
            told.append(f"{kind}, {abs(b - a):,} {'wider' if b > a else 'narrower'}")
        elif a != b:
            told.append(f"{abs(b - a):,} {'more' if b > a else 'fewer'} {kind}")
    return f"With B: {', and '.join(told)}; all else is the same." if told else "A and B make the same mistakes."


def _traded_rows(trade: Trade) -> list[str]:
    """A row per kind of error, in the order of all questions; only those that differ where there are many."""
    width = max(map(len, trade.kinds))
    lines = [f"  {'':<{width}}  {'A':>7}  {'B':>7}  {'difference':>10}"]
    for kind, (a, b) in zip(trade.kinds, trade.counts, strict=True):
        if a != b or len(trade.kinds) <= MOST_ROWS:
            lines.append(f"  {kind:<{width}}  {a:>7,}  {b:>7,}  {f'{b - a:+,}' if a != b else 'same':>10}")
    return lines


def _whole(rates: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rates as whole numbers of their class's size: the largest remainders are rounded up."""
    exact = rates * sizes[..., np.newaxis]
    counts = np.floor(exact + 1e-9).astype(np.int64)
    missing = sizes.astype(np.int64) - counts.sum(axis=-1)
    order = np.argsort(-(exact - counts), axis=-1, kind="stable")
    for place in np.ndindex(missing.shape):
        counts[place][order[place][: missing[place]]] += 1
    return counts


def _chart(counts: NDArray[np.int64], classes: list[str]) -> list[str]:
    """One classifier of two classes as a flow chart, the positive class first."""
    wide = max(len(f"{n:,}") for n in counts.sum(axis=1))
    name = max(map(len, classes))
    lines = []
    for truth in (1, 0):
        total = f"{counts[truth].sum():>{wide},} {classes[truth]:<{name}}"
        lines.append(f"{total} ─┬─▶ {counts[truth, truth]:>{wide},} as {classes[truth]}")
        lines.append(f"{'':<{len(total)}}  └─▶ {counts[truth, 1 - truth]:>{wide},} as {classes[1 - truth]}")
    return lines
