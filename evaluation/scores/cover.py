"""How many passages must be read until every perspective is covered, by one system and by all together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.evaluation.labels.support import Support

Values = npt.NDArray[np.float64]


def first_ranks(support: Support) -> Values:
    """The rank of the first passage that supports each perspective, float64[n_questions, m_max].

    Infinite where none does; NaN past a question's own perspectives.
    """
    found = support.supports.any(axis=1)
    ranks = np.where(found, support.supports.argmax(axis=1) + 1.0 if support.supports.shape[1] else 1.0, np.inf)
    ranks[np.arange(ranks.shape[1]) >= support.counts[:, None]] = np.nan
    return np.asarray(ranks)


def documents_to_cover(support: Support, depth: int) -> Values:
    """The smallest n whose top n covers every perspective (BERDS, table 5), float64[n_questions].

    NaN where the top `depth` does not, or where a question has no perspective: the mean is over covered questions, and
    MRecall@depth beside it says how many those are.
    """
    if depth < 1:
        raise BadInputError(f"The depth is {depth}.", hint="Choose at least 1.")
    ranks = first_ranks(support)
    deepest = np.max(np.where(np.isnan(ranks), 0, ranks), axis=1, initial=0)
    return np.where((support.counts > 0) & (deepest <= depth), deepest, np.nan)


def reading_length(support: Support, k: int) -> Values:
    """ToCover@k: passages read until every perspective is covered, float64[n_questions]; k + 1 where the top k does not cover
    them, and NaN where a question has no perspective.

    BERDS (table 5) leaves out the questions that are not covered (`documents_to_cover`), which favours the system that covers
    none but the easy ones; there the share of covered questions has to stand beside the mean.
    """
    found = documents_to_cover(support, k)
    return np.asarray(np.where((support.counts > 0) & np.isnan(found), k + 1.0, found))


def union_coverage(supports: Sequence[Support], depth: int) -> Values:
    """1 where the top `depth` of all systems together cover every perspective (BERDS, table 6), else 0; float64[n_questions].

    NaN where a question has no perspective. The systems must have ranked for the same questions.
    """
    if not supports:
        raise BadInputError("There is no system to unite.", hint="Name at least one run.")
    counts = supports[0].counts
    if any(not np.array_equal(s.counts, counts) for s in supports):
        raise BadInputError("The systems ranked for different questions.", hint="Take runs on one data set.")
    found = np.logical_or.reduce([s.supports[:, :depth].any(axis=1) for s in supports])
    return np.where(counts > 0, (found.sum(axis=1) == counts).astype(np.float64), np.nan)
