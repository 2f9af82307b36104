"""Classes and groups by name: a metric that names them is read in its own order, whatever order the data have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _checks, _inputs


def spelled(label: Any) -> str:
    """A label as names are compared: a truth value is 0 or 1, and a whole number has no point."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    text = str(label)
    return {"false": "0", "true": "1"}.get(text.lower(), text)


def of(metric: Any) -> tuple[list[str] | None, list[str] | None]:
    """The classes and groups that a metric names; none for a metric that is given by its own name."""
    if isinstance(metric, str):
        return None, None
    from .metric import Metric

    found = _checks.instance(metric, Metric, "metric")._of_errors()
    return found.class_names, found.group_names


def order(names: Sequence[str] | None, found: Sequence[Any], what: str = "classes") -> list[int]:
    """The place of each of a metric's names among those of the data; their own order for a metric without names."""
    if names is None:
        return list(range(len(found)))
    places = {spelled(label): n for n, label in enumerate(found)}
    if set(places) != set(map(spelled, names)):
        rename = "class" if what == "classes" else "group"
        raise ValueError(
            f"the metric is about the {what} {', '.join(names)}, but the data have {', '.join(map(str, found))}; "
            f"metric.with_{rename}_names gives it other names"
        )
    return [places[spelled(name)] for name in names]


def labels(names: Sequence[str], columns: dict[str, Any]) -> list[Any]:
    """The labels of columns in the order of a metric's classes; one that does not occur is what its name says."""
    _, _, found = _inputs.coded_pieces(columns)
    wanted = set(map(spelled, names))
    for label in found:
        if spelled(label) not in wanted:
            raise ValueError(
                f"{' or '.join(columns)} has the label {label!r}, but the metric is about the classes "
                f"{', '.join(names)}; metric.with_class_names gives it other names"
            )
    by_name = {spelled(label): label for label in found}
    return [by_name[spelled(name)] if spelled(name) in by_name else _like(found, name) for name in names]


def _like(found: Sequence[Any], name: str) -> Any:
    """A name as a label of the same type as others."""
    kind = type(found[0]) if found else str
    try:
        return bool(int(spelled(name))) if kind is bool else kind(name)
    except ValueError:
        return name
