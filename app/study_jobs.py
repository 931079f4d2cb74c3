"""Studies that the app started; each keeps its result in the workspace when it is done."""

from itertools import count
from pathlib import Path

from app.jobs import PROCESS, Job, forget_job, read_job, start_job
from data.workspace import Workspace

KEPT = "Kept in "
"""What a study's command says last, before the folder of its result."""


def start(workspace: Workspace, arguments: tuple[str, ...]) -> None:
    """Run `berdseye study ARGUMENTS` in the background."""
    folder = next(f for n in count(1) if not (f := _folder(workspace) / f"{n:04d}").exists())
    start_job(workspace, folder, ("study", *arguments))


def resume(workspace: Workspace, job: Job) -> None:
    """Begin one anew; what is stored of it (runs, labels, completions) is not done again."""
    start_job(workspace, job.folder, job.arguments)


def jobs(workspace: Workspace) -> tuple[list[Job], list[str]]:
    """The studies that run or have stopped, and the names of the results of those that are done, which are forgotten."""
    held, done = [], []
    for path in sorted(_folder(workspace).glob(f"*/{PROCESS}")):
        job = read_job(path.parent)
        *_, last = job.said.splitlines() or [""]
        if not job.runs and KEPT in job.said:
            done.append(Path((job.said.rpartition(KEPT)[2].splitlines() or [last])[0].strip()).name)
            forget_job(job)
        else:
            held.append(job)
    return held, done


def _folder(workspace: Workspace) -> Path:
    return workspace.studies_folder / ".started"
