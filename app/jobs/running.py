"""Long work that the app started: each is a `berdseye` command of its own, which goes on when the app does not.

All are kept in one place of the workspace, whoever started them and from whichever page, until someone dismisses them.
"""

import json
import os
import shutil
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

State = Literal["runs", "done", "failed", "stopped", "cut off"]
_PROCESS = "process.json"
_LOG = "log.txt"
_TOLD = "told"
_WORD = "berdseye"
_GRACE_SECONDS = 10.0
_TAIL_BYTES = 4_000


@dataclass(frozen=True)
class Job:
    """A command that was begun, by the folder that it is known by.

    `person` is whom it acts for, empty where nobody gave a name; `makes` is a file that stands when what it makes is whole.
    """

    folder: Path
    arguments: tuple[str, ...]
    pid: int
    person: str
    began: datetime
    makes: Path | None

    @property
    def id(self) -> str:
        """Its number, as it stands in addresses."""
        return self.folder.name

    @property
    def runs(self) -> bool:
        """Whether its process is there: a number that another command got since is not it."""
        return self.end is None and runs_command(self.pid, " ".join((_WORD, *self.arguments)))

    @property
    def end(self) -> End | None:
        """How it ended; None while it runs, and where it was killed."""
        return ended(self.folder)

    @property
    def state(self) -> State:
        """What became of it; 'cut off' where its process is gone without a word, as after a power cut."""
        if self.runs:
            return "runs"
        end = self.end
        if end is None:
            return "cut off"
        return "stopped" if end.status is None else "failed" if end.status else "done"

    @property
    def reached(self) -> Reached | None:
        """How far it is."""
        return reached(self.folder)

    @property
    def log(self) -> Path:
        """All it wrote."""
        return self.folder / _LOG

    @property
    def said(self) -> str:
        """The end of what it wrote."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                return file.read().decode("utf-8", errors="replace").strip()
        except FileNotFoundError:
            return ""


def start_job(workspace: Workspace, arguments: tuple[str, ...], *, person: str = "", makes: Path | None = None) -> Job:
    """Run `berdseye ARGUMENTS --workspace ...` in the background, and keep track of it until it is dismissed.

    `person` is whom it acts for; empty: nobody gave a name. `makes` is the file that ends what it makes, below the
    workspace: the folder around it goes with the job where that file never came.
    """
    folder = _new_folder(workspace)
    return _begin(workspace, folder, arguments, person, makes)


def resume_job(workspace: Workspace, job: Job, *, person: str = "") -> Job:
    """Begin one that has ended anew, which goes on from what is stored. Raises `BadInputError` where it runs."""
    running = BadInputError("This job runs already.", hint="Wait until it has ended, or stop it.")
    with locked(job.folder / ".lock", busy=running):
        if read_job(workspace, job.id).runs:
            raise running
        return _begin(workspace, job.folder, job.arguments, person, job.makes)


def list_jobs(workspace: Workspace) -> list[Job]:
    """All that were started and not dismissed, the newest first."""
    held = []
    for path in workspace.jobs_folder.glob(f"[!.]*/{_PROCESS}"):
        with suppress(UnknownNameError):  # another session has just dismissed it
            held.append(read_job(workspace, path.parent.name))
    return sorted(held, key=lambda job: int(job.id), reverse=True)


def read_job(workspace: Workspace, number: str) -> Job:
    """The job of a number; raises `UnknownNameError`."""
    folder = workspace.jobs_folder / number
    try:
        if not number.isdigit():
            raise FileNotFoundError
        held: dict[str, Any] = json.loads((folder / _PROCESS).read_text(encoding="utf-8"))
    except OSError:  # also for a number that is too long to be a file's name
        standing = [path.parent.name for path in workspace.jobs_folder.glob(f"[!.]*/{_PROCESS}")]
        raise UnknownNameError("job", number, standing) from None
    return Job(
        folder,
        tuple(held["arguments"]),
        int(held["pid"]),
        str(held["person"]),
        datetime.fromisoformat(held["began"]),
        workspace.folder / held["makes"] if held["makes"] else None,
    )


def stop_job(job: Job, *, person: str = "") -> None:
    """End it; what it finished is kept. `person` is who did."""
    if job.runs:
        end_group(job.pid, grace=_GRACE_SECONDS, word=_WORD)
        if job.end is None:
            write_end(job.folder, End(None, time.time(), person))


def dismiss_job(workspace: Workspace, job: Job) -> None:
    """Forget one that has ended, and delete what it left half made, unless another job goes on with it.

    Raises `BadInputError` where it runs.
    """
    if job.runs:
        raise BadInputError("This job runs.", hint="Stop it first.")
    half = job.makes if job.makes is not None and not job.makes.exists() else None
    if half is not None and not any(other.makes == half for other in list_jobs(workspace) if other.id != job.id):
        shutil.rmtree(half.parent, ignore_errors=True)
    shutil.rmtree(job.folder, ignore_errors=True)


def first_told(job: Job) -> bool:
    """Whether nobody was told yet that this job has ended; from now on somebody was."""
    try:
        (job.folder / _TOLD).touch(exist_ok=False)
    except (FileExistsError, FileNotFoundError):
        return False
    return True


def _begin(workspace: Workspace, folder: Path, arguments: tuple[str, ...], person: str, makes: Path | None) -> Job:
    clear(folder)
    (folder / _TOLD).unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name(_WORD)), *arguments, "--workspace", str(workspace.folder)]
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
    return read_job(workspace, folder.name)


def _new_folder(workspace: Workspace) -> Path:
    held = [int(path.name) for path in workspace.jobs_folder.glob("[0-9]*")]
    for number in count(max(held, default=0) + 1):
        folder = workspace.jobs_folder / f"{number:04d}"
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("Numbers do not end.")
