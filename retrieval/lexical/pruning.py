"""Finding the few documents of an inverted index whose scores may be among the k best, without scoring all others.

Postings are cut into pieces when a term is first searched. Each piece keeps the shortest lengths and the greatest frequencies of
its postings, which bound its scores for any parameters of a scoring function that is `monotone`; indexes on disk need nothing
more. `compiled_pieces` searches the pieces. Bounds and sums are approximate, so that it returns a few documents too many, and
never one too few: their scores are then computed as those of all documents would be.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import CLASSES, KINDS, PIECE, Classes, Docs, Limits, Values
from berdseye.retrieval.lexical.kernels import pieces as loops
from berdseye.retrieval.lexical.postings import Postings
from berdseye.retrieval.lexical.scoring import Scoring, Statistics

_KEPT_BYTES = 64 << 20
_ROWS = 16  # frequencies with scores of their own; the greater ones share a bound
_FIRST = 8  # pieces searched before the others
_LONGEST = 1 << 16  # tokens; longer documents are in one class
_ROUNDING = 2.0**-21  # of one addition in 32 bits, several times over


class QueryTerm(NamedTuple):
    """A term of a query with its number in the index, and how many times the query contains it."""

    term: str
    number: int
    times: int


class Candidates(NamedTuple):
    """Documents int32[n], ascending, with the frequencies [terms, n] of each term of the query.

    `scores` float32[n] are their scores; None if they have to be computed from the frequencies.
    """

    docs: Docs
    frequencies: Values
    scores: Scores | None


class _Pieces(NamedTuple):
    """The pieces of a term's postings, which begin at `start`, as `loops.cut` describes them.

    `most` is the greatest frequency of all.
    """

    start: int
    begins: Docs
    least: Classes
    greatest: Limits
    most: int

    @property
    def bytes(self) -> int:
        return self.begins.nbytes + self.least.nbytes + self.greatest.nbytes


class _Lengths(NamedTuple):
    """Lengths in at most `CLASSES` classes: the class of each document, and the least and greatest length of each class.

    They are `exact` if these are equal.
    """

    classes: Classes
    shortest: Docs
    longest: Docs
    exact: bool


class Pruning:
    """The pieces of an index, which several threads may search; the most recently used ones are kept in memory."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._count = -(-postings.documents // PIECE)
        self._lock = Lock()
        self._lengths: _Lengths | None = None
        self._kept: OrderedDict[int, _Pieces] = OrderedDict()
        self._bytes = 0

    def candidates(
        self, terms: Sequence[QueryTerm], k: int, scoring: Scoring, statistics: Statistics
    ) -> Candidates | None:
        """The documents that may be among the k best; None if their scores cannot be bounded, or one may be negative.

        Raises `DamagedError` for documents out of order or out of bounds.
        """
        if not terms or not scoring.monotone or scoring.of_documents:
            return None
        postings, lengths = self._postings, self._classes()
        pieces = self._all_pieces([term.number for term in terms])
        rows = min(max(each.most for each in pieces), _ROWS)
        tables = _tables(terms, pieces, rows, lengths.shortest, scoring, statistics)
        if not (tables.min() >= 0 and tables.max() < np.inf):
            return None
        share = 1 - _ROUNDING * (len(terms) + 4)
        if not lengths.exact:
            lower = _tables(terms, pieces, rows, lengths.longest, scoring, statistics)
            share *= float(np.divide(lower, tables, out=np.ones_like(tables), where=tables > 0).min())
        shape = (len(terms), self._count)
        bounds = loops.bound(
            np.concatenate([each.least for each in pieces]).reshape(*shape, KINDS),
            np.concatenate([each.greatest for each in pieces]).reshape(shape),
            tables,
        )
        starts = np.array([each.start for each in pieces], dtype=np.int64)
        begins = np.concatenate([each.begins for each in pieces]).reshape(len(terms), self._count + 1)
        docs, sound = loops.search(
            *(postings.docs, postings.values, lengths.classes, starts, begins),
            *(bounds, loops.in_sequence(bounds, _FIRST), tables, _ROWS - 1, k, share),
        )
        if not sound:
            raise postings.out_of_order()
        docs.sort()
        frequencies = loops.frequencies(postings.docs, postings.values, starts, begins, docs)
        exact = lengths.exact and frequencies.max(initial=0) < _ROWS
        scores = loops.add_up(tables, frequencies, lengths.classes[docs]) if exact else None
        return Candidates(docs, frequencies, scores)

    def _all_pieces(self, numbers: Sequence[int]) -> list[_Pieces]:
        found: list[_Pieces | None] = []
        with self._lock:
            for number in numbers:
                if (kept := self._kept.get(number)) is not None:
                    self._kept.move_to_end(number)
                found.append(kept)
        return [kept or self._pieces(number) for number, kept in zip(numbers, found, strict=True)]

    def _pieces(self, number: int) -> _Pieces:
        """Cut a term's postings into pieces. Those of short postings are not kept: they are cut again as fast."""
        docs, values = self._postings.of(number)
        begins = np.empty(self._count + 1, dtype=np.int32)
        least, greatest = np.empty((self._count, KINDS), dtype=np.uint8), np.empty(self._count, dtype=np.uint16)
        if not loops.cut(docs, values, self._classes().classes, begins, least, greatest):
            raise self._postings.out_of_order()
        pieces = _Pieces(self._postings.start(number), begins, least, greatest, int(greatest.max(initial=1)))
        if len(docs) > self._count:
            with self._lock:
                if number not in self._kept:
                    self._kept[number] = pieces
                    self._bytes += pieces.bytes
                while self._bytes > _KEPT_BYTES and len(self._kept) > 1:
                    self._bytes -= self._kept.popitem(last=False)[1].bytes
        return pieces

    def _classes(self) -> _Lengths:
        if self._lengths is None:
            self._lengths = _classified(self._postings.lengths)
        return self._lengths


