"""Label Studio: whether it runs, what waits to go there, and the exchange by hand."""

from collections.abc import Callable

import streamlit as st

from annotation.label_studio.outbox import waiting
from annotation.label_studio.report import Report
from annotation.label_studio.server import running
from app.components.plain_text import escaped
from app.exchange import receive, send
from app.session import errors_in_place, judgments, workspace
from data.runs import list_runs


@st.fragment(run_every=5, key="status")
def status() -> None:
    """The state of the server started with this workspace, looked at every five seconds."""
    server = running(workspace().label_studio_folder)
    left, right = st.columns(2)
    if server is None:
        left.metric(
            "Server of this workspace",
            "not running",
            help="`berdseye app` and `berdseye label-studio` start it.",
        )
    else:
        left.metric("Server of this workspace", "answers" if server.answers() else "starting …")
        left.markdown(
            f"[{escaped(server.url)}]({server.url}) · sign in with the e-mail and password in `credentials.json`"
        )
    right.metric("Judgments that wait to be sent", waiting(judgments()))


def exchange(work: Callable[[Callable[[int, int], None]], Report]) -> None:
    """Do it with a progress bar, and keep the report for the next drawing."""
    bar = st.progress(0.0)
    with errors_in_place():

        def show(done: int, total: int) -> None:
            bar.progress(done / max(total, 1), text=f"{done} of {total}")

        report = work(show)
        st.success(escaped(str(report)))
        for problem in report.problems:
            st.warning(escaped(problem))
    bar.empty()


def page() -> None:
    """The whole page."""
    status()
    st.caption(
        "Started by `berdseye app`, judgments flow both ways by themselves. Each annotator has a user of their own there; "
        "every judgment counts once, wherever it was made."
    )
    runs = [r.name for r in list_runs(workspace())]
    chosen = st.multiselect("Also send the pairs of these runs as tasks", runs, key="push-runs")
    k = st.number_input("Top k", 1, 100, 5, key="push-k")
    left, right = st.columns(2)
    if left.button("Send", icon=":material/upload:", type="primary"):
        exchange(lambda progress: send(workspace(), judgments(), chosen, int(k), progress=progress))
    if right.button("Receive", icon=":material/download:"):
        exchange(lambda progress: receive(workspace(), judgments(), progress=progress))


with errors_in_place():
    page()
