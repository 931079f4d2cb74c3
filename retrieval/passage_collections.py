"""Passages to search: a corpus with its stored indexes, or a few passages indexed on the fly."""

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from berdseye.data.corpora import Corpus
from berdseye.data.errors import DamagedError, StaleError
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.indexes import ensure_index, index_files, index_folder
from berdseye.retrieval.protocol import Indexer, Made, Ranker
from berdseye.retrieval.queries import Query

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
