"""Fused scores against the formulas, one passage at a time."""

from collections.abc import Callable, Sequence
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.records import Ranking
from berdseye.retrieval.fusion import NORMALISATIONS, reciprocal_rank, weighted

Scored = dict[int, float]
# A quarter, so that float32 holds them exactly and equal scores abound.
RANKINGS = st.dictionaries(st.integers(0, 12), st.integers(-20, 20).map(lambda n: n / 4), max_size=10)


def ranking(scored: Scored) -> Ranking:
    pairs = sorted(scored.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return Ranking(np.array([p for p, _ in pairs], np.int64), np.array([s for _, s in pairs], np.float32))


def as_dict(fused: Ranking) -> Scored:
    assert len(set(fused.ids.tolist())) == len(fused.ids)
    return dict(zip(fused.ids.tolist(), fused.scores.tolist(), strict=True))


def minmax(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else 0.0 for v in values]


def z(values: Sequence[float]) -> list[float]:
    return [(v - fmean(values)) / pstdev(values) if len(set(values)) > 1 else 0.0 for v in values]


NAIVE: dict[str, Callable[[Sequence[float]], list[float]]] = {"none": list, "minmax": minmax, "z": z}


@settings(deadline=None)
@given(RANKINGS, RANKINGS, st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]), st.sampled_from(sorted(NORMALISATIONS)))
def test_weighted_sums(one: Scored, other: Scored, alpha: float, norm: str) -> None:
    fused = as_dict(weighted([ranking(one), ranking(other)], (alpha, 1.0), NORMALISATIONS[norm]))
    expected = dict.fromkeys(one.keys() | other.keys(), 0.0)
    for scored, weight in ((one, alpha), (other, 1.0)):
        if scored:
            normal = dict(zip(scored, NAIVE[norm](list(scored.values())), strict=True))
            for passage in expected:
                expected[passage] += weight * normal.get(passage, min(normal.values()))
    assert fused == pytest.approx(expected, abs=1e-5)


@settings(deadline=None)
@given(st.lists(RANKINGS, min_size=1, max_size=4), st.sampled_from([0.0, 1.0, 60.0]))
def test_reciprocal_ranks(lists: list[Scored], constant: float) -> None:
    fused = as_dict(reciprocal_rank([ranking(scored) for scored in lists], constant))
    expected: Scored = {}
    for scored in lists:
        for place, passage in enumerate(ranking(scored).ids.tolist(), start=1):
            expected[passage] = expected.get(passage, 0.0) + 1 / (constant + place)
    assert fused == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("norm", sorted(NORMALISATIONS))
@settings(deadline=None, max_examples=50)
@given(value=st.floats(-1e6, 1e6, width=32), count=st.integers(1, 30))
def test_equal_scores_stay_equal(norm: str, value: float, count: int) -> None:
    """Whatever rounding makes of their mean."""
    scores = NORMALISATIONS[norm](np.full(count, value, np.float32))
    assert set(scores.tolist()) == {value if norm == "none" else 0.0}


def test_reciprocal_ranks_of_cormack_and_others() -> None:
    """With the constant of the paper, 60: first and third place beat second and second by 1 / 61 + 1 / 63 > 2 / 62."""
    fused = as_dict(reciprocal_rank([ranking({7: 3, 8: 2, 9: 1}), ranking({5: 3, 8: 2, 7: 1})], 60))
    assert fused == pytest.approx({7: 1 / 61 + 1 / 63, 8: 2 / 62, 9: 1 / 63, 5: 1 / 61})
    assert max(fused, key=lambda p: fused[p]) == 7
