"""Local mode: the browser keeps the name that a person gave until it is closed, for links that open in a new tab.

A cookie holds it, one for each workspace, since cookies of a machine are those of all its ports. It proves nothing, as a name
typed into the sidebar does not; in team mode nobody looks at it.
"""

from hashlib import sha256
from importlib.resources import files
from urllib.parse import unquote

import streamlit as st

from berdseye.data.workspace import Workspace

_MOUNT = st.components.v2.component(
    "berdseye_kept_name", js=(files("app.components") / "kept_name.js").read_text(encoding="utf-8")
)


def kept_name(workspace: Workspace) -> str:
    """The name that the browser sent when this session began; empty: none."""
    return unquote(st.context.cookies.get(_cookie(workspace), ""))


def keep_name(workspace: Workspace, name: str, at: float) -> None:
    """Let the browser keep a name that was given at a time, seconds since 1970; an empty name: forget the one it has."""
    _MOUNT(data={"cookie": _cookie(workspace), "name": name, "at": at}, key="kept_name")


def _cookie(workspace: Workspace) -> str:
    return f"berdseye-name-{sha256(str(workspace.folder.resolve()).encode('utf-8')).hexdigest()[:12]}"
