"""Jobs of one kind that are under way, on the page that shows what comes of them."""

from collections.abc import Callable

import streamlit as st

from berdseye.app.components.job_box import job_box
from berdseye.app.jobs import Job, list_jobs
from berdseye.app.session import workspace


def under_way(kind: str, wanted: Callable[[Job], bool], *, told: bool = False) -> None:
    """The `wanted` jobs that were started and are not done, drawn anew every two seconds while one runs; the page is drawn anew
    when one has ended.

    `kind` keeps what was seen of them apart from other kinds. With `told` those that are done stand there too, with what they
    said, until they are dismissed.
    """
    running = any(job.runs for job in list_jobs(workspace()) if wanted(job))
    st.fragment(_draw, run_every=2 if running else None)(f"{kind}-under-way", wanted, told)


def _draw(seen: str, wanted: Callable[[Job], bool], told: bool) -> None:
    found = [(job, job.state) for job in list_jobs(workspace()) if wanted(job)]
    before = st.session_state.get(seen, set())
    st.session_state[seen] = {job.id for job, state in found if state == "runs"}
    if before - st.session_state[seen]:
        st.rerun()
    for job, state in found:
        if state != "done" or told:
            with st.container(border=True, key=f"job-{job.id}"):
                job_box(job)
                if state == "done" and (said := job.said):
                    st.code(said, language=None, wrap_lines=True)
