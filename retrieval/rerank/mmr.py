"""Maximal marginal relevance (Carbonell and Goldstein, 1998), as BERDS uses it.

The next passage maximises lambda * Sim1 - (1 - lambda) * max Sim2 over those chosen. Sim1 is the retriever's score over the
largest score of the whole batch of queries (in BERDS: of the data set); Sim2 is the cosine of an embedder's vectors, which
in BERDS is UAE-Large-V1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show, show_name
from berdseye.data.records import Ids, Passage, Scores
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.protocol import Query, Readable

DEFAULT_EMBEDDER = "static"
GRID = (0.5, 0.75, 0.9, 0.95, 0.99)
"""The weights among which BERDS chooses on its dev split."""


@dataclass(frozen=True)
class MMR:
    """`>> mmr(0.95)`; lambda = 1 leaves the ranking as it is. Without a weight it stands for the one that was tuned."""

    weight: float | None = None
    embedder: str = DEFAULT_EMBEDDER

    @property
    def name(self) -> str:
        shown = ["tuned" if self.weight is None else show(self.weight)]
        shown += [f"embedder={show_name(self.embedder)}"] if self.embedder != DEFAULT_EMBEDDER else []
        return f"mmr({','.join(shown)})"

    @property
    def versions(self) -> dict[str, str]:
        return {self.embedder: open_encoder(self.embedder).version}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        del queries
        if self.weight is None:
            raise BadInputError("mmr(tuned) has no weight here.", hint="Run `berdseye tune`, or give one: mmr(0.95).")
        largest = float(scores.max(initial=0.0)) or 1.0
        known = np.unique(ids[ids >= 0])
        vectors = _vectors(self.embedder, passages.passages(known.tolist()))
        out_ids, out_scores = ids.copy(), scores.copy()
        for row in range(len(ids)):
            found = np.flatnonzero(ids[row] >= 0)
            if len(found) == 0:
                continue
            own = vectors[np.searchsorted(known, ids[row, found])]
            order, values = _choose(scores[row, found] / largest, own @ own.T, self.weight)
            out_ids[row, found] = ids[row, found[order]]
            out_scores[row, found] = values
        return out_ids, out_scores


def _vectors(embedder: str, passages: Sequence[Passage]) -> Vectors:
    """Unit vectors of the texts alone; titles, which a document's passages share, would make them all alike."""
    vectors = open_encoder(embedder).encode_passages([p._replace(title="") for p in passages])
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


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
