"""`lucene(INDEX)`: ranking the passages of a corpus with an existing Lucene index, matched by the documents' ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.corpora import Corpus
from berdseye.data.documents import BadRow
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Arguments, Call
from berdseye.data.records import Ranking
from berdseye.retrieval.document_ids import DocidIndexer, Docids, check_text, explains_missing, missing_error
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lucene.documents import document_of
from berdseye.retrieval.lucene.index import Hits, LuceneIndex, Similarity, index_folder, open_index
from berdseye.retrieval.lucene.java import anserini_version
from berdseye.retrieval.passage_collections import StoredCorpus, unchanged
from berdseye.retrieval.protocol import Collection, Indexer, Query, Ranker
from berdseye.retrieval.ranking import top_k

_FITTING = "Use a corpus made from the same file, or from the index: `berdseye corpus add NAME --lucene INDEX`."
_SLACK = 32
_DEEPEST = 65_536
_USUAL = BM25()


@dataclass(frozen=True)
class Matched:
    """A Lucene index, a corpus, and the table that maps documents to passages."""

    index: LuceneIndex
    corpus: Corpus
    docids: Docids

    def ranking(self, hits: Hits) -> Ranking:
        """The passages of the hits without repetition; raises `BadInputError` for a document that is not in the corpus."""
        ids = self.docids.passages(hits.docids)
        missing = np.flatnonzero(ids < 0)
        if len(missing) and not explains_missing(self.corpus, self.index.count):
            docid = hits.docids[missing[0]]
            raise missing_error(docid, self.docids, self.corpus, self.index.count, self.index.folder, _FITTING)
        present = np.flatnonzero(ids >= 0)
        present = present[np.sort(np.unique(ids[present], return_index=True)[1])]
        return Ranking(ids[present], hits.scores[present])

    def compare(self) -> None:
        """Raise `BadInputError` if a stored document in the middle of the index differs from the passage with its id."""
        stored = next(islice(self.index.stored(self.index.count // 2), 1), None)
        document = None if stored is None or not (stored.raw or stored.contents) else document_of(stored, "")
        if document is None or isinstance(document, BadRow):
            return
        number = int(self.docids.passages([document.source_id])[0])
        if number < 0:
            return
        passage = self.corpus.passages([number])[0]
        text = f"{document.title} {document.text}"
        check_text(document.source_id, text, passage, self.corpus, self.index.folder, _FITTING)


@lru_cache(maxsize=16)
def matched(index: LuceneIndex, folder: Path, corpus_hash: str) -> Matched:
    """Match an index with the corpus in a folder; raises `BadInputError` if their texts differ."""
    corpus = unchanged(folder, corpus_hash)
    both = Matched(index, corpus, StoredCorpus(corpus).index(DocidIndexer(folder)))
    both.compare()
    return both


@dataclass(frozen=True)
class Lucene:
    """The retriever `lucene(PATH)`, `lucene(PREBUILT,k1=0.9,b=0.4)` or `lucene(PATH,scoring=qld,mu=1000)`.

    The corpus must contain the passages of the index under the index's ids. Berdseye's tie rule applies to the first 65,536
    hits; further ties are broken by the order of the index.
    """

    index: str
    similarity: Similarity = _USUAL

    @property
    def name(self) -> str:
        settings: dict[str, Any] = {}
        if isinstance(self.similarity, QueryLikelihood):
            settings["scoring"] = "qld"
        keys = ("mu",) if settings else ("k1", "b")
        usual = type(self.similarity)()
        settings |= {k: getattr(self.similarity, k) for k in keys if getattr(self.similarity, k) != getattr(usual, k)}
        return str(Call("lucene", (self.index,), settings))

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        """Empty: the index exists already, and building the table of ids takes seconds."""
        return ()

    @property
    def versions(self) -> dict[str, str]:
        index = open_index(index_folder(self.index))
        return {f"lucene({self.index})": f"index {index.version}, anserini {anserini_version()}"}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        if not isinstance(collection, StoredCorpus):
            raise BadInputError(
                f"'{self.name}' can search a corpus of passages only, not web pages or passages in memory.",
                hint="Use bm25 or dense(static) instead.",
            )
        corpus = collection.corpus
        matching = matched(open_index(index_folder(self.index)), corpus.folder, corpus.manifest.hash)
        texts = [q.text for q in queries]
        all_hits = matching.index.search(texts, k + _SLACK, self.similarity)
        return [self._settle(matching, text, hits, k) for text, hits in zip(texts, all_hits, strict=True)]

    def _settle(self, matching: Matched, text: str, hits: Hits, k: int) -> Ranking:
        """Apply the tie rule: request more hits while ties or missing documents may change the k best."""
        received, requested = len(hits.docids), k + _SLACK
        while True:
            ranking = matching.ranking(hits)
            settled = len(ranking.ids) >= k and ranking.scores[k - 1] != hits.scores[-1]
            if settled or received < requested or len(hits.docids) >= _DEEPEST:
                return top_k(*ranking, k)
            requested = len(hits.docids) // 4 + _SLACK
            more = matching.index.following(text, hits, requested, self.similarity)
            received, hits = len(more.docids), hits.before(more)


def lucene_ranker(call: Call) -> Ranker:
    """Parse `lucene(INDEX,scoring=bm25,k1=0.9,b=0.4)` or `lucene(INDEX,scoring=qld,mu=1000)`."""
    arguments = Arguments(call)
    index = arguments.name("index", None, place=True)
    similarity: Similarity
    if arguments.name("scoring", "bm25", among=("bm25", "qld")) == "qld":
        similarity = QueryLikelihood(arguments.number("mu", QueryLikelihood.mu, low=1e-6))
    else:
        similarity = BM25(arguments.number("k1", BM25.k1), arguments.number("b", BM25.b, high=1))
    arguments.finish()
    return Lucene(index.rstrip("/"), similarity)
