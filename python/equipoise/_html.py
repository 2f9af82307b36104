"""A question as a flow chart for notebooks: truth on the left, prediction on the right, A beside B."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .interview import Question

_STYLE = (
    "<style>.eqp{font-family:system-ui,sans-serif;max-width:60em}.eqp table{border-collapse:collapse;margin:.5em 0}"
    ".eqp th,.eqp td{padding:.3em .8em;text-align:left;border-bottom:1px solid #8884}"
    ".eqp td.n{text-align:right;font-variant-numeric:tabular-nums}.eqp b.m{font-weight:600}"
    ".eqp .bar{display:inline-block;height:.7em;background:repeating-linear-gradient(45deg,#557,#557 3px,#99b 3px,#99b 6px)}"
    "</style>"
)


def question(asked: Question, out_of: int = 1000) -> str:
    """A table of mistakes with a bar for each number; the most different mistakes first."""
    rows = asked.mistakes(out_of)
    largest = max((max(row["A"], row["B"]) for row in rows), default=1) or 1
    grouped = any("group" in row for row in rows)

    def cell(count: int) -> str:
        width = 8.0 * count / largest
        return f'<td class="n"><b class="m">{count}</b> <span class="bar" style="width:{width:.2f}em"></span></td>'

    body = "".join(
        "<tr>"
        + (f"<td>{escape(str(row.get('group', '')))}</td>" if grouped else "")
        + f"<td>{escape(row['truth'])}</td><td>&rarr; predicted as {escape(row['estimate'])}</td>"
        + cell(row["A"])
        + cell(row["B"])
        + "</tr>"
        for row in rows
    )
    head = ("<th>Group</th>" if grouped else "") + "<th>Truth</th><th>Mistake</th><th>A</th><th>B</th>"
    return (
        f'{_STYLE}<div class="eqp"><p><b>Question {asked.number}:</b> which classifier is better? '
        f"Out of {out_of:,} people of each true class:</p><table><tr>{head}</tr>{body}</table></div>"
    )
