"""The Label Studio page: shows each person how to sign in there. For those who may exchange judgments, it also shows the
batches with their projects, the judgments that wait to be pushed, and the differences between both sides."""

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.label_studio.attribution import misplaced
from berdseye.annotation.label_studio.connection import server_url
from berdseye.annotation.label_studio.drift import drifts
from berdseye.annotation.label_studio.exchange import sent_projects
from berdseye.annotation.label_studio.exchange_state import waiting
from berdseye.annotation.label_studio.server import running
from berdseye.app.access.roles import check, may, right_of_command, right_of_page
from berdseye.app.access.session import errors_in_place, judgments, role, started_by, workspace
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.label_studio import admin_account, drift_table, own_account
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import list_jobs, start_job
from berdseye.data.runs.stored import list_runs

EXCHANGES = {
    ("judgments", "push"),
    ("judgments", "pull"),
    ("label-studio", "push"),
    ("label-studio", "pull"),
    ("label-studio", "assign"),
}
SERVE = ("label-studio",)
_ANSWERED = "label-studio-answered"


@st.fragment(run_every=5, key="status")
def status() -> None:
    """Draw the state of the server that judgments are exchanged with, checked every five seconds. Once a server answers or is
    gone, the rest of the page, such as a person's account, is drawn again."""
    left, right = st.columns(2)
    server, url = running(workspace().label_studio_folder), server_url(workspace())
    answers = server is not None and server.url == url and server.answers()
    before = st.session_state.get(_ANSWERED, answers)
    st.session_state[_ANSWERED] = answers
    if answers != before:
        st.rerun()
    if url and (server is None or server.url != url):
        left.metric("Server", "another server", help="Set by BERDSEYE_LABEL_STUDIO_URL, or in berdseye.toml.")
        left.markdown(f"[{escaped(url)}]({url})")
    elif server is None:
        starting = any(job.arguments == SERVE and job.runs for job in list_jobs(workspace()))
        left.metric("Server of this workspace", "starting …" if starting else "not running")
        if may(role(), right_of_command(SERVE)) and not starting:
            if left.button("Start Label Studio", icon=":material/play_arrow:", key="start-server"):
                begin(*SERVE)
            left.caption("It runs as a job until you stop it on Jobs.")
    else:
        left.metric("Server of this workspace", "running" if answers else "starting …")
        left.markdown(f"[{escaped(server.url)}]({server.url})")
    right.metric("Judgments waiting to be pushed", f"{waiting(judgments()):,}")


def begin(*arguments: str) -> None:
    """Start an exchange command as a job; its result appears below the buttons. Raises `RefusedError` if the person may not
    exchange: the page itself is open to everyone who judges."""
    check(role(), right_of_command(arguments), started_by() or "this person")
    start_job(workspace(), arguments, person=started_by())
    st.rerun()


def draw_batches(batches: list[Batch]) -> None:
    """Draw the form that pushes a batch, and the table of the projects of pushed batches with a link to each."""
    st.subheader("Batches")
    st.caption(
        "Berdseye creates one project per annotator of the batch, with their share of the pairs, or a single project if the "
        "batch is open to anyone. A blind batch has no predictions, and a detector of grade topic selects no verdict."
    )
    names = [batch.name for batch in batches if batch.is_open and batch.shown_share is None]
    left, middle, right = st.columns([3, 2, 1], vertical_alignment="bottom")
    chosen = left.selectbox("Batch", names, index=None, placeholder="Choose a batch", key="batch-sent")
    together = middle.checkbox("One project for all annotators", key="batch-together")
    if right.button("Push batch", icon=":material/upload:", disabled=chosen is None):
        begin("label-studio", "push", str(chosen), *(("--together",) if together else ()))
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
        "waiting": st.column_config.NumberColumn(
            "waiting", help="Judgments made here that are not in Label Studio yet."
        ),
        "received": st.column_config.DatetimeColumn(
            "received", format="distance", help="Time of the last pull, by the server's clock."
        ),
    }
    st.dataframe(table, column_config=columns, hide_index=True)


def draw_misattributed() -> None:
    """Draw the judgments in a person's project that were made from another account. An admin decides whose they are."""
    for number, misattributed in enumerate(misplaced(judgments())):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                f"{misattributed.judgments} judgments in the project of {escaped(misattributed.person)} (batch "
                f"{escaped(misattributed.batch)}) were made as {escaped(misattributed.author)}. They are stored under that "
                f"name and do not count for {escaped(misattributed.person)}.",
                icon=":material/person_alert:",
            )
            label = f"Assign to {escaped(misattributed.person)}"
            if may(role(), "administer") and st.button(label, key=f"assign-{number}"):
                begin(
                    "label-studio",
                    "assign",
                    misattributed.batch,
                    "--to",
                    misattributed.person,
                    "--from",
                    misattributed.author,
                )


def page() -> None:
    """Draw the page: the account for everyone, the exchange for those who may exchange."""
    own_account()
    if not may(role(), "exchange"):
        return
    st.subheader("Exchange")
    status()
    st.caption(
        "If Label Studio starts with the app, judgments are pushed and pulled automatically; otherwise use the buttons below. "
        "Each annotator has their own Label Studio account. Every judgment counts once, wherever it was made."
    )
    draw_misattributed()
    admin_account()
    if batches := list_batches(judgments()):
        draw_batches(batches)
        st.subheader("All judgments")
    elif may(role(), right_of_page("batches")):
        st.info("No batches yet. A batch sends pairs to the people whom you name, here and in Label Studio.")
        page_button("batches", "New batch", key="empty-to-batches", icon="add", new="")
    draw_exchange()


def draw_exchange() -> None:
    """Draw the buttons that push and pull by hand, the jobs they start, and the comparison of both sides."""
    runs = [r.name for r in list_runs(workspace())]
    left, right = st.columns([6, 1])
    chosen = left.multiselect("Also push the pairs of these runs as tasks", runs, key="push-runs", placeholder="None")
    k = right.number_input("Top k", 1, 100, 5, key="push-k")
    row = st.container(horizontal=True)
    if row.button("Push", icon=":material/upload:", type="primary"):
        begin("judgments", "push", *(word for run in chosen for word in ("--run", run)), "--k", str(int(k)))
    if row.button("Pull", icon=":material/download:"):
        begin("judgments", "pull")
    if row.button(
        "Pull everything again",
        icon=":material/refresh:",
        help="Reads every task, not only changed ones, and reports the tasks that were deleted in Label Studio.",
    ):
        begin("label-studio", "pull", "--full")
    draw_unfinished_jobs("exchange", lambda job: job.arguments[:2] in EXCHANGES, with_done=True)
    drift_table(lambda: drifts(workspace(), judgments()))


with errors_in_place():
    page()
