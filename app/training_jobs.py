"""Trainings that the app started, by the name of the detector they make."""

from dataclasses import dataclass

from app.jobs import PROCESS, Job, read_job, start_job
from data.errors import BadInputError
from data.workspace import Workspace
from detectors.trained import new_folder
from detectors.training.curve import Point, read_curve


@dataclass(frozen=True)
class TrainingJob:
    """A training that has begun and has no card yet. One that was stopped goes on when it is begun again."""

    name: str
    job: Job
    options: tuple[str, ...]
    points: tuple[Point, ...]


def start(workspace: Workspace, name: str, options: tuple[str, ...]) -> None:
    """Train in the background from the workspace's judgments; `options` are those of `berdseye detector train`."""
    folder = new_folder(workspace, name)
    if any(held.name == name and held.job.runs for held in jobs(workspace)):
        raise BadInputError(f"'{name}' is being trained.", hint="Choose another name, or wait.")
    start_job(workspace, folder, (*_command(name), *options))


def jobs(workspace: Workspace) -> list[TrainingJob]:
    """Trainings without a card, by name."""
    folders = [
        path.parent
        for path in sorted(workspace.detectors_folder.glob(f"[!.]*/{PROCESS}"))
        if not (path.parent / "card.json").exists()
    ]
    return [
        TrainingJob(f.name, job, job.arguments[len(_command(f.name)) :], tuple(read_curve(f)))
        for f in folders
        for job in [read_job(f)]
    ]


def _command(name: str) -> tuple[str, ...]:
    return "detector", "train", "--name", name
