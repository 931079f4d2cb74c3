"""The one tie rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.retrieval.ranking import checked_k, padded, top_k

# Few different scores, so that ties abound.
SCORED = st.dictionaries(st.integers(0, 10**12), st.sampled_from([-1.5, 0.0, 0.25, 0.5, 3.0]), max_size=40)


@settings(deadline=None)
@given(SCORED, st.integers(1, 50))
def test_top_k_is_a_plain_sort(scored: dict[int, float], k: int) -> None:
    expected = sorted(scored.items(), key=lambda item: (item[1], item[0]), reverse=True)[:k]
    found = top_k(np.array(list(scored), np.int64), np.array(list(scored.values()), np.float32), k)
    assert list(zip(found.ids.tolist(), found.scores.tolist(), strict=True)) == expected


def test_scores_that_are_no_numbers_are_an_error() -> None:
    with pytest.raises(BadInputError, match="is NaN"):
        top_k(np.arange(3), np.array([1.0, np.nan, 0.0], np.float32), 2)


def test_infinite_scores_are_ranked() -> None:
    found = top_k(np.arange(4), np.array([0.0, np.inf, -np.inf, np.inf], np.float32), 4)
    assert found.ids.tolist() == [3, 1, 0, 2]


def test_short_rankings_are_padded() -> None:
    ids, scores = padded([Ranking(np.array([7, 5]), np.array([2.0, 1.0], np.float32))], 3)
    assert (ids.tolist(), scores.tolist()) == ([[7, 5, -1]], [[2.0, 1.0, 0.0]])
    assert (ids.dtype, scores.dtype) == (np.int64, np.float32)
    assert padded([], 3)[0].shape == (0, 3)


@pytest.mark.parametrize("k", [-1, 0, 1001])
def test_k_out_of_range(k: int) -> None:
    with pytest.raises(BadInputError, match=f"got {k}"):
        checked_k(k)
