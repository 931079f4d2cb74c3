"""Every key of every page, declared once. Buttons take their keys from here, `app/components/keyboard.js` handles the others, and
`key_list` shows a page's keys to the person."""

from importlib.resources import files
from typing import Literal, NamedTuple

import streamlit as st

By = Literal["button", "page", "focus", "passage", "cards", "palette"]
VERDICTS = ("1", "2", "3")
SKIP, UNDO, FLAG, PAUSE, GUIDELINES = "x", "u", "f", "p", "g"
EVIDENCE, COMMENT, KEYS, NAMES = "e", "m", "?", "h"
NEXT, PREVIOUS = "j", "k"
LAST = "l"
LEAVE = "escape"
TOUR_START, TOUR_NEXT, TOUR_BACK, TOUR_LEAVE = "t", "n", "b", "q"
STREAMLIT_KEYS = frozenset({"c", "r"})
"""Keys that Streamlit reserves: C clears its cache, R runs the page again."""
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
PALETTE_OPENS, OPEN, OPEN_BESIDE = "ctrl+k", "enter", "ctrl+enter"
_SHOWN = {
    "escape": "Esc",
    "arrowdown": "↓",
    "arrowup": "↑",
    "space": "Space",
    PALETTE_OPENS: "Ctrl K",
    OPEN: "Enter",
    OPEN_BESIDE: "Ctrl Enter",
}
_MOUNT = st.components.v2.component(
    "berdseye_keyboard", js=(files("berdseye.app.components") / "keyboard.js").read_text(encoding="utf-8")
)


class Binding(NamedTuple):
    """A key and what it does.

    `by` names the listener: `button`, a Streamlit button; `page`, the page, which clicks the widget in the container `target`;
    `focus`, the page, which puts the cursor there; `passage`, the passage with its evidence; `cards`, the list of cards, one of
    which has the focus; `palette`, the command palette.
    """

    key: str
    does: str
    by: By = "button"
    target: str = ""


_COMMENT = Binding(COMMENT, "write a comment", "focus", "comment")
_LEAVE = Binding(LEAVE, "leave the comment, the list of keys or the choice of evidence", "page")
_KEYS = Binding(KEYS, "show these keys", "page", "keys")
_UNDO = Binding(UNDO, "undo (repeatable)")

