"""A metric for other tools.

Tools disagree about which way round a cost matrix is, so a metric leaves as named records ``truth, estimate, cost``,
never as a bare matrix; the functions here turn the records into what each tool wants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _checks
from .metric import Metric


def _named(metric: Metric | str, prevalence: Sequence[float] | None = None) -> Metric:
    """The metric, or the one of two classes that a name means."""
    return Metric.named(metric, prevalence=prevalence) if isinstance(metric, str) else _checks.instance(metric, Metric, "metric")


def cost_records(metric: Metric | str, prevalence: Sequence[float] | None = None) -> list[dict[str, Any]]:
    """What each kind of mistake costs more than being right, as records ``{truth, estimate, cost}``.

    Parameters
    ----------
    metric : Metric or str
        A linear one that does not compare groups, or its name.
    prevalence : sequence of float, optional
        How common the classes are. A metric of rates needs it: its weights are spread over each class.

    Examples
    --------
    >>> from equipoise import Metric, export
    >>> export.cost_records(Metric.named("6:1"))
    [{'truth': '0', 'estimate': '1', 'cost': 1.0}, {'truth': '1', 'estimate': '0', 'cost': 6.0}]
    """
    metric = _named(metric, prevalence)
    entries = metric.records()
    if any(record["group"] for record in entries):
        raise ValueError("the metric compares groups, so it is not one cost per kind of mistake")
    names = metric.class_names or [str(n) for n in range(metric._core.class_count)]
    if "rates" in metric.measure:
        shares = None if prevalence is None else _checks.numbers(prevalence, "prevalence")
        if shares is None or shares.shape != (len(names),) or not (shares > 0).all():
            raise ValueError(f"a metric of rates needs prevalence=, how common each of the {len(names)} classes is")
        common = dict(zip(names, shares.tolist(), strict=True))
    else:
        common = dict.fromkeys(names, 1.0)
    cost = {(record["truth"], record["estimate"]): record["cost"] / common[record["truth"]] for record in entries}
    return [
        {"truth": i, "estimate": j, "cost": cost.get((i, j), 0.0) - cost.get((i, i), 0.0)}
        for i in names
        for j in names
        if i != j
    ]


def error_costs(metric: Metric | str, prevalence: Sequence[float] | None = None) -> dict[str, float]:
    """The costs ``{"fp": ..., "fn": ...}`` of a false alarm and a missed positive, for two classes.

    Examples
    --------
    >>> from equipoise import Metric, export
    >>> export.error_costs(Metric.named("6:1"))
    {'fp': 1.0, 'fn': 6.0}
    """
    metric = _named(metric, prevalence)
    records = cost_records(metric, prevalence)
    if len(records) != 2:
        raise ValueError(f"the metric has {metric._core.class_count} classes, expected 2")
    return {"fp": records[0]["cost"], "fn": records[1]["cost"]}


def to_fairlearn(metric: Metric | str, prevalence: Sequence[float] | None = None) -> Any:
    """``fairlearn.reductions.ErrorRate`` with the metric's costs: the objective of a reduction."""
    from fairlearn.reductions import ErrorRate

    return ErrorRate(costs=error_costs(metric, prevalence))


def to_empulse(metric: Metric | str, prevalence: Sequence[float] | None = None) -> dict[str, float]:
    """The keyword arguments of empulse's cost-sensitive losses, such as ``empulse.metrics.expected_cost_loss``.

    Examples
    --------
    >>> from equipoise import Metric, export
    >>> export.to_empulse(Metric.named("6:1"))
    {'tp_cost': 0.0, 'tn_cost': 0.0, 'fp_cost': 1.0, 'fn_cost': 6.0}
    """
    costs = error_costs(metric, prevalence)
    return {"tp_cost": 0.0, "tn_cost": 0.0, "fp_cost": costs["fp"], "fn_cost": costs["fn"]}


def to_oxonfair(metric: Metric | str, name: str = "elicited") -> Any:
    """An OxonFair group metric; larger is better, and every group is judged on its own rows."""
    from oxonfair.utils.group_metric_classes import GroupMetric

    return GroupMetric(_of_counts(_named(metric)), name, greater_is_better=True)


def _of_counts(metric: Metric) -> Callable[..., Any]:
    """The metric as a function of true positives, false positives, false negatives and true negatives, in arrays."""
    import numpy as np

    def value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        counts = np.stack(np.broadcast_arrays(tn, fp, fn, tp), axis=-1).astype(np.float64)
        flat = np.ascontiguousarray(counts.reshape(-1, 1, 2, 2))
        # The counts of a metric that has the classes' shares among its constants are each of other shares.
        values = metric._core.values(flat) if metric.kind == "linear" else np.array([metric.value(matrix) for matrix in flat])
        values = values.reshape(counts.shape[:-1])
        return values if metric.greater_is_better else -values

    return value


def to_mlflow(metric: Metric | str, name: str = "elicited", **options: Any) -> Any:
    """A metric for ``mlflow.models.evaluate(..., extra_metrics=[...])``.

    The options are those of :func:`equipoise.elicited_score`.
    """
    from mlflow.metrics import MetricValue
    from mlflow.models import make_metric

    metric = _named(metric)

    def eval_fn(predictions: Any, targets: Any) -> Any:
        try:
            value = metric(targets, predictions, **options)
        except ValueError:
            # mlflow tries every metric on the first row alone, where rates of other classes have no value.
            if len(targets) != 1:
                raise
            value = float("nan")
        return MetricValue(aggregate_results={name: value})

    return make_metric(eval_fn=eval_fn, greater_is_better=metric.greater_is_better, name=name)
