"""Searching a corpus whose rows are web pages: pages are found for each question, cut, and ranked on the fly."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from berdseye.data.chunkers import Chunker
from berdseye.data.corpora import Corpus, cut_page
from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.lexical.ranker import PRESETS, bm25
from berdseye.retrieval.passage_collections import Loose, Stored, unchanged
from berdseye.retrieval.protocol import Ranker, Searchable
from berdseye.retrieval.queries import Query

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
