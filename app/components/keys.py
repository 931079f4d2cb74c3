"""The keys of a page that are not a button's, and the list of all of them.

Every key of every page, declared once. Buttons take theirs from here; `app/components/keyboard.js` presses the others.
"""

from importlib.resources import files
from typing import Literal, NamedTuple

import streamlit as st

By = Literal["button", "page", "focus", "passage", "cards"]


class Binding(NamedTuple):
    """A key and what it does.

    `by` says who listens: a Streamlit button; the page, which clicks what stands in the container named `target`; the page,
    which puts the cursor there (`focus`); the passage, which takes evidence; the list of cards, one of which has the focus.
    """

    key: str
    does: str
    by: By = "button"
    target: str = ""


VERDICTS = ("1", "2", "3")
SKIP, UNDO, FLAG, PAUSE, GUIDELINES = "x", "u", "f", "p", "g"
EVIDENCE, COMMENT, KEYS, NAMES = "e", "m", "?", "h"
NEXT, PREVIOUS = "j", "k"
LEAVE = "escape"
TOUR_START, TOUR_NEXT, TOUR_BACK, TOUR_LEAVE = "t", "n", "b", "q"
STREAMLIT_KEYS = frozenset({"c", "r"})
"""Streamlit clears its cache with C and runs the page again with R, and gives neither away."""

_COMMENT = Binding(COMMENT, "write a comment", "focus", "comment")
_LEAVE = Binding(LEAVE, "leave the comment, the list of keys or the choice of evidence", "page")
_KEYS = Binding(KEYS, "show these keys", "page", "keys")
_UNDO = Binding(UNDO, "undo, any number of steps")

ANNOTATE = (
    Binding("1", "supports (Agree, First)"),
    Binding("2", "does not support (Disagree, Second)"),
    Binding("3", "unsure (Neither)"),
    Binding(SKIP, "skip"),
    _UNDO,
    Binding(FLAG, "flag the perspective: its text is no good"),
    Binding(EVIDENCE, "choose sentences of the passage as evidence", "passage"),
    _COMMENT,
    Binding(GUIDELINES, "show or hide the guidelines"),
    Binding(PAUSE, "pause, and go on"),
    _KEYS,
    _LEAVE,
)
ADJUDICATION = (
    Binding("1", "supports (First)"),
    Binding("2", "does not support (Second)"),
    Binding("3", "unsure (Neither)"),
    _UNDO,
    Binding(NEXT, "the next pair"),
    Binding(PREVIOUS, "the pair before"),
    Binding(NAMES, "hide or show names", "page", "hide-names"),
    _COMMENT,
    _KEYS,
    _LEAVE,
)
EXPLORE = (
    *(Binding(str(n), f"say the opposite of perspective {n}'s label", "cards") for n in range(1, 10)),
    Binding(NEXT, "the next passage", "cards"),
    Binding(PREVIOUS, "the passage before", "cards"),
    _UNDO,
    _KEYS,
    _LEAVE,
)
FAILURES = (
    Binding("1", "supports", "cards"),
    Binding("2", "does not support", "cards"),
    Binding("3", "unsure", "cards"),
    Binding(NEXT, "the next passage", "cards"),
    Binding(PREVIOUS, "the passage before", "cards"),
    _UNDO,
    _KEYS,
    _LEAVE,
)
"""Around the hole that is chosen."""
EDITS = {
    "propose": "1",
    "split": "2",
    "merge": "3",
    "reword": "4",
    "drop": "5",
    "send": "s",
    "accept": "a",
    "reject": "x",
    "next": NEXT,
    "previous": PREVIOUS,
}
"""Keys of the Perspectives page, by what their buttons do."""
PERSPECTIVES = (
    Binding("1", "propose a missing perspective"),
    Binding("2", "split one"),
    Binding("3", "merge several"),
    Binding("4", "reword one"),
    Binding("5", "drop one"),
    Binding("w", "write the new perspective", "focus", "edit-words"),
    Binding("s", "send the proposal"),
    Binding("a", "accept the first proposal"),
    Binding("x", "reject the first proposal"),
    Binding(NEXT, "the next question"),
    Binding(PREVIOUS, "the question before"),
    _KEYS,
    _LEAVE,
)
EVIDENCE_KEYS = (
    *(Binding(str(n), f"take sentence {n}, or leave it out again", "passage") for n in range(1, 10)),
    Binding("arrowdown", "the next sentence", "passage"),
    Binding("arrowup", "the sentence before", "passage"),
    Binding("space", "take the sentence that is underlined, or leave it out again", "passage"),
    Binding(EVIDENCE, "done", "passage"),
    Binding(LEAVE, "done", "passage"),
)
"""While evidence is chosen, before the keys of the page."""
TOUR = (
    Binding(TOUR_START, "begin the tour"),
    Binding(TOUR_NEXT, "the next step"),
    Binding(TOUR_BACK, "the step before"),
    Binding(TOUR_LEAVE, "leave the tour"),
)
"""Keys of the tour, which stands beside every page."""
PAGES: dict[str, tuple[Binding, ...]] = {
    "Annotate": ANNOTATE,
    "While choosing evidence": EVIDENCE_KEYS,
    "Adjudication": ADJUDICATION,
    "Explore": EXPLORE,
    "Failures": FAILURES,
    "Perspectives": PERSPECTIVES,
    "The tour, on any page": TOUR,
}
_SHOWN = {"escape": "Esc", "arrowdown": "↓", "arrowup": "↑", "space": "Space"}


def key_table(bindings: tuple[Binding, ...]) -> str:
    """The keys as a table of Markdown; nine in a row that do the same are one line."""
    rows = [(_SHOWN.get(b.key, b.key.upper()), b.does) for b in bindings]
    digits = [row for row in rows if row[0].isdigit()]
    if len(digits) == 9:
        rows = [("1 … 9", digits[0][1].replace(" 1", " 1 … 9")), *(row for row in rows if row not in digits)]
    return "\n".join(["| Key | What it does |", "| --- | --- |", *(f"| `{key}` | {does} |" for key, does in rows)])


_MOUNT = st.components.v2.component(
    "berdseye_keyboard", js=(files("app.components") / "keyboard.js").read_text(encoding="utf-8")
)


def key_list(bindings: tuple[Binding, ...]) -> None:
    """A button, which `?` presses, that shows all keys."""
    with st.container(key="keys", width="content"), st.popover("Keys", icon=":material/keyboard:", type="tertiary"):
        if bindings is ANNOTATE:
            page, evidence = st.container(width=860).columns([4, 5])
            page.markdown(key_table(bindings))
            evidence.markdown("**While choosing evidence**")
            evidence.markdown(key_table(EVIDENCE_KEYS))
        else:
            st.markdown(key_table(bindings))


def keyboard(bindings: tuple[Binding, ...]) -> None:
    """Listen to those keys that no button listens to."""
    listened = {
        b.key: {"target": b.target, "focus": b.by == "focus"}
        for b in bindings
        if b.by in ("page", "focus") and b.key != LEAVE
    }
    _MOUNT(data={"bindings": listened}, key="keyboard")
