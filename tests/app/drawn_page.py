"""A page drawn without a browser, and what a reader sees on it."""

from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.plain_text import JOINER

APP = Path(__file__).resolve().parents[2] / "app"


def forget() -> None:
    """Empty Streamlit's caches, as a server that starts."""
    st.cache_resource.clear()
    st.cache_data.clear()


def drawn(page: str, *, name: str = "", **query: str) -> AppTest:
    """A page after its first run; signed in as `name`, with the address's parameters `query`."""
    at = AppTest.from_file(str(APP / "views" / f"{page}.py"), default_timeout=60)
    if name:
        at.session_state["annotator"] = shared_judgments().sign_in(name)
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def again(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def texts(at: AppTest) -> str:
    """All running text of a page, as a reader sees it."""
    found = [m.value for part in (at.markdown, at.caption, at.header, at.info, at.error, at.warning) for m in part]
    return "\n".join(found).replace("\\", "").replace(JOINER, "")
