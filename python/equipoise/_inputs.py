"""From what people have (NumPy, pandas, Polars, Arrow, lists) to arrays the Rust core reads.

Columns of integers and booleans are handed on where they lie. Other labels are numbered once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import listed

_READ_AS_THEY_ARE = {np.dtype(t) for t in ("i8", "i4", "i2", "i1", "u4", "u2", "u1", "?")}


def column(values: Any, name: str) -> NDArray[Any]:
    """One column as a NumPy array, without a copy where the format allows."""
    return _joined(_pieces(values, name))


def _pieces(values: Any, name: str) -> list[NDArray[Any]]:
    """One column as it lies in memory: one array for most, several for an Arrow or Polars column in chunks."""
    if isinstance(values, np.ndarray):
        found = [values]
    else:
        found = [np.asarray(piece) for piece in _native(values)]
    if len(found) == 1 and found[0].ndim == 2 and found[0].shape[1] == 1:
        found = [found[0][:, 0]]
    if any(array.ndim != 1 for array in found):
        raise ValueError(f"{name} has shape {found[0].shape}, expected one column")
    return found


def _native(values: Any) -> list[Any]:
    """A series of any data frame library, or an Arrow column, as NumPy arrays; everything else as it is."""
    if isinstance(values, (list, tuple)):
        return [values]
    if type(values).__module__.startswith("pyarrow") and hasattr(values, "to_numpy"):
        return _of_arrow(values)
    import narwhals as nw

    series = nw.from_native(values, allow_series=True, pass_through=True, eager_only=True)
    if isinstance(series, nw.DataFrame) and series.shape[1] == 1:
        series = series.get_column(series.columns[0])
    if isinstance(series, nw.Series):
        native = series.to_native()
        if hasattr(native, "chunks"):
            return _of_arrow(native)
        # Polars would join the chunks of a series in one array.
        several = series.implementation.is_polars() and native.n_chunks() > 1
        return [piece.to_numpy() for piece in native.get_chunks()] if several else [series.to_numpy()]
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        return _of_arrow(pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values))
    return [values]


def _of_arrow(values: Any) -> list[Any]:
    """The chunks of an Arrow column; copied only where the format leaves no other way."""
    if values.null_count or getattr(values, "num_chunks", 1) == 0:
        # A chunk without its null would be of another type than the rest.
        return [values.to_numpy(zero_copy_only=False)]
    return [chunk.to_numpy(zero_copy_only=False) for chunk in getattr(values, "chunks", [values])]


def matrix(values: Any, name: str) -> NDArray[Any]:
    """One or several columns of finite numbers, as a matrix."""
    if not isinstance(values, np.ndarray) and hasattr(values, "columns"):
        import narwhals as nw

        frame = nw.from_native(values, eager_only=True)
        values = frame.to_numpy()
    array = values if isinstance(values, np.ndarray) else _joined([np.asarray(piece) for piece in _native(values)])
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}, expected rows and columns")
    array = _real(array, name)
    if not np.isfinite(array).all():
        row, col = (int(n) for n in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} is {array[row, col]} in row {row}, column {col}, expected a finite number")
    return array


def _real(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiubO":
        raise TypeError(f"{name} holds {array.dtype}, expected numbers")
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} holds {array.dtype}, expected numbers") from error


def floats(values: Any, name: str, rows: int | None = None) -> NDArray[Any]:
    """One column of finite numbers."""
    array = column(values, name)
    array = np.ascontiguousarray(_real(array, name))
    if rows is not None and len(array) != rows:
        raise ValueError(f"{name} has {len(array)} rows, expected {rows}")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name} is {array[row]} in row {row}, expected a finite number")
    return array


def weights(values: Any, rows: int) -> NDArray[Any] | None:
    """Row weights: finite and not negative."""
    if values is None:
        return None
    array = floats(values, "sample_weight", rows)
    if (array < 0).any():
        row = int(np.flatnonzero(array < 0)[0])
        raise ValueError(f"sample_weight is {array[row]} in row {row}, expected a number of at least 0")
    return array


def coded(
    columns: dict[str, Any], labels: Any = None, pos_label: Any = None
) -> tuple[list[NDArray[Any]], list[int], list[Any]]:
    """Columns of labels on one list of classes.

    Returns the columns as integers, the integer of each class, and the classes. ``labels`` fixes the classes and their
    order; otherwise they are the sorted labels that occur. ``pos_label`` is moved to the end, where the positive one
    of two classes stands.
    """
    found, numbers, classes = coded_pieces(columns, labels, pos_label)
    return [_joined(pieces) for pieces in found], numbers, classes


def coded_pieces(
    columns: dict[str, Any], labels: Any = None, pos_label: Any = None
) -> tuple[list[list[NDArray[Any]]], list[int], list[Any]]:
    """The same, with every column in the pieces it lies in memory in."""
    from . import _core

    found = {name: _pieces(values, name) for name, values in columns.items()}
    kinds = {piece.dtype for pieces in found.values() for piece in pieces}
    integers = kinds <= _READ_AS_THEY_ARE
    if integers:
        found = {name: [np.ascontiguousarray(piece) for piece in pieces] for name, pieces in found.items()}
    if integers and labels is None:
        seen = [_core.distinct(pieces) for pieces in found.values()]
        known = [some for some in seen if some is not None]
        if len(known) == len(seen):
            labels = sorted({label for some in known for label in some})
            if kinds == {np.dtype(np.bool_)}:
                labels = [bool(label) for label in labels]
    if labels is None:
        labels = _sorted_labels({name: _joined(pieces) for name, pieces in found.items()})
    labels = [label.item() if isinstance(label, np.generic) else label for label in listed(labels, "labels")]
    try:
        distinct = len(set(labels))
    except TypeError as error:
        raise TypeError(f"labels are {labels}, expected numbers or strings") from error
    if distinct != len(labels):
        raise ValueError(f"labels are {labels}, expected each once")
    if pos_label is not None:
        if pos_label not in labels:
            raise ValueError(f"pos_label is {pos_label!r}, expected one of {labels}")
        labels = [label for label in labels if label != pos_label] + [pos_label]
    small = all(isinstance(label, (int, bool)) for label in labels) and (
        max(labels, default=0) - min(labels, default=0) < 1 << 16
    )
    if integers and small:
        return list(found.values()), [int(label) for label in labels], labels
    codes = [[_codes(_joined(pieces), labels, name)] for name, pieces in found.items()]
    return codes, list(range(len(labels))), labels


def row_count(pieces: list[NDArray[Any]]) -> int:
    """How many rows a column in pieces has."""
    return sum(map(len, pieces))


def _joined(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _sorted_labels(arrays: dict[str, NDArray[Any]]) -> list[Any]:
    found: set[Any] = set()
    for name, array in arrays.items():
        values = np.unique(array) if array.dtype.kind != "O" else set(array.tolist())
        found.update(v.item() if isinstance(v, np.generic) else v for v in values)
        if any(v is None or v != v for v in found):
            raise ValueError(f"{name} has a missing label, expected one in every row")
    try:
        return sorted(found)
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in found})
        raise TypeError(f"labels are of different types ({', '.join(kinds)}), expected one type") from error


def _codes(array: NDArray[Any], labels: list[Any], name: str) -> NDArray[Any]:
    """The place of each label among the labels."""
    values, inverse = np.unique(array.astype(str) if array.dtype.kind == "O" else array, return_inverse=True)
    places = {(str(label) if array.dtype.kind == "O" else label): n for n, label in enumerate(labels)}
    table = np.empty(len(values), dtype=np.int64)
    for n, value in enumerate(values):
        value = value.item()
        if value not in places:
            row = int(np.flatnonzero(inverse == n)[0])
            raise ValueError(f"{name} has the label {value!r} in row {row}, which is not among the labels {labels}")
        table[n] = places[value]
    return table[inverse.reshape(-1)]


def places(codes: NDArray[Any], numbers: list[int], name: str) -> NDArray[np.uint8]:
    """The place of each integer label among the classes, for at most 256 of them."""
    if len(numbers) > 256:
        raise ValueError(f"{name} has {len(numbers)} classes, expected at most 256")
    if not numbers:
        return np.zeros(len(codes), dtype=np.uint8)
    lowest = min(numbers)
    table = np.full(max(numbers) - lowest + 1, -1, dtype=np.int64)
    table[np.asarray(numbers) - lowest] = np.arange(len(numbers))
    wide = codes.astype(np.int64) - lowest
    inside = (wide >= 0) & (wide < len(table))
    found = np.where(inside, table[np.where(inside, wide, 0)], -1)
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        raise ValueError(f"{name} has the label {codes[row]} in row {row}, which is not among the labels {numbers}")
    return found.astype(np.uint8)


def groups(sensitive_features: Any, rows: int) -> tuple[NDArray[Any] | None, list[str]]:
    """The group of every row as a number, and the names; several columns are crossed."""
    if sensitive_features is None:
        return None, []
    parts = _group_columns(sensitive_features)
    codes = np.zeros(rows, dtype=np.int64)
    names = [""]
    for name, values in parts:
        array = column(values, name)
        if len(array) != rows:
            raise ValueError(f"{name} has {len(array)} rows, expected {rows} as in y_true")
        found = _sorted_labels({name: array})
        codes = codes * len(found) + _codes(array, found, name)
        names = [f"{before} & {label}" if before else str(label) for before in names for label in found]
    used, codes = np.unique(codes, return_inverse=True)
    if len(used) > 65_535:
        raise ValueError(f"sensitive_features make {len(used)} groups, expected at most 65535")
    return codes.reshape(-1).astype(np.uint16), [names[n] for n in used]


def _group_columns(values: Any) -> list[tuple[str, Any]]:
    if isinstance(values, dict):
        return [(str(name), column) for name, column in values.items()]
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 1):
        return [("sensitive_features", values)]
    if isinstance(values, np.ndarray):
        return [(f"sensitive_features[:, {n}]", values[:, n]) for n in range(values.shape[1])]
    import narwhals as nw

    frame = nw.from_native(values, allow_series=True, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return [(name, frame.get_column(name).to_numpy()) for name in frame.columns]
    return [("sensitive_features", values)]
