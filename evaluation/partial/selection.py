"""The single-relevant study (D-MERIT, section 3.2): rankings of systems if only one relevant passage of each query is
annotated."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.partial.rank_agreement import error_rate, kendall_tau
from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, Bools, RankMatrices, recall, system_means

Values = npt.NDArray[np.float64]
Columns = npt.NDArray[np.int64]
RANDOM, POPULAR, LONGEST, SHORTEST, SYSTEM = "random", "most popular", "longest", "shortest", "system-based"
SELECTIONS = (RANDOM, POPULAR, LONGEST, SHORTEST, SYSTEM)
_AT_ONCE = 250


class Agreement(NamedTuple):
    """Tau between the rankings of systems with one annotated passage per query and with all: mean and spread over `n`
    rankings."""

    tau: float
    spread: float
    error_rate: float
    n: int


def random_choices(matrices: RankMatrices, trials: int, seed: int = 0) -> Columns:
    """Draw one relevant passage of each query uniformly at random: columns int64[trials, n_queries]."""
    drawn = np.random.default_rng(seed).random((trials, len(matrices.queries)))
    return np.asarray((drawn * matrices.counts).astype(np.int64))


def extreme_choice(matrices: RankMatrices, values: Values, *, highest: bool) -> Columns:
    """Choose the relevant passage with the highest (or lowest) of `values` float64[n_queries, n_max], the first of equal ones.

    Returns columns int64[n_queries].
    """
    worst = -np.inf if highest else np.inf
    known = np.where(matrices.exists, values, worst)
    return np.asarray(known.argmax(axis=1) if highest else known.argmin(axis=1), dtype=np.int64)


def first_found(matrices: RankMatrices, system: int) -> Columns:
    """Return the relevant passage that a system ranks highest, int64[n_queries]; -1 if it ranks none."""
    ranks = matrices.ranks[system]
    best = ranks.argmin(axis=1)
    return np.asarray(np.where(ranks.min(axis=1) < NOT_FOUND, best, -1), dtype=np.int64)


def only(matrices: RankMatrices, columns: Columns) -> Bools:
    """Return the mask `counted` bool[n_queries, n_max] of one passage per query; a column of -1 gives a query without
    passages."""
    return np.asarray(np.arange(matrices.exists.shape[1]) == columns[:, None])


def single_relevant_recall(matrices: RankMatrices, columns: Columns, ks: Sequence[int]) -> Values:
    """Compute Recall@k of the systems with one relevant passage per query: float64[n_ks, n_trials, n_systems].

    `columns` int64[n_trials, n_queries]; queries without a passage (-1) are left out of their trial.
    """
    cutoffs = np.array([matrices.checked(k) for k in ks], dtype=np.int32)
    n_systems, n_queries, width = matrices.ranks.shape
    # Only the number of cutoffs that include a rank matters: one byte, gathered once for all cutoffs.
    order = np.argsort(cutoffs)
    missed = np.searchsorted(cutoffs[order], matrices.ranks).astype(np.uint8).reshape(n_systems, n_queries * width)
    places = np.arange(n_queries) * width
    recalls = np.empty((len(cutoffs), len(columns), n_systems), dtype=np.float64)
    for start in range(0, len(columns), _AT_ONCE):
        part = columns[start : start + _AT_ONCE]
        known = part >= 0
        flat = np.where(known, part + places, 0)
        counts = known.sum(axis=1)
        for system in range(n_systems):
            gathered = np.where(known, missed[system][flat], np.uint8(255))
            for level, cutoff in enumerate(order):
                hits = np.count_nonzero(gathered <= level, axis=1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    recalls[cutoff, start : start + len(part), system] = hits / counts
    return recalls


def random_agreement(matrices: RankMatrices, ks: Sequence[int], trials: int = 1000, seed: int = 0) -> list[Agreement]:
    """Return one `Agreement` per cutoff for random selection: mean and standard deviation of tau over `trials` draws."""
    scores = single_relevant_recall(matrices, random_choices(matrices, trials, seed), ks)
    return [summarised(kendall_tau(s, full_scores(matrices, k))) for s, k in zip(scores, ks, strict=True)]


def choice_agreement(matrices: RankMatrices, columns: Columns, ks: Sequence[int]) -> list[Agreement]:
    """Return one `Agreement` per cutoff for one fixed choice, columns int64[n_queries]."""
    scores = single_relevant_recall(matrices, columns[None, :], ks)
    return [summarised(kendall_tau(s, full_scores(matrices, k))) for s, k in zip(scores, ks, strict=True)]


def system_scores(matrices: RankMatrices, ks: Sequence[int]) -> Values:
    """Compute Recall@k of every system if each system in turn chooses the passages: float64[n_ks, n_choosing, n_systems] (figures
    2 and 8)."""
    columns = np.stack([first_found(matrices, s) for s in range(len(matrices.systems))])
    return single_relevant_recall(matrices, columns, ks)


def system_agreement(matrices: RankMatrices, ks: Sequence[int]) -> list[Agreement]:
    """Return one `Agreement` per cutoff for system-based selection: each system in turn chooses the passages and is left out of
    the comparison (footnote 11); the result is the mean."""
    n_systems = len(matrices.systems)
    agreements = []
    for scores, k in zip(system_scores(matrices, ks), ks, strict=True):
        full = full_scores(matrices, k)
        taus = []
        for chooser in range(n_systems):
            others = [s for s in range(n_systems) if s != chooser]
            taus.append(float(kendall_tau(scores[chooser, others], full[others])))
        agreements.append(summarised(np.array(taus)))
    return agreements


def full_scores(matrices: RankMatrices, k: int) -> Values:
    """Compute the mean recall@k of each system with all relevant passages annotated, float64[n_systems]."""
    return system_means(recall(matrices, k))


def summarised(taus: Values) -> Agreement:
    """Return mean and standard deviation (ddof 1; NaN for a single value) of the defined taus."""
    known = np.atleast_1d(taus)
    known = known[~np.isnan(known)]
    if len(known) == 0:
        return Agreement(np.nan, np.nan, np.nan, 0)
    spread = float(known.std(ddof=1)) if len(known) > 1 else np.nan
    mean = float(known.mean())
    return Agreement(mean, spread, float(error_rate(mean)), len(known))
