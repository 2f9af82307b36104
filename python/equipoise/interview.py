"""Asking: questions, answers, and the metric that comes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core
from .metric import Metric
from .question import Question
from .space import Space

Answer = Literal["first", "second", "tie"]
Oracle = Callable[[Question], Answer]


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
        ``linear``, ``linear_fractional``, ``quadratic``, ``polynomial``, ``diagonal_linear``,
        ``diagonal_linear_fractional``, ``diagonal_monotone``, ``group_fair``, ``group_fair_quadratic``,
        ``trade_off`` or ``quadratic_trade_off``.
    method : str, optional
        ``adaptive`` asks the most telling questions; ``antipodal`` and ``paper`` are fixed searches. By default the
        one with the fewest questions that the family has.
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

    def __init__(self, space: Space, family: str = "linear", method: str | None = None, **options: Any) -> None:
        _checks.instance(family, str, "family")
        plan = {"kind": family, "space": _checks.instance(space, Space, "space").document(family), **options}
        if method is not None:
            plan["method"] = _checks.instance(method, str, "method")
        self._core = _core.Interview(_checks.document(plan))
        self._space = space

    def __iter__(self) -> Iterator[Question]:
        while (question := self.question()) is not None:
            yield question

    def question(self) -> Question | None:
        """The next question; None when all is answered."""
        found = self._core.question()
        return None if found is None else self._question(*found, self.answered + 1)

    def _question(self, first: list[float], second: list[float], number: int) -> Question:
        return Question(number, np.asarray(first), np.asarray(second), *self._shown_as)

    @cached_property
    def _shown_as(self) -> tuple[str, list[str], list[str], NDArray[np.float64]]:
        """What all questions have in common: measure, names of classes and groups, and their joint shares."""
        measure, k, m = self._core.view()
        groups = self._space.groups if len(self._space.groups) == m else [str(n) for n in range(m)]
        classes = [str(label) for label in self._space.classes or range(k)]
        return measure, classes, groups if m > 1 else [], self._shares(k, m)

    def _shares(self, k: int, m: int) -> NDArray[np.float64]:
        """Joint shares of groups and classes: of the predictions, or of the law; alike where nobody says."""
        shares = self._space.prevalence
        if shares is not None:
            return shares
        priors = self._core.priors()
        return np.tile(np.full(k, 1.0 / k) if priors is None else np.asarray(priors), (m, 1)) / m

    @property
    def method(self) -> str:
        """How questions are chosen."""
        return self._core.method() or "paper"

    def answer(self, answer: Answer, *, shown: tuple[Any, Any] | None = None) -> None:
        """Answers the next question.

        Parameters
        ----------
        answer : {"first", "second", "tie"}
            ``tie`` means "can't tell": it is an answer, not a skipped question.
        shown : pair of points, optional
            The two classifiers as they were shown, where they were rounded.
        """
        pair = None
        if shown is not None:
            points = [_checks.numbers(point, "shown") for point in _checks.listed(shown, "shown")]
            if len(points) != 2 or any(point.ndim != 1 for point in points):
                raise ValueError("shown is no pair of points, expected the coordinates of both classifiers")
            pair = (points[0].tolist(), points[1].tolist())
        self._core.answer(_checks.instance(answer, str, "answer"), pair)

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
        interview._core = _core.Interview.from_json(_checks.instance(text, str, "text"))
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
    oracle: Oracle,
    family: str = "linear",
    method: str | None = None,
    **options: Any,
) -> Outcome:
    """Elicits a metric from whoever answers.

    Parameters
    ----------
    space : Space
        What classifiers can be built.
    oracle : callable
        A function from a :class:`Question` to ``"first"``, ``"second"`` or ``"tie"``: a program, a form, or
        :func:`simulated_expert`.
    family, method, **options
        As for :class:`Interview`.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> from equipoise import Metric, Space, elicit, simulated_expert
    >>> space = Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3})
    >>> outcome = elicit(space, simulated_expert(Metric.named("6:1")))
    >>> 5 < outcome.metric.cost_ratio < 7
    True
    """
    interview = Interview(space, family, method, **options)
    _checks.called(oracle, "oracle")
    number = count(1)

    def answer(first: list[float], second: list[float]) -> str:
        return _checks.instance(oracle(interview._question(first, second, next(number))), str, "answer")

    interview._core.run(answer)
    return interview.result()


def simulated_expert(metric: Metric, noise: Mapping[str, Any] | None = None, random_state: int = 0) -> Oracle:
    """An oracle that answers by a metric, for trials before people are asked.

    Parameters
    ----------
    metric : Metric
        Of any measure; questions about other entries of the confusion matrix are translated.
    noise : mapping, optional
        How answers err: ``{"kind": "flip", "probability": 0.1}``, ``{"kind": "logistic", "slope": 20}``,
        ``{"kind": "band", "width": 0.01}`` or ``{"kind": "adversarial_band", "width": 0.01}``. By default never.
    random_state : int
        The seed of the mistakes.

    Examples
    --------
    >>> from equipoise import Metric, simulated_expert
    >>> expert = simulated_expert(Metric.named("6:1"), noise={"kind": "flip", "probability": 0.1})
    """
    core = _checks.instance(metric, Metric, "metric")._core
    how = _checks.document({"kind": "none"} if noise is None else _checks.mapping(noise, "noise"))
    expert = _core.Expert(core, how, _checks.whole(random_state, "random_state"))

    def answer(question: Question) -> Answer:
        if metric._core.group_count > max(len(question.groups), 1):
            raise ValueError("the metric compares groups, but the questions do not tell them apart")
        if question.measure == metric.measure:
            points = [question.first.tolist(), question.second.tolist()]
        else:
            points = [metric._core.point(np.ascontiguousarray(matrix)) for matrix in question.confusions()]
        return expert.prefer(*points)

    return answer
