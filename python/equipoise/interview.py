"""Asking: questions, answers, and the metric that comes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _core
from .metric import Metric
from .space import Space

Answer = Literal["first", "second", "tie"]


@dataclass(frozen=True)
class Question:
    """Two classifiers; which is better?

    ``first`` and ``second`` have the coordinates of the question's measure; :meth:`rates` has them as
    class-conditional rates by group, true class and estimated class.
    """

    number: int
    first: np.ndarray
    second: np.ndarray
    measure: str
    classes: list[str]
    groups: list[str]
    priors: np.ndarray | None

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Both classifiers as rates of shape (groups, k, k): each row sums to 1."""
        return self._rates(self.first), self._rates(self.second)

    def _rates(self, point: np.ndarray) -> np.ndarray:
        k, m = len(self.classes), max(len(self.groups), 1)
        joint = self.measure in ("binary", "diagonal", "off_diagonal")
        priors = self.priors if self.priors is not None else np.full(k, 1.0 / k)
        if self.measure == "binary":
            point = np.array([point[1], point[0]])  # the positive class is written first
        groups = m if self.measure == "group_rates" else 1
        rates = np.zeros((groups, k, k))
        if self.measure in ("binary", "diagonal", "diagonal_rates"):
            for i in range(k):
                hit = point[i] / priors[i] if joint else point[i]
                rates[0, i, :] = (1.0 - hit) / (k - 1)
                rates[0, i, i] = hit
        else:
            entries = iter(point)
            for g in range(groups):
                for i in range(k):
                    for j in range(k):
                        if i != j:
                            value = next(entries)
                            rates[g, i, j] = value / priors[i] if joint else value
                    rates[g, i, i] = 1.0 - rates[g, i].sum()
        return rates.clip(0.0, 1.0)

    def mistakes(self, out_of: int = 1000) -> list[dict[str, Any]]:
        """Every kind of mistake with both classifiers' numbers out of so many of its true class, most different first."""
        first, second = self.rates()
        groups = self.groups if first.shape[0] > 1 else [""]
        rows = []
        for g, group in enumerate(groups):
            for i, truth in enumerate(self.classes):
                for j, estimate in enumerate(self.classes):
                    if i != j:
                        row = {"truth": truth, "estimate": estimate}
                        if group:
                            row["group"] = group
                        numbers = {"A": round(out_of * first[g, i, j]), "B": round(out_of * second[g, i, j])}
                        rows.append({**row, **numbers})
        return sorted(rows, key=lambda row: -abs(row["A"] - row["B"]))

    def __str__(self) -> str:
        lines = [f"Question {self.number}: which classifier is better?  (out of 1,000 of each true class)"]
        for row in self.mistakes():
            who = f"{row['group']}: " if "group" in row else ""
            lines.append(f"  {who}really {row['truth']}, predicted as {row['estimate']}:  A {row['A']:>4}   B {row['B']:>4}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ._html import question

        return question(self)


@dataclass(frozen=True)
class Outcome:
    """What came out of an interview."""

    metric: Metric
    #: What is to be said besides the numbers.
    remarks: list[str]
    #: Whether the answers single the metric out.
    identifiable: bool
    #: How many questions were answered.
    questions: int


class Interview:
    """Questions, one at a time, until the metric is known.

    Iterate over it and answer each question; the same answers to the same seed always lead to the same questions.

    Parameters
    ----------
    space : Space
        What classifiers can be built.
    family : str
        ``linear``, ``linear_fractional``, ``quadratic``, ``polynomial``, ``group_fair`` or
        ``group_fair_quadratic``.
    method : str
        ``adaptive`` asks the most telling questions; ``antipodal`` and ``paper`` are fixed searches.
    **options
        Fields of the plan's document: ``tolerance``, ``width`` (of a cost ratio's interval), ``answers`` (how
        answers are believed to err), ``budget``, ``seed``, ...

    Examples
    --------
    >>> from equipoise import Interview, Space
    >>> space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    >>> interview = Interview(space)
    >>> for question in interview:
    ...     tp, tn = question.first - question.second
    ...     interview.answer("first" if 6 * tp + tn > 0 else "second")
    >>> 5 < interview.result().metric.cost_ratio < 7
    True
    """

    def __init__(self, space: Space, family: str = "linear", method: str = "adaptive", **options: Any) -> None:
        plan = {"kind": family, "method": method, "space": space.document(family), **options}
        self._core = _core.Interview(json.dumps(plan))
        self._space = space

    def __iter__(self) -> Iterator[Question]:
        while (question := self.question()) is not None:
            yield question

    def question(self) -> Question | None:
        """The next question; None when all is answered."""
        found = self._core.question()
        if found is None:
            return None
        measure, k, m = self._core.view()
        classes = [str(label) for label in self._space.classes or range(k)]
        groups = self._space.groups if len(self._space.groups) == m else [str(n) for n in range(m)]
        shares = self._space.prevalence
        return Question(
            number=self.answered + 1,
            first=np.asarray(found[0]),
            second=np.asarray(found[1]),
            measure=measure,
            classes=classes,
            groups=groups if m > 1 else [],
            priors=None if shares is None else shares.sum(axis=0),
        )

    def answer(self, answer: Answer, *, shown: tuple[Any, Any] | None = None) -> None:
        """Answers the next question.

        Parameters
        ----------
        answer : {"first", "second", "tie"}
            ``tie`` means "can't tell": it is an answer, not a skipped question.
        shown : pair of points, optional
            The two classifiers as they were shown, where they were rounded.
        """
        pair = None if shown is None else tuple(np.asarray(point, float).tolist() for point in shown)
        self._core.answer(answer, pair)

    def undo(self) -> bool:
        """Takes the last answer back; False if there was none."""
        return self._core.undo()

    @property
    def answered(self) -> int:
        """How many questions are answered."""
        return self._core.answered()

    def result(self) -> Outcome:
        """What came out; a ValueError while questions are open."""
        found = self._core.outcome()
        if found is None:
            raise ValueError("the interview is not done: there is a question to answer")
        metric, remarks, identifiable = found
        names = None if self._space.classes is None else [str(label) for label in self._space.classes]
        if names is not None and metric.class_count == len(names):
            metric = metric.with_class_names(names)
        return Outcome(Metric._of(metric), remarks, identifiable, self.answered)

    def to_json(self) -> str:
        """The interview as a document: plan and answers."""
        return self._core.to_json()

    @classmethod
    def from_json(cls, text: str, space: Space | None = None) -> Interview:
        """Goes on with an interview; ``space`` brings the names of classes and groups."""
        interview = cls.__new__(cls)
        interview._core = _core.Interview.from_json(text)
        interview._space = space or Space(json.loads(text)["plan"]["space"])
        return interview

    def ask(self) -> Outcome:
        """Asks whoever sits at the keyboard, in a notebook or a terminal.

        Type ``a`` or ``b``, ``?`` for can't tell, ``u`` to take the last answer back, ``q`` to stop.
        """
        from ._keyboard import ask

        return ask(self)


def elicit(
    space: Space,
    oracle: Callable[[Question], Answer],
    family: str = "linear",
    method: str = "adaptive",
    **options: Any,
) -> Outcome:
    """Elicits a metric from whoever answers: a function from a question to ``"first"``, ``"second"`` or ``"tie"``.

    The other parameters are those of :class:`Interview`.
    """
    interview = Interview(space, family, method, **options)
    for question in interview:
        interview.answer(oracle(question))
    return interview.result()


def simulated_expert(metric: Metric) -> Callable[[Question], Answer]:
    """An oracle that answers by a metric without mistakes, for trials before people are asked."""

    def answer(question: Question) -> Answer:
        liking = [metric._core.at(point.tolist()) for point in (question.first, question.second)]
        if not metric.greater_is_better:
            liking = [-value for value in liking]
        return "tie" if liking[0] == liking[1] else "first" if liking[0] > liking[1] else "second"

    return answer
