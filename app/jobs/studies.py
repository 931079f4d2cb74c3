"""Studies that the app started as jobs. Each stores its result in the workspace when it is done."""

from pathlib import Path

from berdseye.app.jobs.running import Job, first_notice, list_jobs, resume_job, start_job
from berdseye.data.workspace import Workspace

KEPT = "Kept in "
"""The last line of a study's output begins with this text; the folder of the result follows."""
_STUDY = "study"


def start(workspace: Workspace, arguments: tuple[str, ...], *, person: str = "") -> None:
    """Run `berdseye study ARGUMENTS` in the background for a person."""
    start_job(workspace, (_STUDY, *arguments), person=person)


def resume(workspace: Workspace, job: Job, *, person: str = "") -> None:
    """Resume a study. Its stored runs, labels and completions are not computed again."""
    resume_job(workspace, job, person=person)


def result_of(job: Job) -> str | None:
    """Return the name of the result that a study stored, or None if the job is no study or is not done."""
    if job.arguments[:1] != (_STUDY,) or job.state != "done" or KEPT not in job.output_tail:
        return None
    return Path(job.output_tail.rpartition(KEPT)[2].splitlines()[0].strip()).name


def jobs(workspace: Workspace) -> tuple[list[Job], list[str]]:
    """Return the studies that are running or unfinished, and the names of the results that no one was notified of yet."""
    unfinished, done = [], []
    for job in reversed(list_jobs(workspace)):
        if job.arguments[:1] != (_STUDY,):
            continue
        name = result_of(job)
        if name is None:
            unfinished.append(job)
        elif first_notice(job):
            done.append(name)
    return unfinished, done
