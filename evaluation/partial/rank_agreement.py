"""Agreement of rankings of systems: Kendall's tau, over all or some pairs of systems, and the error rate; and partial tau and
concordance by the p-value of pairs of systems on the full set (D-MERIT, section 3.3).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, Bools, RankMatrices, Values, recall, system_means

Variant = Literal["a", "b"]
_DIGITS = 12
BUCKETS = ((0.0, 0.01), (0.01, 0.05), (0.05, 1.0))
LEVEL = 0.05


def signs(scores: Values) -> npt.NDArray[np.int8]:
    """Return which system of each pair scores higher: int8[..., n_pairs] of 1 (the first), 0 (tied) and -1, from [...,
    n_systems].

    Pairs are in the order of `np.triu_indices`. Scores are rounded to 12 digits, because equal means can differ in their last
    bits.
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    rounded = np.round(scores, _DIGITS)
    return np.sign(rounded[..., first] - rounded[..., second]).astype(np.int8)


def kendall_tau(partial: Values, full: Values, *, variant: Variant = "b") -> Values:
    """Compute tau between the scores of systems under partial labels, float64[..., n_systems], and under all, float64[n_systems].

    Variant "b" is scipy's (Kendall, 1945): pairs tied on one side reduce the divisor. D-MERIT's table 9 uses it: its .462, .585
    and .687 are not multiples of 1/66, but 30, 38 and 45 over the square root of 66 times 64 (or 65) untied pairs. Variant "a"
    divides by all pairs, as in the formula of section 3.1. NaN if all systems of a side are tied ("b") or there are fewer than
    two.
    """
    ours, theirs = signs(partial).astype(np.float64), signs(full).astype(np.float64)
    pairs = float(theirs.size)
    agreement = ours @ theirs
    if variant == "a":
        return np.asarray(agreement / pairs if pairs else np.full(np.shape(agreement), np.nan), dtype=np.float64)
    untied = np.abs(ours).sum(axis=-1) * np.abs(theirs).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(untied > 0, agreement / np.sqrt(untied), np.nan), dtype=np.float64)


def pair_tau(partial: Values, full: Values, pairs: npt.NDArray[np.bool_]) -> Values:
    """Compute tau over some pairs of systems, bool[n_pairs] in the order of `signs`: (agreeing - disagreeing) / pairs.

    This is D-MERIT's partial tau (section 3.3). A pair tied on either side counts as neither; NaN if no pair is chosen.
    """
    ours, theirs = signs(partial)[..., pairs].astype(np.float64), signs(full)[pairs].astype(np.float64)
    if theirs.size == 0:
        return np.full(ours.shape[:-1], np.nan)
    return np.asarray(ours @ theirs / theirs.size, dtype=np.float64)


def error_rate(tau: npt.ArrayLike) -> Values:
    """Compute the error rate 100 (1 - tau) / 2, in percent (D-MERIT, section 3.1).

    Without ties it is the share of pairs in the wrong order. With ties and tau "a", a tied pair counts as half an error; with tau
    "b", the default and the paper's choice, the value follows the formula but is not a share of pairs.
    """
    return np.asarray(100 * (1 - np.asarray(tau, dtype=np.float64)) / 2)


def pairs_without(n_systems: int, system: int) -> npt.NDArray[np.bool_]:
    """Return the pairs without a system, bool[n_pairs] in the order of `signs`."""
    first, second = np.triu_indices(n_systems, 1)
    return np.asarray((first != system) & (second != system))


class PairTests(NamedTuple):
    """For every pair of systems, in the order of `signs`: the mean difference, first minus second, and p."""

    differences: Values
    p: Values


def paired_t_tests(values: Values) -> PairTests:
    """Test every pair of systems by a paired t-test over the queries with values, from float64[n_systems, n_queries].

    p is 1 for two systems with equal values on every query, and 0 for a constant nonzero difference.
    """
    known = values[:, ~np.isnan(values).any(axis=0)]
    first, second = np.triu_indices(len(values), 1)
    differences = np.round(known[first] - known[second], _DIGITS)
    means = differences.mean(axis=1) if known.shape[1] else np.zeros(len(first))
    p = np.where(means == 0, 1.0, 0.0)
    varied = np.ptp(differences, axis=1) > 0 if known.shape[1] > 1 else np.zeros(len(first), dtype=bool)
    if varied.any():
        p[varied] = stats.ttest_1samp(differences[varied], 0.0, axis=1).pvalue
    return PairTests(means, p)


