"""What all pages share: the workspace, the judgments and who is signed in."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from annotation.judgments import Annotator, Judgments
from app.components.plain_text import escaped
from data.errors import BerdseyeError
from data.workspace import Workspace


@st.cache_resource
def workspace() -> Workspace:
    """The workspace this app was started on."""
    return Workspace.open(Workspace.default_folder())


@st.cache_resource
def judgments() -> Judgments:
    """Its judgments; one engine is shared by all sessions."""
    return Judgments.open(workspace().judgments_url)


@contextmanager
def errors_in_place() -> Iterator[None]:
    """Show an error a person can mend where it happened, instead of a traceback."""
    try:
        yield
    except BerdseyeError as error:
        st.error(escaped(str(error)), icon=":material/error:")


def annotator() -> Annotator | None:
    """The signed-in person, if any."""
    return st.session_state.get("annotator")


def sign_in_box() -> None:
    """Name entry in the sidebar. A known name goes on with that person's judgments, and is told so."""
    person = annotator()
    if person is not None:
        with st.sidebar.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/person: **{escaped(person.name)}**")
            if st.button("Change", type="tertiary", key="sign_out"):
                st.session_state.pop("annotator")
                st.rerun()
        return
    known = [a.name for a in judgments().annotators() if not a.demo]
    name = st.sidebar.selectbox(
        "Your name",
        known,
        index=None,
        placeholder="Type your name, press Enter",
        accept_new_options=True,
        key="name_entry",
        help="Judgments are kept under this name. A name known here goes on where it left off.",
    )
    if name:
        with errors_in_place():
            _sign_in(name, returning=name.strip().casefold() in {k.casefold() for k in known})


def _sign_in(name: str, *, returning: bool) -> None:
    person = judgments().sign_in(name)
    if person.demo:
        st.sidebar.warning("This name belongs to a made-up annotator of the demo. Choose another.")
        return
    st.session_state["annotator"] = person
    if returning:
        st.toast(f"Welcome back, {escaped(person.name)}: your earlier judgments are here.")
    st.rerun()
