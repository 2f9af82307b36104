"""A question for notebooks: flow charts from truth to prediction, A beside B, as one piece of SVG without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .question import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .question import Question, Trade

#: With more arrows than this, a table of mistakes is easier to read than a chart.
_MOST_ARROWS = 20
_ROW = 30
_THICKEST = 24.0
#: Wide enough for bold letters of usual fonts at 14 px.
_LETTER = 8.8
_FLOW = 80.0
_FONT = "font-family:system-ui,sans-serif"


def question(asked: Question) -> str:
    """The whole question: heading, both charts or a table, and the difference in a sentence."""
    arrows = max(len(asked.groups), 1) * len(asked.classes) ** 2
    if asked.trade is not None:
        body = _trade(asked.trade)
    else:
        body = _charts(asked) if arrows <= _MOST_ARROWS else _table(asked)
    return (
        f'<div style="{_FONT};max-width:75em"><p><b>{escape(asked.heading())}</b></p>{body}'
        f"<p>{escape(asked.difference())}</p></div>"
    )


def _charts(asked: Question) -> str:
    first, second = asked.counts()
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1em 1.5em">'
        + _chart("A", first, asked)
        + _chart("B", second, asked)
        + "</div>"
    )


def _chart(title: str, counts: NDArray[np.int64], asked: Question) -> str:
    """One classifier: a fork per true class, as thick as it has cases; mistakes are red and dashed."""
    largest = counts.sum(axis=-1).max()
    k, groups = len(asked.classes), asked.groups or [""]
    longest = max(len(name) for name in asked.classes)
    left = 12 + _LETTER * (longest + 1 + len(f"{largest:,}"))
    right = left + _FLOW
    wide = right + 12 + _LETTER * (longest + len(f"{largest:,} predicted as "))
    parts, y = [], 34.0
    for g, group in enumerate(groups):
        if group:
            parts.append(_text(0, y, group, bold=True))
            y += 26
        for i in reversed(range(k)) if k == 2 else range(k):
            order = [i, *[j for j in range(k) if j != i]]
            middle = y + _ROW * (k - 1) / 2
            parts.append(_text(0, middle, f"{counts[g, i].sum():,} {asked.classes[i]}"))
            start = middle - _THICKEST * counts[g, i].sum() / largest / 2
            for n, j in enumerate(order):
                at, thick = y + n * _ROW, _THICKEST * counts[g, i, j] / largest
                from_ = start + thick / 2
                start += thick
                if counts[g, i, j]:
                    parts.append(_arrow((left, from_), (right, at), max(thick, 1.0), right=i == j))
                words = f"{counts[g, i, j]:,} predicted as {asked.classes[j]}"
                parts.append(_text(right + 8, at, words, bold=i != j))
            y += k * _ROW + 14
    label = f"Classifier {title}: " + "; ".join(
        f"{counts[g, i, j]} {truth} predicted as {estimate}{f' in {group}' if group else ''}"
        for g, group in enumerate(groups)
        for i, truth in enumerate(asked.classes)
        for j, estimate in enumerate(asked.classes)
    )
    # Both charts shrink a little before B moves below A.
    place = f"flex:1 1 {min(wide, 340):.0f}px;min-width:0;max-width:{wide:.0f}px;height:auto"
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {wide:.0f} {y - 22:.0f}" '
        f'style="{_FONT};font-size:14px;{place}" fill="currentColor">'
        f"{_text(0, 10, title, bold=True)}{''.join(parts)}</svg>"
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], thick: float, *, right: bool) -> str:
    (x0, y0), (x1, y1) = start, end
    middle = (x0 + x1) / 2
    look = 'stroke="#4477aa"' if right else 'stroke="#cc6677" stroke-dasharray="8 3"'
    curve = f"M{x0:.0f} {y0:.1f} C{middle:.0f} {y0:.1f} {middle:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"
    return f'<path d="{curve}" fill="none" {look} stroke-opacity=".75" stroke-width="{thick:.1f}"/>'


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.0f}" y="{y:.1f}" dominant-baseline="middle"{weight}>{escape(text)}</text>'


def _cell(count: int, largest: int) -> str:
    """A number with a bar."""
    bar = f'<span style="display:inline-block;height:.7em;background:#cc6677;width:{6 * count / largest:.2f}em"></span>'
    number = f'<span style="display:inline-block;min-width:3.6em;text-align:right">{count:,}</span>'
    return f'<td style="text-align:left;white-space:nowrap;padding:.2em .8em">{number} {bar}</td>'


def _trade(trade: Trade) -> str:
    """A row per kind of error, in the order of all questions; what is the same is faint."""
    largest = max((max(both) for both in trade.counts), default=1) or 1
    lines = []
    for kind, (a, b) in zip(trade.kinds, trade.counts, strict=True):
        if a == b and len(trade.kinds) > MOST_ROWS:
            continue
        look = "opacity:.55" if a == b else "font-weight:600"
        more = "same" if a == b else f"{b - a:+,}"
        what = f'<td style="text-align:left;padding:.2em .8em">{escape(kind)}</td>'
        lines.append(f'<tr style="{look}">{what}{_cell(a, largest)}{_cell(b, largest)}<td>{more}</td></tr>')
    head = "<th>Mistake</th><th>A</th><th>B</th><th>difference</th>"
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(lines)}</table>'


def page(title: str, rows: Sequence[tuple[str, str]], more: str = "") -> str:
    """A heading and a table of what there is to know, for anything that a notebook prints."""
    cells = "".join(
        f'<tr><th style="text-align:left;vertical-align:top;padding:.15em .8em .15em 0">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f'<div style="{_FONT};max-width:60em"><b>{escape(title)}</b><table>{cells}</table>{more}</div>'


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a heading per column, numbers to the right."""
    names = "".join(f'<th style="text-align:left;padding:.1em .8em .1em 0">{escape(name)}</th>' for name in head)
    lines = "".join(
        "<tr>" + "".join(f'<td style="text-align:left;padding:.1em .8em .1em 0">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f'<table style="border-collapse:collapse;margin:.4em 0"><tr>{names}</tr>{lines}</table>'


def _table(asked: Question) -> str:
    """Mistakes in both classifiers' numbers, with a bar for each; the most different first."""
    rows = asked.mistakes()
    largest = max((max(row["A"], row["B"]) for row in rows), default=1) or 1

    def cell(count: int) -> str:
        return _cell(count, largest)

    def line(row: dict[str, object]) -> str:
        group = f'<td style="text-align:left">{escape(str(row["group"]))}</td>' if asked.groups else ""
        what = f"{escape(str(row['truth']))} predicted as {escape(str(row['estimate']))}"
        return f'<tr>{group}<td style="text-align:left;padding:.2em .8em">{what}</td>{cell(int(str(row["A"])))}{cell(int(str(row["B"])))}</tr>'

    head = ("<th>Group</th>" if asked.groups else "") + "<th>Mistake</th><th>A</th><th>B</th>"
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(map(line, rows))}</table>'
