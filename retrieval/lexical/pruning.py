"""Finding the few documents of an inverted index whose scores may be among the k best, without scoring all others.

Postings are cut into pieces when a term is first searched. Each piece keeps the shortest lengths and the greatest frequencies of
its postings, which bound its scores for any parameters of a scoring function that is `monotone`; indexes on disk need nothing
more. `compiled_pieces` searches the pieces. Bounds and sums are approximate, so that it returns a few documents too many, and
never one too few: their scores are then computed as those of all documents would be.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import CLASSES, PIECE, Classes, Docs, Values
from berdseye.retrieval.lexical.kernels import pieces as loops
from berdseye.retrieval.lexical.postings import Postings
from berdseye.retrieval.lexical.scoring import Scoring, Statistics

_KEPT_BYTES = 64 << 20
_ROWS = 16  # frequencies with scores of their own; the greater ones share a bound
_KEPT_SHARED = 64
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
    parts: Docs
    most: int


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
        self._shared: dict[tuple[Scoring, int, int, int], tuple[Any, Any]] = {}

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
        shortest, longest = self._shared_by_all(scoring, max([each.most for each in pieces]), statistics)
        tables = _tables(terms, shortest, len(lengths.shortest), scoring, statistics)
        share = 1 - _ROUNDING * (len(terms) + 4)
        if not lengths.exact:
            lower = _tables(terms, longest, len(lengths.longest), scoring, statistics)
            share *= float(np.divide(lower, tables, out=np.ones_like(tables), where=tables > 0).min())
        docs, frequencies, scores, bounded, sound = loops.choose(
            *(postings.docs, postings.values, lengths.classes, np.array([each.start for each in pieces], np.int64)),
            *(np.concatenate([each.parts for each in pieces]).reshape(len(terms), 3, self._count + 1), tables),
            *(_ROWS - 1, lengths.exact, _FIRST, k, share),
        )
        if not sound:
            raise postings.out_of_order()
        if not bounded:
            return None
        return Candidates(docs, frequencies, scores if len(scores) == len(docs) else None)

    def _shared_by_all(self, scoring: Scoring, most: int, statistics: Statistics) -> tuple[Any, Any]:
        """What all tokens share of a table of scores for the shortest and the longest length of each class.

        A table has the frequencies from 1; its last row bounds the scores of those up to `most`. It is for the next power of two,
        so that few are computed.
        """
        greatest = 1 << max(most - 1, 0).bit_length()
        key = (scoring, statistics.documents, statistics.tokens, greatest)
        if (kept := self._shared.get(key)) is None:
            lengths, distinct = self._classes(), np.arange(1, min(greatest, _ROWS) + 1, dtype=np.uint16)
            distinct[-1] = min(greatest, np.iinfo(np.uint16).max)
            kept = tuple(
                scoring.shared(np.repeat(distinct, len(of)), np.tile(of, len(distinct)), statistics)
                for of in (lengths.shortest, lengths.longest)
            )
            if len(self._shared) >= _KEPT_SHARED:
                self._shared = {}
            self._shared[key] = kept
        return kept

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
        parts, most = loops.cut(docs, values, self._classes().classes)
        if most < 0:
            raise self._postings.out_of_order()
        pieces = _Pieces(self._postings.start(number), parts, most)
        if len(docs) > self._count:
            with self._lock:
                if number not in self._kept:
                    self._kept[number] = pieces
                    self._bytes += pieces.parts.nbytes
                while self._bytes > _KEPT_BYTES and len(self._kept) > 1:
                    self._bytes -= self._kept.popitem(last=False)[1].parts.nbytes
        return pieces

    def _classes(self) -> _Lengths:
        if self._lengths is None:
            self._lengths = _classified(self._postings.lengths)
        return self._lengths


def _tables(terms: Sequence[QueryTerm], shared: Any, lengths: int, scoring: Scoring, statistics: Statistics) -> Scores:
    """The scores float32[terms, frequencies, lengths] of each term, by what they share."""
    tables = scoring.table([term.term for term in terms], shared, statistics)
    if max(term.times for term in terms) > 1:
        tables = tables * np.array([[term.times] for term in terms], dtype=np.float32)
    return np.ascontiguousarray(tables).reshape(len(terms), -1, lengths)


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
