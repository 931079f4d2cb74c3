"""Trainings that the app started, by the name of the detector they make."""

from dataclasses import dataclass
from typing import Literal

from app.jobs import PROCESS, Job, read_job, start_job
from data.errors import BadInputError
from data.workspace import Workspace
from detectors.trained import new_folder
from detectors.training.curve import Point, read_curve

Command = Literal["train", "improve"]


@dataclass(frozen=True)
class TrainingJob:
    """A training that has begun and has no card yet, or is being compared. One that was stopped goes on when it is begun
    again."""

    name: str
    job: Job
    command: Command
    options: tuple[str, ...]
    points: tuple[Point, ...]


def start(
    workspace: Workspace, name: str, options: tuple[str, ...], command: Command = "train", *, person: str = ""
) -> None:
    """Train in the background from the workspace's judgments; `options` are those of `berdseye detector COMMAND`."""
    folder = new_folder(workspace, name)
    if any(held.name == name and held.job.runs for held in jobs(workspace)):
        raise BadInputError(f"'{name}' is being trained.", hint="Choose another name, or wait.")
    start_job(workspace, folder, (*_words(command, name), *options), person=person)


def jobs(workspace: Workspace) -> list[TrainingJob]:
    """Trainings without a card, and those that are still compared with the detector in use, by name."""
    held = []
    for path in sorted(workspace.detectors_folder.glob(f"[!.]*/{PROCESS}")):
        folder, job = path.parent, read_job(path.parent)
        if job.runs or not (folder / "card.json").exists():
            command: Command = "improve" if job.arguments[1:2] == ("improve",) else "train"
            options = job.arguments[len(_words(command, folder.name)) :]
            held.append(TrainingJob(folder.name, job, command, options, tuple(read_curve(folder))))
    return held


def _words(command: Command, name: str) -> tuple[str, ...]:
    return "detector", command, "--name", name
