"""The Build page: data sets made step by step from sources, with counts, rejected rows, and people's decisions."""

import streamlit as st

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.components.construction.new_construction import BEGUN, CONSTRUCTION, new_construction
from berdseye.app.components.construction.one_construction import draw_construction
from berdseye.evaluation.construction.opening import list_constructions, open_construction

_NEW = "new-construction"


def page() -> None:
    """Draw the page."""
    names = list_constructions(workspace())
    chosen = None
    if begun := st.session_state.pop(BEGUN, None):
        st.session_state[CONSTRUCTION], st.session_state[_NEW] = begun, False
    if names:
        if st.session_state.get(CONSTRUCTION) not in names:
            st.session_state.pop(CONSTRUCTION, None)
        with st.container(horizontal=True, vertical_alignment="center"):
            chosen = st.selectbox(
                "Construction", names, key=CONSTRUCTION, bind="query-params", label_visibility="collapsed"
            )
            begins = st.toggle("New", key=_NEW)
    else:
        begins = True
        st.info(
            "Nothing has been built here yet. Berdseye makes a data set from your own sources as the papers made theirs: a "
            "language model writes questions and perspectives step by step, and people check them.",
            icon=":material/construction:",
        )
    if begins:
        with st.container(border=True), errors_in_place():
            new_construction()
    elif chosen:
        with errors_in_place():
            draw_construction(open_construction(workspace(), chosen))


with errors_in_place():
    page()
