"""Opening and searching a Lucene index, given by a path or by the name of one of Pyserini's prebuilt indexes."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import lru_cache, partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from tarfile import TarError
from typing import Any, NamedTuple

import numpy as np

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.records import Scores
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lucene.java import ClassOf, T, in_java, java_error

_BYTES = "size compressed (bytes)"
Similarity = BM25 | QueryLikelihood
_ID, _CONTENTS = "id", "contents"
_BLOCK = 1000


def index_folder(name: str) -> Path:
    """The folder of an index.

    A name that is not a path is one of Pyserini's prebuilt inverted indexes, which is downloaded into Pyserini's cache at its
    first use (gigabytes). Raises `BadInputError` for a path without an index, `UnknownNameError` with the closest names for an
    unknown name, and `UnavailableError` if the download fails.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        if not any(path.glob("segments_*")):
            raise BadInputError(
                "The folder has no Lucene index.", where=path, hint="The folder of an index contains a file segments_N."
            )
        return path
    if path.exists() or "/" in name:
        raise BadInputError("This folder does not exist.", where=path, hint="Give the folder of a Lucene index.")
    return _prebuilt(name)


def _prebuilt(name: str) -> Path:
    with redirect_stdout(sys.stderr):  # Pyserini prints to standard output, which is for results
        prebuilt_indexes: dict[str, dict[str, Any]] = in_java(
            lambda _: import_module("pyserini.prebuilt_index_info").TF_INDEX_INFO
        )
        if name not in prebuilt_indexes:
            raise UnknownNameError("prebuilt Lucene index", name, prebuilt_indexes)
        downloads = in_java(lambda _: import_module("pyserini.util"))
        size = prebuilt_indexes[name].get(_BYTES, 0) / 1e9
        if not downloads.check_downloaded(name):
            print(f"Downloading the Lucene index {name} ({size:.1f} GB) to {downloads.get_cache_home()}.")
        try:
            return Path(downloads.download_prebuilt_index(name, verbose=False))
        except (ValueError, AssertionError, OSError, TarError) as error:
            raise UnavailableError(
                f"The prebuilt Lucene index '{name}' ({size:.1f} GB) could not be downloaded: {error}",
                hint="Download and unpack it yourself, then give its folder.",
            ) from error


class Hits(NamedTuple):
    """The hits of a query, best first: the documents' ids, their numbers in the index, and `scores` float32[n]."""

    docids: list[str]
    numbers: list[int]
    scores: Scores

    def before(self, more: "Hits") -> "Hits":
        """These hits followed by `more`."""
        joined = np.concatenate([self.scores, more.scores])
        return Hits(self.docids + more.docids, self.numbers + more.numbers, joined)


class StoredDocument(NamedTuple):
    """A document stored in an index: `number` is its number in the index, `raw` its source."""

    number: int
    docid: str
    raw: str | None
    contents: str | None


class LuceneIndex:
    """An index made by Anserini or Pyserini; raises `BadInputError` for any other Lucene index.

    Scores are Lucene's own. Anserini and Pyserini print scores rounded to four digits, with equal ones made different.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._searcher = lru_cache(maxsize=8)(self._new_searcher)
        self._in_java(self._open)

    @property
    def version(self) -> str:
        """The hash of the file in which Lucene lists the index's parts, which changes whenever the index does."""
        listed = max(self.folder.glob("segments_*"), key=lambda p: (len(p.name), p.name))
        return blake2b(listed.read_bytes(), digest_size=8).hexdigest()

    def search(self, texts: Sequence[str], k: int, similarity: Similarity) -> list[Hits]:
        """The k best hits of each text; equal scores are in the order of the index."""
        searcher = self._searcher(similarity)
        with ThreadPoolExecutor(max(1, min(len(texts), os.cpu_count() or 1))) as pool:
            return list(pool.map(lambda text: self._in_java(lambda _: self._hits(searcher, text, k)), texts))

    def following(self, text: str, hits: Hits, k: int, similarity: Similarity) -> Hits:
        """The k best hits after `hits`, which `search` returned."""

        def search(class_of: ClassOf) -> Hits:
            last = class_of("org.apache.lucene.search.ScoreDoc")(hits.numbers[-1], float(hits.scores[-1]))
            return self._hits(self._searcher(similarity), text, k, after=last)

        return self._in_java(search)

    def stored(self, start: int = 0) -> Iterator[StoredDocument]:
        """Yield the stored documents from number `start` on."""
        while block := self._in_java(partial(self._block, start=start)):
            yield from block
            start = block[-1].number + 1

    def _open(self, class_of: ClassOf) -> None:
        readers = class_of("io.anserini.index.IndexReaderUtils")
        self._reader = readers.getReader(str(self.folder))
        self.count: int = self._reader.numDocs()
        fields = sorted(readers.getFieldInfo(self._reader).keySet().toArray())
        if not {_ID, _CONTENTS} <= set(fields):
            raise BadInputError(
                f"The index has the fields {', '.join(fields) or 'none'}, not '{_ID}' and '{_CONTENTS}'.",
                where=self.folder,
                hint="Use an inverted index made by Anserini or Pyserini.",
            )
        self._queries = class_of("io.anserini.search.query.BagOfWordsQueryGenerator")()
        self._analyzer = class_of("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
        self._results = class_of("io.anserini.search.ScoredDocs")

    def _new_searcher(self, similarity: Similarity) -> Any:
        def make(class_of: ClassOf) -> Any:
            searcher = class_of("org.apache.lucene.search.IndexSearcher")(self._reader)
            searcher.setSimilarity(_java_similarity(class_of, similarity))
            return searcher

        return self._in_java(make)

    def _hits(self, searcher: Any, text: str, k: int, after: Any = None) -> Hits:
        query = self._queries.buildQuery(_CONTENTS, self._analyzer, text)
        documents = self._results.fromTopDocs(searcher.searchAfter(after, query, k), searcher)
        return Hits(documents.docids, documents.lucene_docids, np.asarray(documents.scores, np.float32))

    def _block(self, class_of: ClassOf, start: int) -> list[StoredDocument]:
        """The next documents from a number on, without deleted ones."""
        documents: list[StoredDocument] = []
        alive = class_of("org.apache.lucene.index.MultiBits").getLiveDocs(self._reader)
        fields = self._reader.storedFields()
        for number in range(start, self._reader.maxDoc()):
            if alive is None or alive.get(number):
                document = fields.document(number)
                documents.append(
                    StoredDocument(number, document.get(_ID), document.get("raw"), document.get(_CONTENTS))
                )
            if len(documents) == _BLOCK:
                break
        return documents

    def _in_java(self, work: Callable[[ClassOf], T]) -> T:
        """Call `in_java`, and convert Java's exceptions to errors of Berdseye."""
        try:
            return in_java(work)
        except Exception as error:
            kind = getattr(error, "classname", None)
            if kind is None:
                raise
            raise java_error(kind, getattr(error, "innermessage", None) or "", self.folder) from error


@lru_cache(maxsize=8)
def open_index(folder: Path) -> LuceneIndex:
    """Open the index in a folder; it stays open."""
    return LuceneIndex(folder)


def _java_similarity(class_of: ClassOf, similarity: Similarity) -> Any:
    package = "org.apache.lucene.search.similarities"
    if isinstance(similarity, BM25):
        return class_of(f"{package}.BM25Similarity")(similarity.k1, similarity.b)
    return class_of(f"{package}.LMDirichletSimilarity")(similarity.mu)
