"""Dense retrieval: ranking by the similarity of query and passage vectors, and finding passages similar to a passage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import faiss
import numpy as np

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show_name
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.dense.building import VectorBuffer, build_vectors
from berdseye.retrieval.dense.index import DenseIndex, load, save
from berdseye.retrieval.dense.layouts import DEFAULT_LAYOUT, LAYOUTS, METRICS
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.known_models import DensePooling
from berdseye.retrieval.encoders.protocol import Encoder, InstructedEncoder, ScalingEncoder, Similarity, Vectors
from berdseye.retrieval.indexes import index_folder
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.protocol import Collection, Query

Instruction = Literal["", "perspective"]
_BUFFER = "vectors.buffer"
INSTRUCTIONS: tuple[Instruction, ...] = ("", "perspective")


@dataclass(frozen=True)
class DenseIndexer:
    """Builds an index with the vectors of an encoder in one of the layouts.

    `raw` means that the vectors have the lengths that the encoder's model computes.
    """

    encoder: str
    layout: str = DEFAULT_LAYOUT
    similarity: Similarity | None = None
    probes: int | None = None
    pooling: DensePooling | None = None
    raw: bool = False

    @property
    def name(self) -> str:
        vectors = "raw" if self.raw else None
        return _name(self.encoder, index=self.layout, similarity=self.similarity, pooling=self.pooling, vectors=vectors)

    @property
    def engine(self) -> str:
        return f"faiss {faiss.__version__}, weights {self.open().version}"

    def open(self) -> Encoder:
        """The encoder of the index."""
        # The cache of open encoders would count None as another argument.
        encoder = open_encoder(self.encoder, self.pooling) if self.pooling else open_encoder(self.encoder)
        return encoder.unscaled() if self.raw and isinstance(encoder, ScalingEncoder) else encoder

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        encoder = self.open()
        vectors = build_vectors(
            (self.encode_passages(batch) for batch in batches),
            encoder.dimension,
            METRICS[self.similarity or encoder.similarity],
            LAYOUTS[self.layout],
            folder / _BUFFER,
        )
        save(vectors, folder)

    def resume(self, folder: Path) -> int:
        return VectorBuffer(folder / _BUFFER, self.open().dimension, LAYOUTS[self.layout]).count

    def load(self, folder: Path) -> DenseIndex:
        layout = LAYOUTS[self.layout]
        similarity = self.similarity or self.open().similarity
        return load(folder, similarity, exact=layout.exact, probes=self.probes or layout.probes)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Query vectors float32[n_texts, dimension] for searching the index."""
        return self._shaped(self.open().encode_queries(texts))

    def encode_instructed(self, texts: Sequence[str], instructions: Sequence[str]) -> Vectors:
        """Query vectors float32[n_texts, dimension] after an instruction each; raises `BadInputError` for an encoder without."""
        encoder = self.open()
        if not isinstance(encoder, InstructedEncoder):
            raise BadInputError(
                f"{encoder.name} reads no instructions.", hint="Use dense(instructor-large,instruction=perspective)."
            )
        return self._shaped(encoder.encode_instructed(texts, instructions))

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
    """The retriever `dense(ENCODER)` or `dense(ENCODER,index=ivf,probes=32)`.

    `similarity` and `pooling` override those of the encoder.

    With `instruction="perspective"`, as PIR searches with INSTRUCTOR, the encoder reads the perspective of a query as its
    instruction and the root query as its text; a query without a perspective is encoded as it is.
    """

    encoder: str = "static"
    layout: str = DEFAULT_LAYOUT
    similarity: Similarity | None = None
    probes: int | None = None
    instruction: Instruction = ""
    pooling: DensePooling | None = None

    @property
    def name(self) -> str:
        settings = {"index": self.layout, "similarity": self.similarity, "probes": self.probes}
        return _name(self.encoder, **settings, instruction=self.instruction, pooling=self.pooling)

    @property
    def indexer(self) -> DenseIndexer:
        return DenseIndexer(self.encoder, self.layout, self.similarity, self.probes, self.pooling)

    def at_unit_length(self) -> "Dense":
        """This retriever with cosine similarity as its score."""
        return replace(self, similarity=None if self.indexer.open().similarity == "cosine" else "cosine")

    def unscaled_indexer(self) -> DenseIndexer:
        """The indexer of vectors with the lengths that the encoder's model computes."""
        indexer = replace(self.indexer, similarity=None)
        encoder = indexer.open()
        return replace(indexer, raw=isinstance(encoder, ScalingEncoder) and encoder.similarity == "cosine")

    @property
    def indexers(self) -> tuple[DenseIndexer]:
        return (self.indexer,)

    @property
    def versions(self) -> dict[str, str]:
        return {i.name: i.engine for i in self.indexers}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        index = collection.index(self.indexer)
        return index.search(self._encoded(queries), k)

    def _encoded(self, queries: Sequence[Query]) -> Vectors:
        if not self.instruction:
            return self.indexer.encode_queries([q.text for q in queries])
        texts = [q.root or q.text if q.perspective else q.text for q in queries]
        return self.indexer.encode_instructed(texts, [q.perspective for q in queries])


def _name(encoder: str, **settings: str | int | None) -> str:
    shown = [f"{key}={value}" for key, value in settings.items() if value not in (None, "", DEFAULT_LAYOUT)]
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
