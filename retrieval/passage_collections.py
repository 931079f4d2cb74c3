"""Passages to search: a corpus with its stored indexes, or a few passages indexed on the fly.

Searching a corpus whose rows are web pages: pages are found for each question, cut, and ranked on the fly.
"""

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from berdseye.data.corpora import Corpus, cut_page
from berdseye.data.errors import BadInputError, DamagedError, StaleError
from berdseye.data.records import Passage, Ranking
from berdseye.data.texts.chunkers import Chunker
from berdseye.retrieval.indexes import ensure_index, index_files, index_folder
from berdseye.retrieval.lexical.ranker import PRESETS, bm25
from berdseye.retrieval.protocol import Indexer, Made, Query, Ranker, Searchable

_LOOK = 2.0  # seconds
_looked_at: dict[Path, float] = {}


class Stored:
    """A corpus of passages; its indexes are kept beside it and stay open."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def index(self, indexer: Indexer[Made]) -> Made:
        """The open index. Its files are looked at again every few seconds: one that is damaged meanwhile, which the day's
        comparison in the background may find, is an error."""
        folder = index_folder(self.corpus, indexer)
        if time.monotonic() - _looked_at.get(folder, -_LOOK) >= _LOOK:
            try:
                index_files(folder).check(waiting=False)
                _looked_at[folder] = time.monotonic()
            except DamagedError:
                _opened.cache_clear()  # it is opened again, which reports the damage unless it is being replaced
        found: Made = _opened(self.corpus.folder, self.corpus.manifest.hash, indexer)
        return found

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)


class Loose:
    """Passages that are not kept, numbered by their place whatever their ids."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._indexes: dict[Indexer[Any], Any] = {}
        self._folder = TemporaryDirectory(prefix="berdseye-", ignore_cleanup_errors=True)

    def index(self, indexer: Indexer[Made]) -> Made:
        if indexer not in self._indexes:
            folder = Path(self._folder.name) / str(len(self._indexes))
            folder.mkdir()
            indexer.build([self._passages], folder)
            self._indexes[indexer] = indexer.load(folder)
        found: Made = self._indexes[indexer]
        return found

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return [self._passages[int(i)] for i in ids]

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)


@lru_cache(maxsize=32)
def _opened(folder: Path, corpus_hash: str, indexer: Indexer[Any]) -> Any:
    return ensure_index(unchanged(folder, corpus_hash), indexer)


def unchanged(folder: Path, corpus_hash: str) -> Corpus:
    """The corpus of a folder; raises `StaleError` when it is no longer the one of this hash."""
    corpus = Corpus(folder)
    if corpus.manifest.hash != corpus_hash:
        raise StaleError(f"Corpus '{corpus.name}' was made anew meanwhile.", hint="Ask again.")
    return corpus


PAGES_A_QUESTION = 10


class SavedPages:
    """Pages that BM25 finds for a question stand in for a web search."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        pages = _pages(self.corpus.folder, self.corpus.manifest.hash)
        chosen = bm25(*PRESETS[""]).rank(pages, queries, PAGES_A_QUESTION)
        return [
            rank_pages(pages.passages(found.ids.tolist()), ranker, query, k, self.corpus.chunker)
            for query, found in zip(queries, chosen, strict=True)
        ]

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)


class FoundPages:
    """Pages that the web has for a question, found on `day` (today unless told) and kept."""

    def __init__(self, corpus: Corpus, day: str | None = None) -> None:
        self.corpus, self.day = corpus, day
        from berdseye.data.corpora.web import web_pages  # brings a web client along, which few need

        self._web = web_pages(corpus.folder, corpus.manifest)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [
            rank_pages(self._web.pages_for(q.root or q.text, self.day), ranker, q, k, self.corpus.chunker)
            for q in queries
        ]

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)


def searchable(corpus: Corpus, day: str | None = None) -> Searchable:
    """A corpus as something that can be searched, by its kind; `day` is for corpora of the web alone."""
    if corpus.manifest.kind == "web":
        return FoundPages(corpus, day)
    if day is not None:
        raise BadInputError(f"'{corpus.name}' is the same on all days.", hint="Leave the day out.")
    return SavedPages(corpus) if corpus.manifest.kind == "pages" else Stored(corpus)


def rank_pages(
    pages: Sequence[Passage], ranker: Ranker, query: Query, k: int, chunker: Chunker | None = None
) -> Ranking:
    """The passages of a few pages, ranked for one query."""
    # In order of id, so that the index's numbers break ties as the ids do.
    passages = sorted(p for page in pages for p in cut_page(page, chunker))
    if not passages:
        return Ranking(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
    local = Loose(passages).rank(ranker, [query], k)[0]
    return Ranking(np.array([passages[i].id for i in local.ids.tolist()], dtype=np.int64), local.scores)


@lru_cache(maxsize=8)
def _pages(folder: Path, corpus_hash: str) -> Loose:
    return Loose([p for batch in unchanged(folder, corpus_hash).batches() for p in batch])
