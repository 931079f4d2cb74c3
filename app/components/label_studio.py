"""Parts of the Label Studio page: how the person signs in to Label Studio with their own account, the admin's account, and the
comparison of the judgments in Berdseye with those in Label Studio, which reads every task there."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from berdseye.annotation.judgments.log import Annotator
from berdseye.annotation.label_studio.accounts import Account, give_account, known_account
from berdseye.annotation.label_studio.connection import connect, server_url
from berdseye.annotation.label_studio.drift import Drift, SideState
from berdseye.annotation.label_studio.exchange import sent_projects
from berdseye.annotation.label_studio.server import read_credentials, running
from berdseye.app.access.label_studio_accounts import AS_ADMIN
from berdseye.app.access.session import annotator, errors_in_place, judgments, role, workspace
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped

_SHOWN = "label_studio_account"
_ROWS = 500


def own_account() -> None:
    """Draw the account and the projects of the person in the sidebar (in team mode, of the signed-in person), and no one
    else's."""
    st.subheader("Your account in Label Studio")
    person, url = annotator(), server_url(workspace())
    if person is None:
        st.info("Enter your name in the sidebar to see how to sign in to Label Studio.")
        return
    if not url:
        st.caption("Label Studio is not running. Your account appears here once it runs.")
        return
    server = running(workspace().label_studio_folder)
    with errors_in_place():
        if server is not None and server.url == url:
            _own_server(person, url)
        else:
            _other_server(person)
    _projects(person, url)


def admin_account() -> None:
    """Draw the e-mail address and password of Label Studio's admin. Only admins see them."""
    server = running(workspace().label_studio_folder)
    if role() != "admin" or server is None or server.url != server_url(workspace()):
        return
    with st.expander("Admin account of Label Studio", icon=":material/shield_person:"), errors_in_place():
        credentials = read_credentials(server.folder)
        st.warning(escaped(AS_ADMIN.format(email=credentials.email)), icon=":material/warning:")
        _sign_in_with(credentials.email, credentials.password)


def _own_server(person: Annotator, url: str) -> None:
    account = known_account(judgments(), workspace().label_studio_folder, url, person)
    if account is None:
        st.caption(
            "You have no password for Label Studio yet. Berdseye creates an account for you if you have none, and sets a "
            "password that only this page shows."
        )
        if st.button("Set my password", icon=":material/key:", key="account-make"):
            # An account under the person's own address keeps its password unless they ask for a new one, as they just did.
            give_account(judgments(), connect(workspace()), person, reset=True)
            st.rerun()
        return
    st.caption(f"Sign in at {url} with these. Your judgments there are stored under your name, {escaped(person.name)}.")
    _sign_in_with(account.email, account.password)
    if role() == "admin" and st.button("Set a new password", type="tertiary", key="account-reset"):
        give_account(judgments(), connect(workspace()), person, reset=True)
        st.rerun()


def _other_server(person: Annotator) -> None:
    st.caption("Berdseye did not start this Label Studio server and cannot set passwords there.")
    if st.button("How do I sign in?", icon=":material/key:", key="account-elsewhere"):
        st.session_state[_SHOWN] = give_account(judgments(), connect(workspace()), person)
    account: Account | None = st.session_state.get(_SHOWN)
    if account is None or account.person != person.name:
        return
    if account.password_form:
        st.markdown(
            f"Your account there is {escaped(account.email)}. If you do not know its password, an admin of that server can set "
            f"one on [its password page]({account.password_form})."
        )
    elif account.invitation:
        address = f" with the address {escaped(account.email)}" if account.email else ""
        st.markdown(
            f"You have no account there. Sign up{address} by the [invitation of the organization]({account.invitation})."
        )
        if not account.email:
            st.caption(
                "Then an admin of Berdseye links that address to you on the page People, so that your judgments are stored under "
                "your name."
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
    for row, owner in [*((row, "your project") for row in own), *((row, "for anyone") for row in shared)]:
        # "Label All Tasks" on that page opens the next task that this person has not judged.
        st.markdown(f"{escaped(row.batch)} ({owner}, {row.tasks} tasks): <{url}/projects/{row.number}/data>")


def drift_table(look: Callable[[], Sequence[Drift]]) -> None:
    """Draw a button that compares both sides, and below it the counts of each project and every judgment that differs."""
    st.subheader("Comparison of both sides")
    if not st.button(
        "Compare",
        icon=":material/compare_arrows:",
        help="Reads the judgments in Berdseye and in Label Studio and changes neither.",
    ):
        return
    drifts = look()
    if not drifts:
        st.info("No project of Label Studio holds judgments of this workspace yet.")
    for drift in drifts:
        (st.warning if drift else st.success)(escaped(str(drift)))
        if drift.judgments:
            rows = [
                {"pair": w.pair, "person": w.person, "differs": w.side, **_columns(w.here, w.there), "next": w.remedy}
                for w in drift.judgments[:_ROWS]
            ]
            st.dataframe(pd.DataFrame(rows), hide_index=True)
        if drift.contested:
            st.caption("Judged differently in both places. Both judgments are stored, and the later one counts.")
            settled = [
                {"pair": c.pair, "person": c.person, **_columns(c.here, c.there), "counts": c.later}
                for c in drift.contested[:_ROWS]
            ]
            st.dataframe(pd.DataFrame(settled), hide_index=True)
        for problem in drift.unreadable[:_ROWS]:
            st.caption(escaped(problem))
    if any(drifts):
        st.caption("A repair on the page Workspace brings both sides into agreement and loses no judgment.")
        page_button("workspace", "Repair", key="repair", icon="health_and_safety", tab="Health")


def _columns(here: SideState, there: SideState) -> dict[str, str]:
    return {"here": str(here), "there": str(there)}
