"""The keys of a page that are not a button's, and the list of all of them."""

from importlib.resources import files

import streamlit as st

from berdseye.app.components.key_map import ANNOTATE, EVIDENCE_KEYS, LEAVE, Binding, key_table

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
