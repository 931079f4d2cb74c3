"""Ranking with a scoring function and an inverted index; all scoring functions share the index of a tokenizer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from berdseye.data.grammar import show
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.indexes import index_text
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.postings import FORMAT
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lexical.scoring import Scoring
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.lexical.writing import build_postings, documents_in_blocks
from berdseye.retrieval.protocol import Collection, Query

DEFAULT_TOKENIZER = "english"
PRESETS = {
    "": (BM25(), DEFAULT_TOKENIZER),
    # The settings of PIR's released notebook: rank-bm25's BM25Okapi with its defaults.
    "okapi-notebook": (BM25(k1=1.5, b=0.75, variant="okapi"), "spaces"),
}
"""The settings of `bm25` and `bm25(NAME)`: the scoring function and the tokenizer."""


@dataclass(frozen=True)
class LexicalIndexer:
    """Builds an inverted index of titles and texts."""

    tokenizer: str = DEFAULT_TOKENIZER

    @property
    def name(self) -> str:
        return f"lexical({self.tokenizer})"

    @property
    def engine(self) -> str:
        return f"postings {FORMAT}"

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        build_postings(([index_text(p) for p in batch] for batch in batches), TOKENIZERS[self.tokenizer], folder)

    def resume(self, folder: Path) -> int:
        return documents_in_blocks(folder)

    def load(self, folder: Path) -> LexicalIndex:
        return LexicalIndex(folder, TOKENIZERS[self.tokenizer])


@dataclass(frozen=True)
class Lexical:
    """The retriever `bm25(...)` or `qld(...)`."""

    name: str
    scoring: Scoring
    tokenizer: str = DEFAULT_TOKENIZER

    @property
    def indexers(self) -> tuple[LexicalIndexer]:
        return (LexicalIndexer(self.tokenizer),)

    @property
    def versions(self) -> dict[str, str]:
        return {i.name: i.engine for i in self.indexers}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        return collection.index(self.indexers[0]).search([q.text for q in queries], k, self.scoring)


def bm25(scoring: BM25, tokenizer: str = DEFAULT_TOKENIZER) -> Lexical:
    """BM25 with its canonical name, which omits default values."""
    for preset, (usual, usual_tokenizer) in PRESETS.items():
        if (scoring, tokenizer) == (usual, usual_tokenizer):
            return Lexical(f"bm25({preset})" if preset else "bm25", scoring, tokenizer)
    plain = BM25()
    shown = [(n, show(getattr(scoring, n))) for n in ("k1", "b", "variant") if getattr(scoring, n) != getattr(plain, n)]
    shown += [("tokenizer", tokenizer)] if tokenizer != DEFAULT_TOKENIZER else []
    return Lexical(f"bm25({','.join(f'{n}={v}' for n, v in shown)})", scoring, tokenizer)


def query_likelihood(scoring: QueryLikelihood, tokenizer: str = DEFAULT_TOKENIZER) -> Lexical:
    """Query likelihood with its canonical name, which omits default values."""
    shown = [f"mu={show(scoring.mu)}"] if scoring != QueryLikelihood() else []
    shown += [f"tokenizer={tokenizer}"] if tokenizer != DEFAULT_TOKENIZER else []
    return Lexical(f"qld({','.join(shown)})" if shown else "qld", scoring, tokenizer)
