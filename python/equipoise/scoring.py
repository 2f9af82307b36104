"""Scores of predictions under a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _inputs, _names, _predictions
from .metric import Metric


def confusion_counts(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
) -> NDArray[np.float64]:
    """Confusion counts by group, true class and estimated class.

    Parameters
    ----------
    y_true, y_pred : columns of labels
        NumPy, pandas, Polars, Arrow or a list; labels of any type.
    labels : sequence, optional
        The classes in order; by default the sorted labels that occur.
    pos_label : label, optional
        The positive class; it is moved to the end.
    sample_weight : column of numbers, optional
    sensitive_features : column, data frame or dict of columns, optional
        The groups; several columns are crossed.

    Returns
    -------
    numpy.ndarray of shape (groups, k, k)

    Examples
    --------
    >>> from equipoise import confusion_counts
    >>> confusion_counts(["ham", "spam", "spam"], ["ham", "ham", "spam"])
    array([[[1., 0.],
            [1., 1.]]])
    """
    columns = {"y_true": y_true, "y_pred": y_pred}
    return _counted(columns, labels, pos_label, sample_weight, sensitive_features)


def _counted(
    columns: dict[str, Any],
    labels: Any,
    pos_label: Any,
    sample_weight: Any,
    sensitive_features: Any,
    group_names: list[str] | None = None,
) -> NDArray[np.float64]:
    (truth, estimate), numbers, _ = _inputs.coded_pieces(columns, labels, pos_label)
    rows = _inputs.row_count(truth)
    codes, names = _inputs.groups(sensitive_features, rows, group_names)
    weights = _inputs.weights(sample_weight, rows)
    return _core.confusion_counts(truth, estimate, numbers, weights, codes, max(len(names), 1))


def expected_counts(y_true: Any, y_proba: Any, **options: Any) -> NDArray[np.float64]:
    """Confusion counts to expect, by group, when every prediction is drawn from its probabilities."""
    found = _predictions.rows(y_true, y_proba, **options)
    k = len(found.classes)
    counts = np.zeros((max(len(found.groups), 1), k, k))
    weighed = found.probabilities if found.weights is None else found.probabilities * found.weights[:, np.newaxis]
    cells = found.truth.astype(np.int64)
    if found.group_codes is not None:
        cells += found.group_codes.astype(np.int64) * k
    np.add.at(counts.reshape(-1, k), cells, weighed)
    return counts


def metric_value(y_true: Any, y_pred: Any, *, metric: Metric | str, **options: Any) -> float:
    """The value of a metric, in its own sense."""
    counts = _counts(y_true, y_pred, metric, **options)
    return _meant(metric, counts).value(counts)


def _meant(metric: Metric | str, counts: NDArray[np.float64]) -> Metric:
    return Metric.named(metric, prevalence=counts.sum(axis=2)) if isinstance(metric, str) else metric


def _counts(
    y_true: Any,
    y_pred: Any,
    metric: Metric | str,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
) -> NDArray[np.float64]:
    """Counts in the order of the metric's classes and groups, where it names them."""
    columns = {"y_true": y_true, "y_pred": y_pred}
    names, group_names = _names.of(metric)
    if names is not None:
        labels, pos_label = named_labels(names, columns, labels, pos_label), None
    elif labels is None and (isinstance(metric, str) or metric._core.class_count == 2):
        labels = _two_labels(y_true, y_pred)
    return _counted(columns, labels, pos_label, sample_weight, sensitive_features, group_names)


def named_labels(names: list[str], columns: dict[str, Any], labels: Any, pos_label: Any) -> list[Any]:
    """The labels in the order of a metric's names, which a positive label must not contradict."""
    if labels is None:
        found = _names.labels(names, columns)
    else:
        given = _checks.listed(labels, "labels")
        found = [given[n] for n in _names.order(names, given)]
    if pos_label is not None and pos_label != found[-1]:
        raise ValueError(
            f"pos_label is {pos_label!r}, but the positive class of the metric is {found[-1]!r}; leave it out, or rename "
            "the metric's classes with metric.with_class_names"
        )
    return found


def elicited_score(
    y_true: Any,
    y_pred: Any,
    *,
    metric: Metric | str,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
) -> float:
    """What predictions are worth under a metric; larger is better, so a cost is negated.

    The parameters are those of :func:`confusion_counts`. A metric that names its classes and groups finds them by name. A
    name such as ``"f2"`` or ``"7:1"`` is the metric it means for classes as common as here.

    Examples
    --------
    >>> from equipoise import Metric, elicited_score
    >>> elicited_score([0, 0, 1, 1], [0, 1, 1, 1], metric=Metric.named("accuracy"))
    0.75
    """
    counts = _counts(y_true, y_pred, metric, labels, pos_label, sample_weight, sensitive_features)
    meant = _meant(metric, counts)
    return meant.value(counts) if meant.greater_is_better else -meant.value(counts)


def _two_labels(y_true: Any, y_pred: Any) -> list[Any]:
    """The labels that occur, or both where the rows at hand show one of 0 and 1, of -1 and 1, or of False and True."""
    _, _, found = _inputs.coded_pieces({"y_true": y_true, "y_pred": y_pred})
    if len(found) == 1:
        for pair in ([0, 1], [-1, 1]):
            if found[0] in pair:
                return [bool(label) for label in pair] if isinstance(found[0], bool) else pair
    return found
