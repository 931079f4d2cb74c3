"""Passages to read until every perspective is covered, and the coverage of the union of several systems."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.evaluation.labels.support import Support

Values = npt.NDArray[np.float64]


def first_ranks(support: Support) -> Values:
    """Return the rank of the first passage that supports each perspective, float64[n_questions, m_max].

    Infinite if no passage does; NaN in columns beyond a question's perspectives.
    """
    covered = support.supports.any(axis=1)
    ranks = np.where(covered, support.supports.argmax(axis=1) + 1.0 if support.supports.shape[1] else 1.0, np.inf)
    ranks[np.arange(ranks.shape[1]) >= support.counts[:, None]] = np.nan
    return np.asarray(ranks)


def documents_to_cover(support: Support, depth: int) -> Values:
    """Return the smallest n whose top n covers every perspective (BERDS, table 5), float64[n_questions].

    NaN if the top `depth` does not cover every perspective, or if a question has none: the mean is over covered questions, and
    MRecall@depth gives their share. Raises `BadInputError` if depth < 1.
    """
    if depth < 1:
        raise BadInputError(f"The depth must be at least 1, got {depth}.")
    ranks = first_ranks(support)
    deepest = np.max(np.where(np.isnan(ranks), 0, ranks), axis=1, initial=0)
    return np.where((support.counts > 0) & (deepest <= depth), deepest, np.nan)


def reading_length(support: Support, k: int) -> Values:
    """Compute ToCover@k: the number of passages read until every perspective is covered, float64[n_questions].

    k + 1 if the top k does not cover them, NaN if a question has no perspective. BERDS (table 5) leaves out the questions that
    are not covered (`documents_to_cover`), which favours a system that covers only easy questions; its mean must therefore be
    read with the share of covered questions.
    """
    sizes = documents_to_cover(support, k)
    return np.asarray(np.where((support.counts > 0) & np.isnan(sizes), k + 1.0, sizes))


def union_coverage(supports: Sequence[Support], depth: int) -> Values:
    """Return 1 if the top `depth` passages of all systems together cover every perspective (BERDS, table 6), 0 otherwise;
    float64[n_questions].

    NaN if a question has no perspective. Raises `BadInputError` without systems, or if they ranked for different questions.
    """
    if not supports:
        raise BadInputError("The union needs at least one system.", hint="Name at least one run.")
    counts = supports[0].counts
    if any(not np.array_equal(s.counts, counts) for s in supports):
        raise BadInputError("The systems ranked for different questions.", hint="Choose runs on one data set.")
    covered = np.logical_or.reduce([s.supports[:, :depth].any(axis=1) for s in supports])
    return np.where(counts > 0, (covered.sum(axis=1) == counts).astype(np.float64), np.nan)
