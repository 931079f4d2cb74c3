"""The retriever `colbert(MODEL)`: late interaction over a whole corpus."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import faiss

from berdseye.data.grammar import show_name
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.encoders.encoder_registry import open_token_encoder
from berdseye.retrieval.encoders.protocol import TokenEncoder, Vectors
from berdseye.retrieval.late_interaction.index import (
    DEFAULT_CANDIDATES,
    DEFAULT_PROBES,
    FORMAT,
    TokenIndex,
    build_tokens,
    load_tokens,
)
from berdseye.retrieval.protocol import Collection, Query

_ENCODED = 512


@dataclass(frozen=True)
class TokenIndexer:
    """Builds an index of the token vectors of a model; `probes` is the number of inverted lists that a search visits."""

    encoder: str
    probes: int = DEFAULT_PROBES

    @property
    def name(self) -> str:
        return f"colbert({show_name(self.encoder)})"

    @property
    def engine(self) -> str:
        return f"tokens {FORMAT}, faiss {faiss.__version__}, weights {self.open().version}"

    def open(self) -> TokenEncoder:
        """The encoder of the index."""
        return open_token_encoder(self.encoder)

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        build_tokens(self._encoded(batches), self.open().dimension, folder)

    def load(self, folder: Path) -> TokenIndex:
        return load_tokens(folder, self.probes)

    def _encoded(self, batches: Iterable[Sequence[Passage]]) -> Iterator[list[Vectors]]:
        """The token vectors of a few passages at a time, which take much more memory than their texts."""
        encoder = self.open()
        for batch in batches:
            for start in range(0, len(batch), _ENCODED):
                yield encoder.encode_passages(batch[start : start + _ENCODED])


@dataclass(frozen=True)
class LateInteraction:
    """The retriever `colbert(MODEL)` or `colbert(MODEL,candidates=1000,probes=32)`; passages without tokens are not retrieved.

    `candidates` is the number of passages whose MaxSim is computed, of corpora that are too large to score all.
    """

    encoder: str
    candidates: int = DEFAULT_CANDIDATES
    probes: int = DEFAULT_PROBES

    @property
    def name(self) -> str:
        shown = [f"candidates={self.candidates}"] if self.candidates != DEFAULT_CANDIDATES else []
        shown += [f"probes={self.probes}"] if self.probes != DEFAULT_PROBES else []
        return f"colbert({','.join([show_name(self.encoder), *shown])})"

    @property
    def indexers(self) -> tuple[TokenIndexer]:
        return (TokenIndexer(self.encoder, self.probes),)

    @property
    def versions(self) -> dict[str, str]:
        return {i.name: i.engine for i in self.indexers}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        vectors = self.indexers[0].open().encode_queries([q.text for q in queries])
        return collection.index(self.indexers[0]).search(vectors, k, self.candidates)
