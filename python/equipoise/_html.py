"""A question for notebooks: flow charts from truth to prediction, A beside B, as one piece of SVG without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .question import Question

#: With more arrows than this, a table of mistakes is easier to read than a chart.
_MOST_ARROWS = 20
_ROW = 30
_THICKEST = 22.0
_WIDE = 400
_FONT = "font-family:system-ui,sans-serif"


def question(asked: Question) -> str:
    """The whole question: heading, both charts or a table, and the difference in a sentence."""
    arrows = max(len(asked.groups), 1) * len(asked.classes) ** 2
    body = _charts(asked) if arrows <= _MOST_ARROWS else _table(asked)
    return (
        f'<div style="{_FONT};max-width:62em"><p><b>{escape(asked.heading())}</b></p>{body}'
        f"<p>{escape(asked.difference())}</p></div>"
    )


def _charts(asked: Question) -> str:
    first, second = asked.counts()
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:2em">'
        + _chart("A", first, asked)
        + _chart("B", second, asked)
        + "</div>"
    )


def _chart(title: str, counts: NDArray[np.int64], asked: Question) -> str:
    """One classifier: a fork per true class; thickness is the share of the largest class, mistakes are dashed."""
    largest = counts.sum(axis=-1).max()
    parts, y = [], 34.0
    for g, group in enumerate(asked.groups or [""]):
        if group:
            parts.append(_text(0, y, group, bold=True))
            y += 24
        for i in reversed(range(len(asked.classes))) if len(asked.classes) == 2 else range(len(asked.classes)):
            order = [i, *[j for j in range(len(asked.classes)) if j != i]]
            middle = y + _ROW * (len(order) - 1) / 2
            parts.append(_text(0, middle, f"{counts[g, i].sum():,} {asked.classes[i]}"))
            for n, j in enumerate(order):
                at, count = y + n * _ROW, counts[g, i, j]
                thick = max(_THICKEST * count / largest, 1.0)
                dashed = "" if i == j else ' stroke-dasharray="7 4"'
                colour = "#4477aa" if i == j else "#cc6677"
                curve = f"M150 {middle:.1f} C200 {middle:.1f} 200 {at:.1f} 250 {at:.1f}"
                parts.append(
                    f'<path d="{curve}" fill="none" stroke="{colour}" stroke-opacity=".75" '
                    f'stroke-width="{thick:.1f}"{dashed}/>'
                )
                parts.append(_text(258, at, f"{count:,} predicted {asked.classes[j]}", bold=i != j))
            y += len(order) * _ROW + 12
    label = f"Classifier {title}: " + "; ".join(
        f"{counts[g, i, j]} {truth} predicted {estimate}{f' in {group}' if group else ''}"
        for g, group in enumerate(asked.groups or [""])
        for i, truth in enumerate(asked.classes)
        for j, estimate in enumerate(asked.classes)
    )
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDE} {y:.0f}" width="{_WIDE}" '
        f'height="{y:.0f}" style="{_FONT};font-size:14px" fill="currentColor">'
        f"{_text(0, 10, title, bold=True)}{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.0f}" y="{y:.1f}" dominant-baseline="middle"{weight}>{escape(text)}</text>'


def _table(asked: Question) -> str:
    """Mistakes in both classifiers' numbers, with a bar for each; the most different first."""
    rows = asked.mistakes()
    largest = max((max(row["A"], row["B"]) for row in rows), default=1) or 1

    def cell(count: int) -> str:
        bar = f'<span style="display:inline-block;height:.7em;background:#cc6677;width:{8 * count / largest:.2f}em"></span>'
        return f'<td style="text-align:right;padding:.2em .8em">{count:,} {bar}</td>'

    def line(row: dict[str, object]) -> str:
        group = f"<td>{escape(str(row['group']))}</td>" if asked.groups else ""
        what = f"{escape(str(row['truth']))} &rarr; predicted {escape(str(row['estimate']))}"
        return f'<tr>{group}<td style="padding:.2em .8em">{what}</td>{cell(int(str(row["A"])))}{cell(int(str(row["B"])))}</tr>'

    head = ("<th>Group</th>" if asked.groups else "") + "<th>Mistake</th><th>A</th><th>B</th>"
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(map(line, rows))}</table>'
