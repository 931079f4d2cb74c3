"""Dense retrieval: inner product of encoder vectors, searched exactly by FAISS."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from data.records import Ranking
from data.static_embedding import StaticEmbedding, static_embedding
from retrieval.ranking import top_k

_SLACK = 32


class DenseIndex:
    """Vectors in a flat FAISS index; all passages are candidates for every query."""

    def __init__(self, vectors: Any, encoder: StaticEmbedding) -> None:
        self.vectors, self.encoder = vectors, encoder

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        encoded = self.encoder.encode(queries)
        wanted = min(k + _SLACK, self.vectors.ntotal)
        if wanted == 0:
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]
        scores, ids = self.vectors.search(encoded, wanted)
        return [self._settle(q, i, s, k) for q, i, s in zip(encoded, ids, scores, strict=True)]

    def _settle(self, query: Any, ids: Any, scores: Any, k: int) -> Ranking:
        """FAISS breaks ties as it likes: where equals may lie beyond what it gave, ask for more."""
        while len(ids) > k and scores[k - 1] == scores[-1] and len(ids) < self.vectors.ntotal:
            found = self.vectors.search(query[None], min(4 * len(ids), self.vectors.ntotal))
            scores, ids = found[0][0], found[1][0]
        return top_k(ids, scores, k)

    def save(self, folder: Path) -> None:
        faiss.write_index(self.vectors, str(folder / "vectors.faiss"))


@dataclass(frozen=True)
class Dense:
    """`dense(static)`: the static embedding that ships with Berdseye."""

    encoder: str = "static"

    @property
    def name(self) -> str:
        return f"dense({self.encoder})"

    @property
    def engine(self) -> str:
        return f"faiss {faiss.__version__}, weights {static_embedding().version}"

    def build(self, batches: Iterable[Sequence[str]]) -> DenseIndex:
        encoder = static_embedding()
        vectors = faiss.IndexFlatIP(encoder.dimension)
        for batch in batches:
            vectors.add(encoder.encode(batch))
        return DenseIndex(vectors, encoder)

    def load(self, folder: Path) -> DenseIndex:
        return DenseIndex(faiss.read_index(str(folder / "vectors.faiss"), faiss.IO_FLAG_MMAP), static_embedding())
