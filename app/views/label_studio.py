"""Label Studio: how a person signs in there, and for those who exchange: batches, their projects, what waits, what differs."""

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.label_studio.attribution import misplaced
from berdseye.annotation.label_studio.connection import server_url
from berdseye.annotation.label_studio.exchange import drifts, sent_projects
from berdseye.annotation.label_studio.exchange_state import waiting
from berdseye.annotation.label_studio.server import running
from berdseye.app.access.roles import check, may, right_of_command
from berdseye.app.access.session import errors_in_place, judgments, role, started_by, workspace
from berdseye.app.components.job_box import under_way
from berdseye.app.components.label_studio import admin_account, drift_table, own_account
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import start_job
from berdseye.data.runs.stored import list_runs

EXCHANGES = {
    ("judgments", "push"),
    ("judgments", "pull"),
    ("label-studio", "send"),
    ("label-studio", "receive"),
    ("label-studio", "assign"),
}


@st.fragment(run_every=5, key="status")
def status() -> None:
    """The state of the server that judgments are exchanged with, looked at every five seconds."""
    left, right = st.columns(2)
    server, url = running(workspace().label_studio_folder), server_url(workspace())
    if url and (server is None or server.url != url):
        left.metric("Server", "another one", help="Set by BERDSEYE_LABEL_STUDIO_URL, or in berdseye.toml.")
        left.markdown(f"[{escaped(url)}]({url})")
    elif server is None:
        left.metric("Server of this workspace", "not running")
        left.markdown("Start it with `berdseye label-studio`, or start this app with `berdseye app`.")
    else:
        left.metric("Server of this workspace", "answers" if server.answers() else "starting …")
        left.markdown(f"[{escaped(server.url)}]({server.url})")
    right.metric("Judgments that wait to be sent", f"{waiting(judgments()):,}")


def begin(*arguments: str) -> None:
    """Exchange in the background; what came of it stands below the buttons. The page itself is for everyone who judges."""
    check(role(), right_of_command(arguments), started_by() or "whoever asks")
    start_job(workspace(), arguments, person=started_by())
    st.rerun()


def of_batches(found: list[Batch]) -> None:
    """Sending a batch out; the projects that were made for batches, with the way to each."""
    st.subheader("Batches")
    st.caption(
        "A batch becomes a project for each of its people, with their share of the pairs, or one project where it is for "
        "anyone. A blind batch carries no predictions."
    )
    names = [batch.name for batch in found if batch.is_open and batch.shown_share is None]
    left, middle, right = st.columns([3, 2, 1], vertical_alignment="bottom")
    chosen = left.selectbox("Batch", names, index=None, placeholder="Choose a batch", key="batch-sent")
    together = middle.checkbox("One project for all", key="batch-together")
    if right.button("Send batch", icon=":material/upload:", disabled=chosen is None):
        begin("label-studio", "send", str(chosen), *(("--together",) if together else ()))
    rows = sent_projects(judgments())
    if not rows:
        return
    url = server_url(workspace())
    table = pd.DataFrame(
        {
            "batch": [row.batch for row in rows],
            "for": [row.person or "anyone" for row in rows],
            "project": [f"{url}/projects/{row.number}" if url else None for row in rows],
            "tasks": [row.tasks for row in rows],
            "waiting": [row.waiting for row in rows],
            "received": [None if row.received == "never" else pd.Timestamp(row.received) for row in rows],
        }
    )
    columns = {
        "project": st.column_config.LinkColumn("project", display_text=r"projects/(\d+)$"),
        "waiting": st.column_config.NumberColumn("waiting", help="Words given here that are not there yet."),
        "received": st.column_config.DatetimeColumn("received", format="distance", help="By the server's clock."),
    }
    st.dataframe(table, column_config=columns, hide_index=True)


def of_wrong_names() -> None:
    """Judgments in a person's project that were made from another's account: whose they are, a person has to decide."""
    for number, one in enumerate(misplaced(judgments())):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                f"{one.judgments} judgments in the project of {escaped(one.person)} (batch {escaped(one.batch)}) were made as "
                f"{escaped(one.author)}. They are kept under that name, and do not count for {escaped(one.person)}.",
                icon=":material/person_alert:",
            )
            mine = f"These are {escaped(one.person)}'s"
            if may(role(), "administer") and st.button(mine, key=f"assign-{number}"):
                begin("label-studio", "assign", one.batch, "--to", one.person, "--from", one.author)


def page() -> None:
    """The whole page: the account for everyone, the exchange for those who may."""
    own_account()
    if not may(role(), "exchange"):
        return
    st.subheader("Exchange")
    status()
    st.caption(
        "Started by `berdseye app`, judgments flow both ways by themselves. Each annotator has an account of their own there; "
        "every judgment counts once, wherever it was made."
    )
    of_wrong_names()
    admin_account()
    if found := list_batches(judgments()):
        of_batches(found)
        st.subheader("Everything else")
    exchange()


def exchange() -> None:
    """What is sent and received by hand, what came of it, and what differs."""
    runs = [r.name for r in list_runs(workspace())]
    left, right = st.columns([6, 1])
    chosen = left.multiselect("Also send the pairs of these runs as tasks", runs, key="push-runs", placeholder="None")
    k = right.number_input("Top k", 1, 100, 5, key="push-k")
    row = st.container(horizontal=True)
    if row.button("Send", icon=":material/upload:", type="primary"):
        begin("judgments", "push", *(word for run in chosen for word in ("--run", run)), "--k", str(int(k)))
    if row.button("Receive", icon=":material/download:"):
        begin("judgments", "pull")
    if row.button(
        "Receive all again",
        icon=":material/refresh:",
        help="Reads every task, not only what changed: tells which tasks were deleted there.",
    ):
        begin("label-studio", "receive", "--full")
    under_way("exchange", lambda job: job.arguments[:2] in EXCHANGES, told=True)
    drift_table(lambda: drifts(workspace(), judgments()))


with errors_in_place():
    page()
