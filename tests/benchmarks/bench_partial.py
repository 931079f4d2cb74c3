"""Seconds of 1,000 trials of single-relevant selection over 12 systems and 1,200 queries, and of all D-MERIT studies."""

import time

import numpy as np
import pytest

from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, RankMatrices
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.partial.selection import random_agreement
from berdseye.evaluation.studies.dmerit.study import dmerit_study

_SYSTEMS, _QUERIES, _TRIALS, _DEPTH, _MOST = 12, 1_200, 1_000, 100, 682
_BAR = 10.0


def made() -> RankMatrices:
    """As many relevant passages a query as D-MERIT has: 5 to 682, 22 in the median, about 50 in the mean."""
    random = np.random.default_rng(0)
    counts = np.clip(random.lognormal(np.log(22), 1.25, _QUERIES), 5, _MOST).astype(int)
    exists = np.arange(_MOST) < counts[:, None]
    ranks = (random.pareto(0.3, (_SYSTEMS, _QUERIES, _MOST)) * np.linspace(10, 30, _SYSTEMS)[:, None, None] + 1).clip(
        max=1e6
    )
    whole = np.where(exists & (ranks <= _DEPTH), ranks, NOT_FOUND).astype(np.int32)
    names = tuple(f"q{n}" for n in range(_QUERIES))
    return RankMatrices(tuple(f"s{n}" for n in range(_SYSTEMS)), names, (), whole, exists, _DEPTH)


@pytest.mark.benchmark
def test_single_relevant_trials_and_the_whole_study() -> None:
    matrices = made()
    began = time.perf_counter()
    found = random_agreement(matrices, [5, 20, 50, 100], _TRIALS)
    trials = time.perf_counter() - began
    words = np.where(matrices.exists, np.random.default_rng(1).integers(20, 120, matrices.exists.shape), np.nan)
    began = time.perf_counter()
    dmerit_study(RankedSet("made", matrices, words, words, "made"), trials=_TRIALS)
    study = time.perf_counter() - began
    print(
        f"\n{_TRIALS} trials x {_SYSTEMS} systems x {_QUERIES} queries ({matrices.counts.mean():.0f} relevant each), four ks: "
        f"{trials:.2f} s; tau {found[1].tau:.3f} at 20. The whole D-MERIT study: {study:.1f} s"
    )
    assert trials < _BAR
