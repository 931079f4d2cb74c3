"""Trainings that the app started as jobs, by the name of the detector they create."""

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
    """A training that was started and has no card yet, or whose detector is being compared. A stopped training continues when it
    is started again."""

    name: str
    job: Job
    command: Command
    options: tuple[str, ...]
    points: tuple[Point, ...]


def start(
    workspace: Workspace, name: str, options: tuple[str, ...], command: Command = "train", *, person: str = ""
) -> None:
    """Train in the background from the workspace's judgments. `options` are the options of `berdseye detector COMMAND`."""
    folder = new_folder(workspace, name)
    if any(training.name == name and training.job.runs for training in jobs(workspace)):
        raise BadInputError(
            f"A detector named '{name}' is being trained.", hint="Choose another name, or wait until it ends."
        )
    start_job(workspace, (*_words(command, name), *options), person=person, makes=folder / CARD)


def jobs(workspace: Workspace) -> list[TrainingJob]:
    """Return the trainings without a card (the last of each name) and those still being compared with the detector in use,
    sorted by name."""
    by_name: dict[str, TrainingJob] = {}
    for job in list_jobs(workspace):
        match job.arguments:
            case ("detector", "train" | "improve" as command, "--name", name, *options):
                folder = workspace.detectors_folder / name
                if name not in by_name and (job.runs or not (folder / CARD).exists()):
                    by_name[name] = TrainingJob(name, job, command, tuple(options), tuple(read_curve(folder)))
    return [by_name[name] for name in sorted(by_name)]


def _words(command: Command, name: str) -> tuple[str, ...]:
    return "detector", command, "--name", name
