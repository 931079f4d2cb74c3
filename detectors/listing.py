"""The list of detectors as commands and pages show it: of each its version, grade, figures, and threshold with its source."""

from pathlib import Path
from typing import NamedTuple

from berdseye.data.errors import BerdseyeError, StaleError
from berdseye.data.records import Grade
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import grade_of, graded
from berdseye.detectors.protocol import UNTUNED, Detector
from berdseye.detectors.stance.network_files import missing_files, network_folders, network_name
from berdseye.detectors.thresholds import read_threshold
from berdseye.detectors.trained import adopted_detector, detector_names, list_trained

NOT_GRADED, NOT_MEASURED = "topic (not graded)", "not measured"


class Listed(NamedTuple):
    """A row of the list. A detector that cannot be used has a `problem`, one line, and nothing else but its name.

    `grade` is `topic` for a detector that was not graded; `graded` is the grade with its figures, or says that it was not graded.
    """

    detector: str
    adopted: bool
    version: str = ""
    grade: Grade | None = None
    graded: str = ""
    measured: str = ""
    threshold: float | None = None
    threshold_source: str = ""
    problem: str = ""


def list_detectors(workspace: Workspace) -> list[Listed]:
    """Return a row for each detector of Berdseye and of the workspace, the adopted one first.

    A training or a network with missing or damaged files has a row with its problem. No network is opened.
    """
    adopted, faults = adopted_detector(workspace), list[StaleError]()
    list_trained(workspace, faults)
    unfinished = [network_name(folder) for folder in network_folders(workspace) if missing_files(folder)]
    names = dict.fromkeys([*detector_names(workspace), *unfinished])
    rows = [_row(workspace, name, adopted=name == adopted) for name in names]
    return rows + [Listed(_folder_name(fault), adopted=False, problem=_one_line(fault)) for fault in faults]


def _row(workspace: Workspace, name: str, *, adopted: bool) -> Listed:
    try:
        detector = parse_detector(name, workspace)
        found = graded(workspace, detector)
        return Listed(
            name,
            adopted,
            detector.version,
            grade_of(workspace, detector),
            NOT_GRADED if found is None else str(found),
            detector.measured or NOT_MEASURED,
            detector.threshold,
            _source(workspace, detector),
        )
    except (BerdseyeError, OSError) as error:  # OSError: a file vanishes or cannot be read while it is listed
        return Listed(name, adopted, problem=_one_line(error))


def _source(workspace: Workspace, detector: Detector) -> str:
    """Return where a threshold comes from: of a tuned one all that the workspace keeps of it, in one sentence."""
    tuned, source = read_threshold(workspace, detector.name), detector.threshold_source or UNTUNED
    if tuned is None:
        return source
    if tuned.version == detector.version:
        return tuned.change
    return f"{source}; the threshold {tuned.value:g} tuned for version {tuned.version} does not apply"


def _folder_name(fault: StaleError) -> str:
    return Path(str(fault.where)).parent.name


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
