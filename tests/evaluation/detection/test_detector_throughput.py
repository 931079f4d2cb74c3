"""Throughput in a process of its own, and the full pass over the BERDS dev questions."""

from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from data.dataset_formats import read_dataset
from data.errors import UnknownNameError
from data.labels import LabelStore
from data.language_models.cache import Spent
from data.records import Pair
from data.static_embedding import static_embedding
from data.workspace import Workspace
from detectors.labelling import label
from detectors.registry import parse_detector
from detectors.training_pairs import read_debates
from evaluation.detection.throughput import made_pairs, measure_throughput, per_1000_calls

QUESTIONS, PASSAGES = 802, 10
FULL_PASS_SECONDS = 20.0


def test_made_pairs_are_distinct_and_of_the_usual_length() -> None:
    pairs = made_pairs(400)
    assert len(set(pairs)) == 400
    assert pairs == made_pairs(400) != made_pairs(400, seed=1)
    lengths = [len(pair.passage.split()) for pair in pairs]
    assert 100 <= min(lengths) <= max(lengths) < 180
    assert set(Counter(pair.passage for pair in pairs).values()) == {2}


def test_a_detector_is_measured_in_a_process_of_its_own(workspace: Workspace) -> None:
    found = measure_throughput("similarity(static)", workspace.folder, most=600)
    assert (found.detector, found.pairs) == ("similarity(static)", 599)
    assert found.pairs_per_second > 100
    assert found.dataset_minutes == pytest.approx(7200 / found.pairs_per_second / 60)
    assert 10 < found.memory_mib < 4_000  # at least its own 16 MB of embeddings, and not those of this process
    assert np.isnan(found.tokens_per_1000)
    assert not found.unpriced


def test_a_slow_detector_stops_in_time() -> None:
    found = measure_throughput("random", pairs=made_pairs(200), seconds=1e-9)
    assert found.pairs == 16


def test_an_error_in_the_other_process_is_told_here() -> None:
    with pytest.raises(UnknownNameError, match=r"embeded.*Did you mean embedded"):
        measure_throughput("embeded", most=4)


def test_tokens_and_dollars_are_per_1000_calls() -> None:
    before, after = Spent(10, 1_000, 10, 0.5, 2), Spent(14, 1_800, 14, 0.6, 2)
    assert per_1000_calls(before, after) == (pytest.approx(201_000), pytest.approx(25.0), False)
    assert per_1000_calls(before, after._replace(unpriced=3))[2]
    assert all(np.isnan(value) for value in per_1000_calls(before, before)[:2])


@pytest.fixture(scope="module")
def full_pass(shared_data: Path) -> list[Pair]:
    """Every dev question of BERDS with the ten debate passages nearest to it, and each of its perspectives."""
    passages = sorted({p for d in read_debates(shared_data / "perspectrum") for a in d.arguments for p in a.passages})
    files = sorted((shared_data / "berds_dev").glob("*.jsonl"))
    questions = [question for file in files for question in read_dataset(file).questions]
    assert len(questions) == QUESTIONS
    near = static_embedding().encode([q.text for q in questions]) @ static_embedding().encode(passages).T
    top = np.argsort(-near, axis=1, kind="stable")[:, :PASSAGES]
    return [
        Pair(passages[i], perspective.text)
        for question, ids in zip(questions, top, strict=True)
        for i in ids
        for perspective in question.perspectives
    ]


def test_the_full_pass_takes_less_than_20_seconds(full_pass: list[Pair], workspace: Workspace) -> None:
    """Seconds of the processor, since the clock also tells what else the machine does. One thread multiplies matrices: on a
    busy machine several spend most of their time waiting for one another."""
    detector, store = parse_detector("embedded"), LabelStore(workspace)
    began = process_time()
    with threadpool_limits(1, user_api="blas"):
        found = label(store, detector, full_pass)
    took = process_time() - began
    assert len(full_pass) > QUESTIONS * PASSAGES * 2
    assert took < FULL_PASS_SECONDS
    began = process_time()
    assert np.array_equal(label(store, detector, full_pass), found)
    assert process_time() - began < took
