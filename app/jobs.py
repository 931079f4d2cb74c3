"""Long work that the app started: each is a `berdseye` command of its own, which goes on when the app does not."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.acting import VARIABLE
from data.atomic import write_json
from data.processes import end_group, runs_command
from data.workspace import Workspace

PROCESS = "process.json"
_LOG = "log.txt"
_WORD = "berdseye"
_GRACE_SECONDS = 10.0
_TOLD = 2_000


@dataclass(frozen=True)
class Job:
    """A command that was begun, by the folder that it is known by. Where it does not run it has ended or was stopped."""

    folder: Path
    arguments: tuple[str, ...]
    pid: int
    said: str

    @property
    def runs(self) -> bool:
        return runs_command(self.pid, _WORD)


def start_job(workspace: Workspace, folder: Path, arguments: tuple[str, ...], *, person: str = "") -> None:
    """Run `berdseye ARGUMENTS --workspace ...` in the background, and keep track of it in the folder.

    `person` is whom it acts for; empty: nobody gave a name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(Path(sys.executable).with_name(_WORD)), *arguments, "--workspace", str(workspace.folder)]
    environment = {**os.environ, VARIABLE: person} if person else None
    with (folder / _LOG).open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    write_json(folder / PROCESS, {"pid": process.pid, "arguments": list(arguments)})


def read_job(folder: Path) -> Job:
    """The job of a folder, with the end of what it said."""
    held = json.loads((folder / PROCESS).read_text(encoding="utf-8"))
    log = folder / _LOG
    said = log.read_text(encoding="utf-8", errors="replace")[-_TOLD:] if log.exists() else ""
    return Job(folder, tuple(held["arguments"]), int(held["pid"]), said.strip())


def stop_job(job: Job) -> None:
    """End it; what it finished is kept."""
    end_group(job.pid, grace=_GRACE_SECONDS, word=_WORD)


def forget_job(job: Job) -> None:
    """Delete what a stopped one left behind in its folder."""
    shutil.rmtree(job.folder, ignore_errors=True)
