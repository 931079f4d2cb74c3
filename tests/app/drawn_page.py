"""A page drawn without a browser, and what a reader sees on it."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.plain_text import JOINER
from berdseye.app.jobs.running import list_jobs
from berdseye.data.settings_file import read_settings, save_settings
from berdseye.data.workspace import Workspace

WITHIN = 120.0
"""Seconds within which jobs of tests end."""
APP = Path(__file__).resolve().parents[2] / "app"


def forget() -> None:
    """Empty Streamlit's caches, as a server that starts."""
    st.cache_resource.clear()
    st.cache_data.clear()


def setting(workspace: Workspace, name: tuple[str, str], value: object) -> None:
    """Change a setting of the workspace that the app was started on, as its page does, and empty the caches."""
    save_settings(workspace, {name: value}, read_settings(workspace).version)
    forget()


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


def press(at: AppTest, label: str) -> AppTest:
    """The page after a press of the button with this label."""
    next(b for b in at.button if b.label == label).click()
    return again(at)


def wait_for_jobs(workspace: Workspace) -> None:
    """Wait until no job of the workspace runs."""
    until = time.monotonic() + WITHIN
    while any(job.runs for job in list_jobs(workspace)):
        assert time.monotonic() < until
        time.sleep(0.2)


KINDS = ("markdown", "caption", "header", "info", "error", "warning", "success")


def texts(at: AppTest, *kinds: str) -> str:
    """All running text of a page, or that of some kinds of its elements, as a reader sees it."""
    found = [element.value for kind in kinds or KINDS for element in at.get(kind)]
    return "\n".join(found).replace("\\", "").replace(JOINER, "")


@dataclass(frozen=True)
class Search:
    """A pattern and the text that it is looked for in, which a failed assertion shows; true if it is found."""

    pattern: str
    text: str

    def __bool__(self) -> bool:
        return re.search(self.pattern, self.text, flags=re.IGNORECASE) is not None


def says(at: AppTest, pattern: str, *kinds: str) -> Search:
    """Look for a pattern in the running text of a page, or of some kinds of its elements, whatever the case.

    A test looks for the number, the name or the keyword that a reader relies on, so that the sentence around it may change.
    """
    return Search(pattern, texts(at, *kinds))
