"""Fronts that come with names and directions, ready for :func:`equipoise.choose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from . import _checks, _table


@dataclass(frozen=True)
class Front:
    """Candidates with their attributes, and what is known of both; :func:`equipoise.choose` takes it.

    Examples
    --------
    >>> from equipoise import choose, doors
    >>> front = doors.Front({"model": ["a", "b"], "recall": [0.8, 0.9]}, "model", maximize=["recall"])
    >>> front = front.with_column("price", {"a": 1, "b": 3}, "minimize")
    >>> choose(front)
    <Choice among 2 candidates, open, 0 of about ... questions answered>
    """

    #: A column per attribute, with a value per candidate.
    columns: dict[str, list[Any]]
    #: The column of names.
    name: str | None = None
    minimize: list[str] = field(default_factory=list)
    maximize: list[str] = field(default_factory=list)
    #: What each candidate is in the tool it comes from, by row: a trial, a predictor, the id of a run, ...
    items: list[Any] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    def with_column(
        self, name: str, values: Sequence[Any] | Mapping[str, Any], direction: Literal["minimize", "maximize"] | None = None
    ) -> Front:
        """The same with one more attribute, such as a price that the tool does not know.

        Parameters
        ----------
        name : str
        values : sequence, or dict by the names of the candidates
        direction : {"minimize", "maximize"}, optional
            Which way is better, where the name does not say it.
        """
        if direction not in (None, "minimize", "maximize"):
            raise ValueError(f"direction is {direction!r}, expected 'minimize' or 'maximize'")
        _checks.instance(name, str, "name")
        if isinstance(values, Mapping):
            known = [] if self.name is None else self.columns[self.name]
            missing = [one for one in known if one not in values]
            if missing or self.name is None:
                what = f"no value for {missing[0]!r}" if missing else "values by name, but the front has no names"
                raise ValueError(f"{name} has {what}, expected a value per candidate")
            values = [values[one] for one in known]
        found = _table._values(values, name)
        if len(found) != len(self):
            raise ValueError(f"{name} has {len(found)} values, expected {len(self)}, one per candidate")
        less = [*self.minimize, name] if direction == "minimize" else self.minimize
        more = [*self.maximize, name] if direction == "maximize" else self.maximize
        return replace(self, columns={**self.columns, name: found}, minimize=less, maximize=more)

    def _repr_html_(self) -> str:
        from ._html import grid, page

        ways = {**dict.fromkeys(self.minimize, "less is better"), **dict.fromkeys(self.maximize, "more is better")}
        head = [f"{name} ({ways[name]})" if name in ways else name for name in self.columns]
        cells = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row in zip(*self.columns.values(), strict=True)]
        return page(f"{len(self)} candidates", [], grid(head, cells[:20]))
