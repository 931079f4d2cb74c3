"""What a detector's labels can mean: its grade, and the opinion that a page shows for a pair.

A detector of grade `topic` tells passages on the topic from others, but not which side they take; one of grade `stance` tells
sides. The grade is measured by contrasts (`berdseye.evaluation.detection.grading`) and kept for each version of a detector. A
detector without a grade counts as one of grade `topic`.
"""

import json
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json
from berdseye.data.records import Grade, is_near, label_words
from berdseye.data.workspace import Workspace, file_stem
from berdseye.detectors.protocol import Detector

Opinion = Literal["supports", "opposes", "neither", "does not support", "unsure", "on topic", "off topic", "not yet"]
SHIPPED_GRADES = "grades.json"


class Graded(NamedTuple):
    """A measured grade: the share of twins whose supported statement scored higher, its 95% interval, and their number."""

    detector: str
    version: str
    grade: Grade
    right: float
    low: float
    high: float
    twins: int

    def __str__(self) -> str:
        return f"{self.grade} ({self.right:.0%} of {self.twins} contrasts right, {self.low:.0%} to {self.high:.0%})"


def graded(workspace: Workspace | None, detector: Detector) -> Graded | None:
    """Return the grade measured for this version of a detector, None if there is none; one measured in the workspace comes before
    the one that ships.

    Raises `StaleError` for a grade of the workspace that cannot be read.
    """
    path = None if workspace is None else _path(workspace, detector.name, detector.version)
    if path is None or not path.exists():
        shipped = (one for one in _shipped_grades() if (one.detector, one.version) == (detector.name, detector.version))
        return next(shipped, None)
    try:
        return Graded(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        hint = f"Delete the file and grade it again: `berdseye detector grade '{detector.name}'`."
        raise StaleError("The grade cannot be read.", where=path, hint=hint) from error


def write_grade(workspace: Workspace, one: Graded) -> None:
    """Store the grade of a version of a detector; it replaces an older one."""
    write_json(_path(workspace, one.detector, one.version), one._asdict())


def grade_of(workspace: Workspace | None, detector: Detector) -> Grade:
    """Return the grade of a detector, `topic` if none was measured."""
    found = graded(workspace, detector)
    return "topic" if found is None else found.grade


def opinions(
    grade: Grade,
    threshold: float,
    unsure: float,
    supporting: npt.NDArray[np.float32],
    opposing: npt.NDArray[np.float32],
) -> list[Opinion]:
    """Return the opinion for each pair from P(supports) and P(opposes), float32[n] (NaN: the detector does not tell).

    A probability of support within `unsure` of the threshold is the opinion `unsure`, and NaN is `not yet`. Only a detector of
    grade `stance` says which side a passage takes.
    """
    near = unsure_about(threshold, unsure, supporting)
    return [
        "unsure" if unsure_here else _opinion(grade, threshold, p, against)
        for unsure_here, p, against in zip(near.tolist(), supporting.tolist(), opposing.tolist(), strict=True)
    ]


def unsure_about(threshold: float, unsure: float, supporting: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which pairs a detector is unsure about, bool[n], from P(supports), float[n] (NaN: not yet labelled, so not unsure):
    those within `unsure` of the threshold."""
    return is_near(threshold, unsure, supporting.astype(np.float64))


def _opinion(grade: Grade, threshold: float, supports: float, opposes: float) -> Opinion:
    if np.isnan(supports):
        return "not yet"
    if grade == "topic":
        return label_words(grade, supports >= threshold)
    if supports >= threshold:
        return "supports"
    if np.isnan(opposes):
        return "does not support"
    return "opposes" if opposes > 1 - supports - opposes else "neither"


@lru_cache(maxsize=1)
def _shipped_grades() -> tuple[Graded, ...]:
    text = (files("berdseye.detectors") / "weights" / SHIPPED_GRADES).read_text(encoding="utf-8")
    return tuple(Graded(**row) for row in json.loads(text))


def _path(workspace: Workspace, detector: str, version: str) -> Path:
    return workspace.grades_folder / f"{file_stem(detector)}-{file_stem(version)}.json"
