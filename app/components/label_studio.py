"""What differs between the judgments here and Label Studio, on request: the look reads every task there.

How the person who looks at the page signs in to Label Studio as themselves, and what the admin's account is for.
"""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from berdseye.annotation.judgments.log import Annotator
from berdseye.annotation.label_studio.accounts import Account, give_account, known_account
from berdseye.annotation.label_studio.connection import connect, server_url
from berdseye.annotation.label_studio.drift import Drift, Held
from berdseye.annotation.label_studio.exchange import sent_projects
from berdseye.annotation.label_studio.server import read_credentials, running
from berdseye.app.access.label_studio_accounts import AS_ADMIN
from berdseye.app.access.session import annotator, errors_in_place, judgments, role, workspace
from berdseye.app.components.plain_text import escaped

_SHOWN = "label_studio_account"


def own_account() -> None:
    """The account of the person in the sidebar (or, in a team, of who is signed in), and their projects; nobody else's."""
    st.subheader("Your account in Label Studio")
    person, url = annotator(), server_url(workspace())
    if person is None:
        st.info("Enter your name in the sidebar to see how you sign in to Label Studio.")
        return
    if not url:
        st.caption("Label Studio does not run. Your account is shown here when it does.")
        return
    server = running(workspace().label_studio_folder)
    with errors_in_place():
        if server is not None and server.url == url:
            _of_our_server(person, url)
        else:
            _of_another_server(person)
    _projects(person, url)


def admin_account() -> None:
    """The admin's e-mail and password, for admins alone."""
    server = running(workspace().label_studio_folder)
    if role() != "admin" or server is None or server.url != server_url(workspace()):
        return
    with st.expander("The admin of Label Studio", icon=":material/shield_person:"), errors_in_place():
        held = read_credentials(server.folder)
        st.warning(escaped(AS_ADMIN.format(email=held.email)), icon=":material/warning:")
        _sign_in_with(held.email, held.password)


def _of_our_server(person: Annotator, url: str) -> None:
    known = known_account(judgments(), workspace().label_studio_folder, url, person)
    if known is None:
        st.caption(
            "You have no password for Label Studio yet. Berdseye makes you an account where you have none, and sets a "
            "password that only this page shows."
        )
        if st.button("Set my password", icon=":material/key:", key="account-make"):
            # An account under a person's own address keeps its password unless they ask for a new one: they just did.
            give_account(judgments(), connect(workspace()), person, reset=True)
            st.rerun()
        return
    st.caption(f"Sign in at {url} with these. What you judge there comes back under your name, {escaped(person.name)}.")
    _sign_in_with(known.email, known.password)
    if role() == "admin" and st.button("Set a new password", type="tertiary", key="account-reset"):
        give_account(judgments(), connect(workspace()), person, reset=True)
        st.rerun()


def _of_another_server(person: Annotator) -> None:
    st.caption("Berdseye did not start this Label Studio server, and cannot set passwords there.")
    if st.button("How do I sign in?", icon=":material/key:", key="account-elsewhere"):
        st.session_state[_SHOWN] = give_account(judgments(), connect(workspace()), person)
    found: Account | None = st.session_state.get(_SHOWN)
    if found is None or found.person != person.name:
        return
    if found.password_form:
        st.markdown(
            f"Your account there is {escaped(found.email)}. If you do not know its password, an admin of that server sets "
            f"one on [its page for passwords]({found.password_form})."
        )
    elif found.invitation:
        address = f" with the address {escaped(found.email)}" if found.email else ""
        st.markdown(
            f"You have no account there. Sign up{address} by the [invitation of the organization]({found.invitation})."
        )
        if not found.email:
            st.caption(
                "Then an admin of Berdseye links that address to you (`berdseye people link`), so that your judgments come back "
                "under your name."
            )
    else:
        st.markdown("You have no account there. Ask an admin of that server for an invitation.")


def _sign_in_with(email: str, password: str) -> None:
    left, right = st.columns(2)
    with left:
        st.caption("E-mail")
        st.code(email, language=None)
    with right:
        st.caption("Password")
        st.code(password, language=None)


def _projects(person: Annotator, url: str) -> None:
    own = [row for row in sent_projects(judgments()) if row.person == person.name]
    shared = [row for row in sent_projects(judgments()) if not row.person]
    for row, whose in [*((row, "your project") for row in own), *((row, "for anyone") for row in shared)]:
        # "Label All Tasks" begins there, and gives the next task that this person has not judged.
        st.markdown(f"{escaped(row.batch)} ({whose}, {row.tasks} tasks): <{url}/projects/{row.number}/data>")


_ROWS = 500


def drift_table(look: Callable[[], Sequence[Drift]]) -> None:
    """A button, and below it what was found: the counts of each project, and the words word by word."""
    st.subheader("Do both sides agree?")
    if not st.button("Compare", icon=":material/compare_arrows:", help="Reads both sides, and changes neither."):
        return
    found = look()
    if not found:
        st.info("No project of Label Studio holds judgments of this workspace yet.")
    for drift in found:
        (st.warning if drift else st.success)(escaped(str(drift)))
        if drift.words:
            rows = [
                {"pair": w.pair, "person": w.person, "differs": w.side, **_columns(w.here, w.there), "next": w.cure}
                for w in drift.words[:_ROWS]
            ]
            st.dataframe(pd.DataFrame(rows), hide_index=True)
        if drift.contested:
            st.caption("Judged differently in both places: both words are kept, and the later one stands.")
            settled = [
                {"pair": c.pair, "person": c.person, **_columns(c.here, c.there), "stands": c.stands}
                for c in drift.contested[:_ROWS]
            ]
            st.dataframe(pd.DataFrame(settled), hide_index=True)
        for problem in drift.unreadable[:_ROWS]:
            st.caption(escaped(problem))
    if any(found):
        st.caption("`berdseye judgments doctor --mend` brings both sides into agreement, and loses no word.")


def _columns(here: Held, there: Held) -> dict[str, str]:
    return {"here": str(here), "there": str(there)}
