"""From what people have (NumPy, pandas, Polars, Arrow, lists) to arrays the Rust core reads.

Columns of integers and booleans are handed on where they lie. Other labels are numbered once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

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


def column_names(values: Any) -> list[Any] | None:
    """The names of the columns of a data frame or of a series; None for what has none."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    frame = nw.from_native(values, allow_series=True, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        # pandas has names that are no text, which narwhals keeps.
        return list(frame.columns)
    return [frame.name] if isinstance(frame, nw.Series) and isinstance(frame.name, str) and frame.name else None


def with_columns(values: Any, kept: list[int]) -> Any:
    """A data frame with some of its columns, by place."""
    if hasattr(values, "iloc"):
        return values.iloc[:, kept]
    import narwhals as nw

    frame = nw.from_native(values, eager_only=True)
    return frame.select([frame.columns[n] for n in kept]).to_native()


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
        helps = "; leave the row out or fill it in" if np.isnan(array[row, col]) else ""
        raise ValueError(f"{name} is {array[row, col]} in row {row}, column {col}, expected a finite number{helps}")
    return array


def _real(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiubO":
        raise TypeError(_no_numbers(array, name))
    if array.dtype.kind == "O":
        # Text would be read as numbers where it happens to be some.
        if any(isinstance(value, str) for value in array.ravel()[:1000]):
            raise TypeError(_no_numbers(array, name))
        array = np.where([[v is None for v in row] for row in array] if array.ndim == 2 else [v is None for v in array], np.nan, array)
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} holds {array.dtype}, expected numbers") from error


def _no_numbers(array: NDArray[Any], name: str) -> str:
    """What is wrong with a column that holds text, and what helps."""
    value = next((value for value in array.ravel()[:1000] if isinstance(value, str)), None)
    if value is None:
        return f"{name} holds {array.dtype}, expected numbers"
    helps = ""
    if re.fullmatch(r"\s*[\d.]+\s*%\s*", value):
        helps = "; these are percentages: take the sign off and divide by 100"
    elif re.fullmatch(r"\s*\d+,\d+\s*", value):
        helps = "; these have a decimal comma, which read_csv(decimal=',') takes"
    elif re.fullmatch(r"\s*[+-]?[\d.]+(e[+-]?\d+)?\s*", value.lower()):
        helps = "; this is text of numbers: convert it with astype(float)"
    return f"{name} holds text such as {value!r}, expected numbers{helps}"


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

    texts = {name: _text(values) for name, values in columns.items()}
    if any(text is not None for text in texts.values()):
        return _coded_text(columns, texts, labels, pos_label)
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
    labels = _in_order(labels, pos_label)
    small = all(isinstance(label, (int, bool)) for label in labels) and (
        max(labels, default=0) - min(labels, default=0) < 1 << 16
    )
    if integers and small:
        return list(found.values()), [int(label) for label in labels], labels
    codes = [[_codes(_joined(pieces), labels, name)] for name, pieces in found.items()]
    return codes, list(range(len(labels))), labels


