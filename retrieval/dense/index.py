"""FAISS indexes of vectors, and their search."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.retrieval.dense.gpu import MOST_RESULTS, on_gpus
from berdseye.retrieval.dense.many_queries import FEWEST, multiplies, search_many
from berdseye.retrieval.encoders.protocol import Similarity, Vectors
from berdseye.retrieval.indexes import index_files
from berdseye.retrieval.ranking import top_k

_SLACK = 32
_BLOCK = 65_536
_FILE = "vectors.faiss"
# How many times k candidates of a layout with codes are scored again by their stored vectors. One bit a dimension orders
# candidates roughly, so that more of them are needed; its queries keep 8 bits a dimension.
_REFINED, _REFINED_OF_BITS, _QUERY_BITS = 4, 32, 8


class DenseIndex:
    """An index in which every vector is a candidate; scores are inner products or negative squared distances."""

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
        self._on_gpus = on_gpus(vectors) if exact else None
        self._multiplies = exact and multiplies(vectors)

    @property
    def count(self) -> int:
        return int(self.vectors.ntotal)

    def search(self, queries: Vectors, k: int) -> list[Ranking]:
        """A ranking of at most k for each row of `queries` float32[n, dimension]."""
        depth = min(k + _SLACK, self.count)
        if depth == 0:
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]
        if queries.shape[1] != self.vectors.d:
            raise BadInputError(
                f"The index has vectors of dimension {self.vectors.d}, but the encoder returns {queries.shape[1]}.",
                hint="Build the index again with --rebuild.",
            )
        scores, ids = self._scored(finite(queries), depth)
        if self.path is not None and (ids.max(initial=-1) >= self.count or np.isnan(scores).any()):
            # Checksums are compared once a day; damage in between must not put a wrong passage into a ranking.
            raise index_files(self.path.parent).unreadable(self.path, "a search returns vectors that do not exist")
        return [self._settle(q, i, s, k) for q, i, s in zip(queries, ids, scores, strict=True)]

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """Yield blocks: the number of the first vector, and the vectors float32[n, dimension]."""
        for start in range(0, self.count, _BLOCK):
            yield start, self.vectors.reconstruct_n(start, min(_BLOCK, self.count - start))

    def _scored(self, queries: Vectors, k: int) -> tuple[Any, Any]:
        found: tuple[Any, Any] | None = None
        if self._on_gpus is not None and k <= MOST_RESULTS:
            found = self._on_gpus.search(queries, k)
        elif self._multiplies and len(queries) >= FEWEST:
            found = search_many(self.vectors, queries, k)
        scores, ids = found or self.vectors.search(np.ascontiguousarray(queries), k, params=self._parameters)
        return (-scores if self.similarity == "euclidean" else scores), ids

    def _settle(self, query: Any, ids: Any, scores: Any, k: int) -> Ranking:
        """Apply the tie rule: FAISS breaks ties arbitrarily, so request more results if ties may extend beyond them."""
        while self.exact and len(ids) > k and scores[k - 1] == scores[-1] and len(ids) < self.count:
            more_scores, more_ids = self._scored(query[None], min(4 * len(ids), self.count))
            scores, ids = more_scores[0], more_ids[0]
        valid = ids >= 0
        return top_k(ids[valid], scores[valid], k)


def finite(vectors: Vectors) -> Vectors:
    """Return the vectors; raises `BadInputError` for numbers that are not finite, which FAISS would never retrieve."""
    if not np.isfinite(vectors).all():
        raise BadInputError("The encoder returned a vector that is not finite.", hint="Its weights may be damaged.")
    return vectors


def save(vectors: Any, folder: Path) -> None:
    """Write a FAISS index into a folder."""
    faiss.write_index(vectors, str(folder / _FILE))


def load(folder: Path, similarity: Similarity, *, exact: bool, probes: int | None) -> DenseIndex:
    """Open a FAISS index, memory-mapped if its type allows it; raises `DamagedError` if it cannot be opened."""
    path = folder / _FILE
    try:
        return DenseIndex(
            faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), similarity, exact=exact, probes=probes, path=path
        )
    except (
        RuntimeError,
        MemoryError,
        AttributeError,
    ) as error:  # raised by FAISS for invalid content or a missing file
        reason = str(error).rpartition("Error: ")[2] or type(error).__name__
        raise index_files(folder).unreadable(path, reason) from error


def _search_parameters(vectors: Any, probes: int | None) -> Any:
    if probes is None:
        return None
    library: Any = faiss  # its type stubs lack the keywords of these classes
    kind = faiss.downcast_index(vectors)
    if isinstance(kind, faiss.IndexPreTransform):
        return library.SearchParametersPreTransform(index_params=_search_parameters(kind.index, probes))
    if isinstance(kind, faiss.IndexHNSW):
        return library.SearchParametersHNSW(efSearch=probes)
    lists = library.SearchParametersIVF(nprobe=probes)
    if not isinstance(kind, faiss.IndexRefine):
        return lists if isinstance(kind, faiss.IndexIVF) else None
    if isinstance(faiss.downcast_index(kind.base_index), faiss.IndexIVFRaBitQFastScan):
        lists = library.IVFRaBitQSearchParameters()
        lists.nprobe, lists.qb = probes, _QUERY_BITS
        return library.IndexRefineSearchParameters(k_factor=_REFINED_OF_BITS, base_index_params=lists)
    return library.IndexRefineSearchParameters(k_factor=_REFINED, base_index_params=lists)
