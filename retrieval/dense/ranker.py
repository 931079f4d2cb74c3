"""Dense retrieval: ranking by the similarity of query and passage vectors, and finding passages similar to a passage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import faiss
import numpy as np

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show_name
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.dense.index import DEFAULT_LAYOUT, LAYOUTS, METRICS, DenseIndex, build_vectors, load, save
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.protocol import Encoder, Similarity, Vectors
from berdseye.retrieval.indexes import index_folder
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.protocol import Collection, Query


@dataclass(frozen=True)
class DenseIndexer:
    """Builds an index with the vectors of an encoder in one of the layouts."""

    encoder: str
    layout: str = DEFAULT_LAYOUT
    similarity: Similarity | None = None
    probes: int | None = None

    @property
    def name(self) -> str:
        return _name(self.encoder, index=self.layout, similarity=self.similarity)

    @property
    def engine(self) -> str:
        return f"faiss {faiss.__version__}, weights {self.open().version}"

    def open(self) -> Encoder:
        """The encoder of the index."""
        return open_encoder(self.encoder)

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        encoder = self.open()
        vectors = build_vectors(
            (self.encode_passages(batch) for batch in batches),
            encoder.dimension,
            METRICS[self.similarity or encoder.similarity],
            LAYOUTS[self.layout],
            folder / "vectors.f16",
            gpu=faiss.get_num_gpus() > 0,
        )
        save(vectors, folder)

    def load(self, folder: Path) -> DenseIndex:
        layout = LAYOUTS[self.layout]
        similarity = self.similarity or self.open().similarity
        return load(folder, similarity, exact=layout.exact, probes=self.probes or layout.probes)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Query vectors float32[n_texts, dimension] for searching the index."""
        return self._shaped(self.open().encode_queries(texts))

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """Passage vectors float32[n_passages, dimension] as stored in the index."""
        return self._shaped(self.open().encode_passages(passages))

    def _shaped(self, vectors: Vectors) -> Vectors:
        """The encoder's vectors, scaled to unit length if `similarity` is cosine."""
        if self.similarity != "cosine":
            return vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        shaped: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
        return shaped


@dataclass(frozen=True)
class Dense:
    """The retriever `dense(ENCODER)` or `dense(ENCODER,index=ivf,probes=32)`; `similarity` overrides the encoder's own."""

    encoder: str = "static"
    layout: str = DEFAULT_LAYOUT
    similarity: Similarity | None = None
    probes: int | None = None

    @property
    def name(self) -> str:
        return _name(self.encoder, index=self.layout, similarity=self.similarity, probes=self.probes)

    @property
    def indexer(self) -> DenseIndexer:
        return DenseIndexer(self.encoder, self.layout, self.similarity, self.probes)

    def at_unit_length(self) -> "Dense":
        """This retriever with cosine similarity as its score."""
        return replace(self, similarity=None if self.indexer.open().similarity == "cosine" else "cosine")

    @property
    def indexers(self) -> tuple[DenseIndexer]:
        return (self.indexer,)

    @property
    def versions(self) -> dict[str, str]:
        return {i.name: i.engine for i in self.indexers}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        index = collection.index(self.indexer)
        return index.search(self.indexer.encode_queries([q.text for q in queries]), k)


def _name(encoder: str, **settings: str | int | None) -> str:
    shown = [f"{key}={value}" for key, value in settings.items() if value not in (None, DEFAULT_LAYOUT)]
    return f"dense({','.join([show_name(encoder), *shown])})"


def neighbours(
    corpus: Corpus, passage: Passage, k: int, *, dense: Dense | None = None, itself: bool = False
) -> Ranking:
    """The k passages of `corpus` whose vectors are most similar to that of `passage`, which may be from another corpus.

    `dense` selects the vectors (default: the static embedding); the index is built if there is none. Without `itself`, the
    passage's own id is excluded, for a passage of this corpus. Raises `BadInputError` for a corpus of web pages.
    """
    if k < 1:
        raise BadInputError(f"k must be at least 1, got {k}.", hint="Choose another k.")
    indexer = (dense or Dense()).indexer
    index = StoredCorpus(corpus).index(indexer)
    [ranking] = index.search(indexer.encode_passages([passage]), k + (not itself))
    kept = ranking.ids != passage.id if not itself else ranking.ids >= 0
    return Ranking(ranking.ids[kept][:k], ranking.scores[kept][:k])


def has_neighbours(corpus: Corpus, dense: Dense | None = None) -> bool:
    """Whether the index exists, so that `neighbours` does not have to build it first."""
    return (
        corpus.manifest.kind == "passages"
        and (index_folder(corpus, (dense or Dense()).indexer) / "manifest.json").exists()
    )