_CARDS = (
    Binding(NEXT, "the next passage", "cards"),
    Binding(PREVIOUS, "the previous passage", "cards"),
    _UNDO,
    _KEYS,
    _LEAVE,
)
ANNOTATE = (
    Binding("1", "supports (Agree, First; the first verdict of a check)"),
    Binding("2", "does not support (Disagree, Second; the second verdict)"),
    Binding("3", "unsure (Neither; the third verdict)"),
    Binding(SKIP, "skip"),
    _UNDO,
    Binding(FLAG, "flag the perspective's text as unsuitable, or a check as difficult"),
    Binding(EVIDENCE, "choose sentences of the passage as evidence", "passage"),
    _COMMENT,
    Binding(GUIDELINES, "show or hide the guidelines"),
    Binding(PAUSE, "pause or resume"),
    _KEYS,
    _LEAVE,
)
ADJUDICATION = (
    Binding("1", "supports (First; the first verdict of a check)"),
    Binding("2", "does not support (Second; the second verdict)"),
    Binding("3", "unsure (Neither; the third verdict)"),
    _UNDO,
    Binding(NEXT, "the next pair"),
    Binding(PREVIOUS, "the previous pair"),
    Binding(NAMES, "hide or show names", "page", "hide-names"),
    _COMMENT,
    _KEYS,
    _LEAVE,
)
EXPLORE = (
    *(Binding(str(n), f"flip the label of perspective {n}", "cards") for n in range(1, 10)),
    *_CARDS,
)
COMPARE = SEARCH = EXPLORE
PASSAGE = (
    *(Binding(str(n), f"flip the label in row {n} of the focused question", "cards") for n in range(1, 10)),
    Binding(NEXT, "the next question", "cards"),
    Binding(PREVIOUS, "the previous question", "cards"),
    *_CARDS[2:],
)
_VERDICTS = (
    Binding("1", "supports", "cards"),
    Binding("2", "does not support", "cards"),
    Binding("3", "unsure", "cards"),
)
FAILURES = (*_VERDICTS, *_CARDS)
"""Keys of the passages around the chosen hole."""
LAST_JUDGMENTS = (
    Binding(LAST, "open or close your last judgments"),
    *_VERDICTS,
    Binding(NEXT, "the next judgment", "cards"),
    Binding(PREVIOUS, "the previous judgment", "cards"),
    Binding(UNDO, "undo (repeatable)", "cards"),
)
"""Keys of the list of a person's last judgments, which opens on every page; while it is open, they override those of the page."""
PERSPECTIVES = (
    Binding("1", "propose a missing perspective"),
    Binding("2", "split one"),
    Binding("3", "merge several"),
    Binding("4", "reword one"),
    Binding("5", "drop one"),
    Binding("w", "move the cursor to the new perspective", "focus", "edit-words"),
    Binding("s", "send the proposal"),
    Binding("a", "accept the first proposal"),
    Binding("x", "reject the first proposal"),
    Binding(NEXT, "the next question"),
    Binding(PREVIOUS, "the previous question"),
    _KEYS,
    _LEAVE,
)
EVIDENCE_KEYS = (
    *(Binding(str(n), f"select or deselect sentence {n}", "passage") for n in range(1, 10)),
    Binding("arrowdown", "the next sentence", "passage"),
    Binding("arrowup", "the previous sentence", "passage"),
    Binding("space", "select or deselect the underlined sentence", "passage"),
    Binding(EVIDENCE, "done", "passage"),
    Binding(LEAVE, "done", "passage"),
)
"""Keys while evidence is chosen; they override the keys of the page."""
TOUR = (
    Binding(TOUR_START, "start the tour"),
    Binding(TOUR_NEXT, "the next step"),
    Binding(TOUR_BACK, "the previous step"),
    Binding(TOUR_LEAVE, "leave the tour"),
)
"""Keys of the tour, which is available on every page."""
PALETTE = (
    Binding(PALETTE_OPENS, "open or close it (⌘ K on a Mac)", "palette"),
    Binding("arrowdown", "the next line", "palette"),
    Binding("arrowup", "the previous line", "palette"),
    Binding(OPEN, "open the marked line", "palette"),
    Binding(OPEN_BESIDE, "open it in a new tab", "palette"),
    Binding(LEAVE, "close it", "palette"),
)
"""Keys of the command palette, which is available on every page."""
PAGES: dict[str, tuple[Binding, ...]] = {
    "Annotate": ANNOTATE,
    "While choosing evidence": EVIDENCE_KEYS,
    "Adjudication": ADJUDICATION,
    "Explore": EXPLORE,
    "Search": SEARCH,
    "Compare": COMPARE,
    "Passage": PASSAGE,
    "Failures": FAILURES,
    "Perspectives": PERSPECTIVES,
    "Your last judgments, on any page": LAST_JUDGMENTS,
    "The tour, on any page": TOUR,
    "The command palette, on any page": PALETTE,
}


def key_table(bindings: tuple[Binding, ...]) -> str:
    """Return the keys as a Markdown table. Nine number keys with one meaning share a row."""
    rows = [(_SHOWN.get(b.key, b.key.upper()), b.does) for b in bindings]
    digits = [row for row in rows if row[0].isdigit()]
    if len(digits) == 9:
        rows = [("1 … 9", digits[0][1].replace(" 1", " 1 … 9", 1)), *(row for row in rows if row not in digits)]
    return "\n".join(["| Key | What it does |", "| --- | --- |", *(f"| `{key}` | {does} |" for key, does in rows)])


def key_list(bindings: tuple[Binding, ...]) -> None:
    """Draw the button, also pressed by `?`, that shows all keys."""
    with st.container(key="keys", width="content"), st.popover("Keys", icon=":material/keyboard:", type="tertiary"):
        if bindings is ANNOTATE:
            page, evidence = st.container(width=860).columns([4, 5])
            page.markdown(key_table(bindings))
            evidence.markdown("**While choosing evidence**")
            evidence.markdown(key_table(EVIDENCE_KEYS))
        else:
            st.markdown(key_table(bindings))
        st.markdown("`Ctrl K` finds pages, questions and actions. [All keys](keys)")


def keyboard(bindings: tuple[Binding, ...]) -> None:
    """Listen to the keys that no button handles."""
    listened = {
        b.key: {"target": b.target, "focus": b.by == "focus"}
        for b in bindings
        if b.by in ("page", "focus") and b.key != LEAVE
    }
    _MOUNT(data={"bindings": listened}, key="keyboard")
