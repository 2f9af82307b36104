"""Predictions of a model on rows whose class is known, as the core reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core, _inputs


class Read(NamedTuple):
    """Predictions in the core, with the classes and groups as the caller has them."""

    core: _core.Predictions
    classes: list[Any]
    groups: list[str]


def read(
    y_true: Any,
    y_proba: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
) -> Read:
    """Reads true classes and class probabilities; one column is the positive class's."""
    probabilities = _inputs.matrix(y_proba, "y_proba")
    if probabilities.shape[1] > 1 and pos_label is not None:
        raise ValueError("pos_label is for one column of probabilities; labels gives the order of several")
    (codes,), numbers, classes = _inputs.coded({"y_true": y_true}, labels, pos_label)
    if len(codes) != len(probabilities):
        raise ValueError(f"y_proba has {len(probabilities)} rows, expected {len(codes)} as in y_true")
    if ((probabilities < 0.0) | (probabilities > 1.0)).any():
        row, column = (int(n) for n in np.argwhere((probabilities < 0.0) | (probabilities > 1.0))[0])
        value = probabilities[row, column]
        raise ValueError(f"y_proba is {value} in row {row}, column {column}, expected a probability in [0, 1]")
    if probabilities.shape[1] == 1:
        probabilities = np.column_stack([1.0 - probabilities[:, 0], probabilities[:, 0]])
    if probabilities.shape[1] != len(classes):
        raise ValueError(f"y_proba has {probabilities.shape[1]} columns, but y_true has the classes {classes}")
    group_codes, names = _inputs.groups(sensitive_features, len(codes))
    core = _core.Predictions(
        [str(label) for label in classes],
        _inputs.places(codes, numbers, "y_true"),
        [np.ascontiguousarray(column) for column in probabilities.T],
        group_codes,
        names,
        _inputs.weights(sample_weight, len(codes)),
    )
    return Read(core, classes, names)
