"""Selecting the k best passages with one rule for ties: score descending, then passage id descending."""

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids, Ranking, Scores

PAD = -1
LARGEST_K = 1000


def top_k(ids: Ids, scores: Scores, k: int) -> Ranking:
    """The k best of `ids` int64[n] by `scores` float32[n]; raises `BadInputError` for NaN scores."""
    if np.isnan(scores).any():
        raise BadInputError("A score is NaN.", hint="The index or its encoder is damaged; build the index again.")
    if len(ids) > k:
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= threshold)
        ids, scores = ids[candidates], scores[candidates]
    order = np.lexsort((-ids, -scores))[:k]
    return Ranking(ids[order], scores[order])


def padded(rankings: list[Ranking], k: int) -> tuple[Ids, Scores]:
    """Rankings as `ids` int64[n, k] and `scores` float32[n, k], short ones padded with -1 and 0."""
    ids = np.full((len(rankings), k), PAD, dtype=np.int64)
    scores = np.zeros((len(rankings), k), dtype=np.float32)
    for row, ranking in enumerate(rankings):
        ids[row, : len(ranking.ids)] = ranking.ids
        scores[row, : len(ranking.ids)] = ranking.scores
    return ids, scores


def checked_k(k: int) -> int:
    """Return `k` if it is in range; raises `BadInputError` otherwise. A k beyond the corpus returns all passages."""
    if not 1 <= k <= LARGEST_K:
        raise BadInputError(f"k must be between 1 and {LARGEST_K}, got {k}.", hint="Choose another k.")
    return k
