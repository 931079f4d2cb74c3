"""What the session has drawn for a person to answer.

Keys reach the server in the order they were pressed, but the buttons they press are those of the last drawing. A key that
follows one that moves on, or that is pressed twice, would answer what is no longer meant; here such an answer is refused.
"""

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
