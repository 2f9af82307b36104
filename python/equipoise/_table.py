"""Candidates in rows and columns, from whatever people have, as the text that the rules of ``equipoise choose`` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _checks, _inputs


def columns(frame: Any) -> list[tuple[str, list[Any]]]:
    """The columns of a data frame, a dict of columns, or a list of dicts, with a value per row."""
    if isinstance(frame, Mapping):
        found = [(str(name), _values(values, str(name))) for name, values in frame.items()]
    elif isinstance(frame, (list, tuple)):
        found = _of_records(frame)
    else:
        found = _of_frame(frame)
    rows = len(found[0][1]) if found else 0
    for name, values in found:
        if len(values) != rows:
            raise ValueError(f"column {name!r} has {len(values)} rows, expected {rows} as in column {found[0][0]!r}")
    names = [name for name, _ in found]
    twice = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if twice is not None:
        raise ValueError(f"two columns have the name {twice!r}")
    return found


def texts(values: Sequence[Any]) -> list[str]:
    """A column as a CSV file would have it; floats to the last bit."""
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value)
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    return "" if text in ("<NA>", "NaT") else text


def _values(values: Any, name: str) -> list[Any]:
    if isinstance(values, (str, bytes)):
        raise TypeError(f"column {name!r} is {_checks._short(values)}, expected a value per candidate")
    if isinstance(values, (list, tuple)):
        return [value.item() if hasattr(value, "item") else value for value in values]
    found: list[Any] = _inputs.column(values, name).tolist()
    return found


def _of_records(records: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    names: dict[str, None] = {}
    for n, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TypeError(f"frame[{n}] is {_checks._short(record)}, expected a dict per candidate")
        names.update(dict.fromkeys(map(str, record)))
    rows = [{str(name): value for name, value in record.items()} for record in records]
    return [(name, _values([row.get(name) for row in rows], name)) for name in names]


def _of_frame(frame: Any) -> list[tuple[str, list[Any]]]:
    import narwhals as nw

    try:
        known = nw.from_native(frame)
    except TypeError:
        known = None
    except Exception as error:  # narwhals has errors of its own, such as for two columns of one name
        raise ValueError(f"the frame cannot be read: {str(error).splitlines()[0]}") from error
    if isinstance(known, nw.LazyFrame):
        known = known.collect()
    if not isinstance(known, nw.DataFrame):
        raise TypeError(
            f"frame is a {type(frame).__name__}, expected a data frame, a dict of columns or a list of dicts, a row per candidate"
        )
    found = [(str(name), known.get_column(name).to_list()) for name in known.columns]
    # Names in the index of a pandas frame are the first column of what to_csv writes.
    index = getattr(frame, "index", None)
    labels = list(index) if known.implementation.is_pandas() and index is not None else []
    if labels and all(isinstance(label, str) for label in labels):
        found.insert(0, (str(index.name or "index") if index is not None else "index", labels))
    return found
