"""Throughput, measured in a process of its own."""

from collections import Counter

import numpy as np
import pytest

from berdseye.data.errors import UnknownNameError
from berdseye.data.language_models.cache import Spent
from berdseye.data.workspace import Workspace
from berdseye.evaluation.detection.throughput import measure_throughput, per_1000_calls, synthetic_pairs


def test_made_pairs_are_distinct_and_of_the_usual_length() -> None:
    pairs = synthetic_pairs(400)
    assert len(set(pairs)) == 400
    assert pairs == synthetic_pairs(400) != synthetic_pairs(400, seed=1)
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
    found = measure_throughput("random", pairs=synthetic_pairs(200), seconds=1e-9)
    assert found.pairs == 16


def test_an_error_in_the_other_process_is_raised_here() -> None:
    with pytest.raises(UnknownNameError, match=r"embeded.*Did you mean embedded"):
        measure_throughput("embeded", most=4)


def test_tokens_and_dollars_are_per_1000_calls() -> None:
    before, after = Spent(10, 1_000, 10, 0.5, 2), Spent(14, 1_800, 14, 0.6, 2)
    assert per_1000_calls(before, after) == (pytest.approx(201_000), pytest.approx(25.0), False)
    assert per_1000_calls(before, after._replace(unpriced=3))[2]
    assert all(np.isnan(value) for value in per_1000_calls(before, before)[:2])
