"""The form that runs a pipeline on data sets and corpora as a job, and the runs under way."""

import streamlit as st

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.page_button import open_page
from berdseye.app.components.pipeline_builder import chosen_pipeline
from berdseye.app.jobs.running import start_job
from berdseye.data.texts.counts import counted

_OPEN = "run-form"


def run_form(*, expanded: bool = False) -> None:
    """Draw the form. A stored run is not repeated unless the person asks for it.

    `expanded` counts when the page is opened. After that, only the person opens and closes the form: a run that ends must not
    fold it while the next pipeline is being chosen.
    """
    st.session_state.setdefault(_OPEN, expanded)
    with st.expander("Run a pipeline", icon=":material/play_arrow:", key=_OPEN, on_change="rerun"), errors_in_place():
        missing = [
            (label, show)
            for label, show, names in (
                ("Add a corpus", "Corpora", workspace().corpora()),
                ("Add a data set", "Data sets", workspace().datasets()),
            )
            if not names
        ]
        if missing:
            st.markdown("A run needs a corpus to search and a data set of questions.")
            for label, show in missing:
                if st.button(label, icon=":material/add:", type="primary", key=f"run-{show}"):
                    open_page("data", show=show)
            return
        left, right, last = st.columns([3, 3, 1])
        names = workspace().datasets()
        datasets = left.multiselect("Data sets", names, default=names, key="run-datasets")
        corpora = right.multiselect("Corpora", workspace().corpora(), default=workspace().corpora(), key="run-corpora")
        k = last.number_input("k", 1, 1000, 20, key="run-k", help="How many passages of each ranking to store.")
        pipeline = chosen_pipeline("run-pipeline")
        with st.container(horizontal=True, vertical_alignment="center"):
            ready = bool(datasets and corpora and pipeline)
            pressed = st.button(
                "Run", type="primary", icon=":material/play_arrow:", disabled=not ready, key="run-start"
            )
            repeat = st.toggle("Repeat runs that exist at this depth", key="run-again")
            if ready:
                number = len(datasets) * len(corpora)
                st.caption(f"{counted(number, 'run')}: every data set on every corpus.")
        if pressed and pipeline:
            over = [*(w for d in datasets for w in ("--dataset", d)), *(w for c in corpora for w in ("--corpus", c))]
            rest = ("--pipeline", pipeline, "--k", str(int(k)), *(() if repeat else ("--missing",)))
            start_job(workspace(), ("run", *over, *rest), person=started_by())
            st.rerun()


def draw_unfinished_runs() -> None:
    """Draw the pipeline runs that were started and are not done."""
    draw_unfinished_jobs("runs", lambda job: job.arguments[:1] == ("run",))
