"""Predictions of a model on rows whose class is known, as the core reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, _inputs, _names

if TYPE_CHECKING:
    from .metric import Metric


class Rows(NamedTuple):
    """True classes by their places, a column of probabilities per class, groups by their places, and weights."""

    truth: NDArray[np.uint8]
    probabilities: NDArray[np.float64]
    classes: list[Any]
    group_codes: NDArray[np.uint16] | None
    groups: list[str]
    weights: NDArray[np.float64] | None


class Read(NamedTuple):
    """Predictions in the core, with the classes and groups as the caller has them."""

    core: _core.Predictions
    classes: list[Any]
    groups: list[str]


def rows(
    y_true: Any,
    y_proba: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
    metric: Metric | str | None = None,
) -> Rows:
    """Reads true classes and class probabilities; one column is the positive class's.

    A metric that names its classes and groups fixes their order, and which class one column is for.
    """
    y_proba, labels, pos_label = _by_column_name(y_true, y_proba, labels, pos_label)
    probabilities = _inputs.matrix(y_proba, "y_proba")
    if probabilities.shape[1] > 1 and pos_label is not None:
        raise ValueError("pos_label is for one column of probabilities; labels gives the order of several")
    names, group_names = (None, None) if metric is None else _names.of(metric)
    if names is not None and labels is None:
        labels = _names.labels(names, {"y_true": y_true})
        if probabilities.shape[1] > 1:
            labels = sorted(labels)
    (codes,), numbers, classes = _inputs.coded({"y_true": y_true}, labels, pos_label)
    if len(codes) != len(probabilities):
        raise ValueError(f"y_proba has {len(probabilities)} rows, expected {len(codes)} as in y_true")
    if ((probabilities < 0.0) | (probabilities > 1.0)).any():
        row, column = (int(n) for n in np.argwhere((probabilities < 0.0) | (probabilities > 1.0))[0])
        value, helps = probabilities[row, column], ""
        if probabilities.min() >= 0.0 and 1.0 < probabilities.max() <= 100.0 and np.median(probabilities.max(axis=1)) > 1.0:
            helps = "; these look like percentages: divide by 100"
        elif probabilities.min() < 0.0:
            helps = (
                "; these look like scores: 1 / (1 + exp(-x)) makes probabilities of logits, and "
                "ThresholdClassifier(response_method='decision_function') takes scores as they are"
            )
        raise ValueError(f"y_proba is {value} in row {row}, column {column}, expected a probability in [0, 1]{helps}")
    if probabilities.shape[1] == 1:
        probabilities = np.column_stack([1.0 - probabilities[:, 0], probabilities[:, 0]])
    if probabilities.shape[1] != len(classes):
        raise ValueError(f"y_proba has {probabilities.shape[1]} columns, but y_true has the classes {classes}")
    sums = probabilities.sum(axis=1)
    if (np.abs(sums - 1.0) > 1e-3).any():
        row = int(np.flatnonzero(np.abs(sums - 1.0) > 1e-3)[0])
        helps = "; of several models, pass the column of one" if len(classes) == 2 else ""
        helps += "; a class that does not occur is named with labels="
        raise ValueError(f"y_proba sums to {sums[row]:.4g} in row {row}, expected 1 over the classes{helps}")
    order = _names.order(names, classes)
    group_codes, groups = _inputs.groups(sensitive_features, len(codes), group_names)
    return Rows(
        _inputs.places(codes, [numbers[n] for n in order], "y_true"),
        probabilities[:, order],
        [classes[n] for n in order],
        group_codes,
        groups,
        _inputs.weights(sample_weight, len(codes)),
    )


#: Words in front of a class's name, or around a number that is one: ``p_ill``, ``proba_1``, ``1``.
_NUMBERED = re.compile(r"(?:p|prob|proba|probability|pred|prediction|score|class|y)?[ _.:-]*(\d+(?:\.0)?)", re.IGNORECASE)

#: What an index is called once it has been written to a file and read again.
_INDEX = re.compile(r"Unnamed: \d+|index|id|row_?id|__index_level_\d+__|", re.IGNORECASE)


def _meant(name: Any, label: str) -> bool:
    """Whether the name of a column says that it is about a class."""
    text = str(name).strip()
    if _names.spelled(text) == label or _names.spelled(name) == label:
        return True
    if label.isdigit():
        found = _NUMBERED.fullmatch(text)
        return found is not None and _names.spelled(float(found[1])) == label
    return text.lower().endswith(label.lower()) and not text[: -len(label)][-1:].isalnum()


def _by_column_name(y_true: Any, y_proba: Any, labels: Any, pos_label: Any) -> tuple[Any, Any, Any]:
    """Probabilities whose columns say which class they are about, in the order of the classes; others as they are.

    Columns that are about no class, such as an index, are left out where all classes have one. A single column may say that it
    is about the class that would not be taken for the positive one.
    """
    names = _inputs.column_names(y_proba)
    if names is None:
        return y_proba, labels, pos_label
    kept = [n for n, name in enumerate(names) if not _INDEX.fullmatch(str(name).strip())]
    if 0 < len(kept) < len(names):
        y_proba, names = _inputs.with_columns(y_proba, kept), [names[n] for n in kept]
    _, _, classes = _inputs.coded_pieces({"y_true": y_true}, labels, pos_label)
    spelled = [_names.spelled(label) for label in classes]
    places = [[n for n, name in enumerate(names) if _meant(name, label)] for label in spelled]
    if any(len(place) > 1 for place in places) and len(names) > 1:
        n = next(n for n, place in enumerate(places) if len(place) > 1)
        several = ", ".join(str(names[place]) for place in places[n])
        raise ValueError(f"y_proba has several columns for the class {classes[n]!r} ({several}); pass those of one model")
    if len(names) == 1:
        about = [label for label, place in zip(classes, places, strict=True) if place]
        if len(classes) != 2 or len(about) != 1:
            return y_proba, labels, pos_label
        if pos_label is not None and pos_label != about[0]:
            raise ValueError(f"pos_label is {pos_label!r}, but the column {names[0]!r} of y_proba is about {about[0]!r}")
        if labels is not None and list(labels)[-1] != about[0]:
            raise ValueError(f"labels end with {list(labels)[-1]!r}, but the column {names[0]!r} of y_proba is about {about[0]!r}")
        return y_proba, labels, about[0]
    if not all(places):
        if any(places) and len(names) == len(classes):
            missing = next(label for label, place in zip(classes, places, strict=True) if not place)
            raise ValueError(
                f"y_proba has the columns {', '.join(map(str, names))}, of which none is about the class {missing!r}; pass an "
                "array and labels= in the order of its columns"
            )
        if len(names) != len(classes):
            raise ValueError(
                f"y_proba has the columns {', '.join(map(str, names))}, but y_true has the classes {classes}: pass one column "
                "per class, in their order"
            )
        return y_proba, labels, pos_label
    order = [place[0] for place in places]
    if labels is not None and order != sorted(order):
        raise ValueError(
            f"labels are {list(labels)}, but the columns of y_proba are named {', '.join(map(str, names))}; leave labels out, or "
            "pass an array"
        )
    return _inputs.with_columns(y_proba, order), classes, None


def read(y_true: Any, y_proba: Any, **options: Any) -> Read:
    """The same in the core."""
    found = rows(y_true, y_proba, **options)
    core = _core.Predictions(
        [str(label) for label in found.classes],
        found.truth,
        [np.ascontiguousarray(column) for column in found.probabilities.T],
        found.group_codes,
        found.groups,
        found.weights,
    )
    return Read(core, found.classes, found.groups)
