"""Reranking by late interaction (Khattab and Zaharia 2020, section 3.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.grammar import show_name
from berdseye.data.records import Ids, Scores
from berdseye.retrieval.encoders.encoder_registry import open_token_encoder
from berdseye.retrieval.late_interaction.scoring import joined, maxsim
from berdseye.retrieval.protocol import Query, Readable
from berdseye.retrieval.ranking import top_k

_BLOCK = 1024


@dataclass(frozen=True)
class LateReranked:
    """The stage `>> colbert(MODEL)`, which orders passages by MaxSim of the token vectors of the query and the passage."""

    model: str

    @property
    def name(self) -> str:
        return f"colbert({show_name(self.model)})"

    @property
    def versions(self) -> dict[str, str]:
        return {self.model: open_token_encoder(self.model).version}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        model = open_token_encoder(self.model)
        asked = model.encode_queries([q.text for q in queries])
        own = np.zeros(ids.shape, dtype=np.float32)
        # Each passage is encoded once, however many queries retrieved it, and few at a time: tokens take much memory.
        distinct = np.unique(ids[ids >= 0])
        for start in range(0, len(distinct), _BLOCK):
            block = distinct[start : start + _BLOCK]
            vectors = model.encode_passages(passages.passages(block.tolist()))
            for row in np.flatnonzero(np.isin(ids, block).any(axis=1)).tolist():
                places = np.flatnonzero(np.isin(ids[row], block))
                chosen = [vectors[n] for n in np.searchsorted(block, ids[row, places]).tolist()]
                own[row, places] = maxsim(asked[row], *joined(chosen, model.dimension))
        out_ids, out_scores = ids.copy(), scores.copy()
        for row in range(len(ids)):
            places = np.flatnonzero(ids[row] >= 0)
            out_ids[row, places], out_scores[row, places] = top_k(ids[row, places], own[row, places], len(places))
        return out_ids, out_scores
