"""Ranking a corpus by one of PIR's projections with a dense encoder."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.grammar import show
from berdseye.data.records import Ranking, Scores
from berdseye.retrieval.dense.index import DenseIndex
from berdseye.retrieval.dense.ranker import Dense, DenseIndexer
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.projection.forms import FORMS, Form
from berdseye.retrieval.projection.perspectives import DIFFERENCE, FromData, PerspectiveSource
from berdseye.retrieval.protocol import Collection, Query
from berdseye.retrieval.ranking import top_k

_FROM_DATA = FromData()
_SLACK = 32


@dataclass(frozen=True)
class Projected:
    """The retriever `dense(ENCODER) >> pap`, which compares passage vectors at unit length.

    The vector of a perspective is that of its text, or q - r with `perspective=difference` (as in PIR's notebook for AmbigQA).
    """

    dense: Dense
    form: str
    weight: float = 1.0
    source: PerspectiveSource = _FROM_DATA

    @property
    def name(self) -> str:
        shown = [show(self.weight)] if self.weight != 1 else []
        shown += [f"perspective={self.source.name}"] if self.source.name else []
        return f"{self.dense.name} >> {self.form}" + (f"({','.join(shown)})" if shown else "")

    @property
    def indexers(self) -> tuple[DenseIndexer]:
        return (self.dense.at_unit_length().indexer,)

    @property
    def versions(self) -> dict[str, str]:
        return {**{i.name: i.engine for i in self.indexers}, **self.source.versions}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        encode, index = self.indexers[0].open().encode_queries, collection.index(self.indexers[0])
        completed = self.source.complete(queries)
        q = encode([a.text for a in completed])
        r = encode([a.root or a.text for a in completed])
        p = q - r if self.source.name == DIFFERENCE else encode([a.perspective for a in completed])
        forms = [FORMS[self.form](*vectors, self.weight) for vectors in zip(q, r, p, strict=True)]
        if all(form.linear for form in forms):
            return self._by_index(index, forms, k)
        return _by_scan(index, forms, p, k)

    def _by_index(self, index: DenseIndex, forms: Sequence[Form], k: int) -> list[Ranking]:
        rankings = index.search(np.stack([form.v for form in forms]), k)
        return [
            top_k(ranking.ids, form.score(ranking.scores, np.zeros_like(ranking.scores)), k)
            for form, ranking in zip(forms, rankings, strict=True)
        ]


def _by_scan(index: DenseIndex, forms: Sequence[Form], p: Scores, k: int) -> list[Ranking]:
    """Score all passages with one matrix product per block, in which repeated perspectives are multiplied once.

    The rounding of a matrix product depends on the position of a row, so the best passages are scored again one by one: equal
    passages get equal scores.
    """
    perspectives, places = np.unique(p, axis=0, return_inverse=True)
    both = np.concatenate([np.stack([form.v for form in forms]), perspectives]).T
    best_so_far = [Ranking(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in forms]
    for start, block in index.blocks():
        products = (block @ both).T
        ids = np.arange(start, start + len(block), dtype=np.int64)
        for row, form in enumerate(forms):
            rough = form.score(products[row], products[len(forms) + int(places[row])])
            best = np.sort(top_k(ids, rough, k + _SLACK).ids)
            vectors = block[best - start]
            scores = form.score(_products(vectors, form.v), _products(vectors, p[row]))
            best_so_far[row] = top_k(
                np.concatenate([best_so_far[row].ids, best]), np.concatenate([best_so_far[row].scores, scores]), k
            )
    return best_so_far


def _products(vectors: Vectors, other: Scores) -> Scores:
    products: Scores = (vectors * other).sum(axis=1, dtype=np.float64).astype(np.float32)
    return products
