"""Maximal marginal relevance (Carbonell and Goldstein, 1998), as used in BERDS.

The next passage maximises lambda * Sim1 - (1 - lambda) * max Sim2 over the passages already chosen. Sim1 is the retriever's
score divided by the largest score of the query, as in BERDS's released code, so that a query has one order whatever is
searched with it; the paper's text divides by the largest score of the data set (`variant=paper`). Sim2 is the cosine of the
vectors of an embedder, which in BERDS is UAE-Large-V1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show, show_name
from berdseye.data.records import Ids, Passage, Scores
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.protocol import Query, Readable

DEFAULT_EMBEDDER = "static"
Variant = Literal["released", "paper"]
VARIANTS: tuple[Variant, ...] = ("released", "paper")
GRID = (0.5, 0.75, 0.9, 0.95, 0.99)
"""The weights from which BERDS chooses on its dev split."""


@dataclass(frozen=True)
class MMR:
    """The stage `>> mmr(LAMBDA)`; lambda = 1 keeps the ranking. A weight of None stands for the tuned weight.

    `variant` selects the score that divides the scores of a query: its own largest score (`released`), or the largest score of
    all queries that are searched together (`paper`), which depends on these queries.
    """

    weight: float | None = None
    embedder: str = DEFAULT_EMBEDDER
    variant: Variant = "released"

    @property
    def name(self) -> str:
        shown = ["tuned" if self.weight is None else show(self.weight)]
        shown += [f"embedder={show_name(self.embedder)}"] if self.embedder != DEFAULT_EMBEDDER else []
        shown += [f"variant={self.variant}"] if self.variant != "released" else []
        return f"mmr({','.join(shown)})"

    @property
    def versions(self) -> dict[str, str]:
        return {self.embedder: open_encoder(self.embedder).version, **self.divisor}

    @property
    def divisor(self) -> dict[str, str]:
        """What divides the scores, as a part of the versions: earlier versions always divided as `variant=paper` does."""
        return {"mmr": "divided by the largest score of the query"} if self.variant == "released" else {}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        del queries
        if self.weight is None:
            raise BadInputError(
                "mmr(tuned) has no tuned weight here.", hint="Run `berdseye tune`, or give a weight like mmr(0.95)."
            )
        largest = scores.max(axis=1, initial=0.0)
        if self.variant == "paper":
            largest[:] = largest.max(initial=0.0)
        largest[largest == 0] = 1.0
        passage_ids = np.unique(ids[ids >= 0])
        vectors = _vectors(self.embedder, passages.passages(passage_ids.tolist()))
        out_ids, out_scores = ids.copy(), scores.copy()
        for row in range(len(ids)):
            places = np.flatnonzero(ids[row] >= 0)
            if len(places) == 0:
                continue
            own = vectors[np.searchsorted(passage_ids, ids[row, places])]
            order, values = _choose(scores[row, places] / largest[row], own @ own.T, self.weight)
            out_ids[row, places] = ids[row, places[order]]
            out_scores[row, places] = values
        return out_ids, out_scores


def _vectors(embedder: str, passages: Sequence[Passage]) -> Vectors:
    """Unit vectors of the texts without titles, since a title shared by a document's passages would make them similar."""
    vectors = open_encoder(embedder).encode_passages([p._replace(title="") for p in passages])
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def _choose(relevance: Scores, similarity: Scores, weight: float) -> tuple[list[int], list[float]]:
    """The indices in the order of choice, with the value of each when it was chosen."""
    nearest = np.zeros(len(relevance), dtype=np.float32)
    remaining = np.ones(len(relevance), dtype=bool)
    order: list[int] = []
    values: list[float] = []
    for _ in range(len(relevance)):
        value = np.where(remaining, weight * relevance - (1 - weight) * nearest, -np.inf)
        best = int(value.argmax())
        order.append(best)
        values.append(float(value[best]))
        remaining[best] = False
        nearest = np.maximum(nearest, similarity[best]) if len(order) > 1 else similarity[best]
    return order, values
