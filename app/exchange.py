"""Exchanging judgments with Label Studio, for the page, the command line and the background of the app alike."""

from collections.abc import Callable, Sequence

from annotation.judgments import Judgments
from annotation.label_studio.connection import connect
from annotation.label_studio.outbox import waiting_pairs
from annotation.label_studio.project import workspace_project
from annotation.label_studio.pull import pull
from annotation.label_studio.push import push
from annotation.label_studio.report import Report
from annotation.queue import pairs_of_runs
from data.labels import LabelStore
from data.records import Pair
from data.workspace import Workspace
from detectors.labelling import label
from detectors.registry import parse_detector
from detectors.trained import adopted_detector

Progress = Callable[[int, int], None]


def receive(workspace: Workspace, judgments: Judgments, *, progress: Progress | None = None) -> Report:
    """Bring what was annotated in Label Studio here."""
    connection = connect(workspace)
    return pull(judgments, connection, workspace_project(connection, workspace), progress=progress)


def send(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[str] = (),
    k: int = 5,
    *,
    progress: Progress | None = None,
) -> Report:
    """Send what waits, and the pairs of the top k of these runs, each with the detector's label as a prediction."""
    connection = connect(workspace)
    project = workspace_project(connection, workspace)
    keys = waiting_pairs(judgments, project.key)
    if runs:
        keys += judgments.add_pairs(pairs_of_runs(workspace, runs, k).values())
    records = judgments.pair_records(keys)
    detector = parse_detector(adopted_detector(workspace), workspace)
    found = label(LabelStore(workspace), detector, [Pair(r.passage, r.perspective, r.title) for r in records.values()])
    labels = {key: (p, p >= detector.threshold) for key, p in zip(records, found.tolist(), strict=True)}
    version = f"{detector.name} {detector.version}"
    return push(judgments, connection, project, keys, labels, version, progress=progress)
