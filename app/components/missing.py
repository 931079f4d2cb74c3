"""What a page shows when the workspace lacks what it needs: a sentence, and the button that leads to where it is added."""

from typing import Literal

import streamlit as st

from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import role, workspace
from berdseye.app.components.page_button import open_page

Need = Literal["corpus", "data set", "run"]
_TEXTS = {
    "corpus": "This workspace has no corpus yet: a collection of passages to search.",
    "data set": "This workspace has no data set yet: questions with the perspectives that readers should find.",
    "run": "This workspace has no runs yet. A run holds what a pipeline finds for every question of a data set.",
}
_WAYS = {
    "corpus": ("Add a corpus", "data", {"show": "Corpora"}),
    "data set": ("Add a data set", "data", {"show": "Data sets"}),
    "run": ("Run a pipeline", "runs", {}),
}


def is_missing(need: Need, *, also: str = "") -> bool:
    """Whether the workspace has none of what the page needs. If so, say it, with a button that leads to where it is added.

    `also` is a sentence on what the page will show. People whose role does not include that page read whom to ask.
    """
    if not _lacks(need):
        return False
    st.info(f"{_TEXTS[need]} {also}".strip(), icon=":material/info:")
    label, page, query = _WAYS[need]
    if not may(role(), right_of_page(page)):
        st.caption("A researcher or an admin can add it.")
    elif st.button(label, icon=":material/add:", type="primary", key=f"missing-{need}"):
        open_page(page, **query)
    return True


def _lacks(need: Need) -> bool:
    if need == "corpus":
        return not workspace().corpora()
    if need == "data set":
        return not workspace().datasets()
    return next(workspace().runs_folder.glob("*.json"), None) is None
