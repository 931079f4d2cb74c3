"""The session of a page: the workspace, the judgments, the signed-in person and their role, and the sign-in page for people who
are not signed in."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import streamlit as st
from sqlalchemy import event
from streamlit.runtime.scriptrunner import StopException

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.people import person_of
from berdseye.app.access.oidc import identity, provider_trouble
from berdseye.app.access.roles import RefusedError, check, right_of_page
from berdseye.app.components.browser_state import keep_name, kept_name
from berdseye.app.components.plain_text import escaped
from berdseye.app.serving.gate import check_settings, people_now
from berdseye.data.errors import BerdseyeError
from berdseye.data.extras import missing
from berdseye.data.logs import log_to, name_person
from berdseye.data.people import PeopleSettings, Role
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)
_NAME_AT, _CAME_IN = "name_at", "came_in"


def draw_sign_in_page(people: PeopleSettings, trouble: BerdseyeError | None = None) -> None:
    """Draw the sign-in page. `trouble` is the reason why the person's token was rejected."""
    st.title("Berdseye", anchor=False)
    if "is_logged_in" not in st.user.to_dict():
        st.error("This workspace is in team mode. Start it with `berdseye app`.", icon=":material/error:")
        return
    if trouble is None:
        st.markdown("Sign in to judge passages with your team.")
    else:
        st.warning(escaped(str(trouble)), icon=":material/lock:")
    with st.container(horizontal=True):
        pressed = st.button("Sign in", type="primary", icon=":material/login:", key="sign_in")
        if trouble is not None:
            st.button("Sign out", icon=":material/logout:", key="sign_out", on_click=st.logout)
    if not pressed:
        return
    # Check the provider first, because otherwise Streamlit would lead to an empty page.
    if problem := provider_trouble(people):
        st.error(
            f"Nobody can sign in now, because {escaped(people.issuer)} does not answer correctly. {problem} Try again later. All "
            "judgments are stored.",
            icon=":material/cloud_off:",
        )
    else:
        st.login()


def workspace() -> Workspace:
    """Return the workspace of this app. In team mode, raise `RefusedError` if the person may not use the page that asks."""
    _permit_page()
    return _workspace()


def judgments() -> Judgments:
    """Return the judgments of the workspace, with the access check of `workspace`. All sessions share one engine."""
    _permit_page()
    return _judgments()


@st.cache_resource
def _workspace() -> Workspace:
    opened = Workspace.open(Workspace.default_folder())
    log_to(opened.folder)
    if opened.people.team:
        check_settings()  # also checked if main.py runs without `berdseye app`
    return opened


@st.cache_resource
def _judgments() -> Judgments:
    log = Judgments.open(_workspace().judgments_url)
    if _workspace().people.team:
        # Buttons keep objects from earlier drawings, so every transaction checks access, no matter what started it.
        event.listen(log.engine, "begin", lambda _connection: _permit_page(), insert=True)
    return log


@st.cache_resource
def _sign_in_judgments() -> Judgments:
    """Return the judgments for the sign-in itself, when the person is not yet known to the session."""
    return Judgments.open(_workspace().judgments_url)


def people() -> PeopleSettings:
    """Return the access settings: the mode and the provider from the start of the app, the roles from the current
    settings file."""
    started = _workspace().people
    if not started.team:
        return started
    now = people_now(_workspace())
    return replace(started, roles=now.roles, default_role=now.default_role, session_hours=now.session_hours)


def use_settings(saved: Mapping[str, Mapping[str, Any]], names: Iterable[tuple[str, str]]) -> None:
    """Let every page use these saved settings, given by section and key, without a restart. The mode and the provider of
    `people` are not among them: the server's checks were set up for them when it started."""
    present = workspace().settings
    for section, key in names:
        if section != "people":
            present[section] = {**present[section], key: saved[section][key]}
    present["language_models"] = {**present["language_models"], "prices": saved["language_models"]["prices"]}
    st.cache_data.clear()  # measures depend on settings


@contextmanager
def errors_in_place() -> Iterator[None]:
    """Show an error that the person can fix at its place on the page, instead of a traceback."""
    try:
        yield
    except BerdseyeError as error:
        if isinstance(error, RefusedError):
            _log.warning("refused: %s", error)
        st.error(escaped(str(error)), icon=":material/error:")
    except ModuleNotFoundError as error:
        found = missing(error)
        if found is None:
            _log.exception("a page failed")
            raise
        st.error(escaped(str(found)), icon=":material/error:")
    except Exception:
        _log.exception("a page failed")
        raise


@contextmanager
def timed(page: str) -> Iterator[None]:
    """Log how the drawing of a page ended and how many milliseconds it took. A page is interrupted if the person clicks before it
    is complete, or if it asks to be drawn again."""
    began, how = time.monotonic(), "interrupted"
    try:
        yield
        how = "drawn"
    except StopException:  # a page that has nothing more to show
        how = "drawn"
        raise
    except Exception:
        how = "failed"
        raise
    finally:
        _log.info("page %s: %s, %.0f ms", page, how, 1000 * (time.monotonic() - began))


