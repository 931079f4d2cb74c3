"""MaxSim, the score of late interaction."""

import numpy as np

from berdseye.data.records import Ids, Scores
from berdseye.retrieval.encoders.protocol import Vectors


def maxsim(query: Vectors, tokens: Vectors, ends: Ids) -> Scores:
    """The score of each passage, float32[n_passages]: for each token of the query, its largest inner product, added up.

    `query` is float32[n_query_tokens, dimension]; `tokens` [n_tokens, dimension] are the vectors of all passages one after
    another, and `ends` int64[n_passages] is the number of tokens up to the end of each passage. A passage without tokens has
    the score of the unit vectors opposite to the query's, which no passage of unit vectors can fall below (Khattab and Zaharia
    2020, equation 3).
    """
    lowest = np.float32(-np.linalg.norm(query, axis=1).sum())
    scores: Scores = np.full(len(ends), lowest, dtype=np.float32)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])[: len(ends)]
    present = np.flatnonzero(ends > starts)
    if len(present) and len(query):
        similarities = query @ tokens.T
        scores[present] = np.maximum.reduceat(similarities, starts[present], axis=1).sum(axis=0)
    return scores


def joined(vectors: list[Vectors], dimension: int) -> tuple[Vectors, Ids]:
    """The token vectors of several texts one after another, float32[n_tokens, dimension], and their ends int64[n_texts]."""
    ends = np.cumsum([len(tokens) for tokens in vectors], dtype=np.int64)
    return np.concatenate([np.empty((0, dimension), np.float32), *vectors]), ends
