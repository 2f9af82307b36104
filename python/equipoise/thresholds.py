"""Where to cut probabilities for a metric, and what that gains."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _predictions
from .metric import Metric


@dataclass(frozen=True)
class ThresholdAdvice:
    """Two thresholds, how sure they are, and which of them to use."""

    #: For calibrated probabilities, by theory; None where theory has none for the metric.
    bayes: float | None
    bayes_interval: tuple[float, float] | None
    #: The value of the metric there, on the rows at hand.
    bayes_value: float | None
    #: The best one on the rows at hand; None where no threshold meets the requirements.
    measured: float | None
    measured_interval: tuple[float, float] | None
    measured_value: float | None
    #: Which of the two to use, and why.
    choice: Literal["bayes", "measured"] | None
    because: str
    #: What to beware of, one sentence each.
    warnings: list[str]
    #: The best threshold of every group, if they were asked for.
    per_group: dict[str, float] | None = None
    #: The class whose probability is cut.
    positive: Any = None
    #: Everything the core says, as its document.
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def threshold(self) -> float:
        """The threshold to use; a ValueError where no threshold meets the requirements."""
        chosen = self.bayes if self.choice == "bayes" else self.measured
        if chosen is None:
            raise ValueError(self.because)
        return chosen

    def _repr_html_(self) -> str:
        from ._html import grid, page

        def row(name: str, at: float | None, spread: tuple[float, float] | None, value: float | None) -> list[str]:
            between = "" if spread is None else f"{spread[0]:.4f} to {spread[1]:.4f}"
            return [name, "none" if at is None else f"{at:.4f}", between, "" if value is None else f"{value:.4f}"]

        table = [
            row("by theory", self.bayes, self.bayes_interval, self.bayes_value),
            row("measured", self.measured, self.measured_interval, self.measured_value),
        ]
        table += [row(f"measured, {group}", at, None, None) for group, at in (self.per_group or {}).items()]
        told = [("positive class", str(self.positive)), ("use", f"{self.choice or 'neither'}: {self.because}")]
        told += [("beware", warning) for warning in self.warnings]
        return page("Where to cut", told, grid(["threshold", "at", "interval", "value"], table))


def best_threshold(
    y_true: Any,
    y_proba: Any,
    *,
    metric: Metric | str,
    requirements: Sequence[str] = (),
    per_group: bool = False,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
    level: float = 0.95,
    draws: int = 200,
    random_state: int = 1,
) -> ThresholdAdvice:
    """The threshold on the positive class's probability that a metric wants.

    Parameters
    ----------
    y_true : column of labels
    y_proba : column of the positive class's probabilities, or both columns
    metric : Metric or str
        The metric, or its name (see :meth:`Metric.named`). One that names its classes says which is the positive one.
    requirements : sequence of str
        What a rule must keep, such as ``"recall:ill>=0.9"``, ``"fpr:ill@women<=0.1"`` or ``"accuracy>=0.8"``: a
        quantity (``recall``, ``precision``, ``fpr``, ``fnr``, ``coverage``) of a class, maybe in a group.
    per_group : bool
        Whether to look for a threshold of its own for every group of ``sensitive_features``.
    labels, pos_label, sample_weight, sensitive_features
        As for :meth:`Space.from_predictions`.
    level : float
        The probability intervals have.
    draws : int
        Resamplings of the rows, and draws of the metric where it is uncertain.
    random_state : int
        The seed of both.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import Metric, best_threshold
    >>> random = np.random.default_rng(0)
    >>> p = random.random(2000)
    >>> advice = best_threshold(random.random(2000) < p, p, metric=Metric.named("6:1"), draws=50)
    >>> round(advice.bayes, 4), advice.choice
    (0.1429, 'bayes')
    """
    if metric is None:
        raise TypeError("metric is None, expected a Metric or its name")
    found = _predictions.read(
        y_true,
        y_proba,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        sensitive_features=sensitive_features,
        metric=metric,
    )
    if pos_label is not None and pos_label != found.classes[-1]:
        raise ValueError(
            f"pos_label is {pos_label!r}, but the metric's threshold is on the probability of {found.classes[-1]!r}; pass "
            "that class's probabilities"
        )
    return advised(found.core, found.classes, found.groups, metric, requirements, per_group, level, draws, random_state)


def advised(
    core: _core.Predictions | _core.Elsewhere,
    classes: list[Any],
    groups: list[str],
    metric: Metric | str,
    requirements: Sequence[str],
    per_group: bool,
    level: float,
    draws: int,
    random_state: int,
) -> ThresholdAdvice:
    """The same for predictions that have been read or counted."""
    if per_group and len(groups) < 2:
        raise ValueError("per_group needs sensitive_features with at least 2 groups")
    text = core.advise(
        Metric._meant(metric, core.shares())._core,
        _checks.words(requirements, "requirements"),
        bool(per_group),
        _checks.whole(draws, "draws"),
        _checks.level(level),
        _checks.whole(random_state, "random_state"),
    )
    document = json.loads(text)
    bayes, best, uncertain, choice = (document[key] for key in ("bayes", "best", "uncertain", "choice"))
    is_found = best["outcome"] == "found"
    grouped = document.get("per_group", {}).get("best", {})
    return ThresholdAdvice(
        bayes=bayes.get("threshold"),
        bayes_interval=_pair(bayes.get("interval")),
        bayes_value=document["bayes_value"],
        measured=best["cut"]["threshold"] if is_found else None,
        measured_interval=None if uncertain is None else _pair(uncertain["interval"]),
        measured_value=best["value"] if is_found else None,
        choice=None if choice is None else choice["threshold"],
        because=_infeasible(best) if choice is None else choice["because"],
        warnings=document["guard"]["warnings"],
        per_group=(
            dict(zip(groups, (cut["threshold"] for cut in grouped["cuts"]), strict=True))
            if grouped.get("outcome") == "found"
            else None
        ),
        positive=classes[-1],
        document=document,
    )


def _pair(spread: dict[str, float] | None) -> tuple[float, float] | None:
    return None if spread is None else (spread["low"], spread["high"])


def _infeasible(best: dict[str, Any]) -> str:
    reach = "; ".join(f"{r['requirement']} (best possible {r['best']})" for r in best.get("requirements", []))
    return f"no threshold meets {reach}"


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefits, in true positives per row, for every threshold probability (Vickers and Elkin 2006)."""

    #: The threshold probabilities.
    threshold: NDArray[np.float64]
    #: Of acting on the probabilities.
    net_benefit: NDArray[np.float64]
    #: Of acting on everybody.
    treat_all: NDArray[np.float64]
    #: Of acting on nobody: 0.
    treat_none: NDArray[np.float64]


