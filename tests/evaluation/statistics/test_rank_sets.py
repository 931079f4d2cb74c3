"""Rank sets: worked out by hand, and how often all of them hold the true ranks."""

import numpy as np
import numpy.typing as npt
import pytest

from berdseye.evaluation.statistics.rank_sets import Ranks, decided_pairs, ranks_of

Doubles = npt.NDArray[np.float64]


def test_ranks_follow_from_the_decided_pairs() -> None:
    found = ranks_of(["a", "b", "c"], [("a", "c"), ("a", "b")])
    assert found == {"a": Ranks(1, 1), "b": Ranks(2, 3), "c": Ranks(2, 3)}
    assert [str(ranks) for ranks in found.values()] == ["1", "2–3", "2–3"]


def test_fewer_passages_are_better_and_equal_systems_share_all_ranks() -> None:
    random = np.random.default_rng(0)
    slow, quick = 9 + random.random(30), 2 + random.random(30)
    values = {"slow": [slow], "quick": [quick], "as quick": [quick]}
    found = ranks_of(list(values), decided_pairs(values, bounds=(-20.0, 20.0), fewer_is_better=True))
    assert found == {"slow": Ranks(3, 3), "quick": Ranks(1, 2), "as quick": Ranks(1, 2)}


def test_a_few_questions_with_equal_differences_decide_nothing() -> None:
    assert decided_pairs({"a": [np.ones(4)], "b": [np.zeros(4)]}) == []
    assert decided_pairs({"a": [np.ones(1)], "b": [np.zeros(1)]}) == []
    assert decided_pairs({"a": [np.ones(40)], "b": [np.zeros(40)]}) == [("a", "b")]


def test_data_sets_have_the_same_weight() -> None:
    """'first' is better by .4 on 10 questions and worse by .1 on 40: by .15 in the mean over data sets."""
    wobble = np.tile([0.01, -0.01, 0.02, -0.02, 0.0], 8)
    values = {"second": [np.full(10, 0.5), np.full(40, 0.6)], "first": [0.9 + wobble[:10], 0.5 + wobble]}
    assert decided_pairs(values) == [("first", "second")]
    assert decided_pairs({name: parts[1:] for name, parts in values.items()}) == [("second", "first")]


def test_uncertain_labels_widen_the_sets() -> None:
    random = np.random.default_rng(0)
    better = np.repeat(random.random(60)[None] * 0.2 + 0.1, 100, axis=0)
    values = {"a": [better], "b": [np.zeros((100, 60))]}
    assert decided_pairs(values) == [("a", "b")]
    together = random.normal(0, 0.3, (100, 1))  # all labels of a draw are wrong together
    assert decided_pairs({**values, "a": [better + together - together.mean()]}) == []


@pytest.mark.parametrize("shares", [[0.3] * 5, [0.1, 0.1, 0.2, 0.4, 0.4]])
@pytest.mark.parametrize("n", [15, 80])
def test_all_sets_hold_the_true_ranks_together(n: int, shares: list[float]) -> None:
    """Five systems, 200 samples of questions whose values depend on the question; equal systems have all ranks they share."""
    from scipy.special import ndtri

    true = np.array(shares)
    best, worst = 1 + (true > true[:, None]).sum(axis=1), len(true) - (true < true[:, None]).sum(axis=1)
    held = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        draws: Doubles = 0.6**0.5 * random.normal(size=(n, 1)) + 0.4**0.5 * random.normal(size=(n, len(true)))
        values = (draws < ndtri(true)).astype(np.float64)
        systems = {str(system): [values[:, system]] for system in range(len(true))}
        found = ranks_of(list(systems), decided_pairs(systems))
        sets = [found[str(system)] for system in range(len(true))]
        held += all(s.best <= b and s.worst >= w for s, b, w in zip(sets, best, worst, strict=True))
    assert held / 200 >= 0.92  # 95% less two standard errors of simulation
