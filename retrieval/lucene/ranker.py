"""`lucene(INDEX)`: the passages of a corpus as an existing Lucene index ranks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from berdseye.data.arguments import Arguments
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Call
from berdseye.data.records import Ranking
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lucene.index import Hits, Similarity, open_index
from berdseye.retrieval.lucene.java import anserini_version
from berdseye.retrieval.lucene.locating import index_folder
from berdseye.retrieval.lucene.matching import Matched, matched
from berdseye.retrieval.passage_collections import Stored
from berdseye.retrieval.protocol import Collection, Indexer, Ranker
from berdseye.retrieval.queries import Query
from berdseye.retrieval.ranking import top_k

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