def decision_curve(
    y_true: Any,
    y_proba: Any,
    *,
    thresholds: Any = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> DecisionCurve:
    """What acting on probabilities gains over acting on everybody or nobody.

    Parameters
    ----------
    y_true : column of labels
    y_proba : column of the positive class's probabilities, or both columns
    thresholds : sequence of float, optional
        Threshold probabilities in [0, 1); by default 0, 0.01, ..., 0.99.
    labels, pos_label, sample_weight
        As for :meth:`Space.from_predictions`.

    Examples
    --------
    >>> from equipoise import decision_curve
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.2, 0.5])
    >>> curve.net_benefit
    array([0.4375, 0.25  ])
    """
    found = _predictions.read(y_true, y_proba, labels=labels, pos_label=pos_label, sample_weight=sample_weight)
    return curve(found.core, thresholds)


def curve(core: _core.Predictions | _core.Elsewhere, thresholds: Any) -> DecisionCurve:
    """The same for predictions that have been read or counted."""
    at = np.arange(100) / 100.0 if thresholds is None else np.atleast_1d(_checks.numbers(thresholds, "thresholds"))
    if at.ndim != 1:
        raise ValueError(f"thresholds has shape {at.shape}, expected a list of probabilities")
    benefit = np.asarray(core.decision_curve(at.tolist())).reshape(-1, 3)
    return DecisionCurve(at, benefit[:, 0], benefit[:, 1], benefit[:, 2])
