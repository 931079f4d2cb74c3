"""Exact search for many queries at once.

A matrix product of queries and vectors finds the candidates, several times as fast as one query after the other. Its sums round
differently, so the candidates are scored again as for a query alone: a ranking does not depend on the queries beside it.
"""

from typing import Any

import faiss
import numpy as np

from berdseye.data.records import Ids, Scores
from berdseye.retrieval.encoders.protocol import Vectors

FEWEST = 8
"""With so many queries, the matrix product took half the time of single queries; fewer were not measured."""
_QUERIES, _BLOCK = 256, 16_384


def multiplies(index: Any) -> bool:
    """Whether `search_many` can search the index: it holds the vectors themselves, and compares by inner products."""
    return isinstance(faiss.downcast_index(index), faiss.IndexFlatIP)


def search_many(index: Any, queries: Vectors, k: int) -> tuple[Scores, Ids] | None:
    """Return scores float32[n, k] and ids int64[n, k] of the k best vectors for `queries` float32[n, dimension].

    k is at most the number of vectors. Equal scores are ordered by id. The result is None if a vector is not finite, as in a
    damaged file, or a product too large for a float32.
    """
    stored = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d).reshape(index.ntotal, index.d)
    parts = []
    for start in range(0, len(queries), _QUERIES):
        found = _searched(index, stored, queries[start : start + _QUERIES], k)
        if found is None:
            return None
        parts.append(found)
    return np.concatenate([scores for scores, _ in parts]), np.concatenate([ids for _, ids in parts])


@np.errstate(over="ignore", invalid="ignore")
def _searched(index: Any, stored: Vectors, queries: Vectors, k: int) -> tuple[Scores, Ids] | None:
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    lengths = np.linalg.norm(queries, axis=1)
    found = [_Best(k) for _ in queries]
    longest = 0.0
    for start in range(0, len(stored), _BLOCK):
        block = stored[start : start + _BLOCK]
        longest = max(longest, float(np.sqrt(np.einsum("ij,ij->i", block, block).max())))
        # Two sums of d products each differ by less than this (Higham 2002, section 3.1, with both of them rounded).
        errors = 2 * index.d * np.finfo(np.float32).eps * lengths * longest
        products = queries @ block.T
        if not (np.isfinite(products.min()) and np.isfinite(products.max())):
            return None
        reach = np.array([best.threshold for best in found]) - errors
        rows, columns = np.nonzero(products >= reach[:, None].astype(np.float32))
        ends = np.searchsorted(rows, np.arange(len(queries) + 1))
        for row in np.flatnonzero(np.diff(ends)).tolist():
            chosen = columns[ends[row] : ends[row + 1]]
            found[row].add(products[row, chosen], chosen + start, float(errors[row]))
    settled = [_scored_alone(index, query, best.ids, k) for query, best in zip(queries, found, strict=True)]
    return np.stack([scores for scores, _ in settled]), np.stack([ids for _, ids in settled])


class _Best:
    """The best k products of a query so far, and all within the error of the k-th."""

    def __init__(self, k: int) -> None:
        self._k, self.threshold = k, -np.inf
        self._products: Scores = np.empty(0, np.float32)
        self.ids: Ids = np.empty(0, np.int64)

    def add(self, products: Scores, ids: Ids, error: float) -> None:
        self._products, self.ids = np.concatenate([self._products, products]), np.concatenate([self.ids, ids])
        if len(self.ids) > self._k:
            self.threshold = float(np.partition(self._products, -self._k)[-self._k])
            kept = self._products >= np.float32(self.threshold - error)
            self._products, self.ids = self._products[kept], self.ids[kept]


def _scored_alone(index: Any, query: Vectors, ids: Ids, k: int) -> tuple[Scores, Ids]:
    """The k best of these vectors, scored as FAISS scores a query alone."""
    scores = np.empty(len(ids), np.float32)
    ids = np.ascontiguousarray(ids, dtype=np.int64)
    pointers = (faiss.swig_ptr(np.ascontiguousarray(query)), len(ids), faiss.swig_ptr(scores), faiss.swig_ptr(ids))
    index.compute_distance_subset(1, *pointers)
    order = np.lexsort((ids, -scores))[:k]
    return scores[order], ids[order]
