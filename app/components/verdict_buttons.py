"""The buttons that give a word, with their keys."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from berdseye.annotation.batches import Task
from berdseye.app.components.key_map import VERDICTS


class Choice(NamedTuple):
    """What is said, what the button says, its icon."""

    verdict: str
    label: str
    icon: str


_YES, _NO, _UNSURE = ":material/check:", ":material/close:", ":material/question_mark:"
_JUDGE = (
    Choice("supports", "Supports", _YES),
    Choice("does not support", "Does not support", _NO),
    Choice("unsure", "Unsure", _UNSURE),
)
_PREFER = (
    Choice("first", "First", ":material/looks_one:"),
    Choice("second", "Second", ":material/looks_two:"),
    Choice("neither", "Neither", ":material/balance:"),
)
GIVE = "give-"
"""What the keys of the buttons begin with."""
ICONS = {choice.verdict: choice.icon for choice in (*_JUDGE, *_PREFER)}


def choices_of(task: Task, *, decision: bool = False) -> tuple[Choice, ...]:
    """What may be said in a task; of verifying they agree or disagree with the decision that is shown."""
    if task == "prefer":
        return _PREFER
    if task == "judge":
        return _JUDGE
    yes, no = ("supports", "does not support") if decision else ("does not support", "supports")
    return (
        Choice(yes, "Agree", _YES),
        Choice(no, "Disagree", _NO),
        Choice("unsure", "Unsure", _UNSURE),
    )


def verdict_buttons(
    pair: str,
    choices: tuple[Choice, ...],
    give: Callable[[str, str], None],
    *,
    at: str = "",
    keys: bool = True,
    given: str = "",
) -> None:
    """A button for each choice, the one that was `given` marked; `give` is called with the pair and the verdict.

    They are this pair's own: a key that was pressed before the next pair was seen says nothing about that one. Where a pair is
    there twice, `at` tells its buttons apart. Without `keys` they are pressed by `berdseye.app.components.card_focus`.
    """
    for key, choice in zip(VERDICTS, choices, strict=True):
        st.button(
            choice.label,
            icon=choice.icon,
            shortcut=key if keys else None,
            key=f"{GIVE}{key}-{pair}{at}",
            type="primary" if choice.verdict == given else "secondary",
            on_click=give,
            args=(pair, choice.verdict),
        )
