"""Ranking a corpus by one of PIR's projections with a dense encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from berdseye.data.grammar import show
from berdseye.data.records import Ranking, Scores
from berdseye.retrieval.dense.index import DenseIndex
from berdseye.retrieval.dense.ranker import Dense, DenseIndexer
from berdseye.retrieval.encoders.known_models import find_known
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.projection.forms import FORMS, SHIFTED, Form
from berdseye.retrieval.projection.perspectives import DIFFERENCE, FromData, PerspectiveSource
from berdseye.retrieval.protocol import Collection, Query
from berdseye.retrieval.ranking import top_k

_FROM_DATA = FromData()
_SLACK = 32
Lengths = Literal["unit", "raw"]
LENGTHS: tuple[Lengths, ...] = ("unit", "raw")


def usual_lengths(encoder: str) -> Lengths:
    """The default of a projection's `lengths`: raw for SimCSE, as in PIR's released notebook, and unit for other encoders."""
    known = find_known("dense", encoder)
    return "raw" if known is not None and "-simcse-" in known.name else "unit"


@dataclass(frozen=True)
class Projected:
    """The retriever `dense(ENCODER) >> pap`.

    The vector of a perspective is that of its text, or q - r with `perspective=difference` (as in PIR's notebook for AmbigQA).
    With the `lengths` unit, passages have length 1, and the other vectors the lengths that the encoder returns (1 for those that
    compare by cosine); with raw, all vectors are as the model computes them. The default, None, is `usual_lengths`. The forms
    pap, pap+, dual-sum and tri-sum do not depend on lengths, unless the perspective is a difference.
    """

    dense: Dense
    form: str
    weight: float = 1.0
    source: PerspectiveSource = _FROM_DATA
    lengths: Lengths | None = None

    @property
    def name(self) -> str:
        usual = usual_lengths(self.dense.encoder)
        shown = [show(self.weight)] if self.weight != 1 else []
        shown += [f"perspective={self.source.name}"] if self.source.name else []
        shown += [f"vectors={self.lengths}"] if self.lengths not in (None, usual) else []
        return f"{self.dense.name} >> {self.form}" + (f"({','.join(shown)})" if shown else "")

    @property
    def indexers(self) -> tuple[DenseIndexer]:
        return (self.dense.unscaled_indexer() if self._by_length else self.dense.at_unit_length().indexer,)

    @property
    def versions(self) -> dict[str, str]:
        lengths = {"vectors": "raw"} if self._raw else {}
        return {**{i.name: i.engine for i in self.indexers}, **lengths, **self.source.versions}

    @property
    def _raw(self) -> bool:
        return (self.lengths or usual_lengths(self.dense.encoder)) == "raw"

    @property
    def _by_length(self) -> bool:
        """Whether the lengths of the passages' vectors matter."""
        return self._raw and self.form in SHIFTED

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        [indexer] = self.indexers
        index = collection.index(indexer)
        encode = (self.dense.unscaled_indexer() if self._raw else indexer).open().encode_queries
        completed = self.source.complete(queries)
        q = encode([a.text for a in completed])
        r = encode([a.root or a.text for a in completed])
        p = q - r if self.source.name == DIFFERENCE else encode([a.perspective for a in completed])
        forms = [FORMS[self.form](*vectors, self.weight) for vectors in zip(q, r, p, strict=True)]
        if all(form.linear for form in forms) and not self._by_length:
            return self._by_index(index, forms, k)
        return _by_scan(index, forms, p, k, by_length=self._by_length)

    def _by_index(self, index: DenseIndex, forms: Sequence[Form], k: int) -> list[Ranking]:
        rankings = index.search(np.stack([form.v for form in forms]), k)
        return [
            top_k(ranking.ids, form.score(ranking.scores, np.zeros_like(ranking.scores)), k)
            for form, ranking in zip(forms, rankings, strict=True)
        ]


def _by_scan(index: DenseIndex, forms: Sequence[Form], p: Scores, k: int, *, by_length: bool) -> list[Ranking]:
    """Score all passages with one matrix product per block, in which repeated perspectives are multiplied once.

    Without `by_length`, passages have length 1.

    The rounding of a matrix product depends on the position of a row, so the best passages are scored again one by one: equal
    passages get equal scores.
    """
    perspectives, places = np.unique(p, axis=0, return_inverse=True)
    both = np.concatenate([np.stack([form.v for form in forms]), perspectives]).T
    best_so_far = [Ranking(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in forms]
    for start, block in index.blocks():
        products = (block @ both).T
        squares = _products(block, block) if by_length else np.ones(len(block), np.float32)
        ids = np.arange(start, start + len(block), dtype=np.int64)
        for row, form in enumerate(forms):
            rough = form.score(products[row], products[len(forms) + int(places[row])], squares)
            best = np.sort(top_k(ids, rough, k + _SLACK).ids)
            vectors = block[best - start]
            scores = form.score(_products(vectors, form.v), _products(vectors, p[row]), squares[best - start])
            best_so_far[row] = top_k(
                np.concatenate([best_so_far[row].ids, best]), np.concatenate([best_so_far[row].scores, scores]), k
            )
    return best_so_far


def _products(vectors: Vectors, other: Scores) -> Scores:
    products: Scores = (vectors * other).sum(axis=1, dtype=np.float64).astype(np.float32)
    return products
