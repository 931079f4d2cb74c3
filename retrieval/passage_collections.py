"""Passages to search: a corpus with its stored indexes, a few passages indexed on the fly, or web pages.

For a corpus whose rows are web pages, each question retrieves pages, which are cut and ranked on the fly.
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

_CHECK_EVERY = 2.0  # seconds
_checked_at: dict[Path, float] = {}
PAGES_A_QUESTION = 10


class StoredCorpus:
    """A corpus of passages; its indexes are stored with it and stay open."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def index(self, indexer: Indexer[Made]) -> Made:
        """The open index; raises `DamagedError` if it is damaged.

        Its files are checked again every few seconds, since the daily comparison in the background may find damage.
        """
        folder = index_folder(self.corpus, indexer)
        if time.monotonic() - _checked_at.get(folder, -_CHECK_EVERY) >= _CHECK_EVERY:
            try:
                index_files(folder).check(waiting=False)
                _checked_at[folder] = time.monotonic()
            except DamagedError:
                _opened.cache_clear()  # open it again, which reports the damage unless the index is being replaced
        index: Made = _opened(self.corpus.folder, self.corpus.manifest.hash, indexer)
        return index

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)


class InMemoryPassages:
    """Passages in memory, numbered by position whatever their ids; their indexes are temporary."""

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
        index: Made = self._indexes[indexer]
        return index

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return [self._passages[int(i)] for i in ids]

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)


@lru_cache(maxsize=32)
def _opened(folder: Path, corpus_hash: str, indexer: Indexer[Any]) -> Any:
    return ensure_index(unchanged(folder, corpus_hash), indexer)


def unchanged(folder: Path, corpus_hash: str) -> Corpus:
    """The corpus in a folder; raises `StaleError` if it no longer has this hash."""
    corpus = Corpus(folder)
    if corpus.manifest.hash != corpus_hash:
        raise StaleError(f"Corpus '{corpus.name}' has been replaced in the meantime.", hint="Search again.")
    return corpus


class SavedPages:
    """A corpus of stored web pages; the pages that BM25 ranks first for a question replace a web search."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        pages = _pages(self.corpus.folder, self.corpus.manifest.hash)
        chosen = bm25(*PRESETS[""]).rank(pages, queries, PAGES_A_QUESTION)
        return [
            rank_pages(pages.passages(ranking.ids.tolist()), ranker, query, k, self.corpus.chunker)
            for query, ranking in zip(queries, chosen, strict=True)
        ]

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)


class FoundPages:
    """A corpus of the web; pages for a question are searched on `day` (default: today) and stored."""

    def __init__(self, corpus: Corpus, day: str | None = None) -> None:
        self.corpus, self.day = corpus, day
        from berdseye.data.corpora.web import web_pages  # imports a web client, which few calls need

        self._web = web_pages(corpus.folder, corpus.manifest)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [
            rank_pages(self._web.pages_for(q.root or q.text, self.day), ranker, q, k, self.corpus.chunker)
            for q in queries
        ]

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)


def searchable(corpus: Corpus, day: str | None = None) -> Searchable:
    """The corpus in the searchable form of its kind; `day` applies to corpora of the web only."""
    if corpus.manifest.kind == "web":
        return FoundPages(corpus, day)
    if day is not None:
        raise BadInputError(f"Corpus '{corpus.name}' is not a web corpus, so it has no days.", hint="Omit the day.")
    return SavedPages(corpus) if corpus.manifest.kind == "pages" else StoredCorpus(corpus)


def rank_pages(
    pages: Sequence[Passage], ranker: Ranker, query: Query, k: int, chunker: Chunker | None = None
) -> Ranking:
    """The ranking of the passages of a few pages for one query."""
    # Sort by id, so that the index's numbers break ties as ids do.
    passages = sorted(p for page in pages for p in cut_page(page, chunker))
    if not passages:
        return Ranking(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
    local = InMemoryPassages(passages).rank(ranker, [query], k)[0]
    return Ranking(np.array([passages[i].id for i in local.ids.tolist()], dtype=np.int64), local.scores)


@lru_cache(maxsize=8)
def _pages(folder: Path, corpus_hash: str) -> InMemoryPassages:
    return InMemoryPassages([p for batch in unchanged(folder, corpus_hash).batches() for p in batch])
