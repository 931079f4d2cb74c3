"""The keys of a page that are not a button's, and the list of all of them."""

from importlib.resources import files

import streamlit as st

from app.components.key_map import ANNOTATE, EVIDENCE_KEYS, LEAVE, Binding, key_table

_MOUNT = st.components.v2.component(
    "berdseye_keyboard", js=(files("app.components") / "keyboard.js").read_text(encoding="utf-8")
)


def keyboard(bindings: tuple[Binding, ...]) -> None:
    """Listen to those keys that no button listens to, and show all of them behind a button that `?` presses."""
    listened = {
        b.key: {"target": b.target, "focus": b.by == "focus"}
        for b in bindings
        if b.by in ("page", "focus") and b.key != LEAVE
    }
    with st.container(key="keys"), st.popover("Keys", icon=":material/keyboard:", type="tertiary", width="content"):
        st.markdown(key_table(bindings))
        if bindings is ANNOTATE:
            st.markdown("**While choosing evidence**")
            st.markdown(key_table(EVIDENCE_KEYS))
    with st.container(key="keyboard"):
        _MOUNT(data={"bindings": listened}, key="keyboard-listener", height="content")
