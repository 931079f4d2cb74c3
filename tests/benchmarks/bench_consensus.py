"""How often the consensus's intervals contain the true share of positive pairs, how often all rank sets contain the true ranks,
and how long 100,000 labels take."""

from time import perf_counter

import numpy as np
import pytest

from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned
from berdseye.evaluation.agreement.label_draws import label_draws
from berdseye.evaluation.agreement.reliability import dawid_skene, pairs_table, people_table
from berdseye.evaluation.statistics.rank_sets import decided_pairs, ranks_of

TRIALS = 2000
JUDGED = [(400, 5, 3, 0.3), (400, 5, 3, 0.1), (400, 5, 2, 0.3), (100, 3, 3, 0.3)]
"""Pairs, people, judgments a pair, and the share of positive pairs."""
RANKED = [(shares, n) for shares in ([0.3] * 6, [0.1, 0.1, 0.15, 0.15, 0.3, 0.3]) for n in (15, 50, 200)]


def judged(seed: int, pairs: int, people: int, per_pair: int, positive: float) -> tuple[Aligned, float]:
    """Return labels of people who are right in 75 to 95% of cases, and the true share of positive pairs."""
    random = np.random.default_rng(seed)
    truth = random.random(pairs) < positive
    right = random.uniform(0.75, 0.95, (2, people))
    says = random.random((pairs, people)) < np.where(truth[:, None], right[0], 1 - right[1])
    asked = random.random((pairs, people)).argsort(axis=1).argsort(axis=1) < per_pair
    codes = np.where(asked, says, -1).astype(np.int16)
    names = (tuple(map(str, range(size))) for size in (pairs, people))
    return Aligned(*names, (AGAINST, SUPPORTS), codes), float(truth.mean())


@pytest.mark.benchmark
@pytest.mark.parametrize("alike", [False, True])
def test_coverage_of_the_consensus(alike: bool) -> None:
    print("\npairs  people  per pair  positive  covered  width   bias")
    for setting in JUDGED:
        held, widths, errors = 0, [], []
        for seed in range(TRIALS // 4):
            labels, share = judged(seed, *setting)
            means = label_draws(dawid_skene(labels, alike=alike), seed=seed).draws.mean(axis=1)
            low, high = np.quantile(means, (0.025, 0.975))
            held += low <= share <= high
            widths.append(high - low)
            errors.append(means.mean() - share)
        covered = held / (TRIALS // 4)
        shown = "{:5d}  {:6d}  {:8d}  {:8.0%}".format(*setting)
        print(f"{shown}  {covered:7.1%}  {np.mean(widths):5.3f}  {np.mean(errors):5.3f}")
        assert covered > 0.86


@pytest.mark.benchmark
def test_coverage_of_rank_sets() -> None:
    from scipy.special import ndtri

    print("\nshares                               questions  covered  ranks in a set")
    for shares, n in RANKED:
        true = np.array(shares)
        best, worst = 1 + (true > true[:, None]).sum(axis=1), len(true) - (true < true[:, None]).sum(axis=1)
        held, sizes = 0, []
        for seed in range(TRIALS):
            random = np.random.default_rng(seed)
            draws = 0.6**0.5 * random.normal(size=(n, 1)) + 0.4**0.5 * random.normal(size=(n, len(true)))
            systems = {str(s): [(draws[:, s] < ndtri(true[s])).astype(np.float64)] for s in range(len(true))}
            sets = list(ranks_of(list(systems), decided_pairs(systems)).values())
            held += all(s.best <= b and s.worst >= w for s, b, w in zip(sets, best, worst, strict=True))
            sizes += [s.worst - s.best + 1 for s in sets]
        print(f"{shares!s:37s}{n:9d}  {held / TRIALS:7.1%}  {np.mean(sizes):14.2f}")
        assert held / TRIALS > 0.935


@pytest.mark.benchmark
def test_a_hundred_thousand_labels() -> None:
    labels, _ = judged(0, 33_333, 50, 3, 0.2)
    began = perf_counter()
    fit = dawid_skene(labels)
    people_table(fit)
    pairs_table(fit)
    fitted = perf_counter()
    label_draws(fit)
    print(f"\nreliability {fitted - began:.2f} s, draws of the consensus {perf_counter() - fitted:.2f} s")
    assert fitted - began < 2
