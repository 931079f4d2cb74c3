"""Jobs: long work that the app started, each as a separate `berdseye` command, which continues when the app ends.

The workspace keeps all jobs in one folder, no matter which person and page started them, until a person dismisses them.
"""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Literal

from berdseye.app.access.acting import VARIABLE as PERSON
from berdseye.app.jobs.reports import VARIABLE as JOB
from berdseye.app.jobs.reports import End, Reached, clear, ended, reached, write_end
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.atomic import write_json
from berdseye.data.files.locks import locked
from berdseye.data.files.processes import end_group, runs_command
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)
State = Literal["runs", "done", "failed", "stopped", "cut off"]
_PROCESS = "process.json"
_LOG = "log.txt"
_NOTIFIED = "told"
_PROGRAM = "berdseye"
_GRACE_SECONDS = 10.0
_STOPPED = 128 + signal.SIGTERM
"""The exit status of a command that deletes its incomplete files when it is stopped."""
_TAIL_BYTES = 4_000


@dataclass(frozen=True)
class Job:
    """A command that was started, identified by its folder.

    `person` is the person it acts for, empty if nobody gave a name. `makes` is the file that exists once its result is complete.
    """

    folder: Path
    arguments: tuple[str, ...]
    pid: int
    person: str
    began: datetime
    makes: Path | None

    @property
    def id(self) -> str:
        """The number of the job, as addresses contain it."""
        return self.folder.name

    @property
    def runs(self) -> bool:
        """Whether the process of the job exists. A process number reused by another command does not count."""
        return self.end is None and runs_command(self.pid, " ".join((_PROGRAM, *self.arguments)))

    @property
    def end(self) -> End | None:
        """The end of the job, or None while it runs and if it was killed."""
        return ended(self.folder)

    @property
    def state(self) -> State:
        """The state of the job. 'cut off': its process ended without a report, for example in a power cut."""
        if self.runs:
            return "runs"
        end = self.end
        if end is None:
            return "cut off"
        return "stopped" if end.status is None else "failed" if end.status else "done"

    @property
    def reached(self) -> Reached | None:
        """The last progress report, or None."""
        return reached(self.folder)

    @property
    def log(self) -> Path:
        """The file with the whole output of the job."""
        return self.folder / _LOG

    @property
    def output_tail(self) -> str:
        """The end of the output of the job."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                return file.read().decode("utf-8", errors="replace").strip()
        except FileNotFoundError:
            return ""


def start_job(workspace: Workspace, arguments: tuple[str, ...], *, person: str = "", makes: Path | None = None) -> Job:
    """Run `berdseye ARGUMENTS --workspace ...` in the background and keep track of it until it is dismissed.

    `person` is the person it acts for, empty if nobody gave a name. `makes` is a file in the workspace that exists once the
    result is complete: without it, dismissing the job deletes the folder of the file.
    """
    folder = _new_folder(workspace)
    return _begin(workspace, folder, arguments, person, makes)


def resume_job(workspace: Workspace, job: Job, *, person: str = "") -> Job:
    """Start a job again that has ended. It continues from what it has stored. Raises `BadInputError` if it is running."""
    running = BadInputError("This job is already running.", hint="Wait until it ends, or stop it.")
    with locked(job.folder / ".lock", busy=running):
        if read_job(workspace, job.id).runs:
            raise running
        return _begin(workspace, job.folder, job.arguments, person, job.makes)


def list_jobs(workspace: Workspace) -> list[Job]:
    """Return all jobs that were started and not dismissed, newest first."""
    jobs = []
    for path in workspace.jobs_folder.glob(f"[!.]*/{_PROCESS}"):
        with suppress(UnknownNameError):  # another session has just dismissed it
            jobs.append(read_job(workspace, path.parent.name))
    return sorted(jobs, key=lambda job: int(job.id), reverse=True)


def read_job(workspace: Workspace, number: str) -> Job:
    """Return the job of a number. Raises `UnknownNameError`."""
    folder = workspace.jobs_folder / number
    try:
        if not number.isdigit():
            raise FileNotFoundError
        stored: dict[str, Any] = json.loads((folder / _PROCESS).read_text(encoding="utf-8"))
    except OSError:  # also raised for a number too long for a file name
        existing = [path.parent.name for path in workspace.jobs_folder.glob(f"[!.]*/{_PROCESS}")]
        raise UnknownNameError("job", number, existing) from None
    return Job(
        folder,
        tuple(stored["arguments"]),
        int(stored["pid"]),
        str(stored["person"]),
        datetime.fromisoformat(stored["began"]),
        workspace.folder / stored["makes"] if stored["makes"] else None,
    )


def stop_job(job: Job, *, person: str = "") -> None:
    """Stop the job, which keeps what it has finished. `person` is the person who stops it."""
    if job.runs:
        end_group(job.pid, grace=_GRACE_SECONDS, word=_PROGRAM)
        if job.end is None or job.end.status == _STOPPED:
            write_end(job.folder, End(None, time.time(), person))
        _log.info("job %s stopped: %s", job.id, job.arguments[0])


def dismiss_job(workspace: Workspace, job: Job) -> None:
    """Remove a job that has ended, and delete its incomplete result unless another job continues it.

    Raises `BadInputError` if it is running.
    """
    if job.runs:
        raise BadInputError("This job is running.", hint="Stop it first.")
    incomplete = job.makes if job.makes is not None and not job.makes.exists() else None
    if incomplete is not None and not any(
        other.makes == incomplete for other in list_jobs(workspace) if other.id != job.id
    ):
        shutil.rmtree(incomplete.parent, ignore_errors=True)
    shutil.rmtree(job.folder, ignore_errors=True)


def first_notice(job: Job) -> bool:
    """Whether this is the first notice that the job has ended. A later call returns False."""
    try:
        (job.folder / _NOTIFIED).touch(exist_ok=False)
    except (FileExistsError, FileNotFoundError):
        return False
    return True


def _begin(workspace: Workspace, folder: Path, arguments: tuple[str, ...], person: str, makes: Path | None) -> Job:
    clear(folder)
    (folder / _NOTIFIED).unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name(_PROGRAM)), *arguments, "--workspace", str(workspace.folder)]
    environment = {**os.environ, JOB: str(folder), "PYTHONUNBUFFERED": "1"} | ({PERSON: person} if person else {})
    with (folder / _LOG).open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    write_json(
        folder / _PROCESS,
        {
            "pid": process.pid,
            "arguments": list(arguments),
            "person": person,
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "makes": str(makes.relative_to(workspace.folder)) if makes else None,
        },
    )
    _log.info("job %s started: %s", folder.name, arguments[0])
    return read_job(workspace, folder.name)


def _new_folder(workspace: Workspace) -> Path:
    numbers = [int(path.name) for path in workspace.jobs_folder.glob("[0-9]*")]
    for number in count(max(numbers, default=0) + 1):
        folder = workspace.jobs_folder / f"{number:04d}"
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("The loop always finds a free number.")
