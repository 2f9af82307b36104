"""What a choice shows and says: two candidates to compare, and what came out."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Literal

from .metric import Metric


@dataclass(frozen=True)
class Ranked:
    """A candidate in the order of a metric of attributes."""

    name: str
    #: Its row in the frame, counted from 0.
    row: int
    #: 0 where everything is at the worse end of its range, 1 where everything is at the better one.
    value: float
    #: The value is in here with 95 % certainty.
    interval: tuple[float, float]
    #: How likely it is the best.
    probability: float


@dataclass(frozen=True)
class Weight:
    """What an attribute weighs over the range that was shown, as a share of all."""

    attribute: str
    weight: float
    #: The weight is in here with 95 % certainty.
    interval: tuple[float, float]
    direction: Literal["minimize", "maximize"]
    #: On which scale differences count alike: ``linear``, ``log`` (ratios) or ``logit`` (odds).
    transform: str
    #: The range that was shown: another one would have given another weight.
    range: tuple[float, float]
    unit: str | None = None


@dataclass(frozen=True)
class ChoiceQuestion:
    """Two candidates; which would you rather have?

    ``first`` and ``second`` are the attributes of either; ``rows`` are those that differ, as they are told. ``names`` are those of
    the candidates where both exist; others are to be imagined. People are not told them: a name is no attribute.
    """

    #: Which question it is, counted from 1.
    number: int
    first: dict[str, float]
    second: dict[str, float]
    #: What differs: the attribute, A's number, and B's.
    rows: list[tuple[str, str, str]]
    names: tuple[str, str] | None
    #: Whether both exist, and what of all else.
    remark: str
    #: About how many questions there are in all, where that is known.
    about: int | None = None
    _told: str = field(default="", repr=False)

    def heading(self) -> str:
        """Which question it is, and of how many."""
        of = "" if self.about is None else f" of about {max(self.about, self.number)}"
        return f"Question {self.number}{of}: which would you rather have?"

    def difference(self) -> str:
        """What sets the two apart, in one line."""
        return self._told

    def shown(self) -> None:
        """Nothing: numbers are told as they are."""

    def __str__(self) -> str:
        wide = max(len(row[0]) for row in self.rows)
        first = max(6, *(len(row[1]) for row in self.rows))
        lines = [f"  {label:<{wide}}  {a:<{first}}  {b}".rstrip() for label, a, b in [("", "A", "B"), *self.rows]]
        return "\n".join([self.heading(), *lines, f"  {self.remark}"])

    def _repr_html_(self) -> str:
        from ._html import grid, page

        return page(self.heading(), [], f"{grid(['', 'A', 'B'], self.rows)}<p>{escape(self.remark)}</p>")


@dataclass(frozen=True)
class Chosen:
    """What came out of a choice: the best candidate, how sure that is, the others in order, and what attributes weigh."""

    #: The name of the best candidate.
    best: str
    #: Its row in the frame, counted from 0.
    row: int
    #: How likely it is the best.
    probability: float
    #: By how much it is expected to fall short of the best, as a share of what lies between best and worst.
    regret: float
    #: At most so much, with 95 % certainty.
    regret_bound: float
    #: The candidates that were asked about, best first; none where nothing was to be asked.
    ranking: list[Ranked]
    weights: list[Weight]
    #: Candidates that are nowhere better than another, with the name of that one.
    dominated: dict[str, str]
    questions: int
    #: Whether as much is known as was wanted.
    enough: bool
    #: The rule that ended the questions: ``decision``, ``regret``, ``budget``, ...; ``dominance`` where nothing was to be asked.
    stopped_by: str
    #: What is to be said besides the numbers.
    remarks: list[str]
    #: What was guessed of the frame, or left out.
    notes: list[str]
    #: Scores and ranks later candidates; None where nothing was to be asked.
    metric: Metric | None = field(default=None, repr=False)

    #: Candidates that are listed for people.
    _LISTED = 10

    def _statement(self) -> str:
        if not self.ranking:
            return f"{self.best} is at least as good as every other candidate in everything: there is nothing to ask."
        return f"Your best candidate: {self.best} (probability {self.probability:.2f})."

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("questions", str(self.questions))]
        if self.ranking:
            short = f"{self.regret:.1%} of what lies between best and worst (95 %: at most {self.regret_bound:.1%})"
            rows.append(("falls short by", short))
        if not self.enough:
            rows.append(("less is known than wanted", f"the questions ended by {self.stopped_by}"))
        if self.dominated:
            listed = [f"{name} (by {by})" for name, by in list(self.dominated.items())[: self._LISTED]]
            more = len(self.dominated) - len(listed)
            rows.append(("nowhere better", ", ".join(listed) + (f" and {more} more" if more > 0 else "")))
        return rows + [("note", remark) for remark in [*self.remarks, *self.notes]]

    def _ranked(self) -> list[list[str]]:
        return [
            [one.name, f"{one.value:.3f}", f"{one.interval[0]:.3f} to {one.interval[1]:.3f}", f"{one.probability:.2f}"]
            for one in self.ranking[: self._LISTED]
        ]

    def _weighed(self) -> list[list[str]]:
        scales = {"log": ", by ratio", "logit": ", by odds"}
        rows = []
        for one in self.weights:
            worse, better = reversed(one.range) if one.direction == "minimize" else one.range
            ends = f"{worse:g} to {better:g}{scales.get(one.transform, '')}"
            rows.append([one.attribute, ends, f"{one.weight:.0%}", f"{one.interval[0]:.0%} to {one.interval[1]:.0%}"])
        return rows

    def __str__(self) -> str:
        lines = [self._statement()]
        for head, rows in ((_RANKED, self._ranked()), (_WEIGHED, self._weighed())):
            if rows:
                wide = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
                lines += [""] + ["  ".join(f"{cell:<{wide[n]}}" for n, cell in enumerate(row)).rstrip() for row in [head, *rows]]
        return "\n".join([*lines, "", *(f"{name + ':':<16} {value}" for name, value in self._rows())])

    def _repr_html_(self) -> str:
        from ._html import grid, page

        tables = (grid(_RANKED, self._ranked()), grid(_WEIGHED, self._weighed())) if self.ranking else ()
        return page(self._statement(), self._rows(), "".join(tables))


_RANKED = ["candidate", "value", "95 %", "best with probability"]
_WEIGHED = ["attribute", "over the range shown", "weighs", "95 %"]
