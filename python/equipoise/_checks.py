"""Arguments that are no columns, checked where they come in: what is wrong is a sentence with the argument's name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T")

#: Seeds and sizes are 64 bits wide in the core, and no array is longer.
_LARGEST = 2**63 - 1


def instance(value: Any, kind: type[_T], name: str) -> _T:
    """The value, which must be of a type of ours."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a {kind.__name__}")
    return value


def called(value: Any, name: str) -> Any:
    """The value, which must be callable."""
    if not callable(value):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a function")
    return value


def whole(value: Any, name: str, least: int = 0) -> int:
    """A whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {_short(value)}, expected a whole number")
    if not least <= int(value) <= _LARGEST:
        raise ValueError(f"{name} is {_short(value)}, expected a whole number of at least {least}, below 2**63")
    return int(value)


def level(value: Any) -> float:
    """The probability of an interval."""
    expected = "expected a number strictly between 0 and 1"
    if not isinstance(value, Real):
        raise TypeError(f"level is {_short(value)}, {expected}")
    try:
        found = float(value)
    except OverflowError:
        found = float("inf")
    if not 0.0 < found < 1.0:
        raise ValueError(f"level is {_short(value)}, {expected}")
    return found


def numbers(values: Any, name: str) -> NDArray[np.float64]:
    """An array of real numbers, whatever its shape."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO":
            raise TypeError(f"it holds {array.dtype}")
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} is {_short(values)}, expected numbers") from error


def words(values: Any, name: str) -> list[str]:
    """A list of strings; one string would be taken for its letters."""
    if isinstance(values, (str, bytes)) or not _lists(values) or not all(isinstance(word, str) for word in values):
        raise TypeError(f"{name} is {_short(values)}, expected a list of strings")
    return list(values)


def listed(values: Any, name: str) -> list[Any]:
    """A list of anything, such as labels."""
    if isinstance(values, (str, bytes)) or not _lists(values):
        raise TypeError(f"{name} is {_short(values)}, expected a list")
    return list(values)


def mapping(value: Any, name: str) -> Mapping[Any, Any]:
    """A dict, or what acts like one."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {_short(value)}, expected a dict")
    return value


def document(value: Any) -> str:
    """A document as text, from text or from what JSON makes of it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(mapping(value, "document"))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TypeError(f"document is {_short(value)}, expected a dict of what JSON has, or its text") from error


def _lists(values: Any) -> bool:
    try:
        iter(values)
    except TypeError:
        return False
    return not isinstance(values, Mapping)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an int with more digits than Python writes
        text = f"a {type(value).__name__} beyond all bounds"
    return text if len(text) <= 60 else f"{text[:57]}..."
