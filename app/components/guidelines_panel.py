"""The guidelines beside the pair, and what changed in them since their reader last judged."""

from difflib import ndiff

import streamlit as st

from berdseye.annotation.guidelines.versions import Guidelines, load
from berdseye.app.components.key_map import PAUSE
from berdseye.app.components.pair_card import CARD_HEIGHT
from berdseye.app.components.plain_text import escaped, without_pictures
from berdseye.app.session import judgments


def guidelines_panel(told: Guidelines) -> None:
    """Draw them; whoever wrote them may use Markdown; HTML in it is shown as text, and no picture is fetched."""
    with st.container(key="guidelines", height=CARD_HEIGHT, border=False):
        st.markdown(without_pictures(told.text))
        st.caption(f"Guidelines {told.version}")


def changed_guidelines(before: str, told: Guidelines, read: str) -> None:
    """Say so, with the changes; `read` is the place in the session that keeps that they were read."""
    st.warning("The guidelines changed since you last judged.", icon=":material/change_circle:")
    st.button(
        "Go on with these",
        icon=":material/play_arrow:",
        shortcut=PAUSE,
        key="guidelines-read",
        on_click=st.session_state.__setitem__,
        args=(read, told.version),
    )
    changes, whole = st.tabs(["What changed", "As they are now"])
    changes.markdown(differences(load(judgments(), before).text, told.text))
    whole.markdown(without_pictures(told.text))


def differences(before: str, after: str) -> str:
    """Paragraph by paragraph: what went is struck through, what came is on a coloured ground."""
    lines = []
    old, new = ([line for line in text.splitlines() if line.strip()] for text in (before, after))
    for line in ndiff(old, new):
        kind, text = line[:2], escaped(line[2:].strip())
        if kind == "- ":
            lines.append(f":red[~~{text}~~]")
        elif kind == "+ ":
            lines.append(f":green-background[{text}]")
        elif kind == "  ":
            lines.append(text)
    return "\n\n".join(lines)