def in_bucket(tests: PairTests, bucket: tuple[float, float]) -> Bools:
    """Return the pairs with different means and low <= p < high; a p of exactly 1 belongs to the last bucket.

    Two systems with equal means are in no bucket, because they have no order that a partially annotated set could reproduce.
    """
    low, high = bucket
    within = (tests.p >= low) & ((tests.p < high) | ((high == 1.0) & (tests.p == 1.0)))
    return np.asarray(within & (np.round(tests.differences, _DIGITS) != 0))


def annotation_order(matrices: RankMatrices, system: int, seed: int = 0) -> npt.NDArray[np.int64]:
    """Return the position, from 0, at which each relevant passage is annotated if a system's list is read from the top.

    int64[n_queries, n_max]. Passages that the system did not retrieve come after the others, in a random order.
    """
    keys = matrices.ranks[system].astype(np.float64)
    missed = matrices.ranks[system] == NOT_FOUND
    keys[missed] += np.random.default_rng((seed, system)).random(int(missed.sum()))
    keys[~matrices.exists] = np.inf
    return np.asarray(np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1), dtype=np.int64)


def annotated(matrices: RankMatrices, order: npt.NDArray[np.int64], share: float) -> Bools:
    """Return the first `share` (0..1) of each query's relevant passages by `order`, rounded up, at least one: bool[n_queries,
    n_max]."""
    wanted = np.maximum(1, np.ceil(np.round(share * matrices.counts, _DIGITS))).astype(np.int64)
    return np.asarray((order < wanted[:, None]) & matrices.exists)


class BucketFigures(NamedTuple):
    """Partial tau and concordance of the pairs in a bucket, each the mean over the `n` systems that chose the annotated passages.

    `pairs` is the number of pairs of systems in the bucket; without pairs, both figures are NaN.
    """

    bucket: tuple[float, float]
    tau: float
    concordance: float
    pairs: int
    n: int


def bucket_figures(matrices: RankMatrices, k: int, counted: Sequence[Bools]) -> list[BucketFigures]:
    """Compute the figures of each bucket by recall@k if the passages `counted[s]`, chosen by system s, are annotated.

    System s is left out of the comparison for its own choice. Buckets follow the paired t-tests on the full set (tables 4, 7 and
    8 for one passage per query; figures 3, 4 and 9 for shares).
    """
    n_systems = len(matrices.systems)
    recalls = recall(matrices, k)
    full, tests = system_means(recalls), paired_t_tests(recalls)
    truth = significant(tests)
    chosen = [recall(matrices, k, mask) for mask in counted]
    figures = []
    for bucket in BUCKETS:
        members = in_bucket(tests, bucket)
        taus, agreements = [], []
        for chooser, partial in enumerate(chosen):
            pairs = members & pairs_without(n_systems, chooser)
            if pairs.any():
                taus.append(float(pair_tau(system_means(partial), full, pairs)))
                agreements.append(concordance(significant(paired_t_tests(partial)), truth, pairs))
        means = [float(np.mean(values)) if values else np.nan for values in (taus, agreements)]
        figures.append(BucketFigures(bucket, means[0], means[1], int(members.sum()), len(taus)))
    return figures


def significant(tests: PairTests, level: float = LEVEL) -> npt.NDArray[np.int8]:
    """Return 1 if the first system of a pair is significantly better, -1 if the second is, 0 otherwise: int8[n_pairs]."""
    return np.asarray(np.where(tests.p < level, np.sign(tests.differences), 0), dtype=np.int8)


def concordance(ours: npt.NDArray[np.int8], theirs: npt.NDArray[np.int8], pairs: Bools | None = None) -> float:
    """Compute the share of ordered pairs (s1, s2) on which two rankings agree whether s1 is significantly better (appendix D).

    Each pair counts in both directions, P(|S|, 2) ordered pairs in total; NaN if no pair is chosen.
    """
    chosen = np.ones(ours.shape, dtype=bool) if pairs is None else pairs
    if not chosen.any():
        return float("nan")
    a, b = ours[chosen], theirs[chosen]
    return float((((a == 1) == (b == 1)).mean() + ((a == -1) == (b == -1)).mean()) / 2)