def _tables(
    terms: Sequence[QueryTerm],
    pieces: Sequence[_Pieces],
    rows: int,
    lengths: Docs,
    scoring: Scoring,
    statistics: Statistics,
) -> Scores:
    """The scores float32[terms, rows, lengths] of each term for frequencies from 1; the last row bounds those of the greater."""
    distinct = np.arange(1, rows + 1, dtype=np.uint16)
    distinct[-1] = max(rows, *(each.most for each in pieces))
    every = np.concatenate([lengths] * rows)
    tables = scoring.table([term.term for term in terms], np.repeat(distinct, len(lengths)), every, statistics)
    if any(term.times > 1 for term in terms):
        tables = tables * np.array([[term.times] for term in terms], dtype=np.float32)
    return np.ascontiguousarray(tables).reshape(len(terms), rows, len(lengths))


def _classified(lengths: Docs) -> _Lengths:
    """Each length is a class where there are few; otherwise a class holds lengths of about the same ratio."""
    present = np.flatnonzero(loops.present(lengths, _LONGEST)).astype(np.int32)
    first = present
    if len(present) > CLASSES:
        edges = np.geomspace(max(present[0], 1), present[-1], CLASSES - 1)
        first = present[np.unique(np.append(0, np.searchsorted(present, edges, side="right") - 1))]
    longest = np.append(present[np.searchsorted(present, first[1:]) - 1], lengths.max(initial=0)).astype(np.int32)
    begun = np.zeros(present[-1] + 1, dtype=np.uint8)
    begun[first[1:]] = 1
    return _Lengths(
        loops.classified(lengths, np.cumsum(begun, dtype=np.uint8)), first, longest, bool((first == longest).all())
    )


def pruning_of(postings: Postings) -> Pruning | None:
    """The pieces of an index; None without Numba."""
    return None if loops is None else Pruning(postings)
