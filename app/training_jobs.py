"""Trainings that the app started: each is a `berdseye detector train` of its own, which goes on when the app does not."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from data.atomic import write_json
from data.errors import BadInputError
from data.processes import end_group, runs_command
from data.workspace import Workspace
from detectors.trained import new_folder
from detectors.training.curve import Point, read_curve

_PROCESS, _LOG = "process.json", "training.log"
_WORD = "berdseye"
_GRACE_SECONDS = 10.0
_TOLD = 2_000


@dataclass(frozen=True)
class Job:
    """A training that has begun and has no card yet. One that does not run was stopped; begun again, it goes on."""

    name: str
    folder: Path
    arguments: tuple[str, ...]
    pid: int
    points: tuple[Point, ...]
    said: str

    @property
    def runs(self) -> bool:
        return runs_command(self.pid, _WORD)


def start(workspace: Workspace, name: str, arguments: tuple[str, ...]) -> None:
    """Train in the background from the workspace's judgments; `arguments` are those of `berdseye detector train`."""
    folder = new_folder(workspace, name)
    if any(job.name == name and job.runs for job in jobs(workspace)):
        raise BadInputError(f"'{name}' is being trained.", hint="Choose another name, or wait.")
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(Path(sys.executable).with_name(_WORD)), "detector", "train", "--name", name]
    command += [*arguments, "--workspace", str(workspace.folder)]
    with (folder / _LOG).open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    write_json(folder / _PROCESS, {"pid": process.pid, "arguments": list(arguments)})


def stop(job: Job) -> None:
    """End it; what was trained is kept."""
    end_group(job.pid, grace=_GRACE_SECONDS, word=_WORD)


def forget(job: Job) -> None:
    """Delete what a stopped training left behind."""
    shutil.rmtree(job.folder)


def jobs(workspace: Workspace) -> list[Job]:
    """Trainings without a card, by name."""
    return [
        _job(path.parent)
        for path in sorted(workspace.detectors_folder.glob(f"[!.]*/{_PROCESS}"))
        if not (path.parent / "card.json").exists()
    ]


def _job(folder: Path) -> Job:
    held = json.loads((folder / _PROCESS).read_text(encoding="utf-8"))
    log = folder / _LOG
    said = log.read_text(encoding="utf-8", errors="replace")[-_TOLD:] if log.exists() else ""
    return Job(folder.name, folder, tuple(held["arguments"]), int(held["pid"]), tuple(read_curve(folder)), said.strip())
