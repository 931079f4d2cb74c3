"""The grade of a detector, `topic` or `stance`, measured by contrasts: one passage with two statements, of which it supports one.

A detector of topics is right in half of these twins, and rules that need no understanding in hardly more. The grade is `stance`
if the lower end of the 95% interval of the share of twins that the detector gets right is above `LEAST_RIGHT`.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.files.atomic import write_json
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import SHIPPED_GRADES, Grade, Graded, write_grade
from berdseye.detectors.protocol import Detector
from berdseye.detectors.trained import Trained
from berdseye.detectors.training.training import TrainingPlan, train_detector
from berdseye.detectors.training.training_set import TrainingSet
from berdseye.evaluation.detection.contrast import ALL, contrast

LEAST_RIGHT = 0.6
SHIPPED = ("stance", "embedded", "similarity(static)", "random")


def grade(detector: Detector) -> Graded:
    """Measure a detector on the contrasts that ship with Berdseye (`berdseye.evaluation.detection.contrast`)."""
    overall = next(result for result in contrast(detector) if result.category == ALL)
    right, low, high, twins = overall.pairwise
    found: Grade = "stance" if low > LEAST_RIGHT else "topic"
    return Graded(detector.name, detector.version, found, round(right, 4), round(low, 4), round(high, 4), twins)


def train_and_grade(
    workspace: Workspace,
    plan: TrainingPlan,
    data: TrainingSet,
    *,
    unlabelled: Sequence[LabelledPair] = (),
    progress: Progress = silent,
) -> Trained:
    """Train a detector as `berdseye.detectors.training.training.train_detector` does, and keep its grade."""
    trained = train_detector(workspace, plan, data, unlabelled=unlabelled, progress=progress)
    grade_in(workspace, parse_detector(trained.detector, workspace))
    return trained


def grade_in(workspace: Workspace, detector: Detector) -> Graded:
    """Measure a detector and keep its grade in the workspace."""
    one = grade(detector)
    write_grade(workspace, one)
    return one


def write_shipped_grades() -> None:
    """Measure the detectors that ship and write `detectors/weights/grades.json`, after every training of one of them."""
    folder = Path(str(files("berdseye.detectors") / "weights"))
    rows = [grade(parse_detector(name))._asdict() for name in SHIPPED]
    write_json(folder / SHIPPED_GRADES, rows)


if __name__ == "__main__":
    write_shipped_grades()
