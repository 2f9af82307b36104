"""The metric somebody holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _checks, _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .chosen import Ranked


class Interval(NamedTuple):
    """An interval that holds the truth with probability ``level``; ``high`` is None without an upper limit."""

    low: float
    high: float | None
    level: float


#: As many as a metric of the core may have.
_MOST_CLASSES = 1000


class Metric:
    """A function of a classifier's confusion matrix: a utility, or a cost.

    Metrics come from an interview, from a document, or by name. They evaluate labels, confusion matrices and
    probabilities, and turn into scikit-learn scorers.

    Examples
    --------
    >>> from equipoise import Metric
    >>> metric = Metric.named("7:1")  # a missed positive is as bad as 7 false alarms
    >>> metric.cost_ratio
    7.0
    >>> round(metric([0, 0, 1, 1], [0, 1, 1, 1]), 3)
    3.75
    """

    __slots__ = ("_core",)

    def __init__(self, document: str | dict[str, Any]) -> None:
        self._core = _core.Metric.from_json(_checks.document(document))

    @classmethod
    def _of(cls, core: _core.Metric) -> Metric:
        metric = cls.__new__(cls)
        metric._core = core
        return metric

    @classmethod
    def named(
        cls,
        name: str,
        *,
        classes: int = 2,
        prevalence: Sequence[float] | Sequence[Sequence[float]] | None = None,
    ) -> Metric:
        """The metric people mean by a name.

        Parameters
        ----------
        name : str
            ``accuracy``, ``balanced_accuracy``, ``f1`` (any beta: ``f0.5``, ``f2``), ``jaccard``, ``macro_f``,
            ``g_mean``, ``group_g_mean`` (of all recalls of all groups), ``q_mean``, ``equal_opportunity``,
            ``equalised_odds``, ``error_rate_balance``, ``demographic_parity``, or a cost ratio such as ``7:1``.
        classes : int
            How many classes, where ``prevalence`` is not given.
        prevalence : sequence of float, or one sequence per group
            How common the classes are (in each group). F-measures and fairness metrics need it.
        """
        _checks.instance(name, str, "name")
        if prevalence is None:
            count = _checks.whole(classes, "classes", 2)
            shares = np.full((1, min(count, _MOST_CLASSES + 1)), 1.0 / count)
        else:
            shares = np.atleast_2d(_checks.numbers(prevalence, "prevalence"))
        if shares.ndim != 2 or not (np.isfinite(shares).all() and (shares >= 0).all()):
            raise ValueError("prevalence is no table of shares, expected a share per class, or one such list per group")
        if prevalence is None and re.fullmatch(r"f[_-]?[0-9.]+|macro[ _-]f1?", name.strip().lower()):
            raise ValueError(f"{name} depends on how common the classes are: pass prevalence=[negative, positive]")
        found = _core.Metric.named(name, shares.tolist())
        if found is None:
            raise ValueError(f"name is {name!r}, expected accuracy, f1, jaccard, g_mean, equalised_odds, 7:1, ...")
        return cls._of(found)

    @classmethod
    def from_costs(cls, costs: Any, labels: Sequence[Any] | None = None) -> Metric:
        """What every mistake costs, as a metric.

        Parameters
        ----------
        costs : array of shape (k, k), or data frame
            Rows are true classes, columns estimated ones; what is right costs nothing. The columns of a data frame are
            the names of the classes, and its rows go by their names in the index, whatever their order.
        labels : sequence, optional
            The names of the classes, in order; the last of two is the positive one. A data frame of these names is brought
            into their order, one of others gets them from left to right.

        Examples
        --------
        >>> from equipoise import Metric
        >>> metric = Metric.from_costs([[0, 1], [7, 0]], labels=["well", "ill"])
        >>> metric(["ill", "ill", "well", "well"], ["well", "ill", "ill", "well"])
        2.0
        """
        matrix = _checks.numbers(costs, "costs")
        k = len(matrix) if matrix.ndim else 0
        if matrix.shape != (k, k) or k < 2:
            raise ValueError(f"costs has shape {matrix.shape}, expected as many rows as columns, at least 2")
        if hasattr(costs, "columns"):
            matrix, labels = _in_order(matrix, list(costs.columns), list(getattr(costs, "index", range(k))), labels)
        if not np.isfinite(matrix).all():
            raise ValueError(f"costs has {matrix[~np.isfinite(matrix)][0]}, expected finite numbers")
        if np.diagonal(matrix).any():
            raise ValueError(f"costs has {np.diagonal(matrix).tolist()} on its diagonal, expected 0 for what is right")
        metric = cls(
            {
                "format": 1,
                "kind": "linear",
                "measure": "off_diagonal",
                "sense": "cost",
                "classes": k,
                "weights": matrix[~np.eye(k, dtype=bool)].tolist(),
            }
        )
        return metric if labels is None else metric.with_class_names(labels)

    @classmethod
    def from_json(cls, text: str) -> Metric:
        """Reads a metric document."""
        return cls._of(_core.Metric.from_json(_checks.instance(text, str, "text")))

    def to_json(self) -> str:
        """The metric document; reads back to the last bit."""
        return self._core.to_json()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Metric:
        """Reads a metric document from a file."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the metric document to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @property
    def __name__(self) -> str:
        """What tables of several metrics call it, such as fairlearn's ``MetricFrame``."""
        ratio = self.cost_ratio
        return f"{self.kind}_metric" if ratio is None else f"cost_ratio_{ratio:.3g}"

    @property
    def kind(self) -> str:
        """The family: ``linear``, ``quadratic``, ``group_fair``, ..."""
        return self._core.kind

    @property
    def measure(self) -> str:
        """Which entries of a confusion matrix the coefficients belong to."""
        return self._core.measure

    @property
    def greater_is_better(self) -> bool:
        """Whether it is a utility; a cost is better when smaller."""
        return self._core.sense == "utility"

    @property
    def class_names(self) -> list[str] | None:
        """The classes by name, where the document has them."""
        return self._core.class_names

    @property
    def group_names(self) -> list[str] | None:
        """The groups it compares by name, where the document has them."""
        return self._core.group_names

    def with_class_names(self, names: Sequence[Any]) -> Metric:
        """The same metric with other names of its classes, in their order; the last of two is the positive one."""
        return Metric._of(self._core.with_class_names(_each_once(names)))

    def with_group_names(self, names: Sequence[Any]) -> Metric:
        """The same metric with other names of the groups it compares, in their order."""
        return Metric._of(self._core.with_group_names(_each_once(names)))

    @property
    def cost_ratio(self) -> float | None:
        """How many false alarms one missed positive costs, for a linear metric of two classes."""
        return self._core.cost_ratio

    @property
    def cost_ratio_interval(self) -> Interval | None:
        """Where the cost ratio lies, as far as the answers tell."""
        found = self._core.cost_ratio_interval
        return None if found is None else Interval(*found)

    def value(self, confusion: Any) -> float:
        """The value at a confusion matrix of counts or shares.

        Parameters
        ----------
        confusion : array of shape (k, k) or (groups, k, k)
            Rows are true classes, columns estimated ones.
        """
        self._of_errors()
        counts = _checks.numbers(confusion, "confusion")
        if counts.ndim == 2:
            counts = counts[np.newaxis]
        k = self._core.class_count
        if counts.ndim != 3 or counts.shape[1:] != (k, k):
            raise ValueError(f"confusion has shape {np.shape(confusion)}, expected ({k}, {k}) or (groups, {k}, {k})")
        return self._moved(counts).value(counts)

    def _of_errors(self) -> Metric:
        """Itself, unless it is about attributes of candidates and not about classification errors."""
        if self.kind == "attributes":
            raise ValueError(
                "the metric is about attributes of candidates, expected one of classification errors; score_candidates and "
                "rank_candidates are what it can do"
            )
        return self

    def _moved(self, counts: Any) -> _core.Metric:
        """What evaluates counts: an F-measure and its like have how common the classes are among their constants."""
        if self.kind not in ("linear_fractional", "macro_f", "kappa", "mcc", "demographic_parity"):
            return self._core
        return self._core.for_prevalence(counts.sum(axis=2).tolist())

    def __call__(self, y_true: Any, y_pred: Any, **options: Any) -> float:
        """The value of predictions; see :func:`elicited_score` for the options."""
        from .scoring import metric_value

        return metric_value(y_true, y_pred, metric=self, **options)

    def expected(self, y_true: Any, y_proba: Any, **options: Any) -> float:
        """The value at the confusion matrix to expect when predictions are drawn from probabilities.

        Parameters
        ----------
        y_true : column of labels
        y_proba : column of the positive class's probabilities, or one column per class
        **options
            ``labels``, ``pos_label``, ``sample_weight`` and ``sensitive_features`` of :meth:`Space.from_predictions`. A
            metric that names its classes finds them by name; one column is then that of its last class.

        Examples
        --------
        >>> from equipoise import Metric
        >>> Metric.named("accuracy").expected([0, 1], [0.25, 0.5])
        0.625
        """
        from .scoring import expected_counts

        return self.value(expected_counts(y_true, y_proba, metric=self, **options))

    def to_scorer(self, **options: Any) -> Callable[..., float]:
        """A scikit-learn scorer, larger is better; works in other processes too.

        The options are those of :func:`elicited_score`, for example ``pos_label``.
        """
        from ._scorer import MetricScorer
        from .scoring import elicited_score

        return MetricScorer(elicited_score, 1, {"metric": self._of_errors(), **options}, "predict")

    def to_python_source(self, *, draws: int = 1000, random_state: int = 1) -> str:
        """A Python file that scores by this metric and needs nothing else, not even this package.

        Its ``score(y_true, y_pred)`` gives the value with a 95 % interval, and scikit-learn takes its ``scorer``. The
        command ``equipoise scorer`` writes the same file.

        Parameters
        ----------
        draws : int
            How many draws of an uncertain metric to put into it, for the interval.
        random_state : int
            Their seed.

        Examples
        --------
        >>> from equipoise import Metric
        >>> module = {}
        >>> exec(Metric.named("7:1").to_python_source(), module)
        >>> module["score"]([0, 0, 1, 1], [0, 1, 1, 1]).value
        3.75
        """
        self._of_errors()
        return self._core.to_python(_checks.whole(draws, "draws"), _checks.whole(random_state, "random_state"))

    def _attributes(self) -> list[dict[str, Any]]:
        """The attributes of a metric of attributes, in order."""
        found: list[dict[str, Any]] = json.loads(self.to_json())["attributes"]
        return found

    def score_candidates(self, frame: Any) -> NDArray[np.float64]:
        """The value of every candidate of a frame, for a metric of attributes such as :func:`choose` finds.

        0 where everything is at the worse end of the range it was asked about, 1 where everything is at the better one; a
        candidate outside the ranges may be beyond.

        Parameters
        ----------
        frame : data frame, dict of columns, list of dicts, or a front of :mod:`equipoise.doors`
            With a column for every attribute of the metric; others are not looked at.

        Examples
        --------
        >>> from equipoise import choose
        >>> front = {"latency_ms": [40, 90, 300], "recall": [0.81, 0.90, 0.93]}
        >>> metric = choose(front, oracle={"latency_ms": 1, "recall": 1}).metric
        >>> good, bad = metric.score_candidates([{"latency_ms": 45, "recall": 0.92}, {"latency_ms": 300, "recall": 0.82}])
        >>> bool(good > bad)
        True
        """
        from .choice import score

        return score(self, frame)

    def rank_candidates(
        self, frame: Any, *, name: str | None = None, draws: int = 1000, random_state: int = 0
    ) -> list[Ranked]:
        """The candidates of a frame in the order of a metric of attributes, best first, with how sure that is.

        Parameters
        ----------
        frame : as for :meth:`score_candidates`
        name : str, optional
            The column of names, by default the first column of text.
        draws : int
            How many draws of an uncertain metric the intervals and probabilities are from.
        random_state : int
            Their seed.
        """
        from .choice import rank

        return rank(self, frame, name, _checks.whole(draws, "draws"), _checks.whole(random_state, "random_state"))

    def records(self) -> list[dict[str, Any]]:
        """Linear weights as named records ``{truth, estimate, group, cost}``: what other tools should be given.

        Costs of a utility are minus its weights.
        """
        document: dict[str, Any] = json.loads(self._of_errors().to_json())
        if self.kind != "linear":
            raise ValueError(f"a {self.kind} metric is not a sum of costs")
        sign = -1.0 if self.greater_is_better else 1.0
        names = self.class_names or [str(n) for n in range(self._core.class_count)]
        return [
            {"truth": names[truth], "estimate": names[estimate], "group": group, "cost": sign * weight}
            for (group, truth, estimate), weight in zip(self._core.entries(), document["weights"], strict=True)
        ]

    def difference(self, other: Metric) -> dict[str, float] | None:
        """How far another metric is, in what comparisons can see; None for another family."""
        found = self._core.difference(_checks.instance(other, Metric, "other")._core)
        return None if found is None else dict(zip(("angle", "max_abs", "l2"), found, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric.from_json, (self.to_json(),)

    @staticmethod
    def _meant(metric: Metric | str, shares: Any) -> Metric:
        """The metric, or the one a name means, for data with these joint shares of groups and classes."""
        if isinstance(metric, str):
            return Metric.named(metric, prevalence=shares)
        return Metric._of(_checks.instance(metric, Metric, "metric")._of_errors()._core.for_prevalence(shares))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self.to_json())

    def _weighed(self) -> list[tuple[str, float]]:
        """The attributes with their weights as shares, the heaviest first."""
        document: dict[str, Any] = json.loads(self.to_json())
        total = sum(document["weights"])
        shares = [(one["name"], weight / total) for one, weight in zip(document["attributes"], document["weights"], strict=True)]
        return sorted(shares, key=lambda share: -share[1])

    def __repr__(self) -> str:
        if self.kind == "attributes":
            weighed = self._weighed()
            told = ", ".join(f"{name} {weight:.0%}" for name, weight in weighed[:5])
            return f"<Metric of attributes: {told}{', ...' if len(weighed) > 5 else ''}>"
        ratio = self.cost_ratio
        if ratio is None:
            return f"<Metric {self.kind} of {self.measure}, {self._core.sense}>"
        interval = self.cost_ratio_interval
        within = "" if interval is None else f", {interval.level:.0%} interval {interval.low:.2g}-" + (
            "?" if interval.high is None else f"{interval.high:.2g}"
        )
        return f"<Metric: a missed positive costs {ratio:.3g} false alarms{within}>"

    def _repr_html_(self) -> str:
        from ._html import grid, page

        if self.kind == "attributes":
            weights = dict(self._weighed())
            told = [
                [one["name"], one["direction"], f"{one['range'][0]:g} to {one['range'][1]:g}", one["transform"],
                 f"{weights[one['name']]:.0%}"]
                for one in self._attributes()
            ]  # fmt: skip
            return page("Metric of attributes", [], grid(["attribute", "", "range", "scale", "weighs"], told))
        better = "larger is better" if self.greater_is_better else "smaller is better"
        rows = [("family", f"{self.kind.replace('_', ' ')} of {self.measure.replace('_', ' ')}, {better}")]
        if self.class_names:
            rows.append(("classes", ", ".join(self.class_names)))
        if self.group_names:
            rows.append(("groups", ", ".join(self.group_names)))
        if self.cost_ratio is not None:
            rows.append(("in words", repr(self)[9:-1]))
        if self.kind != "linear":
            return page("Metric", rows)
        told = [
            [f"{record['truth']} predicted as {record['estimate']}", f"{record['cost']:.4g}"] for record in self.records()
        ]
        return page("Metric", rows, grid(["what", "cost"], told[:60]))


def _each_once(names: Sequence[Any]) -> list[str]:
    """Names as strings; what goes by name cannot tell two of the same apart."""
    found = [str(name) for name in _checks.listed(names, "names")]
    for name in found:
        if found.count(name) > 1:
            raise ValueError(f"names has {name!r} {found.count(name)} times, expected names that differ")
    return found


def _in_order(
    matrix: NDArray[np.float64], columns: list[Any], rows: list[Any], labels: Sequence[Any] | None
) -> tuple[NDArray[np.float64], Sequence[Any]]:
    """A data frame's costs with rows and columns in one order, that of the labels where they are its names, and the labels."""
    names = [str(name) for name in columns]
    found = [str(name) for name in rows]
    wanted = names if labels is None else [str(label) for label in labels]
    if sorted(wanted) != sorted(names):
        return matrix, labels if labels is not None else columns  # labels are other names for the columns, from left to right
    if found == [str(place) for place in range(len(rows))] and sorted(found) != sorted(names):
        found = names  # nobody named the rows
    if sorted(found) != sorted(names):
        raise ValueError(f"costs has the rows {rows} and the columns {columns}, expected the same classes in both")
    down, across = ([where.index(name) for name in wanted] for where in (found, names))
    return matrix[np.ix_(down, across)], columns if labels is None else labels
