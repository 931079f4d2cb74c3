"""A server that comes back: what was typed meanwhile is kept, and the page is drawn again, so that no key goes nowhere.

Local mode: the browser keeps the name that a person gave until it is closed, for links that open in a new tab.

A cookie holds it, one for each workspace, since cookies of a machine are those of all its ports. It proves nothing, as a name
typed into the sidebar does not; in team mode nobody looks at it.
"""

from hashlib import sha256
from importlib.resources import files
from urllib.parse import unquote

import streamlit as st

from berdseye.data.workspace import Workspace

_MOUNT_NAME = st.components.v2.component(
    "berdseye_kept_name", js=(files("app.components") / "kept_name.js").read_text(encoding="utf-8")
)


def kept_name(workspace: Workspace) -> str:
    """The name that the browser sent when this session began; empty: none."""
    return unquote(st.context.cookies.get(_cookie(workspace), ""))


def keep_name(workspace: Workspace, name: str, at: float) -> None:
    """Let the browser keep a name that was given at a time, seconds since 1970; an empty name: forget the one it has."""
    _MOUNT_NAME(data={"cookie": _cookie(workspace), "name": name, "at": at}, key="kept_name")


def _cookie(workspace: Workspace) -> str:
    return f"berdseye-name-{sha256(str(workspace.folder.resolve()).encode('utf-8')).hexdigest()[:12]}"


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
