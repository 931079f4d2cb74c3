"""FAISS indexes of vectors: exact, or smaller and faster at the cost of a little recall.

`retrieval/README.md` has measurements of each layout. Building an index takes no more memory than the index itself.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids, Ranking
from berdseye.retrieval.encoders.protocol import Similarity, Vectors
from berdseye.retrieval.indexes import index_files
from berdseye.retrieval.ranking import top_k

_MOST_TRAINING = 500_000
_QUANTISED = "SQ8"
_SLACK = 32
_BLOCK = 65_536
_FILE = "vectors.faiss"
# How many times k candidates of a layout with codes are scored again by their stored vectors. One bit a dimension orders
# candidates roughly, so that more of them are needed; its queries keep 8 bits a dimension.
_REFINED, _REFINED_OF_BITS, _QUERY_BITS = 4, 32, 8
METRICS = {"cosine": faiss.METRIC_INNER_PRODUCT, "dot": faiss.METRIC_INNER_PRODUCT, "euclidean": faiss.METRIC_L2}
_ADDED = 65_536
_SEED = 0
DEFAULT_LAYOUT = "flat"


@dataclass(frozen=True)
class Layout:
    """A type of FAISS index, given by its factory text.

    `exact` means that its scores are those of the vectors themselves. Its n vectors are divided into `lists(n)` inverted
    lists, of which a query visits `probes` (for hnsw: the number of candidate neighbours). FAISS requires `fewest` vectors
    for training; fewer vectors are only quantised.
    """

    name: str
    factory: str
    exact: bool = False
    trained: bool = True
    probes: int | None = None
    fewest: int = 0

    def description(self, count: int, dimension: int) -> str:
        """The text for FAISS's index factory for `count` vectors."""
        if count < self.fewest:
            return _QUANTISED
        return self.factory.format(lists=lists(count), pieces=_pieces(dimension))

    def training(self, count: int) -> int:
        """The number of vectors for training the codes and lists."""
        return min(count, max(_MOST_TRAINING, 64 * lists(count))) if self.trained else 0


def lists(count: int) -> int:
    """The number of inverted lists for `count` vectors: a power of two near sqrt(count)."""
    return 1 << max(0, round(math.log2(4 * math.sqrt(max(count, 1) / 16))))


def _pieces(dimension: int) -> int:
    """The number of equal pieces, of at least four numbers each, into which a vector is cut."""
    return max((n for n in range(1, dimension // 4 + 1) if dimension % n == 0), default=1)


LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("flat", "Flat", exact=True, trained=False),
        Layout("fp16", "SQfp16", trained=False),
        Layout("sq8", _QUANTISED),
        Layout("hnsw", "HNSW32_SQ8", probes=256),
        # 39 vectors per list, and for ivfpq 39 for each of the 256 codes of a piece. "np" skips the training for polysemous
        # search, which is not used and takes most of the time.
        Layout("ivf", "IVF{lists},SQ8", probes=512, fewest=4_096),
        Layout("ivfpq", "IVF{lists},PQ{pieces}np,Refine(SQ8)", probes=512, fewest=9_984),
        Layout("rabitq", "IVF{lists},RaBitQ,Refine(SQfp16)", probes=512, fewest=4_096),
    )
}


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
        scores, ids = self.vectors.search(np.ascontiguousarray(queries), k, params=self._parameters)
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
    if isinstance(faiss.downcast_index(kind.base_index), faiss.IndexIVFRaBitQ):
        lists = library.IVFRaBitQSearchParameters()
        lists.nprobe, lists.qb = probes, _QUERY_BITS
        return library.IndexRefineSearchParameters(k_factor=_REFINED_OF_BITS, base_index_params=lists)
    return library.IndexRefineSearchParameters(k_factor=_REFINED, base_index_params=lists)


def build_vectors(
    blocks: Iterable[Vectors], dimension: int, metric: int, layout: Layout, scratch: Path, *, gpu: bool = False
) -> Any:
    """Build a FAISS index of the vectors in `blocks`, each float32[n, dimension].

    A layout with training needs a sample of all vectors, so they are buffered in half precision in the file `scratch`
    (2 * dimension bytes each), which is deleted at the end. Raises `BadInputError` for a vector that is not finite.
    """
    blocks = (finite(block) for block in blocks)
    if not layout.trained:
        index = faiss.index_factory(dimension, layout.description(0, dimension), metric)
        for block in blocks:
            index.add(block)
        return index
    count = 0
    try:
        with scratch.open("wb") as file:
            for block in blocks:
                block.astype(np.float16).tofile(file)
                count += len(block)
        buffered = np.memmap(scratch, dtype=np.float16, mode="r", shape=(count, dimension)) if count else None
        return _trained(buffered, count, dimension, metric, layout, gpu=gpu)
    finally:
        scratch.unlink(missing_ok=True)


def _trained(vectors: Any, count: int, dimension: int, metric: int, layout: Layout, *, gpu: bool) -> Any:
    if count == 0:
        return faiss.index_factory(dimension, "Flat", metric)
    sample = np.sort(np.random.default_rng(_SEED).permutation(count)[: layout.training(count)])
    return train_and_add(vectors, sample, dimension, metric, layout, gpu=gpu)


def train_and_add(vectors: Any, sample: Ids, dimension: int, metric: int, layout: Layout, *, gpu: bool = False) -> Any:
    """A FAISS index trained on the rows `sample` int64[n], ascending, of `vectors` [count, dimension], and holding all of them.

    `vectors` may lie on disk: they are read and added in blocks.
    """
    count = len(vectors)
    index = faiss.index_factory(dimension, layout.description(count, dimension), metric)
    trained = faiss.index_cpu_to_all_gpus(index) if gpu else index
    trained.train(vectors[sample].astype(np.float32))
    for start in range(0, count, _ADDED):
        trained.add(vectors[start : start + _ADDED].astype(np.float32))
    return faiss.index_gpu_to_cpu(trained) if gpu else trained
