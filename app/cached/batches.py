"""What a request for a batch would create, and the standing of a decision batch, computed once for all sessions."""

from berdseye.annotation.batches.stored import load_batch
from berdseye.app.access.session import judgments, workspace
from berdseye.app.cached.cached_on import cached_on, judgments_version
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import list_runs
from berdseye.detectors.trained import adopted_detector
from berdseye.evaluation.selection.decision import DecisionState, decision_standing
from berdseye.evaluation.selection.request import BatchRequest, ExpectedBatch, expected_batch


def _sources(request: BatchRequest) -> tuple[object, ...]:
    """What the pairs of a request are read from: its runs, the files, and the labels of its detector."""
    named = {*request.runs, *(request.decide or ())}
    runs = tuple((run.name, run.created) for run in list_runs(workspace()) if run.name in named)
    files = tuple(path.stat().st_mtime_ns for path in (request.file, request.answers) if path is not None)
    detector = request.detector or adopted_detector(workspace())
    return runs, files, detector, LabelStore(workspace()).state(detector) if request.needs_labels else ""


@cached_on(_sources, max_entries=64)
def expected(request: BatchRequest) -> ExpectedBatch:
    """What a request would create. Raises `BadInputError` where its pairs cannot be chosen."""
    return expected_batch(workspace(), judgments(), request)


@cached_on(judgments_version, max_entries=32, show_spinner="Simulating the judgments that are left…")
def standing(batch: str) -> DecisionState | None:
    """The standing of a decision batch, None for other batches."""
    return decision_standing(workspace(), judgments(), load_batch(judgments(), batch))
