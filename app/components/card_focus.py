"""Which of several passage cards the keys act on: J and K move the focus in the browser, 1 to 9 press that card's buttons.

What the session has drawn for a person to answer.

Keys reach the server in the order they were pressed, but the buttons they press are those of the last drawing. A key that
follows one that moves on, or that is pressed twice, would answer what is no longer meant; here such an answer is refused.
"""

from importlib.resources import files

import streamlit as st

_KEY = "in_sight"


def put_in_sight(what: str) -> None:
    """`what` is drawn now, and may be answered."""
    st.session_state[_KEY] = what


def move_on() -> None:
    """Something else comes next: nothing may be answered until it is drawn."""
    st.session_state.pop(_KEY, None)


def is_in_sight(what: str) -> bool:
    """Whether it is still what the session shows."""
    return st.session_state.get(_KEY) == what


def take_answer(what: str) -> bool:
    """Whether it may be answered; a second answer waits until it is drawn again."""
    return bool(is_in_sight(what) and st.session_state.pop(_KEY))


_HERE = files("app.components")
_HTML = """<div class="berdseye-card-focus">
<button type="button">↑ Previous<kbd>K</kbd></button><button type="button">↓ Next<kbd>J</kbd></button>
<span role="status"></span></div>"""
# In the page's own tree: its style marks the cards, which are not inside it.
_MOUNT = st.components.v2.component(
    "berdseye_card_focus",
    html=_HTML,
    css=(_HERE / "card_focus.css").read_text(encoding="utf-8"),
    js=(_HERE / "card_focus.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
CARD = "card-"
"""What the key of every card's container begins with."""


def card_focus(view: str, *, answers: str) -> None:
    """Draw the buttons that move the focus, and listen to the keys.

    `view` says what the cards show; a new one puts the focus on the first card. `answers` begins the keys of the
    buttons that the digits press; the digit follows, and a hyphen. A card that is not on the screen is brought there instead of
    answered.
    """
    _MOUNT(
        key="passage-focus",
        data={
            "view": view,
            "cards": f'[class*="st-key-{CARD}"]',
            "answers": f"st-key-{answers}",
        },
    )
