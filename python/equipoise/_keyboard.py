"""Asking at the keyboard, in a notebook or a terminal, or with buttons where a notebook takes no typed lines."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from .interview import Answer

_Outcome = TypeVar("_Outcome", covariant=True)


class Asks(Protocol[_Outcome]):
    """What can be asked at the keyboard: an interview, or a choice."""

    def question(self) -> Any: ...
    def answer(self, answer: Answer, *, shown: Any = None) -> None: ...
    def undo(self) -> bool: ...
    @property
    def answered(self) -> int: ...
    def result(self) -> _Outcome: ...


_ANSWERS: dict[str, Answer] = {
    "a": "first", "1": "first", "b": "second", "2": "second", "=": "equal", "0": "equal", "?": "can't tell",
}  # fmt: skip
_ELSE = "interview.question() shows the next question and interview.answer('A') answers it"


def ask(interview: Asks[_Outcome], how: Literal["keyboard", "buttons"] | None) -> _Outcome | None:
    """Asks by whichever way there is; stopping keeps the answers in the interview."""
    shell = _notebook()
    if how is None:
        # What other front ends do not have, Jupyter's kernel says with every cell.
        typed = shell is None or getattr(getattr(shell, "kernel", None), "_allow_stdin", True)
        how = "keyboard" if typed else "buttons"
    if how == "keyboard":
        return _typed(interview, shell is not None)
    if find_spec("ipywidgets") is None:
        raise RuntimeError(f"buttons need ipywidgets, which is not installed; without it, {_ELSE}")
    _buttons(interview)
    return None


def _notebook() -> Any:
    """The shell of the notebook, if this is one."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    return shell if shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell" else None


def _typed(interview: Asks[_Outcome], notebook: bool) -> _Outcome:
    while (question := interview.question()) is not None:
        _show(question, notebook)
        try:
            typed = input("A or B? [a/b, = equal, ? can't tell, u undo, q quit] ").strip().lower()
        except EOFError:
            raise RuntimeError(f"nobody is at the keyboard; the answers are kept in the interview, and {_ELSE}") from None
        if typed in _ANSWERS:
            interview.answer(_ANSWERS[typed], shown=question.shown())
        elif typed == "u":
            print("Took the last answer back." if interview.undo() else "There is no answer to take back yet.")
        elif typed == "q":
            raise KeyboardInterrupt("stopped; the answers are kept in the interview")
        else:
            print(f"{typed[:20]!r} is not an answer: type a, b, =, ?, u or q.")
    return interview.result()


def _show(question: Any, notebook: bool) -> None:
    if notebook:
        from IPython.display import display

        display(question)
    else:
        print(question)


def _buttons(interview: Asks[Any]) -> None:
    """Shows the question with a button per answer; the page changes with every click."""
    import ipywidgets
    from IPython.display import display

    page = ipywidgets.HTML()
    words: dict[str, Answer] = {"A": "first", "B": "second", "equal": "equal", "can't tell": "can't tell"}
    buttons = {word: ipywidgets.Button(description=word) for word in (*words, "undo")}

    def show() -> None:
        question = interview.question()
        page.value = interview.result()._repr_html_() if question is None else question._repr_html_()
        for word, button in buttons.items():
            button.disabled = question is None if word in words else interview.answered == 0

    def clicked(button: Any) -> None:
        question = interview.question()
        if button.description == "undo":
            interview.undo()
        elif question is not None:
            interview.answer(words[button.description], shown=question.shown())
        show()

    for button in buttons.values():
        button.on_click(clicked)
    show()
    display(ipywidgets.VBox([page, ipywidgets.HBox(list(buttons.values()))]))
