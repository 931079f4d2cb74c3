"""Vectors in a FAISS index."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.retrieval.encoders.protocol import Similarity, Vectors
from berdseye.retrieval.indexes import index_files
from berdseye.retrieval.ranking import top_k

_SLACK = 32
_BLOCK = 65_536
_FILE = "vectors.faiss"
METRICS = {"cosine": faiss.METRIC_INNER_PRODUCT, "dot": faiss.METRIC_INNER_PRODUCT, "euclidean": faiss.METRIC_L2}


class DenseIndex:
    """All vectors are candidates for every query; scores are inner products, or minus squared distances."""

    def __init__(
        self,
        vectors: Any,
        similarity: Similarity,
        *,
        exact: bool,
        probes: int | None = None,
        path: Path | None = None,
    ) -> None:
        self.vectors, self.similarity, self.exact, self.path = vectors, similarity, exact, path
        self._parameters = _search_parameters(vectors, probes)

    @property
    def count(self) -> int:
        return int(self.vectors.ntotal)

    def search(self, queries: Vectors, k: int) -> list[Ranking]:
        """A ranking of at most k for each row of `queries` float32[n, dimension]."""
        wanted = min(k + _SLACK, self.count)
        if wanted == 0:
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]
        if queries.shape[1] != self.vectors.d:
            raise BadInputError(
                f"The index holds vectors of {self.vectors.d} numbers, the encoder gives {queries.shape[1]}.",
                hint="Build the index anew.",
            )
        scores, ids = self._scored(finite(queries), wanted)
        if self.path is not None and (ids.max(initial=-1) >= self.count or np.isnan(scores).any()):
            # Checksums are compared once a day; what is damaged in between must not reach a ranking as a passage.
            raise index_files(self.path.parent).unreadable(self.path, "a search finds vectors that it cannot hold")
        return [self._settle(q, i, s, k) for q, i, s in zip(queries, ids, scores, strict=True)]

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """The number of the first vector, and the vectors float32[n, dimension], a block at a time."""
        for start in range(0, self.count, _BLOCK):
            yield start, self.vectors.reconstruct_n(start, min(_BLOCK, self.count - start))

    def _scored(self, queries: Vectors, k: int) -> tuple[Any, Any]:
        scores, ids = self.vectors.search(np.ascontiguousarray(queries), k, params=self._parameters)
        return (-scores if self.similarity == "euclidean" else scores), ids

    def _settle(self, query: Any, ids: Any, scores: Any, k: int) -> Ranking:
        """FAISS breaks ties as it likes: where equals may lie beyond what it gave, ask for more."""
        while self.exact and len(ids) > k and scores[k - 1] == scores[-1] and len(ids) < self.count:
            more_scores, more_ids = self._scored(query[None], min(4 * len(ids), self.count))
            scores, ids = more_scores[0], more_ids[0]
        found = ids >= 0
        return top_k(ids[found], scores[found], k)


def finite(vectors: Vectors) -> Vectors:
    """The vectors; raises `BadInputError` where one holds a number that is not finite, which FAISS would never find."""
    if not np.isfinite(vectors).all():
        raise BadInputError("The encoder gives a vector that is not finite.", hint="Its weights may be damaged.")
    return vectors


def save(vectors: Any, folder: Path) -> None:
    """Write a FAISS index."""
    faiss.write_index(vectors, str(folder / _FILE))


def load(folder: Path, similarity: Similarity, *, exact: bool, probes: int | None) -> DenseIndex:
    """Open a FAISS index, memory-mapped where its kind allows; raises `DamagedError` for one that cannot be."""
    path = folder / _FILE
    try:
        return DenseIndex(
            faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), similarity, exact=exact, probes=probes, path=path
        )
    except (RuntimeError, MemoryError, AttributeError) as error:  # FAISS's words for numbers that cannot be, or no file
        said = str(error).rpartition("Error: ")[2] or type(error).__name__
        raise index_files(folder).unreadable(path, said) from error


def _search_parameters(vectors: Any, probes: int | None) -> Any:
    if probes is None:
        return None
    library: Any = faiss  # its type stubs lack the keywords of these
    kind = faiss.downcast_index(vectors)
    if isinstance(kind, faiss.IndexHNSW):
        return library.SearchParametersHNSW(efSearch=probes)
    lists = library.SearchParametersIVF(nprobe=probes)
    if isinstance(kind, faiss.IndexRefine):
        return library.IndexRefineSearchParameters(k_factor=4, base_index_params=lists)
    return lists if isinstance(kind, faiss.IndexIVF) else None
