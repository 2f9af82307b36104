"""Asking at the keyboard, in a notebook or a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .interview import Answer, Interview, Outcome
    from .question import Question

_ANSWERS: dict[str, Answer] = {"a": "first", "1": "first", "b": "second", "2": "second", "?": "tie", "0": "tie"}


def ask(interview: Interview) -> Outcome:
    """Asks until the metric is known; stopping keeps the answers in the interview."""
    while (question := interview.question()) is not None:
        _show(question)
        typed = input("A or B? [a/b, ? can't tell, u undo, q quit] ").strip().lower()
        if typed in _ANSWERS:
            interview.answer(_ANSWERS[typed], shown=question.shown())
        elif typed == "u":
            print("Took the last answer back." if interview.undo() else "There is no answer to take back yet.")
        elif typed == "q":
            raise KeyboardInterrupt("stopped; the answers are kept in the interview")
        else:
            print(f"{typed[:20]!r} is not an answer: type a, b, ?, u or q.")
    return interview.result()


def _show(question: Question) -> None:
    if "IPython" in sys.modules:
        from IPython import get_ipython

        shell = get_ipython()
        if shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell":
            from IPython.display import display

            display(question)
            return
    print(question)
