"""How many jobs run, in the sidebar of every page, with the way to them."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from berdseye.app.jobs import list_jobs
from berdseye.app.session import workspace

_EVERY_SECONDS = 5


def job_line(page: StreamlitPage) -> None:
    """A line that is drawn anew every five seconds while something runs; nothing where nothing does."""
    running = _running()
    if running:
        with st.sidebar:
            st.fragment(_line, run_every=_EVERY_SECONDS)(page)


def _line(page: StreamlitPage) -> None:
    running = _running()
    told = f"Jobs: {running} running" if running else "Jobs: all have ended"
    st.page_link(page, label=told, icon=":material/progress_activity:" if running else ":material/check:")


def _running() -> int:
    return sum(job.runs for job in list_jobs(workspace()))
