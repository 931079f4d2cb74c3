"""What a request for a batch would create, before it is created."""

import pytest

from berdseye.annotation.batches.progress import batch_progress
from berdseye.annotation.batches.stored import list_batches
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import version_of
from berdseye.detectors.opinions import Graded, write_grade
from berdseye.evaluation.selection.request import BatchRequest, create_requested_batch, expected_batch


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"per_pair": 2, "people": ("Ana", "Bo", "Cy"), "calibration": 3},
        {"sample": 5},
        {"preset": "random-questions", "questions": 3},
    ],
)
def test_what_is_expected_is_what_is_created(two_retrievers: Workspace, settings: dict[str, object]) -> None:
    judgments = Judgments.open(two_retrievers.judgments_url)
    run = list_runs(two_retrievers)[0].name
    request = BatchRequest("b", runs=(run,), k=3, **settings)  # type: ignore[arg-type]
    told = expected_batch(two_retrievers, judgments, request)
    assert list_batches(judgments) == [], "nothing is created yet"
    batch, pairs = create_requested_batch(two_retrievers, judgments, request, made_by="Ana")
    progress = batch_progress(judgments, batch, time=0)
    assert (told.pairs, told.judgments) == (pairs, progress.wanted)
    assert told.each == (progress.wanted / len(batch.people) if batch.people else None)
    assert not told.most
    assert told.unlabelled == 0


def test_pairs_without_a_label_are_counted_where_labels_are_needed(two_retrievers: Workspace) -> None:
    judgments = Judgments.open(two_retrievers.judgments_url)
    runs = [run.name for run in list_runs(two_retrievers)]
    request = BatchRequest("b", runs=(runs[0],), k=2, task="verify", detector="random")
    random = parse_detector("random")
    write_grade(two_retrievers, Graded("random", random.version, "stance", 0.9, 0.8, 1.0, 87))
    told = expected_batch(two_retrievers, judgments, request)
    assert told.unlabelled == told.pairs > 0
    create_requested_batch(two_retrievers, judgments, request, made_by="")
    assert expected_batch(two_retrievers, judgments, request).unlabelled == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"task": "verify", "detector": "embedded"},
        {"preset": "dmerit", "detector": "embedded"},
        {"task": "verify", "detector": "random"},
    ],
)
def test_decisions_about_topics_cannot_be_verified(two_retrievers: Workspace, settings: dict[str, object]) -> None:
    """To agree with "on topic" would be recorded as "supports"."""
    judgments = Judgments.open(two_retrievers.judgments_url)
    run = list_runs(two_retrievers)[0].name
    request = BatchRequest("b", runs=(run,), k=2, **settings)  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match=r"grade topic.*task `judge` with --shown"):
        expected_batch(two_retrievers, judgments, request)
    with pytest.raises(BadInputError, match="grade topic"):
        create_requested_batch(two_retrievers, judgments, request, made_by="Ana")
    assert list_batches(judgments) == []
    shown = BatchRequest("b", runs=(run,), k=2, detector="random", shown=True)
    batch, _ = create_requested_batch(two_retrievers, judgments, shown, made_by="Ana")
    assert batch.detector == version_of(two_retrievers, parse_detector("random"))
    assert (batch.detector.grade, batch.detector.unsure) == ("topic", 0.15)


def test_a_request_that_contradicts_itself_is_refused(two_retrievers: Workspace) -> None:
    judgments = Judgments.open(two_retrievers.judgments_url)
    request = BatchRequest("b", runs=("r",), preset="random-questions", order="uncertainty")
    with pytest.raises(BadInputError, match="whole questions"):
        expected_batch(two_retrievers, judgments, request)
