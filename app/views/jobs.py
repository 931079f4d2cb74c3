"""The Jobs page: lists every job started from the app with its state and its output, and starts new ones."""

from collections.abc import Iterable
from typing import Any

import streamlit as st
import typer.main

from berdseye.app.access.roles import may, right_of_command
from berdseye.app.access.session import errors_in_place, role, started_by, workspace
from berdseye.app.cli import cli
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.command_form import command_form, draw_command_help, leaf_commands
from berdseye.app.components.job_box import command_line, job_box
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import Job, list_jobs, start_job
from berdseye.app.jobs.studies import result_of
from berdseye.data.corpora import open_corpus
from berdseye.data.runs.stored import list_runs
from berdseye.evaluation.labels.sources import default_sources
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

# The commands that this page starts. Studies and trainings have their own pages.
STARTED_HERE = {
    "index": "Build an index",
    "run": "Run pipelines",
    "evaluate": "Label and score runs",
    "tune": "Tune a pipeline",
    "judgments push": "Push judgments to Label Studio",
    "judgments pull": "Pull judgments from Label Studio",
    "backup": "Back up the workspace",
}
# The page that shows the result of a command, by the command's first word.
PAGES_OF = {
    "study": "studies",
    "run": "runs",
    "evaluate": "runs",
    "detector": "detectors",
    "judgments": "label_studio",
    "label-studio": "label_studio",
    "index": "explore",
}
EVERY_SECONDS = 2


def visible_jobs(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs whose command the person may run."""
    return [job for job in jobs if may(role(), right_of_command(job.arguments))]


def all_jobs() -> None:
    """Draw every job, running ones first."""
    visible = visible_jobs(list_jobs(workspace()))
    running = sum(job.state == "runs" for job in visible)
    if st.session_state.get("running-jobs", running) != running:
        st.session_state["running-jobs"] = running
        st.rerun()  # the sidebar's count, and what the forms offer
    st.session_state["running-jobs"] = running
    if not visible:
        st.info("No jobs yet. Start one above, or start a study or a training on its own page.")
        return
    linked = str(st.query_params.get("job", ""))
    for job in sorted(visible, key=lambda job: (job.id != linked, job.state != "runs")):
        with st.container(border=True, key=f"job-{job.id}"):
            job_box(job, log=True)
            result_button(job)
    if linked and linked not in {job.id for job in visible}:
        st.caption(escaped(f"Job {linked} was dismissed, or your role may not see it."))


def result_button(job: Job) -> None:
    """Draw a button that opens the page with the job's result."""
    page = PAGES_OF.get(job.arguments[0])
    if job.state != "done" or page is None:
        return
    if st.button("Show the result", icon=":material/arrow_forward:", key=f"see-{job.id}", type="tertiary"):
        name = result_of(job)
        open_page(page, **({"result": name} if name else {}))


def new_job() -> None:
    """Draw the form that starts a command as a job."""
    commands = leaf_commands(typer.main.get_command(cli))
    offered = {
        name: title
        for name, title in STARTED_HERE.items()
        if tuple(name.split()) in commands and may(role(), right_of_command(name.split()))
    }
    if not offered:
        return
    name = selectbox_by_id("Task", list(offered), "work", offered.__getitem__)
    command: Any = commands[tuple(name.split())]
    draw_command_help(command)
    stored = [m.pipeline for m in list_runs(workspace())]
    corpora = workspace().corpora()
    if name == "index":
        corpora = [c for c in corpora if open_corpus(workspace(), c).manifest.kind == "passages"]
    choices = {
        "dataset": workspace().datasets(),
        "corpus": corpora,
        "pipeline": list(dict.fromkeys([*DEFAULT_PIPELINES, *stored])),
        "labels": default_sources(workspace()),
        "run": [m.name for m in list_runs(workspace())],
    }
    arguments = command_form(command, choices, f"form-{name}", "Start")
    if arguments is not None:
        job = start_job(workspace(), (*name.split(), *arguments), person=started_by())
        st.toast(escaped(f"Started: {command_line(job)}"))
        st.session_state["running-jobs"] = -1
        st.rerun()


def page() -> None:
    """Draw the page."""
    st.caption(
        "Jobs continue when you close this page, the browser or the app, and stay listed until you dismiss them."
    )
    with st.expander("Start a job", icon=":material/add:", key="start-something"), errors_in_place():
        new_job()
    running = any(job.runs for job in visible_jobs(list_jobs(workspace())))
    st.fragment(all_jobs, run_every=EVERY_SECONDS if running else None)()


with errors_in_place():
    page()
