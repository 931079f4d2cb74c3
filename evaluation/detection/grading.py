"""The grade of a detector, `topic` or `stance`, measured by contrasts: one passage with two statements, of which it supports one.

Six kinds count alike: the five of `berdseye.evaluation.detection.contrast`, and the passages of the demo with their own side's
perspective and one of the other side. A detector of topics is right in half of these twins, and rules that need no understanding
in hardly more. The grade is `stance` if the lower end of the 95% interval of the mean over the kinds is above `LEAST_RIGHT`.
"""

from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from berdseye.data.demo.content import topics
from berdseye.data.files.atomic import write_json
from berdseye.data.progress import Progress, silent
from berdseye.data.records import STANCES, Grade, Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import predict_all
from berdseye.detectors.opinions import SHIPPED_GRADES, Graded, write_grade
from berdseye.detectors.protocol import Detector
from berdseye.detectors.trained import Trained
from berdseye.detectors.training.training import TrainingPlan, train_detector
from berdseye.detectors.training.training_set import TrainingSet
from berdseye.evaluation.detection.contrast import contrast_cases

LEAST_RIGHT = 0.6
OTHER_SIDE = "other side"
_RESAMPLES = 2000
SHIPPED = ("stance", "embedded", "similarity(static)", "random")


class Twin(NamedTuple):
    """A passage with the statement that it supports (`right`) and another one; twins of a `group` may depend on each other."""

    right: Pair
    wrong: Pair
    group: str


@lru_cache(maxsize=1)
def twins_by_kind() -> dict[str, list[Twin]]:
    """Return the contrasts of each kind."""
    kinds: dict[str, list[Twin]] = {}
    cases = contrast_cases()
    for first, second in zip(cases[::2], cases[1::2], strict=True):
        right, wrong = (first, second) if first.supports else (second, first)
        kinds.setdefault(first.category, []).append(Twin(right.pair, wrong.pair, right.id))
    return kinds | {OTHER_SIDE: _other_sides()}


def _other_sides() -> list[Twin]:
    """Return the demo's passages that support perspectives of one side alone, with the first of each side."""
    twins = []
    for topic in topics():
        sides = {
            stance: [n for n, p in enumerate(topic["perspectives"]) if p["stance"] == stance] for stance in STANCES
        }
        for passage in topic["passages"]:
            for own, other in (STANCES, STANCES[::-1]):
                supported = [n for n in passage["supports"] if n in sides[own]]
                if supported and sides[other] and not set(passage["supports"]) & set(sides[other]):
                    right, wrong = (topic["perspectives"][n]["text"] for n in (supported[0], sides[other][0]))
                    twins.append(Twin(Pair(passage["text"], right), Pair(passage["text"], wrong), topic["topic"]))
    return twins


def grade(detector: Detector) -> Graded:
    """Measure a detector on the contrasts, which ship with Berdseye."""
    generator = np.random.default_rng(0)
    shares, draws = [], []
    for twins in twins_by_kind().values():
        p = predict_all(detector, [pair for twin in twins for pair in (twin.right, twin.wrong)]).reshape(-1, 2)
        led = (np.sign(p[:, 0].astype(np.float64) - p[:, 1]) + 1) / 2
        _, groups = np.unique([twin.group for twin in twins], return_inverse=True)
        sums, counts = np.bincount(groups, led), np.bincount(groups)
        chosen = generator.integers(len(sums), size=(_RESAMPLES, len(sums)))
        shares.append(float(led.mean()))
        draws.append(sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1))
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    found: Grade = "stance" if low > LEAST_RIGHT else "topic"
    twins_in_all = sum(map(len, twins_by_kind().values()))
    right, low, high = (round(float(share), 4) for share in (np.mean(shares), low, high))
    return Graded(detector.name, detector.version, found, right, low, high, twins_in_all)


def train_and_grade(
    workspace: Workspace,
    plan: TrainingPlan,
    data: TrainingSet,
    *,
    progress: Progress = silent,
) -> Trained:
    """Train a detector as `berdseye.detectors.training.training.train_detector` does, and keep its grade."""
    trained = train_detector(workspace, plan, data, progress=progress)
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
