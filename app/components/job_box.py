"""Jobs on pages: the box of one job with its state, progress, output and buttons; the count of running jobs in the sidebar; and
the unfinished jobs of one kind on the page of their results."""

import shlex
import time
from collections.abc import Callable
from datetime import timedelta

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from berdseye.app.access.roles import may, right_of_command
from berdseye.app.access.session import errors_in_place, people, role, started_by, workspace
from berdseye.app.components.downloads import download
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.reader_time import shown_moment
from berdseye.app.jobs.reports import Reached
from berdseye.app.jobs.running import Job, dismiss_job, list_jobs, resume_job, stop_job

_SILENT_AFTER = 60.0
STATES = {
    "runs": (":material/progress_activity:", "is running"),
    "done": (":material/check_circle:", "is done"),
    "failed": (":material/error:", "has failed"),
    "stopped": (":material/stop_circle:", "has stopped"),
    "cut off": (":material/power_off:", "was interrupted"),
}
"""The icon and the text of each state."""
_EVERY_SECONDS = 5


def job_box(
    job: Job,
    title: str = "",
    *,
    doing: str = "is running",
    again: Callable[[], object] | None = None,
    log: bool = False,
) -> None:
    """Draw one job, by default under its command. `again` resumes it from what it has finished. With `log`, the box offers its
    whole output; otherwise it shows only the last output of a failed job."""
    state = job.state
    with st.container(horizontal=True, vertical_alignment="center"):
        icon, state_text = STATES[state]
        st.markdown(f"{icon} **{escaped(title or command_line(job))}** {doing if state == 'runs' else state_text}")
        if mine(job):
            buttons(job, again)
    st.caption(escaped(history(job)))
    if state == "runs":
        draw_progress(job.reached)
    if log:
        whole_log(job)
    elif state not in ("runs", "done") and (output := job.output_tail):
        st.code(output, language=None, wrap_lines=True)


def buttons(job: Job, again: Callable[[], object] | None) -> None:
    """Draw the buttons that apply to the job in its present state."""
    runs, key = job.state == "runs", job.id
    if runs and st.button("Stop", icon=":material/stop:", key=f"stop-{key}"):
        stop_job(job, person=started_by())
        st.rerun()
    if not runs and job.state != "done" and st.button("Resume", icon=":material/play_arrow:", key=f"go-{key}"):
        with errors_in_place():
            if again is None:
                resume_job(workspace(), job, person=started_by())
            else:
                again()
            st.rerun()
    if not runs and st.button("Dismiss", icon=":material/close:", key=f"forget-{key}"):
        dismiss_job(workspace(), job)
        st.rerun()


def draw_progress(progress: Reached | None) -> None:
    """Draw a progress bar if the total is known, otherwise a count."""
    if progress is None:
        st.progress(0.0, text="No progress reported yet.")
        return
    of_total = f" of {progress.total:,}" if progress.total else ""
    text = f"{progress.work}: {progress.done:,}{of_total} {progress.unit}{left(progress)}"
    if (silent := time.time() - progress.at) > _SILENT_AFTER:
        text += f"; no report for {_clock(silent)}"
    st.progress(progress.share or 0.0, text=escaped(text))


def left(progress: Reached) -> str:
    """Return the estimated time left at the speed so far, or an empty text if it cannot be estimated."""
    took = progress.at - progress.since
    if not progress.total or not progress.done or took < 1 or progress.done >= progress.total:
        return ""
    return f", about {_clock(took / progress.done * (progress.total - progress.done))} left"


def whole_log(job: Job) -> None:
    """Draw the end of the log and a button that downloads all of it."""
    log_end = job.output_tail
    with st.expander(
        "Log", icon=":material/subject:", key=f"log-{job.id}", expanded=job.state in ("failed", "cut off")
    ):
        if not log_end:
            st.caption("No output yet.")
            return
        st.code(log_end, language=None, wrap_lines=True)
        download("Whole log", job.log.read_bytes, f"berdseye-job-{job.id}.txt", key=f"whole-{job.id}")


def history(job: Job) -> str:
    """Return when the job began, for which person, and how it ended."""
    parts = [f"Job {int(job.id)}", f"began {shown_moment(job.began)}"]
    if job.person:
        parts.append(f"by {job.person}")
    if (end := job.end) is not None:
        took = _clock(end.at - job.began.timestamp())
        how = (f"stopped by {end.stopped_by}" if end.stopped_by else "stopped") if end.status is None else "ended"
        parts.append(f"{how} after {took}{f' with exit status {end.status}' if end.status else ''}")
    elif not job.runs:
        parts.append("its process ended without an exit status")
    return ", ".join(parts)


def mine(job: Job) -> bool:
    """Whether the person may stop, resume and dismiss the job: the person who started it and admins; in local mode
    everyone."""
    if not people().team:
        return True
    return may(role(), "administer") or (job.person == started_by() and may(role(), right_of_command(job.arguments)))


def command_line(job: Job) -> str:
    """Return the command of the job as a person would type it."""
    return shlex.join(job.arguments)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=max(0, round(seconds))))


def job_line(page: StreamlitPage) -> None:
    """Draw the number of running jobs in the sidebar, refreshed every five seconds. Without running jobs, draw nothing."""
    running = _running()
    if running:
        with st.sidebar:
            st.fragment(_line, run_every=_EVERY_SECONDS)(page)


def _line(page: StreamlitPage) -> None:
    running = _running()
    label = f"Jobs: {running} running" if running else "Jobs: all have ended"
    st.page_link(page, label=label, icon=":material/progress_activity:" if running else ":material/check:")


def _running() -> int:
    return sum(job.runs for job in list_jobs(workspace()))


def draw_unfinished_jobs(
    kind: str, wanted: Callable[[Job], bool], *, with_done: bool = False, titled: Callable[[Job], str] = command_line
) -> None:
    """Draw the `wanted` jobs that are not done, refreshed every two seconds while one runs. The page is drawn again when one has
    ended.

    `kind` separates the remembered state from that of other kinds of jobs. With `with_done`, finished jobs are shown too, with
    their output, until they are dismissed. `titled` names a job, by default by its command.
    """
    running = any(job.runs for job in list_jobs(workspace()) if wanted(job))
    st.fragment(_draw, run_every=2 if running else None)(f"{kind}-under-way", wanted, with_done, titled)


def _draw(seen: str, wanted: Callable[[Job], bool], with_done: bool, titled: Callable[[Job], str]) -> None:
    jobs = [(job, job.state) for job in list_jobs(workspace()) if wanted(job)]
    before = st.session_state.get(seen, set())
    st.session_state[seen] = {job.id for job, state in jobs if state == "runs"}
    if before - st.session_state[seen]:
        st.rerun()
    for job, state in jobs:
        if state != "done" or with_done:
            with st.container(border=True, key=f"job-{job.id}"):
                job_box(job, titled(job))
                if state == "done" and (output := job.output_tail):
                    st.code(output, language=None, wrap_lines=True)
