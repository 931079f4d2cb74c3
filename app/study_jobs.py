"""Studies that the app started; each keeps its result in the workspace when it is done."""

from contextlib import suppress
from itertools import count
from pathlib import Path

from app.jobs import PROCESS, Job, forget_job, read_job, start_job
from data.workspace import Workspace

KEPT = "Kept in "
"""What a study's command says last, before the folder of its result."""


def start(workspace: Workspace, arguments: tuple[str, ...], *, person: str = "") -> None:
    """Run `berdseye study ARGUMENTS` in the background, for a person."""
    start_job(workspace, _new_folder(workspace), ("study", *arguments), person=person)


def resume(workspace: Workspace, job: Job, *, person: str = "") -> None:
    """Begin one anew; what is stored of it (runs, labels, completions) is not done again."""
    start_job(workspace, job.folder, job.arguments, person=person)


def jobs(workspace: Workspace) -> tuple[list[Job], list[str]]:
    """The studies that run or have stopped, and the names of the results of those that are done, which are forgotten."""
    held, done = [], []
    for path in sorted(_folder(workspace).glob(f"*/{PROCESS}")):
        try:
            job = read_job(path.parent)
        except FileNotFoundError:  # another session has just told its person and forgotten it
            continue
        *_, last = job.said.splitlines() or [""]
        if not job.runs and KEPT in job.said:
            done.append(Path((job.said.rpartition(KEPT)[2].splitlines() or [last])[0].strip()).name)
            forget_job(job)
        else:
            held.append(job)
    return held, done


def _new_folder(workspace: Workspace) -> Path:
    for number in count(1):
        folder = _folder(workspace) / f"{number:04d}"
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("Numbers do not end.")


def _folder(workspace: Workspace) -> Path:
    return workspace.studies_folder / ".started"