def _in_order(labels: Any, pos_label: Any) -> list[Any]:
    """The classes, each once, the positive one at the end."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in listed(labels, "labels")]
    try:
        distinct = len(set(labels))
    except TypeError as error:
        raise TypeError(f"labels are {labels}, expected numbers or strings") from error
    if distinct != len(labels):
        raise ValueError(f"labels are {labels}, expected each once")
    if pos_label is None:
        return list(labels)
    if pos_label not in labels:
        raise ValueError(f"pos_label is {pos_label!r}, expected one of {labels}")
    return [label for label in labels if label != pos_label] + [pos_label]


class _Text(NamedTuple):
    """A column of text that its own library has numbered: a place per row, -1 where it is missing, and what the places mean."""

    codes: NDArray[Any]
    words: list[Any]


def _text(values: Any) -> _Text | None:
    """Columns of text and of categories, numbered without a Python object per row; None for all others."""
    module = type(values).__module__
    if module.startswith("polars") and hasattr(values, "replace_strict"):
        return _polars_text(values)
    if module.startswith("pandas") and hasattr(values, "dtype"):
        return _pandas_text(values)
    if module.startswith("pyarrow") and hasattr(values, "type"):
        return _arrow_text(values)
    return None


def _polars_text(series: Any) -> _Text | None:
    import polars as pl

    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return None
    series = series.cast(pl.String)
    words = series.unique().drop_nulls().sort()
    codes = series.replace_strict(words, pl.Series(range(len(words)), dtype=pl.Int64), default=None, return_dtype=pl.Int64)
    return _Text(codes.fill_null(-1).to_numpy(), words.to_list())


def _pandas_text(column: Any) -> _Text | None:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        found = column if isinstance(column, pd.Categorical) else column.array
        words = [w.item() if isinstance(w, np.generic) else w for w in found.categories]
        return _Text(np.asarray(found.codes, dtype=np.int64), words)
    if column.dtype.kind != "O" and column.dtype.name not in ("string", "str"):
        return None
    codes, words = pd.factorize(np.asarray(column, dtype=object), use_na_sentinel=True)
    return _Text(codes.astype(np.int64), list(words)) if all(isinstance(word, str) for word in words) else None


def _arrow_text(column: Any) -> _Text | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
    if not any(holds(kind) for holds in text):
        return None
    if not pa.types.is_dictionary(kind):
        column = pc.dictionary_encode(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    codes = pc.fill_null(column.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return _Text(codes, column.dictionary.to_pylist())


def _coded_text(
    columns: dict[str, Any], texts: dict[str, _Text | None], labels: Any, pos_label: Any
) -> tuple[list[list[NDArray[Any]]], list[int], list[Any]]:
    """Columns of labels of which some are text."""
    others = {name: column(columns[name], name) for name, text in texts.items() if text is None}
    if labels is None:
        # Categories that do not occur are no classes.
        used = [[text.words[n] for n in np.unique(text.codes) if n >= 0] for text in texts.values() if text is not None]
        found: set[Any] = {word for words in used for word in words}
        for name, array in others.items():
            found.update(_sorted_labels({name: array}))
        labels = _sorted(found)
    labels = _in_order(labels, pos_label)
    place = {label: n for n, label in enumerate(labels)}
    coded: list[list[NDArray[Any]]] = []
    for name, text in texts.items():
        if text is None:
            coded.append([_codes(others[name], labels, name)])
            continue
        if (text.codes < 0).any():
            row = int(np.flatnonzero(text.codes < 0)[0])
            raise ValueError(f"{name} has a missing label in row {row}, expected one in every row")
        table = np.array([place.get(word, -1) for word in text.words], dtype=np.int64)
        codes = table[text.codes] if len(table) else text.codes
        if (codes < 0).any():
            row = int(np.flatnonzero(codes < 0)[0])
            word = text.words[text.codes[row]]
            raise ValueError(f"{name} has the label {word!r} in row {row}, which is not among the labels {labels}")
        coded.append([codes])
    return coded, list(range(len(labels))), labels


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
    return _sorted(found)


def _sorted(found: set[Any]) -> list[Any]:
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


def groups(
    sensitive_features: Any, rows: int, wanted: Sequence[str] | None = None
) -> tuple[NDArray[Any] | None, list[str]]:
    """The group of every row as a number, and the names; several columns are crossed.

    ``wanted`` are the names of a metric's groups, whose order is then that of the groups.
    """
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
    found = [names[n] for n in used]
    if wanted is not None:
        from ._names import order

        places = order(wanted, found, "groups")
        codes, found = np.argsort(places)[codes], [found[n] for n in places]
    return codes.reshape(-1).astype(np.uint16), found


def columns_of(X: Any, wanted: Any) -> Any:
    """Columns of X that are meant by name or number; everything else as it is."""
    if isinstance(wanted, (str, int)) and not isinstance(wanted, bool):
        return {str(wanted): _column_of(X, wanted)}
    named = isinstance(wanted, (list, tuple)) and len(wanted) > 0 and all(isinstance(name, str) for name in wanted)
    if named and hasattr(X, "columns") and all(name in list(X.columns) for name in wanted):
        return {name: _column_of(X, name) for name in wanted}
    return wanted


def _column_of(X: Any, name: str | int) -> Any:
    if not hasattr(X, "columns"):
        if isinstance(name, int) and not hasattr(X, "tocsr"):
            array = np.asarray(X)
            if array.ndim == 2 and -array.shape[1] <= name < array.shape[1]:
                return array[:, name]
            raise ValueError(f"sensitive_features is {name}, but X has shape {array.shape}")
        raise ValueError(
            f"sensitive_features is {name!r}, but X has no column names; pass a data frame, the number of the column, or the "
            "groups themselves to fit and predict"
        )
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    found = frame.columns[name] if isinstance(name, int) and -len(frame.columns) <= name < len(frame.columns) else name
    if found not in frame.columns:
        listed = ", ".join(map(str, frame.columns[:10]))
        raise ValueError(f"sensitive_features is {name!r}, which is no column of X; it has {listed}")
    return frame.get_column(found).to_native()


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
