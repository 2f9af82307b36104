"""Choosing among candidates by their attributes: which point of a Pareto front is yours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from math import isfinite
from numbers import Real
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _table
from .chosen import ChoiceQuestion, Chosen, Ranked, Weight
from .interview import _OTHER_SIDE, Answer, SimulatedExpert, _noise
from .metric import Metric


class Choice:
    """Questions about candidates, one at a time, until the best one is known; :func:`choose` makes one.

    Iterate over it and answer each question. The same answers to the same seed lead to the same questions.
    """

    def __init__(self, core: _core.Interview | None, seen: dict[str, Any], sides: int | None) -> None:
        self._core, self._seen, self._sides = core, seen, sides

    def __iter__(self) -> Iterator[ChoiceQuestion]:
        while (question := self.question()) is not None:
            yield question

    def question(self) -> ChoiceQuestion | None:
        """The next question; None when all is answered."""
        found = None if self._core is None else self._core.question()
        return None if found is None else self._question(*found, self.answered + 1, self.about)

    @property
    def about(self) -> int | None:
        """About how many questions there are in all."""
        return 0 if self._core is None else self._core.about()

    @cached_property
    def _space(self) -> dict[str, Any]:
        space: dict[str, Any] = {"attributes": [], "candidates": []} if self._core is None else json.loads(self._core.plan())["space"]
        return space

    def _is_turned(self, number: int) -> bool:
        return self._sides is not None and _core.is_turned(self._sides, number)

    def _question(self, first: list[float], second: list[float], number: int, about: int | None = None) -> ChoiceQuestion:
        assert self._core is not None
        if self._is_turned(number):
            first, second = second, first
        rows, names, told, remark = _core.candidate_words(self._core, first, second)
        attributes = [attribute["name"] for attribute in self._space["attributes"]]
        a, b = (dict(zip(attributes, point, strict=True)) for point in (first, second))
        return ChoiceQuestion(number, a, b, rows, names, remark, about, told)

    def answer(self, answer: Answer, *, shown: None = None) -> None:
        """Answers the next question.

        Parameters
        ----------
        answer : {"first", "second", "equal", "can't tell"}
            ``"A"`` and ``"B"`` are first and second. ``"equal"`` (or ``"tie"``) says that both are about as good, which tells
            much; ``"can't tell"`` says nothing, and nothing is learnt from it.
        shown
            Nothing: numbers are told as they are.
        """
        said = _checks.instance(answer, str, "answer")
        if self._core is None:
            raise ValueError("the choice is made: there is no question to answer")
        self._core.answer(_OTHER_SIDE.get(said.strip().lower(), said) if self._is_turned(self.answered + 1) else said)

    def undo(self) -> bool:
        """Takes the last answer back; False if there was none."""
        return self._core is not None and self._core.undo()

    @property
    def answered(self) -> int:
        """How many questions are answered."""
        return 0 if self._core is None else self._core.answered()

    def result(self) -> Chosen:
        """What came out; a ValueError while questions are open."""
        seen = self._seen
        dominated = {name: by for name, by in seen["dominated"]}
        if self._core is None:
            return Chosen(
                seen["best"], seen["places"][0], 1.0, 0.0, 0.0, [], [], dominated, 0, True, "dominance", [], seen["notes"]
            )
        ended = _core.chosen(self._core, seen["rows"], list(dominated.items()), seen["notes"])
        if ended is None:
            raise ValueError("the choice is not made: there is a question to answer")
        found: dict[str, Any] = json.loads(ended[1])
        rows = {one["name"]: row for one, row in zip(self._space["candidates"], seen["places"], strict=True)}
        best = found["best"]
        ranking = [
            Ranked(one["name"], rows[one["name"]], one["value"], (one["low"], one["high"]), one["probability"])
            for one in found["ranking"]
        ]
        weights = [
            Weight(
                one["attribute"], one["weight"], (one["low"], one["high"]), one["direction"], one["transform"],
                (one["range"][0], one["range"][1]), one.get("unit"),
            )
            for one in found["weights"]
        ]  # fmt: skip
        return Chosen(
            best["name"], rows[best["name"]], best["probability"], best["regret"], best["regret_bound"], ranking, weights,
            dominated, found["questions"], found["enough"], found["stopped_by"], found["findings"], found["notes"],
            Metric._of(ended[0]),
        )  # fmt: skip

    def to_json(self) -> str:
        """The choice as a document: candidates, rules, answers, and what was seen of the frame. ``equipoise choose`` goes on
        with it, too (``--resume``), for a table with the same candidates."""
        document: dict[str, Any] = {"format": 1} if self._core is None else json.loads(self._core.to_json())
        return json.dumps({**document, "sides": self._sides, "front": self._seen})

    @classmethod
    def from_json(cls, text: str) -> Choice:
        """Goes on with a choice."""
        document = json.loads(_checks.instance(text, str, "text"))
        if not isinstance(document, dict):
            raise ValueError("the document is no object, expected what Choice.to_json writes")
        seen, sides = document.pop("front", None), document.pop("sides", None)
        if sides is not None:
            sides = _checks.whole(sides, "sides")
        if seen is not None and "plan" not in document:
            return cls(None, _seen(seen, 1), sides)
        core = _core.Interview.from_json(json.dumps(document))
        space = json.loads(core.plan())["space"]
        if space.get("kind") != "attributes":
            raise ValueError("the document is an interview about classifiers, which Interview.from_json reads")
        count = len(space["candidates"])
        if seen is None:  # of the command line, which reads its table again
            seen = {"rows": count, "places": list(range(count)), "dominated": [], "notes": [], "best": None}
        return cls(core, _seen(seen, count), sides)

    def __reduce__(self) -> tuple[Any, ...]:
        return Choice.from_json, (self.to_json(),)

    def ask(self, how: Literal["keyboard", "buttons"] | None = None) -> Chosen | None:
        """Asks whoever sits there, in a notebook or a terminal; see :meth:`Interview.ask`."""
        from ._keyboard import ask

        if how not in (None, "keyboard", "buttons"):
            raise ValueError(f"how is {how!r}, expected 'keyboard' or 'buttons'")
        return ask(self, how)

    def __repr__(self) -> str:
        done = self._core is None or self._core.question() is None
        of = "" if done or self.about is None else f" of about {self.about}"
        kept = len(self._seen["places"])
        return f"<Choice among {kept} candidates, {'done' if done else 'open'}, {self.answered}{of} questions answered>"

    def _repr_html_(self) -> str:
        question = self.question()
        return self.result()._repr_html_() if question is None else question._repr_html_()


Oracle = Callable[[ChoiceQuestion], Answer] | Mapping[str, float] | Metric | SimulatedExpert


@overload
def choose(
    frame: Any,
    *,
    name: str | None = ...,
    minimize: Sequence[str] = ...,
    maximize: Sequence[str] = ...,
    ignore: Sequence[str] = ...,
    scale: Mapping[str, str] | None = ...,
    among: str = ...,
    only_real: bool = ...,
    oracle: None = ...,
    noise: str | Mapping[str, Any] | None = ...,
    regret: float | None = ...,
    budget: int | None = ...,
    random_state: int = ...,
) -> Choice: ...
@overload
def choose(
    frame: Any,
    *,
    name: str | None = ...,
    minimize: Sequence[str] = ...,
    maximize: Sequence[str] = ...,
    ignore: Sequence[str] = ...,
    scale: Mapping[str, str] | None = ...,
    among: str = ...,
    only_real: bool = ...,
    oracle: Oracle,
    noise: str | Mapping[str, Any] | None = ...,
    regret: float | None = ...,
    budget: int | None = ...,
    random_state: int = ...,
) -> Chosen: ...
def choose(
    frame: Any,
    *,
    name: str | None = None,
    minimize: Sequence[str] = (),
    maximize: Sequence[str] = (),
    ignore: Sequence[str] = (),
    scale: Mapping[str, str] | None = None,
    among: str = "pareto",
    only_real: bool = False,
    oracle: Oracle | None = None,
    noise: str | Mapping[str, Any] | None = None,
    regret: float | None = None,
    budget: int | None = None,
    random_state: int = 0,
) -> Choice | Chosen:
    """Chooses among candidates by their attributes: which point of a Pareto front is yours.

    Questions trade two attributes at a time, all else equal, and later compare candidates that are still likely the best, until
    the best one is known with a probability of .9 or is expected to fall short by at most 2 % of what lies between best and
    worst. These are the questions and the rules of the command ``equipoise choose``.

    Parameters
    ----------
    frame : data frame, dict of columns, list of dicts, or a front of :mod:`equipoise.doors`
        A row per candidate and a column per attribute.
    name : str, optional
        The column of names. By default the first column of text, or the number of the row; text in the index of a pandas frame
        counts as its first column.
    minimize, maximize : list of str
        Columns of which less, or more, is better. Columns that say so by their name (``latency_ms``, ``recall``) need not be here.
    ignore : list of str
        Columns to leave out.
    scale : dict, optional
        The scale on which differences of a column count alike: ``{"price": "log"}``, ``"linear"`` or ``"logit"``. By default money
        and time count by their ratio, shares near 0 or 1 by their odds.
    among : {"pareto", "all"}
        Only candidates that no other is better than in everything, or all.
    only_real : bool
        Ask about candidates that exist only, nothing imagined.
    oracle : function, dict or Metric, optional
        Who answers: a function from a :class:`ChoiceQuestion` to an answer, or what a simulated person goes by, weights such as
        ``{"recall": 2, "latency_ms": 1}`` or a metric of attributes. By default nobody yet: a :class:`Choice` is returned.
    noise : str or dict, optional
        How the simulated person errs: ``"flip:0.1"``, ``"logistic:20"``, ``"relative:3"``.
    regret : float, optional
        End when the choice is expected to fall short by at most this share of what lies between best and worst.
    budget : int, optional
        At most so many questions, by default 40.
    random_state : int
        The seed of sides and of a simulated person's mistakes.

    Returns
    -------
    Choice, or Chosen where an oracle answers

    Examples
    --------
    >>> from equipoise import choose
    >>> front = {
    ...     "model": ["small", "middle", "large", "slow"],
    ...     "latency_ms": [40, 90, 300, 310],
    ...     "recall": [0.81, 0.90, 0.93, 0.80],
    ... }
    >>> chosen = choose(front, oracle={"latency_ms": 1, "recall": 1})
    >>> chosen.best, chosen.row, chosen.dominated
    ('middle', 1, {'slow': 'middle'})
    >>> choice = choose(front)
    >>> choice.question().difference()
    'latency ...'
    """
    if among not in ("pareto", "all"):
        raise ValueError(f"among is {among!r}, expected 'pareto' or 'all'")
    seed = _checks.whole(random_state, "random_state")
    less, more = _checks.words(minimize, "minimize"), _checks.words(maximize, "maximize")
    out = _checks.words(ignore, "ignore")
    if isinstance(frame, _front()):
        told = {*less, *more, *out}
        less += [column for column in frame.minimize if column not in told]
        more += [column for column in frame.maximize if column not in told]
        frame, name = frame.columns, frame.name if name is None else name
    columns = [(column, _table.texts(values)) for column, values in _table.columns(frame)]
    core, text = _core.candidates(
        columns,
        None if name is None else _checks.instance(name, str, "name"),
        less,
        more,
        out,
        [(str(column), str(word)) for column, word in _checks.mapping(scale or {}, "scale").items()],
        among == "all",
        bool(only_real),
        None if regret is None else _share(regret, "regret"),
        None if budget is None else _checks.whole(budget, "budget", 1),
    )
    simulated = isinstance(oracle, (Metric, SimulatedExpert)) or (oracle is not None and not callable(oracle))
    if noise is not None and (not simulated or isinstance(oracle, SimulatedExpert)):
        raise ValueError("noise is for a simulated person, expected weights or a metric as oracle")
    choice = Choice(core, json.loads(text), None if simulated else seed)
    if oracle is None:
        return choice
    if core is not None:
        core.run(_person(choice, oracle, noise, seed) if simulated else _asked(choice, oracle))
    return choice.result()


def _seen(front: Any, count: int) -> dict[str, Any]:
    """What was seen of a frame, checked: so many of its rows are left."""
    whole = {"rows", "places", "dominated", "notes", "best"} <= set(front) if isinstance(front, dict) else False
    whole = whole and isinstance(front["rows"], int) and isinstance(front["dominated"], list) and isinstance(front["notes"], list)
    whole = whole and all(isinstance(pair, list) and list(map(type, pair)) == [str, str] for pair in front["dominated"])
    whole = whole and all(isinstance(note, str) for note in front["notes"])
    places = front["places"] if whole else None
    if not isinstance(places, list) or len(places) != count or not all(isinstance(n, int) and 0 <= n < front["rows"] for n in places):
        raise ValueError("front does not fit the candidates, expected what Choice.to_json writes")
    return dict(front)


def _front() -> type[Any]:
    from .doors import Front

    return Front


def _share(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < 1.0:
        raise ValueError(f"{name} is {_checks._short(value)}, expected a number strictly between 0 and 1")
    return float(value)


def _asked(choice: Choice, oracle: Any) -> Callable[[list[float], list[float]], str]:
    """A function that is asked, with its sides by chance."""
    number = count(1)

    def answer(first: list[float], second: list[float]) -> str:
        n = next(number)
        said = _checks.instance(oracle(choice._question(first, second, n)), str, "answer")
        return _OTHER_SIDE.get(said.strip().lower(), said) if choice._is_turned(n) else said

    return answer


#: No weight is as large as this.
_MOST = 1e300


def _is_weight(value: Any) -> bool:
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else -1
    return bool(0 <= number < _MOST)


def _person(choice: Choice, oracle: Any, noise: Any, seed: int) -> Callable[[list[float], list[float]], str]:
    """A simulated person: weights, or a metric, and how they err."""
    attributes = choice._space["attributes"]
    known = [attribute["name"] for attribute in attributes]
    errs = json.dumps(dict(_noise(noise, "noise")) if noise is not None else {"kind": "none"})
    if isinstance(oracle, SimulatedExpert):
        oracle, errs, seed = oracle.metric, oracle._noise, oracle._seed
    if isinstance(oracle, Metric):
        if oracle.kind != "attributes":
            raise ValueError(f"the metric of oracle is of kind {oracle.kind!r}, expected 'attributes'")
        about = [attribute["name"] for attribute in oracle._attributes()]
        if about != known:
            raise ValueError(f"the metric of oracle is about {', '.join(about)}, expected {', '.join(known)}")
        metric = oracle
    else:
        weights = _checks.mapping(oracle, "oracle")
        for column, weight in weights.items():
            if column not in known:
                raise ValueError(f"oracle names {column!r}, expected one of {', '.join(known)}")
            if not _is_weight(weight):
                raise ValueError(f"oracle has the weight {weight!r} for {column!r}, expected a number that is not negative")
        metric = Metric(
            {"format": 1, "kind": "attributes", "attributes": attributes, "weights": [float(weights.get(one, 0)) for one in known]}
        )
    return _core.Expert(metric._core, errs, seed).prefer


def _points(metric: Metric, frame: Any) -> tuple[list[tuple[str, list[Any]]], list[list[float]]]:
    """The columns of a frame, and the attributes of a metric in each row."""
    if metric.kind != "attributes":
        raise ValueError(f"a {metric.kind} metric is about classification errors, expected one of attributes, as choose() finds")
    columns = _table.columns(frame.columns if isinstance(frame, _front()) else frame)
    by_name = dict(columns)
    points: list[list[float]] = []
    for attribute in metric._attributes():
        name = attribute["name"]
        if name not in by_name:
            raise ValueError(f"there is no column {name!r}, which the metric weighs; the frame has {', '.join(by_name)}")
        numbers = []
        for row, text in enumerate(_table.texts(by_name[name])):
            try:
                number = float(text)
            except ValueError:
                number = float("nan")
            if not isfinite(number):
                raise ValueError(f"column {name!r} is {text!r} in row {row + 1}, expected a number")
            numbers.append(number)
        points.append(numbers)
    return columns, [list(point) for point in zip(*points, strict=True)]


def score(metric: Metric, frame: Any) -> NDArray[np.float64]:
    """The value of every row of a frame."""
    _, points = _points(metric, frame)
    named = [(str(row), point) for row, point in enumerate(points)]
    values = np.empty(len(points))
    for name, value, *_ in _core.rank_candidates(metric._core, named, 0, 0):
        values[int(name)] = value
    return values


def rank(metric: Metric, frame: Any, name: str | None, draws: int, random_state: int) -> list[Ranked]:
    """The rows of a frame in the order of a metric of attributes."""
    columns, points = _points(metric, frame)
    weighed = {attribute["name"] for attribute in metric._attributes()}
    if name is None and isinstance(frame, _front()):
        name = frame.name
    if name is None:
        others = (column for column, values in columns if column not in weighed and any(isinstance(v, str) for v in values))
        name = next(others, None)
    by_name = dict(columns)
    if name is not None and name not in by_name:
        raise ValueError(f"there is no column {name!r}, expected one of {', '.join(by_name)}")
    names = [f"row {row + 1}" for row in range(len(points))] if name is None else _table.texts(by_name[name])
    found = _core.rank_candidates(metric._core, [(str(n), point) for n, point in enumerate(points)], draws, random_state)
    return [Ranked(names[int(n)], int(n), value, (low, high), probability) for n, value, low, high, probability in found]
