"""Studies that the app started; each keeps its result in the workspace when it is done."""

from pathlib import Path

from berdseye.app.jobs.running import Job, first_told, list_jobs, resume_job, start_job
from berdseye.data.workspace import Workspace

KEPT = "Kept in "
"""What a study's command says last, before the folder of its result."""
_STUDY = "study"


def start(workspace: Workspace, arguments: tuple[str, ...], *, person: str = "") -> None:
    """Run `berdseye study ARGUMENTS` in the background, for a person."""
    start_job(workspace, (_STUDY, *arguments), person=person)


def resume(workspace: Workspace, job: Job, *, person: str = "") -> None:
    """Begin one anew; what is stored of it (runs, labels, completions) is not done again."""
    resume_job(workspace, job, person=person)


def result_of(job: Job) -> str | None:
    """The name of the result that a study kept; None where the job is no study, or is not done."""
    if job.arguments[:1] != (_STUDY,) or job.state != "done" or KEPT not in job.said:
        return None
    return Path(job.said.rpartition(KEPT)[2].splitlines()[0].strip()).name


def jobs(workspace: Workspace) -> tuple[list[Job], list[str]]:
    """The studies that run or did not come to their end, and the names of the results that nobody was told of yet."""
    held, done = [], []
    for job in reversed(list_jobs(workspace)):
        if job.arguments[:1] != (_STUDY,):
            continue
        name = result_of(job)
        if name is None:
            held.append(job)
        elif first_told(job):
            done.append(name)
    return held, done
