"""Learned sparse retrieval (SPLADE, uniCOIL): weights of vocabulary terms, searched in an inverted index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from berdseye.data.grammar import show_name
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.encoders.encoder_registry import open_sparse_encoder
from berdseye.retrieval.encoders.protocol import SparseEncoder
from berdseye.retrieval.lexical.index import WeightedIndex
from berdseye.retrieval.lexical.postings import FORMAT
from berdseye.retrieval.lexical.writing import PostingsWriter, documents_in_blocks
from berdseye.retrieval.protocol import Collection, Query

_BLOCK_WEIGHTS = 16_000_000


@dataclass(frozen=True)
class SparseIndexer:
    """Builds an inverted index with the weights of a model's terms in each passage."""

    encoder: str

    @property
    def name(self) -> str:
        return f"sparse({show_name(self.encoder)})"

    @property
    def engine(self) -> str:
        return f"postings {FORMAT}, weights {self.open().version}"

    def open(self) -> SparseEncoder:
        """The encoder of the index."""
        return open_sparse_encoder(self.encoder)

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        writer = PostingsWriter(folder, values="float32")
        pending: list[sparse.csr_array] = []
        for batch in batches:
            pending.append(self.open().encode_passages(batch))
            if sum(rows.nnz for rows in pending) >= _BLOCK_WEIGHTS:
                _write(writer, sparse.vstack(pending, format="csr"))
                pending = []
        if pending:
            _write(writer, sparse.vstack(pending, format="csr"))
        writer.finish()

    def resume(self, folder: Path) -> int:
        return documents_in_blocks(folder)

    def load(self, folder: Path) -> WeightedIndex:
        return WeightedIndex(folder)


@dataclass(frozen=True)
class Sparse:
    """The retriever `sparse(ENCODER)`; passages without a term of the query are not retrieved."""

    encoder: str

    @property
    def name(self) -> str:
        return f"sparse({show_name(self.encoder)})"

    @property
    def indexers(self) -> tuple[SparseIndexer]:
        return (SparseIndexer(self.encoder),)

    @property
    def versions(self) -> dict[str, str]:
        return {i.name: i.engine for i in self.indexers}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        rows = self.indexers[0].open().encode_queries([q.text for q in queries])
        bounds = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
        weights = [
            dict(zip(map(_text, rows.indices[a:b].tolist()), map(float, rows.data[a:b]), strict=True))
            for a, b in bounds
        ]
        return collection.index(self.indexers[0]).search(weights, k)


def _write(writer: PostingsWriter, rows: sparse.csr_array) -> None:
    rows.eliminate_zeros()
    columns = rows.tocsc()
    columns.sort_indices()
    used_columns = np.flatnonzero(np.diff(columns.indptr))
    terms = [_text(i).encode() for i in used_columns.tolist()]
    writer.add(
        terms, columns.indptr[used_columns + 1].astype(np.int64), columns.indices, columns.data, np.diff(rows.indptr)
    )


def _text(number: int) -> str:
    """The number of a term as a text, zero-padded so that texts sort like numbers."""
    return f"{number:08d}"
