"""`faiss(FOLDER,encoder=NAME)`: ranking the passages of a corpus with an existing FAISS index, matched by the documents' ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Arguments, Call
from berdseye.data.records import Ranking
from berdseye.retrieval.dense.existing_index import PassagesOfVectors, files_version, open_existing
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.protocol import Collection, Indexer, Query, Ranker

_MOST_PROBES = 65_536


@dataclass(frozen=True)
class ExistingFaiss:
    """The retriever `faiss(FOLDER,encoder=NAME)`; `encoder` is the query encoder of the index.

    `probes` is the number of inverted lists to visit (for HNSW: of candidates), by default that of the index's `cfg.json`. The
    corpus must contain the passages of the index under the index's ids.
    """

    index: str
    encoder: str
    probes: int | None = None

    @property
    def name(self) -> str:
        settings = {"encoder": self.encoder} | ({"probes": self.probes} if self.probes else {})
        return str(Call("faiss", (self.index,), settings))

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        """Empty: the index exists already, and the table of ids is built at the first search."""
        return ()

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the index and of the encoder's weights."""
        index = files_version(Path(self.index).expanduser())
        return {f"faiss({self.index})": f"index {index}", self.encoder: open_encoder(self.encoder).version}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        if not isinstance(collection, StoredCorpus):
            raise BadInputError(
                f"'{self.name}' can search a corpus of passages only, not web pages or passages in memory.",
                hint="Use bm25 or dense(static) instead.",
            )
        index = open_existing(self.index, files_version(Path(self.index).expanduser()), self.probes)
        passages = collection.index(PassagesOfVectors(self.index, collection.corpus.folder))
        vectors = open_encoder(self.encoder).encode_queries([q.text for q in queries])
        return index.search(vectors, k, passages)


def existing_faiss(call: Call) -> Ranker:
    """Parse `faiss(FOLDER,encoder=NAME,probes=128)`."""
    arguments = Arguments(call)
    index = arguments.name("index", None, place=True)
    encoder = arguments.optional_name("encoder")
    probes = arguments.count("probes", high=_MOST_PROBES)
    arguments.finish()
    if encoder is None:
        raise BadInputError(
            f"'{call}' requires the encoder of its queries.", hint="Write it like faiss(sphere/dense,encoder=FOLDER)."
        )
    return ExistingFaiss(index.rstrip("/"), encoder, probes)
