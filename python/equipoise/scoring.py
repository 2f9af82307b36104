"""Scores of predictions under a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _inputs
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
    (truth, estimate), numbers, _ = _inputs.coded_pieces({"y_true": y_true, "y_pred": y_pred}, labels, pos_label)
    rows = _inputs.row_count(truth)
    codes, names = _inputs.groups(sensitive_features, rows)
    weights = _inputs.weights(sample_weight, rows)
    return _core.confusion_counts(truth, estimate, numbers, weights, codes, max(len(names), 1))


def expected_counts(
    y_true: Any,
    y_proba: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
) -> NDArray[np.float64]:
    """Confusion counts to expect, by group, when every prediction is drawn from its probabilities."""
    probabilities = _inputs.matrix(y_proba, "y_proba")
    (codes,), numbers, classes = _inputs.coded({"y_true": y_true}, labels, pos_label)
    if probabilities.shape[1] == 1:
        probabilities = np.column_stack([1.0 - probabilities[:, 0], probabilities[:, 0]])
    if probabilities.shape != (len(codes), len(classes)):
        raise ValueError(f"y_proba has shape {probabilities.shape}, expected ({len(codes)}, {len(classes)})")
    group_codes, names = _inputs.groups(sensitive_features, len(codes))
    weights = _inputs.weights(sample_weight, len(codes))
    counts = np.zeros((max(len(names), 1), len(classes), len(classes)))
    truth = _inputs.places(codes, numbers, "y_true")
    weighed = probabilities if weights is None else probabilities * weights[:, np.newaxis]
    cells = truth.astype(np.int64)
    if group_codes is not None:
        cells += group_codes.astype(np.int64) * len(classes)
    np.add.at(counts.reshape(-1, len(classes)), cells, weighed)
    return counts


def metric_value(y_true: Any, y_pred: Any, *, metric: Metric, labels: Any = None, **options: Any) -> float:
    """The value of a metric, in its own sense."""
    _checks.instance(metric, Metric, "metric")
    if labels is None and metric.class_names is not None:
        labels = _labels_by_name(y_true, metric.class_names)
    if labels is None and metric._core.class_count == 2:
        labels = _two_labels(y_true, y_pred)
    return metric.value(confusion_counts(y_true, y_pred, labels=labels, **options))


def elicited_score(
    y_true: Any,
    y_pred: Any,
    *,
    metric: Metric,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
) -> float:
    """What predictions are worth under a metric; larger is better, so a cost is negated.

    The parameters are those of :func:`confusion_counts`. A metric that names its classes fixes their order.

    Examples
    --------
    >>> from equipoise import Metric, elicited_score
    >>> elicited_score([0, 0, 1, 1], [0, 1, 1, 1], metric=Metric.named("accuracy"))
    0.75
    """
    value = metric_value(
        y_true,
        y_pred,
        metric=metric,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        sensitive_features=sensitive_features,
    )
    return value if metric.greater_is_better else -value


def _labels_by_name(y_true: Any, names: list[str]) -> list[Any] | None:
    """The labels that are called like the classes of a metric, in their order; None where they are called otherwise."""
    _, _, found = _inputs.coded_pieces({"y_true": y_true})
    by_name = {str(label): label for label in found}
    if set(by_name) <= set(names):
        return [by_name.get(name, name) for name in names]
    return None


def _two_labels(y_true: Any, y_pred: Any) -> list[Any]:
    """The labels that occur, or both where the rows at hand show one of 0 and 1, of -1 and 1, or of False and True."""
    _, _, found = _inputs.coded_pieces({"y_true": y_true, "y_pred": y_pred})
    if len(found) == 1:
        for pair in ([0, 1], [-1, 1]):
            if found[0] in pair:
                return [bool(label) for label in pair] if isinstance(found[0], bool) else pair
    return found
