"""Which of several passage cards the keys act on: J and K move the focus in the browser, 1 to 9 press that card's buttons."""

from importlib.resources import files

import streamlit as st

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
