"""Reranking by a cross-encoder, which reads the query and a passage together."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.grammar import show_name
from berdseye.data.records import Ids, Scores
from berdseye.data.texts.truncation import cut_note
from berdseye.retrieval.encoders.encoder_registry import open_cross_encoder
from berdseye.retrieval.protocol import Query, Readable
from berdseye.retrieval.ranking import top_k

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CrossEncoded:
    """The stage `>> crossencoder(NAME)`, which orders passages by the scores of the model.

    The log has a warning if the model reads only a part of some passages.
    """

    model: str

    @property
    def name(self) -> str:
        return f"crossencoder({show_name(self.model)})"

    @property
    def versions(self) -> dict[str, str]:
        return {self.model: open_cross_encoder(self.model).version}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        model = open_cross_encoder(self.model)
        out_ids, out_scores = ids.copy(), scores.copy()
        truncated = 0
        for row, query in enumerate(queries):
            places = np.flatnonzero(ids[row] >= 0)
            if len(places):
                candidates = passages.passages(ids[row, places].tolist())
                model_scores = model.score(query.text, candidates)
                truncated += int(model.cut(query.text, candidates).sum())
                out_ids[row, places], out_scores[row, places] = top_k(ids[row, places], model_scores, len(places))
        if text := cut_note(self.name, truncated, int((ids >= 0).sum()), "pairs of a query and a passage"):
            _log.warning(text)
        return out_ids, out_scores
