"""What all pages share: the workspace, the judgments, who is signed in and what they may.

The page before anyone is in: why someone is not, and the button to sign in.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import streamlit as st
from sqlalchemy import event

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.people import person_of
from berdseye.app.access.oidc import identity, provider_trouble
from berdseye.app.access.roles import check, right_of_page
from berdseye.app.components.browser_state import keep_name, kept_name
from berdseye.app.components.plain_text import escaped
from berdseye.app.serving.gate import check_settings, people_now
from berdseye.data.errors import BerdseyeError
from berdseye.data.people import PeopleSettings, Role
from berdseye.data.workspace import Workspace


def door(people: PeopleSettings, trouble: BerdseyeError | None = None) -> None:
    """Draw it; `trouble` is why the token that someone came with is not taken."""
    st.title("Berdseye", anchor=False)
    if "is_logged_in" not in st.user.to_dict():
        st.error("This workspace is a team's: `berdseye app` serves it.", icon=":material/error:")
        return
    if trouble is None:
        st.markdown("Sign in to judge passages with your team.")
    else:
        st.warning(escaped(str(trouble)), icon=":material/lock:")
    with st.container(horizontal=True):
        asked = st.button("Sign in", type="primary", icon=":material/login:", key="sign_in")
        if trouble is not None:
            st.button("Sign out", icon=":material/logout:", key="sign_out", on_click=st.logout)
    if not asked:
        return
    # Asked first, since Streamlit would lead to a page that says nothing.
    if told := provider_trouble(people):
        st.error(
            f"Nobody can sign in now: {escaped(people.issuer)} is not there as it should be. {told} Try again in a while; "
            "what was judged is kept.",
            icon=":material/cloud_off:",
        )
    else:
        st.login()


_NAME_AT, _CAME_IN = "name_at", "came_in"


def workspace() -> Workspace:
    """The workspace this app was started on; in team mode for whom the page that asks is meant, and for nobody else."""
    _permit_page()
    return _workspace()


def judgments() -> Judgments:
    """Its judgments, for whom the page is meant; one engine is shared by all sessions."""
    _permit_page()
    return _of_pages()


@st.cache_resource
def _workspace() -> Workspace:
    opened = Workspace.open(Workspace.default_folder())
    if opened.people.team:
        check_settings()  # also where someone runs main.py without `berdseye app`
    return opened


@st.cache_resource
def _of_pages() -> Judgments:
    held = Judgments.open(_workspace().judgments_url)
    if _workspace().people.team:
        # Buttons hold on to what was drawn before: so each transaction asks, whoever began it.
        event.listen(held.engine, "begin", lambda _connection: _permit_page(), insert=True)
    return held


@st.cache_resource
def _of_the_door() -> Judgments:
    """The judgments for whoever comes in, who is nobody here yet."""
    return Judgments.open(_workspace().judgments_url)


def people() -> PeopleSettings:
    """Who may come in: the mode and the provider as when the app was started, the roles as they are written now."""
    started = _workspace().people
    if not started.team:
        return started
    now = people_now(_workspace())
    return replace(started, roles=now.roles, default_role=now.default_role, session_hours=now.session_hours)


@contextmanager
def errors_in_place() -> Iterator[None]:
    """Show an error a person can mend where it happened, instead of a traceback."""
    try:
        yield
    except BerdseyeError as error:
        st.error(escaped(str(error)), icon=":material/error:")


def enter(page: str) -> None:
    """Let a page run for the signed-in person: raises `RefusedError` where their role may not.

    What the page's buttons and fragments do later, without this, asks again whenever they turn to the workspace or begin a
    transaction on the judgments: roles are taken away, and sign-ins end, while pages stand open.
    """
    st.session_state["right"] = right_of_page(page)
    _permit_page()


def _permit_page() -> None:
    settings = people()
    if settings.team:
        email = identity(st.user.to_dict(), settings).email
        check(settings.role_of(email), st.session_state.get("right", "administer"), email)


def role() -> Role | None:
    """The role of the signed-in person; in local mode, where a name is all there is, everyone is an admin."""
    settings = people()
    return settings.role_of(identity(st.user.to_dict(), settings).email) if settings.team else "admin"


def annotator() -> Annotator | None:
    """The signed-in person, if any."""
    return st.session_state.get("annotator")


def acting_person() -> str:
    """What is written beside what a person makes or starts here: their name; empty where nobody gave one."""
    person = annotator()
    return "" if person is None else person.name


def started_by() -> str:
    """As whom a command that is started here acts: in team mode by address, as the command line wants it."""
    settings = people()
    return identity(st.user.to_dict(), settings).email if settings.team else acting_person()


def let_in() -> bool:
    """In team mode, make the person of the token the session's annotator; False: the door was drawn instead."""
    settings, claims = people(), st.user.to_dict()
    trouble: BerdseyeError | None = None
    if claims.get("is_logged_in"):
        try:
            who = identity(claims, settings)
            if st.session_state.get("identity") != who or annotator() is None:
                st.session_state["annotator"] = person_of(_of_the_door(), who)
                st.session_state["identity"] = who
            return True
        except BerdseyeError as error:
            trouble = error
    st.session_state.pop("annotator", None)
    door(settings, trouble)
    return False


def who_is_in() -> None:
    """The signed-in person of a team in the sidebar, with their role and the way out."""
    person = annotator()
    assert person is not None
    with st.sidebar.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/person: **{escaped(person.name)}** · {role()}")
        st.button("Sign out", type="tertiary", key="sign_out", on_click=st.logout)


def sign_in_box() -> None:
    """Name entry in the sidebar. A known name goes on with that person's judgments, and is told so."""
    person = annotator() or _who_came_in()
    said_at = st.session_state.get(_NAME_AT)
    if person is not None:
        with st.sidebar.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/person: **{escaped(person.name)}**")
            if said_at is not None:
                keep_name(_workspace(), person.name, said_at)
            if st.button("Change", type="tertiary", key="sign_out"):
                st.session_state.pop("annotator")
                st.session_state[_NAME_AT] = time.time()
                st.rerun()
        return
    if said_at is not None:
        with st.sidebar:
            keep_name(_workspace(), "", said_at)
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


def _who_came_in() -> Annotator | None:
    """Whose name the browser has kept, as a session begins: what it sent then says nothing of what was done since."""
    if _CAME_IN in st.session_state:
        return None
    st.session_state[_CAME_IN] = True
    name = kept_name(_workspace())
    found = next((a for a in judgments().annotators() if a.name == name and not a.demo), None) if name else None
    if found is not None:
        st.session_state["annotator"] = found
    return found


def _sign_in(name: str, *, returning: bool) -> None:
    person = judgments().sign_in(name)
    if person.demo:
        st.sidebar.warning("This name belongs to a made-up annotator of the demo. Choose another.")
        return
    st.session_state["annotator"] = person
    st.session_state[_NAME_AT] = time.time()
    if returning:
        st.toast(f"Welcome back, {escaped(person.name)}: your earlier judgments are here.")
    st.rerun()
