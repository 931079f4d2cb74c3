"""A command that runs beside the app: what it is about, what it says, and the buttons that stop it and let it go on."""

from collections.abc import Callable

import streamlit as st

from app.components.plain_text import escaped
from app.jobs import Job, forget_job, stop_job


def job_box(job: Job, title: str, *, doing: str, again: Callable[[], None]) -> None:
    """Draw one job; `again` begins it anew, which goes on from what was finished."""
    runs, key = job.runs, job.folder.name
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{escaped(title)}** {doing if runs else 'has stopped'}")
        if runs and st.button("Stop", icon=":material/stop:", key=f"stop-{key}"):
            stop_job(job)
            st.rerun()
        if not runs and st.button("Go on", icon=":material/play_arrow:", key=f"go-{key}"):
            again()
            st.rerun()
        if not runs and st.button("Delete", icon=":material/delete:", key=f"forget-{key}"):
            forget_job(job)
            st.rerun()
    if job.said and not runs:
        st.code(job.said, language=None, wrap_lines=True)
