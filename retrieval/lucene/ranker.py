"""`lucene(INDEX)`: the passages of a corpus as an existing Lucene index ranks them.

A Lucene index and the corpus of its passages, matched by the documents' own ids.
"""

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
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lucene.documents import DocidIndexer, Docids, document_of
from berdseye.retrieval.lucene.index import Hits, LuceneIndex, Similarity, index_folder, open_index
from berdseye.retrieval.lucene.java import anserini_version
from berdseye.retrieval.passage_collections import Stored, unchanged
from berdseye.retrieval.protocol import Collection, Indexer, Query, Ranker
from berdseye.retrieval.ranking import top_k

_FITTING = "Fitting is one made of the same file, or of the index: `berdseye corpus add NAME --lucene INDEX`."
_ALIKE = 0.5


@dataclass(frozen=True)
class Matched:
    """An index, a corpus, and the passages that documents are."""

    index: LuceneIndex
    corpus: Corpus
    docids: Docids

    def ranking(self, hits: Hits) -> Ranking:
        """The passages that were found, each once; raises `BadInputError` for a document that is none."""
        ids = self.docids.passages(hits.docids)
        missing = np.flatnonzero(ids < 0)
        if len(missing) and not self._left_out():
            raise self._lacks(hits.docids[missing[0]])
        held = np.flatnonzero(ids >= 0)
        held = held[np.sort(np.unique(ids[held], return_index=True)[1])]
        return Ranking(ids[held], hits.scores[held])

    def compare(self) -> None:
        """Raises `BadInputError` where a document in the midst of the index, if it is stored, is not the passage of its id.

        Ids that only count the documents would else match, and rank the wrong passages, if one count began at another
        number.
        """
        stored = next(islice(self.index.stored(self.index.count // 2), 1), None)
        document = None if stored is None or not (stored.raw or stored.contents) else document_of(stored, "")
        if document is None or isinstance(document, BadRow):
            return
        number = int(self.docids.passages([document.source_id])[0])
        if number < 0:
            return
        passage = self.corpus.passages([number])[0]
        theirs, ours = (set(f"{x.title} {x.text}".lower().split()) for x in (document, passage))
        if len(theirs & ours) < _ALIKE * min(len(theirs), len(ours)):
            raise BadInputError(
                f"Document '{document.source_id}' of the Lucene index is another text than the passage of this id in corpus "
                f"'{self.corpus.name}'.",
                where=self.index.folder,
                hint=_FITTING,
            )

    def _left_out(self) -> bool:
        """Whether the corpus lacks just as many of the index's documents as were left out when it was made, being
        duplicates of others or unreadable."""
        manifest = self.corpus.manifest
        merged = manifest.duplicates_merged + manifest.near_duplicates
        return 0 <= self.index.count - manifest.count - merged <= manifest.left_out and merged + manifest.left_out > 0

    def _lacks(self, docid: str) -> BadInputError:
        cut = int(self.docids.passages([f"{docid}#0"])[0]) >= 0
        return BadInputError(
            f"Corpus '{self.corpus.name}' ({self.corpus.manifest.count:,} passages) lacks document '{docid}' of the Lucene "
            f"index ({self.index.count:,} documents).",
            where=self.index.folder,
            hint="Its documents were cut into passages; add it again with --chunker whole." if cut else _FITTING,
        )


@lru_cache(maxsize=16)
def matched(index: LuceneIndex, folder: Path, corpus_hash: str) -> Matched:
    """An index and the corpus in a folder; raises `BadInputError` where their texts are seen to differ."""
    corpus = unchanged(folder, corpus_hash)
    both = Matched(index, corpus, Stored(corpus).index(DocidIndexer(folder)))
    both.compare()
    return both


_SLACK = 32
_DEEPEST = 65_536
_USUAL = BM25()


@dataclass(frozen=True)
class Lucene:
    """`lucene(PATH)`, `lucene(PREBUILT,k1=0.9,b=0.4)` or `lucene(PATH,scoring=qld,mu=1000)`.

    The corpus must hold the same passages as the index, each under the index's id for it. Equal scores are broken by our
    rule as long as fewer than 65,536 passages are that good; beyond, by the order of the index.
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
        """None: its index is there already, and the table of ids takes seconds."""
        return ()

    @property
    def versions(self) -> dict[str, str]:
        index = open_index(index_folder(self.index))
        return {f"lucene({self.index})": f"index {index.version}, anserini {anserini_version()}"}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        if not isinstance(collection, Stored):
            raise BadInputError(
                f"'{self.name}' searches a corpus of passages, not web pages or passages that are brought along.",
                hint="Use bm25 or dense(static) for these.",
            )
        corpus = collection.corpus
        both = matched(open_index(index_folder(self.index)), corpus.folder, corpus.manifest.hash)
        texts = [q.text for q in queries]
        found = both.index.search(texts, k + _SLACK, self.similarity)
        return [self._settle(both, text, hits, k) for text, hits in zip(texts, found, strict=True)]

    def _settle(self, both: Matched, text: str, hits: Hits, k: int) -> Ranking:
        """Lucene breaks ties as it likes, and the corpus may hold a few less: where it matters, more is asked for."""
        last, asked = len(hits.docids), k + _SLACK
        while True:
            ranking = both.ranking(hits)
            settled = len(ranking.ids) >= k and ranking.scores[k - 1] != hits.scores[-1]
            if settled or last < asked or len(hits.docids) >= _DEEPEST:
                return top_k(*ranking, k)
            asked = len(hits.docids) // 4 + _SLACK
            more = both.index.following(text, hits, asked, self.similarity)
            last, hits = len(more.docids), hits.before(more)


def lucene_ranker(call: Call) -> Ranker:
    """The ranker of `lucene(INDEX,scoring=bm25,k1=0.9,b=0.4)` or `lucene(INDEX,scoring=qld,mu=1000)`."""
    given = Arguments(call)
    index = given.name("index", None, place=True)
    similarity: Similarity
    if given.name("scoring", "bm25", among=("bm25", "qld")) == "qld":
        similarity = QueryLikelihood(given.number("mu", QueryLikelihood.mu, low=1e-6))
    else:
        similarity = BM25(given.number("k1", BM25.k1), given.number("b", BM25.b, high=1))
    given.finish()
    return Lucene(index.rstrip("/"), similarity)
