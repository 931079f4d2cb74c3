"""State that lives in the browser.

When the server returns after an interruption, the page keeps what was typed in the meantime and is drawn again, so that no key
is lost. In local mode, the browser keeps the person's name until it is closed, for links that open in a new tab. A cookie holds
the name, one per workspace, because the ports of a machine share their cookies. The cookie proves no identity, like a name
typed into the sidebar; team mode ignores it.
"""

from hashlib import sha256
from importlib.resources import files
from urllib.parse import unquote

import streamlit as st

from berdseye.data.workspace import Workspace

_MOUNT_NAME = st.components.v2.component(
    "berdseye_kept_name", js=(files("berdseye.app.components") / "kept_name.js").read_text(encoding="utf-8")
)
_HTML = """<div role="status" hidden style="position: fixed; top: 0.5rem; left: 50%; transform: translateX(-50%);
z-index: 1000001; padding: 0.5rem 1rem; border-radius: 0.5rem; color: #fff; background: #1f69a6; font-family: var(--st-font);
font-size: 0.875rem">Reconnected. The page is reloading; keys work again when this message disappears.</div>"""
_MOUNT = st.components.v2.component(
    "berdseye_reconnected",
    html=_HTML,
    js=(files("berdseye.app.components") / "reconnected.js").read_text(encoding="utf-8"),
)


def kept_name(workspace: Workspace) -> str:
    """Return the name that the browser sent when this session began, or an empty text."""
    return unquote(st.context.cookies.get(_cookie(workspace), ""))


def keep_name(workspace: Workspace, name: str, at: float) -> None:
    """Let the browser keep a name that was entered `at` (seconds since 1970). An empty name deletes the stored one."""
    _MOUNT_NAME(data={"cookie": _cookie(workspace), "name": name, "at": at}, key="kept_name")


def _cookie(workspace: Workspace) -> str:
    return f"berdseye-name-{sha256(str(workspace.folder.resolve()).encode('utf-8')).hexdigest()[:12]}"


def redraw_when_reconnected() -> None:
    """Make the browser commit its text boxes and request the whole page when the server answers again after an interruption.

    Streamlit reconnects by itself but draws nothing, and a new session ignores what fragments of the old session send.
    """
    _MOUNT(key="reconnected", on_reconnected_change=lambda: None)
