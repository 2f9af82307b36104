"""Asking: questions, answers, and the metric that comes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core
from .metric import Metric
from .question import Question, Trade
from .space import Space

Answer = Literal["first", "second", "A", "B", "equal", "tie", "can't tell"]
Oracle = Callable[[Question], Answer]


#: What is taken for granted where a person or a program is asked about a ball, as far as a plan has the field: nothing of how they
#: err, no more questions than people have patience for, and a few that check the family.
_OF_PEOPLE: list[tuple[str, Any]] = [("answers", {"kind": "unknown"}), ("budget", 30), ("probes", 6)]
#: What an answer is where the sides are changed.
_OTHER_SIDE = {"first": "second", "a": "second", "second": "first", "b": "first"}
#: Questions for a simulation that errs, and for any: what cannot be told does not go on for ever.
_OF_ERRING: list[tuple[str, Any]] = [("answers", {"kind": "unknown"})]
_MOST_SIMULATED = 1000
#: How close weights are known on a ball of error rates, where nobody says otherwise: about three degrees.
_TOLERANCE = 0.05


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
    #: How much more than the best rule the one that follows is expected to cost, as a share; None where nothing follows yet.
    regret: float | None = None
    #: At most so much, with 95 % certainty.
    regret_bound: float | None = None
    #: How answers were believed to err: ``{"kind": "unknown"}``, ``{"kind": "none"}`` for not at all, ...
    assumed: dict[str, Any] = field(default_factory=dict)
    #: The remarks as documents, with their numbers.
    findings: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("metric", repr(self.metric).strip("<>")), ("questions", str(self.questions))]
        if self.regret is not None and self.regret_bound is not None:
            bound = f"within {self.regret:.0%} of the best possible (95 %: within {self.regret_bound:.0%})"
            rows.append(("rule that follows", bound))
        rows.append(("answers taken to be", _assumed(self.assumed)))
        rows.append(("identified", "yes" if self.identifiable else "no"))
        return rows + [("note", remark) for remark in self.remarks]

    def __str__(self) -> str:
        return "\n".join(f"{name + ':':<20} {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        from ._html import page

        return page("What came out", self._rows())


def _assumed(noise: dict[str, Any]) -> str:
    """How answers were believed to err, in words."""
    kind = noise.get("kind")
    if kind == "unknown":
        return "of a person who errs in an unknown way"
    if kind in (None, "none", "exact"):
        return "exact"
    return ", ".join(f"{key} {value}" for key, value in noise.items() if key != "kind") + f" ({kind})"


class Interview:
    """Questions, one at a time, until the metric is known.

    Iterate over it and answer each question; the same answers to the same seed always lead to the same questions. A person or
    a program is believed to err in an unknown way and is asked 30 questions at most. Of more than two classes, and of two
    groups, questions are about the model and its neighbours: two kinds of error differ, all else is the same.

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
    around : {"model", "balanced", "coin"}, Metric or its name, optional
        What questions are about: the most likely class as predicted, the same with all classes weighed alike, the best rule
        for a metric, or a ball of error rates around the toss of a coin. By default ``"model"`` for a linear metric of more
        than two classes and a ``group_fair`` one of two groups, if ``space`` has predictions.
    answers : str or dict, optional
        How answers are believed to err: ``"unknown"``, ``"exact"``, ``"flip:0.1"``, ``"logistic:20"``. By default unknown for the
        adaptive method.
    regret : float, optional
        Ask until the rule that follows is expected to cost at most this much more than the best one, as a share.
    shuffle : bool
        Whether chance, by the seed, puts either classifier of a question on the first side where the plan does not do so itself,
        as it does for people.
    **options
        Fields of the plan's document: ``tolerance`` (an angle), ``width`` (of a cost ratio's interval), ``budget`` (by default
        30), ``probes``, ``seed``, ... One that the method does not have is refused.

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

    def __init__(
        self,
        space: Space,
        family: str = "linear",
        method: str | None = None,
        *,
        around: Metric | str | None = None,
        answers: str | Mapping[str, Any] | None = None,
        regret: float | None = None,
        shuffle: bool = True,
        **options: Any,
    ) -> None:
        options = {"around": around, "answers": answers, "regret": regret, "shuffle": shuffle, **options}
        self._start(space, family, method, "person", options)

    def _start(self, space: Space, family: str, method: str | None, who: str, options: dict[str, Any]) -> None:
        """Makes the plan for whoever answers: a "person" or a program, an "erring" simulation, or a "faithful" one."""
        real = self._real = who == "person"
        _checks.instance(family, str, "family")
        _checks.instance(space, Space, "space")
        if method is not None:
            _checks.instance(method, str, "method")
        around, answers, regret = (options.pop(name, None) for name in ("around", "answers", "regret"))
        shuffle = bool(options.pop("shuffle", True))
        if around is None and real and method in (None, "adaptive") and space.fits_around(family):
            around = "model"
        elif around == "coin":
            around = None
        if around is not None and method not in (None, "adaptive"):
            raise ValueError(f"around is {around!r}, which is for the method 'adaptive', but method is {method!r}")
        plan = {"kind": family, "space": space.document(family, around), **options}
        if method is not None:
            plan["method"] = method
        if answers is not None:
            plan["answers"] = _noise(answers)
        if regret is not None and around is not None:
            if "stop" in plan:
                raise ValueError("regret and stop are both given, expected one of them")
            plan["stop"] = {"kind": "regret", "at_most": regret}
        elif regret is not None:
            plan["regret"] = regret
        defaults: list[tuple[str, Any]] = []
        if plan["space"].get("kind") in ("sphere", "group_sphere"):  # thresholds and trades are for people as they are
            defaults += _OF_PEOPLE if real else _OF_ERRING if who == "erring" else []
            if space.has_predictions:
                defaults += [("tolerance", _TOLERANCE), ("budget", _MOST_SIMULATED)]
        self._core = _core.Interview(_checks.document(plan), json.dumps(defaults))
        self._space = space
        # What is asked of people has its sides from the plan, which can then tell a habit of sides from a metric.
        seed = _checks.whole(options.get("seed", 0), "seed")
        self._sides = seed if real and shuffle and not self._core.asks_people() else None

    @classmethod
    def _simulated(
        cls, space: Space, family: str, method: str | None, errs: bool, options: dict[str, Any]
    ) -> Interview:
        """One that a simulation answers, of whom only is assumed what people may not know."""
        interview = cls.__new__(cls)
        interview._start(space, family, method, "erring" if errs else "faithful", dict(options))
        return interview

    def __iter__(self) -> Iterator[Question]:
        while (question := self.question()) is not None:
            yield question

    def question(self) -> Question | None:
        """The next question; None when all is answered."""
        found = self._core.question()
        # How many there are in all takes long to imagine where no goal tells it.
        about = self.about if self._core.asks_people() else None
        return None if found is None else self._question(*found, self.answered + 1, about)

    @property
    def about(self) -> int | None:
        """About how many questions there are in all, as far as can be told; None where it cannot."""
        return self._core.about()

    def _question(self, first: list[float], second: list[float], number: int, about: int | None = None) -> Question:
        if self._is_turned(number):
            first, second = second, first
        size = self._core.told_in(first, second, float(self._shown_as[3].sum(axis=0)[-1])) if self._real else None
        trade = None if self._core.trades() is None else self._traded(first, second, size or 1000)
        return Question(number, np.asarray(first), np.asarray(second), *self._shown_as, about, trade, size)

    def _is_turned(self, number: int) -> bool:
        """Whether a question is shown with its sides changed: by chance, and the same whenever it is shown again."""
        return self._sides is not None and _core.is_turned(self._sides, number)

    def _traded(self, first: list[float], second: list[float], size: int) -> Trade:
        """Both classifiers kind by kind, every kind rounded by itself: what is equal stays equal."""
        by_group = bool(self._core.trades())
        _, classes, groups, _ = self._shown_as
        pairs = [f"{a} predicted as {b}" for a in classes for b in classes if a != b]
        gaps = [f"{pair}: gap between {groups[0]} and {groups[1]}" for pair in pairs] if by_group else []
        counts = [
            [int(np.floor(max(rate, 0.0) * size + 0.5)) for rate in self._core.kinds(point) or []]
            for point in (first, second)
        ]
        return Trade(size, pairs + gaps, list(zip(*counts, strict=True)), not by_group)

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
        answer : {"first", "second", "equal", "can't tell"}
            ``"A"`` and ``"B"`` are first and second. ``"equal"`` (or ``"tie"``) says that both are about as good, which
            tells much; ``"can't tell"`` says nothing, and nothing is learnt from it.
        shown : pair of points, optional
            The two classifiers as they were shown, where they were rounded.
        """
        pair = None
        if shown is not None:
            points = [_checks.numbers(point, "shown") for point in _checks.listed(shown, "shown")]
            if len(points) != 2 or any(point.ndim != 1 for point in points):
                raise ValueError("shown is no pair of points, expected the coordinates of both classifiers")
            asked = self._core.question()
            if asked is not None and any(len(point) != len(asked[0]) for point in points):
                found = " and ".join(str(len(point)) for point in points)
                raise ValueError(f"shown has {found} entries, expected {len(asked[0])} of each classifier")
            pair = (points[0].tolist(), points[1].tolist())
        said = _checks.instance(answer, str, "answer")
        if self._is_turned(self.answered + 1):
            said = _OTHER_SIDE.get(said.strip().lower(), said)
            pair = None if pair is None else (pair[1], pair[0])
        self._core.answer(said, pair)

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
        metric, remarks, identifiable, text = found
        findings: list[dict[str, Any]] = json.loads(text)
        regret = next((finding for finding in findings if finding["finding"] == "regret"), {})
        names = None if self._space.classes is None else [str(label) for label in self._space.classes]
        if names is not None and metric.class_count == len(names):
            metric = metric.with_class_names(names)
        if metric.group_count > 1 and metric.group_count == len(self._space.groups):
            metric = metric.with_group_names(self._space.groups)
        return Outcome(
            Metric._of(metric), remarks, identifiable, self.answered, regret.get("expected"), regret.get("bound"),
            self.assumed, findings,
        )  # fmt: skip

    @property
    def assumed(self) -> dict[str, Any]:
        """How answers are believed to err, as a document; a search believes them."""
        noise: dict[str, Any] = json.loads(self._core.assumed() or '{"kind": "none"}')
        return noise

    def to_json(self) -> str:
        """The interview as a document: plan, answers, and the names and shares of classes and groups."""
        document: dict[str, Any] = json.loads(self._core.to_json())
        if self._sides is not None:
            document["sides"] = self._sides
        if self._space.classes is not None:
            shares = self._space.prevalence
            shown = {"classes": self._space.classes, "groups": self._space.groups}
            document["shown"] = {**shown, "shares": [] if shares is None else shares.tolist()}
        return json.dumps(document, default=str)

    @classmethod
    def from_json(cls, text: str, space: Space | None = None) -> Interview:
        """Goes on with an interview; ``space`` brings other names of classes and groups than the document has."""
        document = json.loads(_checks.instance(text, str, "text"))
        found = document if isinstance(document, dict) else {}
        shown = found.pop("shown", None) or {}
        # What the command line keeps besides: the table's classes are the names.
        table = found.pop("table", None) or {}
        if not shown and table.get("classes"):
            shown = {"classes": table["classes"], "groups": table.get("groups") or []}
        for field_ in ("space", "around", "set_aside", "front"):
            found.pop(field_, None)
        interview = cls.__new__(cls)
        interview._sides = found.pop("sides", None)
        interview._real = True
        interview._core = _core.Interview.from_json(json.dumps(document))
        if interview._core.view()[0] == "attributes":
            raise ValueError("the document is a choice among candidates, which Choice.from_json reads")
        interview._space = space or Space(document["plan"]["space"], **shown)
        return interview

    def __reduce__(self) -> tuple[Any, ...]:
        return Interview.from_json, (self.to_json(),)

    def ask(self, how: Literal["keyboard", "buttons"] | None = None) -> Outcome | None:
        """Asks whoever sits there, in a notebook or a terminal.

        Type ``a`` or ``b``, ``=`` for equal, ``?`` for can't tell, ``u`` to take the last answer back, ``q`` to stop.

        Parameters
        ----------
        how : {"keyboard", "buttons"}, optional
            By default the keyboard, and buttons in a notebook that takes no typed lines. Buttons need ipywidgets; the call
            returns None at once, and :meth:`result` has the outcome when all is answered.
        """
        from ._keyboard import ask

        if how not in (None, "keyboard", "buttons"):
            raise ValueError(f"how is {how!r}, expected 'keyboard' or 'buttons'")
        return ask(self, how)

    def __repr__(self) -> str:
        about = self.about
        of = "" if about is None or self._core.question() is None else f" of about {about}"
        state = "done" if self._core.question() is None else "open"
        return f"<Interview {state}, {self.answered}{of} questions answered, method {self.method}>"

    def _repr_html_(self) -> str:
        from ._html import page

        question = self.question()
        return self.result()._repr_html_() if question is None else page(repr(self)[1:-1], [], question._repr_html_())


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
        A function from a :class:`Question` to an answer (see :meth:`Interview.answer`): a program, a form, or
        :func:`simulated_expert`.
    family, method, **options
        As for :class:`Interview`. A simulated expert is no person: answers are believed as the method does by itself, without
        a limit of questions, and questions are not about the model unless ``around`` says so.

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
    _checks.called(oracle, "oracle")
    if isinstance(oracle, SimulatedExpert):
        interview = Interview._simulated(space, family, method, oracle.errs and space.has_predictions, options)
    else:
        interview = Interview(space, family, method, **options)
    number = count(1)

    def answer(first: list[float], second: list[float]) -> str:
        n = next(number)
        said = _checks.instance(oracle(interview._question(first, second, n)), str, "answer")
        return _OTHER_SIDE.get(said.strip().lower(), said) if interview._is_turned(n) else said

    interview._core.run(answer)
    return interview.result()


class SimulatedExpert:
    """Somebody who answers by a metric; :func:`simulated_expert` makes one."""

    def __init__(self, metric: Metric | str, noise: dict[str, Any], random_state: int) -> None:
        self.metric = metric
        #: Whether it ever errs.
        self.errs = noise.get("kind") != "none"
        self._noise, self._seed = _checks.document(noise), random_state
        self._core: _core.Expert | None = None
        # What is wrong with a noise model is said at once.
        _core.Expert(Metric.named("accuracy")._core, self._noise, random_state)

    def __call__(self, question: Question) -> Answer:
        metric = self.metric if isinstance(self.metric, Metric) else Metric._meant(self.metric, question.shares)
        if self._core is None:
            self._core = _core.Expert(metric._core, self._noise, self._seed)
        if metric._core.group_count > max(len(question.groups), 1):
            raise ValueError("the metric compares groups, but the questions do not tell them apart")
        if question.measure == metric.measure:
            points = [question.first.tolist(), question.second.tolist()]
        else:
            points = [metric._core.point(np.ascontiguousarray(matrix)) for matrix in question.confusions()]
        return self._core.prefer(*points)


def simulated_expert(
    metric: Metric | str, noise: Mapping[str, Any] | None = None, random_state: int = 0
) -> SimulatedExpert:
    """An oracle that answers by a metric, for trials before people are asked.

    Parameters
    ----------
    metric : Metric or str
        Of any measure; questions about other entries of the confusion matrix are translated. A name is the metric it means for
        classes as common as those of the questions.
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
    if not isinstance(metric, str):
        _checks.instance(metric, Metric, "metric")
    how = dict({"kind": "none"} if noise is None else _checks.mapping(noise, "noise"))
    return SimulatedExpert(metric, how, _checks.whole(random_state, "random_state"))


def _noise(answers: str | Mapping[str, Any], name: str = "answers") -> Mapping[str, Any]:
    """``"flip:0.1"`` as a document."""
    if not isinstance(answers, str):
        return _checks.mapping(answers, name)
    kind, colon, number = answers.partition(":")
    if not colon:
        return {"kind": kind}
    numbers = {"flip": "probability", "logistic": "slope", "relative": "slope"}
    try:
        return {"kind": kind, numbers.get(kind, "width"): float(number)}
    except ValueError:
        raise ValueError(f"{name} is {answers!r}, expected a number after the colon, as in 'flip:0.1'") from None
