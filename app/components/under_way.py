"""Jobs of one kind that are under way, on the page that shows what comes of them."""

from collections.abc import Callable

import streamlit as st

from app.components.job_box import job_box
from app.jobs import Job, list_jobs
from app.session import workspace


@st.fragment(run_every=2)
def under_way(kind: str, wanted: Callable[[Job], bool], *, told: bool = False) -> None:
    """The `wanted` jobs that were started and are not done, drawn anew every two seconds; the page is drawn anew when one is.

    `kind` keeps what was seen of them apart from other kinds. With `told` those that are done stand there too, with what they
    said, until they are dismissed.
    """
    found = [job for job in list_jobs(workspace()) if wanted(job)]
    held = [job for job in found if job.state != "done"]
    seen = f"{kind}-under-way"
    before = st.session_state.get(seen, set())
    st.session_state[seen] = {job.id for job in held}
    if before - st.session_state[seen]:
        st.rerun()
    for job in found if told else held:
        with st.container(border=True, key=f"job-{job.id}"):
            job_box(job)
            if job.state == "done" and (said := job.said):
                st.code(said, language=None, wrap_lines=True)
