"""Maximal marginal relevance (Carbonell and Goldstein, 1998), as BERDS uses it.

The next passage maximises lambda * Sim1 - (1 - lambda) * max Sim2 over those chosen. Sim1 is the retriever's score over the
largest score of the whole batch of queries (in BERDS: of the data set); Sim2 is the cosine of static embeddings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data.corpora import Corpus
from data.grammar import show
from data.records import Ids, Scores
from data.static_embedding import static_embedding


@dataclass(frozen=True)
class MMR:
    """`>> mmr(0.95)`; lambda = 1 leaves the ranking as it is."""

    weight: float

    @property
    def name(self) -> str:
        return f"mmr({show(self.weight)})"

    def apply(self, corpus: Corpus, queries: Sequence[str], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        del queries
        largest = float(scores.max(initial=0.0)) or 1.0
        out_ids, out_scores = ids.copy(), scores.copy()
        for row in range(len(ids)):
            found = np.flatnonzero(ids[row] >= 0)
            if len(found) == 0:
                continue
            vectors = static_embedding().encode([p.text for p in corpus.passages(ids[row, found].tolist())])
            order, values = _choose(scores[row, found] / largest, vectors @ vectors.T, self.weight)
            out_ids[row, found] = ids[row, order]
            out_scores[row, found] = values
        return out_ids, out_scores


def _choose(relevance: Scores, similarity: Scores, weight: float) -> tuple[list[int], list[float]]:
    """Places in the order of choice, with the value each had when it was chosen."""
    nearest = np.zeros(len(relevance), dtype=np.float32)
    left = np.ones(len(relevance), dtype=bool)
    order: list[int] = []
    values: list[float] = []
    for _ in range(len(relevance)):
        value = np.where(left, weight * relevance - (1 - weight) * nearest, -np.inf)
        best = int(value.argmax())
        order.append(best)
        values.append(float(value[best]))
        left[best] = False
        nearest = np.maximum(nearest, similarity[best]) if len(order) > 1 else similarity[best]
    return order, values
