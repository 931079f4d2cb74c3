"""A server that comes back: what was typed meanwhile is kept, and the page is drawn again, so that no key goes nowhere."""

from importlib.resources import files

import streamlit as st

_HTML = """<div role="status" hidden style="position: fixed; top: 0.5rem; left: 50%; transform: translateX(-50%);
z-index: 1000001; padding: 0.5rem 1rem; border-radius: 0.5rem; color: #fff; background: #1f69a6; font-family: var(--st-font);
font-size: 0.875rem">Connected again. Your page is being read again; keys count once this is gone.</div>"""
_MOUNT = st.components.v2.component(
    "berdseye_reconnected",
    html=_HTML,
    js=(files("app.components") / "reconnected.js").read_text(encoding="utf-8"),
)


def redraw_when_reconnected() -> None:
    """Have the browser commit its text boxes and ask for the whole page when the server was away and answers again.

    Streamlit reconnects by itself but draws nothing then, and a session that began anew ignores what fragments of the old one
    send.
    """
    _MOUNT(key="reconnected", on_reconnected_change=lambda: None)
