"""Trainings that the app started, by the name of the detector they make."""

from dataclasses import dataclass
from typing import Literal

from berdseye.app.jobs.running import Job, list_jobs, start_job
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.trained import CARD, new_folder
from berdseye.detectors.training.cards import Point, read_curve

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
    start_job(workspace, (*_words(command, name), *options), person=person, makes=folder / CARD)


def jobs(workspace: Workspace) -> list[TrainingJob]:
    """Trainings without a card, the last of each name, and those that are still compared with the detector in use, by
    name."""
    held: dict[str, TrainingJob] = {}
    for job in list_jobs(workspace):
        match job.arguments:
            case ("detector", "train" | "improve" as command, "--name", name, *options):
                folder = workspace.detectors_folder / name
                if name not in held and (job.runs or not (folder / CARD).exists()):
                    held[name] = TrainingJob(name, job, command, tuple(options), tuple(read_curve(folder)))
    return [held[name] for name in sorted(held)]


def _words(command: Command, name: str) -> tuple[str, ...]:
    return "detector", command, "--name", name