def enter(page: str) -> None:
    """Let a page run for the signed-in person. Raises `RefusedError` if their role does not allow it.

    The page's buttons and fragments run later without this call. They are checked whenever they use the workspace or begin a
    transaction on the judgments, because roles change and sign-ins expire while pages are open.
    """
    name_person(acting_person())
    st.session_state["right"] = right_of_page(page)
    _permit_page()


def _permit_page() -> None:
    settings = people()
    if settings.team:
        email = identity(st.user.to_dict(), settings).email
        check(settings.role_of(email), st.session_state.get("right", "administer"), email)


def role() -> Role | None:
    """Return the role of the signed-in person. In local mode, which knows only names, everyone is an admin."""
    settings = people()
    return settings.role_of(identity(st.user.to_dict(), settings).email) if settings.team else "admin"


def annotator() -> Annotator | None:
    """Return the signed-in person, or None."""
    return st.session_state.get("annotator")


def acting_person() -> str:
    """Return the name recorded with what the person creates or starts here, or an empty text without a name."""
    person = annotator()
    return "" if person is None else person.name


def started_by() -> str:
    """Return the person that a command started here acts for: in team mode their e-mail address, as the command line
    requires."""
    settings = people()
    return identity(st.user.to_dict(), settings).email if settings.team else acting_person()


def require_sign_in() -> bool:
    """In team mode, make the person of the token the session's annotator. Return False if the sign-in page was drawn
    instead."""
    settings, claims = people(), st.user.to_dict()
    trouble: BerdseyeError | None = None
    if claims.get("is_logged_in"):
        try:
            who = identity(claims, settings)
            if st.session_state.get("identity") != who or annotator() is None:
                st.session_state["annotator"] = person_of(_sign_in_judgments(), who)
                st.session_state["identity"] = who
                _log.info("signed in: %s", who.email)
            return True
        except BerdseyeError as error:
            trouble = error
            _log.warning("sign-in refused: %s", error)
    st.session_state.pop("annotator", None)
    draw_sign_in_page(settings, trouble)
    return False


def draw_signed_in_person() -> None:
    """Draw the signed-in person of a team in the sidebar, with their role and the sign-out button."""
    person = annotator()
    assert person is not None
    with st.sidebar.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/person: **{escaped(person.name)}** · {role()}")
        st.button("Sign out", type="tertiary", key="sign_out", on_click=st.logout)


def sign_in_box() -> None:
    """Draw the name entry in the sidebar. A name that exists continues with that person's judgments, and a message says
    so."""
    person = annotator() or _returning_person()
    entered_at = st.session_state.get(_NAME_AT)
    if person is not None:
        with st.sidebar.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/person: **{escaped(person.name)}**")
            if entered_at is not None:
                keep_name(_workspace(), person.name, entered_at)
            if st.button("Change", type="tertiary", key="sign_out"):
                st.session_state.pop("annotator")
                st.session_state[_NAME_AT] = time.time()
                st.rerun()
        return
    if entered_at is not None:
        with st.sidebar:
            keep_name(_workspace(), "", entered_at)
    with st.sidebar:
        name_entry("name_entry")


def name_entry(key: str) -> None:
    """Draw a box to sign in by name. On a telephone the sidebar is closed, so that pages that need a name draw one too."""
    names = [a.name for a in judgments().annotators() if not a.demo]
    name = st.selectbox(
        "Your name",
        names,
        index=None,
        placeholder="Type your name, press Enter",
        accept_new_options=True,
        key=key,
        help="Your judgments are stored under this name. If the name exists, you continue with its judgments.",
    )
    if name:
        with errors_in_place():
            _sign_in(name, returning=name.strip().casefold() in {k.casefold() for k in names})


def _returning_person() -> Annotator | None:
    """Return the person whose name the browser has kept, once at the start of a session: later the stored name may be
    outdated."""
    if _CAME_IN in st.session_state:
        return None
    st.session_state[_CAME_IN] = True
    name = kept_name(_workspace())
    person = next((a for a in judgments().annotators() if a.name == name and not a.demo), None) if name else None
    if person is not None:
        st.session_state["annotator"] = person
    return person


def _sign_in(name: str, *, returning: bool) -> None:
    person = judgments().sign_in(name)
    if person.demo:
        st.warning("This name belongs to a simulated annotator of the demo. Choose another.")
        return
    st.session_state["annotator"] = person
    _log.info("signed in: %s", person.name)
    st.session_state[_NAME_AT] = time.time()
    if returning:
        st.toast(f"Welcome back, {escaped(person.name)}. Your earlier judgments are here.")
    st.rerun()
