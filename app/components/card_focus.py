"""The passage card that the keys act on, and the item that a person may answer now.

J and K move the focus between cards in the browser; 1 to 9 press the buttons of the focused card. Keys reach the server in the
order in which they were pressed, but the buttons they press belong to the last drawing. A key pressed twice, or right after one
that moves to another item, would answer the wrong item; this module refuses such an answer.
"""

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

import streamlit as st

_KEY = "in_sight"
_HERE = files("berdseye.app.components")
_HTML = """<div class="berdseye-card-focus">
<button type="button">↑ Previous<kbd>K</kbd></button><button type="button">↓ Next<kbd>J</kbd></button>
<span role="status"></span></div>"""
# Mounted in the page's own tree, because its style marks the cards, which are outside it.
_MOUNT = st.components.v2.component(
    "berdseye_card_focus",
    html=_HTML,
    css=(_HERE / "card_focus.css").read_text(encoding="utf-8"),
    js=(_HERE / "card_focus.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_NOTHING: Mapping[str, str] = MappingProxyType({})
CARD = "card-"
"""The prefix of the key of every card's container."""


def mark_drawn(what: str) -> None:
    """Mark the item `what` as drawn, so that it may be answered."""
    st.session_state[_KEY] = what


def move_on() -> None:
    """Refuse answers until the next item is drawn."""
    st.session_state.pop(_KEY, None)


def is_drawn(what: str) -> bool:
    """Whether the session still shows this item."""
    return st.session_state.get(_KEY) == what


def take_answer(what: str) -> bool:
    """Whether this item may be answered. A second answer is refused until the item is drawn again."""
    return bool(is_drawn(what) and st.session_state.pop(_KEY))


def card_focus(
    view: str,
    *,
    answers: str,
    refusal: str = "",
    reads: str = "",
    cards: str = CARD,
    presses: Mapping[str, str] = _NOTHING,
) -> None:
    """Draw the buttons that move the focus, and listen to the keys.

    `view` identifies what the cards show; a new one moves the focus to the first card. `answers` is the prefix of the keys of
    the buttons that the digits press; the digit and a hyphen follow it. If the focused card is off screen, a digit scrolls to it
    instead of answering; so it does if the container `reads`, which holds the text that all cards are about, is off screen.
    `refusal` is what to do about buttons that are disabled.

    `cards` is the prefix of the keys of the cards. In a dialog, the cards take all keys: none reaches the page behind it, and
    `presses` has the keys that press other buttons in it, by the key of their container.
    """
    _MOUNT(
        key=f"focus-{cards}",
        data={
            "view": view,
            "cards": f'[class*="st-key-{cards}"]',
            "answers": f"st-key-{answers}",
            "refusal": refusal,
            "reads": f".st-key-{reads}" if reads else "",
            "presses": dict(presses),
        },
    )
