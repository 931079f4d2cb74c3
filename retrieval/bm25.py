"""BM25 (Robertson and Zaragoza, 2009, equation 3.15, with Lucene's idf), computed by bm25s over stemmed English.

Defaults k1 = 0.9 and b = 0.4 are those of Anserini and Pyserini. tantivy builds with less memory but fixes k1 = 1.2 and
b = 0.75, so that `bm25(k1=...,b=...)` could not mean what it says.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import Stemmer

from data.grammar import show
from data.records import Ranking
from retrieval.ranking import top_k

_K1, _B = 0.9, 0.4
logging.getLogger("bm25s").setLevel(logging.WARNING)


def tokenize(texts: Sequence[str]) -> list[list[str]]:
    """Lower-cased words of two letters or more, English stop words out, Porter-stemmed (Snowball English)."""
    tokens = bm25s.tokenize(
        list(texts), stopwords="en", stemmer=Stemmer.Stemmer("english"), return_ids=False, show_progress=False
    )
    return [list(t) for t in tokens]


class BM25Index:
    """An inverted index with precomputed weights; passages without a query word are not retrieved."""

    def __init__(self, engine: Any, count: int) -> None:
        self.engine, self.count = engine, count

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        return [self._search_one(tokens, k) for tokens in tokenize(queries)]

    def _search_one(self, tokens: list[str], k: int) -> Ranking:
        known = [t for t in tokens if t in self.engine.vocab_dict]
        if not known:
            return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
        scores = np.asarray(self.engine.get_scores(known), dtype=np.float32)[: self.count]
        matching = np.flatnonzero(scores > 0)
        return top_k(matching, scores[matching], k)

    def save(self, folder: Path) -> None:
        self.engine.save(folder, show_progress=False)
        (folder / "count").write_text(str(self.count))


@dataclass(frozen=True)
class BM25:
    """`bm25`, `bm25(k1=0.9,b=0.4)`."""

    k1: float = _K1
    b: float = _B

    @property
    def name(self) -> str:
        shown = [f"{n}={show(v)}" for n, v, d in (("k1", self.k1, _K1), ("b", self.b, _B)) if v != d]
        return f"bm25({','.join(shown)})" if shown else "bm25"

    @property
    def engine(self) -> str:
        return f"bm25s {bm25s.__version__}"

    def build(self, batches: Iterable[Sequence[str]]) -> BM25Index:
        tokens = [t for batch in batches for t in tokenize(batch)]
        engine = bm25s.BM25(k1=self.k1, b=self.b, method="lucene")
        # bm25s cannot index nothing at all; a word that no query can hold stands in.
        engine.index(tokens if any(tokens) else [["\0"], *tokens], show_progress=False)
        return BM25Index(engine, len(tokens))

    def load(self, folder: Path) -> BM25Index:
        engine = bm25s.BM25.load(folder, mmap=True, show_progress=False)
        return BM25Index(engine, int((folder / "count").read_text()))
