"""Finding passages that contradict a text: SparseCL (Xu et al. 2024, arXiv 2406.10746; ICML 2025).

A passage that contradicts a text resembles it in all but a few respects. Its score is cos(q, c) + alpha * Hoyer(q' - c'). The
cosine is that of an embedder of similar texts; q' and c' are unit vectors of a model that was trained so that the difference
of contradictory texts is sparse. Hoyer's sparsity of a vector x of d numbers, which Hurley and Rickard (2009) compare with
others, is (sqrt(d) - |x|_1 / |x|_2) / (sqrt(d) - 1): 1 if a single number is not zero, 0 if all have the same size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show, show_name
from berdseye.data.records import Ids, Passage, Scores
from berdseye.retrieval.encoders.checks import unit
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.protocol import Query, Readable
from berdseye.retrieval.ranking import top_k
from berdseye.retrieval.rerank.mmr import DEFAULT_EMBEDDER

_SAME = 1e-3
"""A shorter difference is no difference, as in the released code, which excludes such passages."""
_LAST = -2.0
"""The score of a passage that does not differ from the query: below all others, which are at least -1."""


@dataclass(frozen=True)
class Contradicting:
    """The stage `>> sparsecl(MODEL,alpha=ALPHA)`, which orders passages by how likely they contradict the query.

    The query is the text to contradict: a perspective, or a question. Titles are left out, and the model reads the query as it
    reads a passage, since the difference of both should be one of their content alone; `embedder` reads the query as a query.
    """

    model: str
    alpha: float
    embedder: str = DEFAULT_EMBEDDER

    @property
    def name(self) -> str:
        shown = [show_name(self.model), f"alpha={show(self.alpha)}"]
        shown += [f"embedder={show_name(self.embedder)}"] if self.embedder != DEFAULT_EMBEDDER else []
        return f"sparsecl({','.join(shown)})"

    @property
    def versions(self) -> dict[str, str]:
        return {name: open_encoder(name).version for name in (self.model, self.embedder)}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        model, embedder = open_encoder(self.model), open_encoder(self.embedder)
        if model.dimension < 2:
            raise BadInputError(f"{model.name} has vectors of one number, which cannot be sparse.", hint="Use another.")
        texts = [q.text for q in queries]
        asked = unit(model.encode_passages([Passage(n, "", "", text) for n, text in enumerate(texts)]))
        alike = unit(embedder.encode_queries(texts))
        distinct = np.unique(ids[ids >= 0])
        candidates = [p._replace(title="") for p in passages.passages(distinct.tolist())]
        own, others = unit(model.encode_passages(candidates)), unit(embedder.encode_passages(candidates))
        out_ids, out_scores = ids.copy(), scores.copy()
        for row in range(len(ids)):
            places = np.flatnonzero(ids[row] >= 0)
            chosen = np.searchsorted(distinct, ids[row, places])
            values = contradiction(asked[row], own[chosen], others[chosen] @ alike[row], self.alpha)
            out_ids[row, places], out_scores[row, places] = top_k(ids[row, places], values, len(places))
        return out_ids, out_scores


def hoyer(vectors: Vectors) -> Scores:
    """Hoyer's sparsity of each row of `vectors` float32[n, d], d > 1, float32[n] in [0, 1]; NaN for a row of zeros."""
    root = np.sqrt(vectors.shape[1])
    with np.errstate(invalid="ignore"):
        ratio = np.abs(vectors).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    sparsity: Scores = ((root - ratio) / (root - 1)).astype(np.float32)
    return np.clip(sparsity, 0, 1)


def contradiction(query: Vectors, passages: Vectors, cosines: Scores, alpha: float) -> Scores:
    """The scores float32[n] of passages float32[n, d] for a query float32[d], both of unit length, with their `cosines`."""
    differences = passages - query
    differ = np.linalg.norm(differences, axis=1) >= _SAME
    values: Scores = np.full(len(passages), _LAST, dtype=np.float32)
    values[differ] = cosines[differ] + np.float32(alpha) * hoyer(differences[differ])
    return values
