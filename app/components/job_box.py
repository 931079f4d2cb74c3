"""A command that runs beside the app: what it is about, how far it is, what it says, and the buttons that stop it and let it
go on.

How many jobs run, in the sidebar of every page, with the way to them.

Jobs of one kind that are under way, on the page that shows what comes of them.

Running a pipeline from a page: a form that starts a job, and the runs that are under way.
"""

import shlex
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from berdseye.app.access.roles import may, right_of_command
from berdseye.app.access.session import errors_in_place, people, role, started_by, workspace
from berdseye.app.components.downloads import download
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.reports import Reached
from berdseye.app.jobs.running import Job, dismiss_job, list_jobs, resume_job, start_job, stop_job
from berdseye.app.pipelines import pipeline_of
from berdseye.data.errors import BadInputError
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

_SILENT_AFTER = 60.0
STATES = {
    "runs": (":material/progress_activity:", "is under way"),
    "done": (":material/check_circle:", "is done"),
    "failed": (":material/error:", "has failed"),
    "stopped": (":material/stop_circle:", "has stopped"),
    "cut off": (":material/power_off:", "was cut off"),
}
"""The sign of each state, and how it is said."""


def job_box(
    job: Job,
    title: str = "",
    *,
    doing: str = "is under way",
    again: Callable[[], object] | None = None,
    log: bool = False,
) -> None:
    """Draw one job, by default under its command; `again` begins it anew, which goes on from what was finished. `log` offers
    all it wrote, else only what a failed one said last is shown."""
    state = job.state
    with st.container(horizontal=True, vertical_alignment="center"):
        icon, told = STATES[state]
        st.markdown(f"{icon} **{escaped(title or command_line(job))}** {doing if state == 'runs' else told}")
        if mine(job):
            buttons(job, again)
    st.caption(escaped(history(job)))
    if state == "runs":
        how_far(job.reached)
    if log:
        whole_log(job)
    elif state not in ("runs", "done") and (said := job.said):
        st.code(said, language=None, wrap_lines=True)


def buttons(job: Job, again: Callable[[], object] | None) -> None:
    """What can be done with a job as it stands."""
    runs, key = job.state == "runs", job.id
    if runs and st.button("Stop", icon=":material/stop:", key=f"stop-{key}"):
        stop_job(job, person=started_by())
        st.rerun()
    if not runs and job.state != "done" and st.button("Go on", icon=":material/play_arrow:", key=f"go-{key}"):
        with errors_in_place():
            if again is None:
                resume_job(workspace(), job, person=started_by())
            else:
                again()
            st.rerun()
    if not runs and st.button("Dismiss", icon=":material/close:", key=f"forget-{key}"):
        dismiss_job(workspace(), job)
        st.rerun()


def how_far(said: Reached | None) -> None:
    """A bar where there is a total; else a count."""
    if said is None:
        st.progress(0.0, text="Has not said yet how far it is.")
        return
    text = f"{said.work}: {said.done:,}{f' of {said.total:,}' if said.total else ''} {said.unit}{left(said)}"
    if (silent := time.time() - said.at) > _SILENT_AFTER:
        text += f"; said nothing for {_clock(silent)}"
    st.progress(said.share or 0.0, text=escaped(text))


def left(said: Reached) -> str:
    """The time left at the speed so far, where that can be told."""
    took = said.at - said.since
    if not said.total or not said.done or took < 1 or said.done >= said.total:
        return ""
    return f", about {_clock(took / said.done * (said.total - said.done))} left"


def whole_log(job: Job) -> None:
    """The end of the log, and all of it as a file."""
    said = job.said
    with st.expander(
        "Log", icon=":material/subject:", key=f"log-{job.id}", expanded=job.state in ("failed", "cut off")
    ):
        if not said:
            st.caption("Nothing was written yet.")
            return
        st.code(said, language=None, wrap_lines=True)
        download("Whole log", job.log.read_bytes, f"berdseye-job-{job.id}.txt", key=f"whole-{job.id}")


def history(job: Job) -> str:
    """When it began, for whom, and how it ended."""
    parts = [f"Job {int(job.id)}", f"began {_moment(job.began)}"]
    if job.person:
        parts.append(f"by {job.person}")
    if (end := job.end) is not None:
        took = _clock(end.at - job.began.timestamp())
        how = (f"stopped by {end.stopped_by}" if end.stopped_by else "stopped") if end.status is None else "ended"
        parts.append(f"{how} after {took}{f' with exit status {end.status}' if end.status else ''}")
    elif not job.runs:
        parts.append("its process is gone without a word")
    return ", ".join(parts)


def mine(job: Job) -> bool:
    """Whether the person may stop, resume and dismiss it: whoever started it, and admins; in local mode everyone."""
    if not people().team:
        return True
    return may(role(), "administer") or (job.person == started_by() and may(role(), right_of_command(job.arguments)))


def command_line(job: Job) -> str:
    """What was started, as one would type it."""
    return shlex.join(job.arguments)


def _moment(when: datetime) -> str:
    shown = when.astimezone(UTC)
    return f"{shown:%H:%M} UTC" if shown.date() == datetime.now(UTC).date() else f"{shown:%Y-%m-%d %H:%M} UTC"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=max(0, round(seconds))))


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


def run_form() -> None:
    """Run one more pipeline, in the background; one that stands is not run again unless that is wanted."""
    with st.expander("Run a pipeline", icon=":material/play_arrow:"), st.form("run", border=False):
        columns = st.columns([2, 2, 3, 1])
        datasets = columns[0].multiselect("Data sets", workspace().datasets(), default=workspace().datasets())
        corpora = columns[1].multiselect("Corpora", workspace().corpora(), default=workspace().corpora())
        pipeline = columns[2].text_input(
            "Pipeline", DEFAULT_PIPELINES[0], help="bm25(k1=1.2,b=0.75), dense(static) >> mmr(0.9)"
        )
        k = columns[3].number_input("k", 1, 1000, 20)
        anew = st.toggle("Again where a run of this depth stands", key="run-again")
        if st.form_submit_button("Run", type="primary", icon=":material/play_arrow:"):
            with errors_in_place():
                if not datasets or not corpora:
                    raise BadInputError("Nothing was chosen to run on.", hint="Choose a data set and a corpus.")
                named = str(pipeline_of(workspace(), pipeline))
                words = [
                    *(w for d in datasets for w in ("--dataset", d)),
                    *(w for c in corpora for w in ("--corpus", c)),
                ]
                chosen = ("run", *words, "--pipeline", named, "--k", str(int(k)), *(() if anew else ("--missing",)))
                start_job(workspace(), chosen, person=started_by())
                st.rerun()


def runs_under_way() -> None:
    """Runs that were started and are not done."""
    under_way("runs", lambda job: job.arguments[:1] == ("run",))
