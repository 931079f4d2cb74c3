"""The loops that search postings piece by piece and leave out what cannot reach the k best, compiled by Numba.

A piece is a range of `PIECE` document numbers. In each, MaxScore (Turtle and Flood, 1995) divides the terms of a query by the
bounds of their scores in that piece, as block-max indexes keep them (Ding and Suel, 2011): the terms whose bounds together are
below the threshold, the k-th best score so far, are looked up only for documents that another term has brought up.

The loops follow no number of a file without checking it: an error is returned for a document outside its piece.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import CLASSES, KINDS, PIECE, PIECE_BITS, Classes, Docs, Offsets, Values

_SCANNED = 8  # a binary search reads fewer postings than a scan where documents are fewer than postings by this factor

Flags = npt.NDArray[np.bool_]


@njit(cache=True, nogil=True)
def _row(value: int, rows: int) -> int:  # pragma: no cover
    """The row of a frequency in a table of scores, whose first row is that of 1 and whose last is that of all greater ones."""
    return (1 if value < 1 else min(value, rows)) - 1


@njit(cache=True, nogil=True)
def present(lengths: Docs, longest: int) -> Flags:  # pragma: no cover
    """Which lengths there are, bool[longest + 1]; longer ones count as the longest."""
    found = np.zeros(longest + 1, dtype=np.bool_)
    for number in range(len(lengths)):
        found[min(max(lengths[number], 0), longest)] = True
    return found


@njit(cache=True, nogil=True)
def classified(lengths: Docs, class_of: Classes) -> Classes:  # pragma: no cover
    """The class of each length; those beyond the end of `class_of` are of its last class."""
    out = np.empty(len(lengths), dtype=np.uint8)
    for number in range(len(lengths)):
        out[number] = class_of[min(max(lengths[number], 0), len(class_of) - 1)]
    return out


@njit(cache=True, nogil=True)
def cut(docs: Docs, values: Values, classes: Classes) -> tuple[Docs, int]:  # pragma: no cover
    """Cut the postings of a term into pieces, int32[3, pieces + 1]; returns as well the greatest frequency of all.

    The first row is where the postings of each piece begin. The second has the least class of the lengths of the documents of
    each kind, a byte for each kind; the third has the greatest frequency. The greatest of all is -1 if the documents do not
    ascend within the collection.
    """
    parts = np.empty((3, ((len(classes) - 1) >> PIECE_BITS) + 2), dtype=np.int32)
    begins, least, greatest = parts
    least[:] = -1  # CLASSES in each byte
    greatest[:] = 0
    piece, last, most = 0, np.int64(-1), 0
    begins[0] = 0
    for at in range(len(docs)):
        doc, value = np.int64(docs[at]), int(values[at])
        if doc <= last or doc >= len(classes):
            return parts, -1
        last = doc
        while piece < doc >> PIECE_BITS:
            piece += 1
            begins[piece] = at
        shift = 8 * _row(value, KINDS)
        if classes[doc] < least[piece] >> shift & CLASSES:
            least[piece] += (np.int64(classes[doc]) - (least[piece] >> shift & CLASSES)) << shift
        greatest[piece] = max(greatest[piece], value)
        most = max(most, value)
    begins[piece + 1 :] = len(docs)
    return parts, most


@njit(cache=True, nogil=True)
def bound(parts: Docs, tables: Scores) -> Scores:  # pragma: no cover
    """The greatest score of each term in each piece, float32[terms, pieces].

    `parts` int32[terms, 3, pieces + 1] are as `cut` returns them. `tables` float32[terms, frequencies, classes] has the scores
    for frequencies from 1 and the least length of each class; the last row is for all greater frequencies too.
    """
    rows, pieces = tables.shape[1], parts.shape[2] - 1
    bounds = np.zeros((len(parts), pieces), dtype=np.float32)
    for term in range(len(parts)):
        for piece in range(pieces):
            least, greatest = parts[term, 1, piece], parts[term, 2, piece]
            highest = np.float32(0)
            if greatest:
                for kind in range(KINDS):
                    found = least >> (8 * kind) & CLASSES
                    if found != CLASSES:
                        value = kind + 1 if kind + 1 < KINDS else greatest
                        highest = max(highest, tables[term, _row(value, rows), found])
            bounds[term, piece] = highest
    return bounds


@njit(cache=True, nogil=True)
def _bounded(tables: Scores) -> bool:  # pragma: no cover
    """Whether no score is negative, infinite or no number."""
    sound: Any = True
    for score in tables.reshape(-1):
        sound &= 0 <= score < np.inf
    return bool(sound)


@njit(cache=True, nogil=True)
def in_sequence(bounds: Scores, first: int) -> Offsets:  # pragma: no cover
    """The pieces, the `first` with the greatest bounds before the others, which follow in order.

    The former raise the threshold for the latter, which are read as they lie on disk.
    """
    count = bounds.shape[1]
    totals = np.zeros(count, dtype=np.float32)
    for term in range(len(bounds)):
        for piece in range(count):
            totals[piece] += bounds[term, piece]
    sequence = np.empty(count, dtype=np.int64)
    first = min(first, count)
    for place in range(first):
        sequence[place] = totals.argmax()
        totals[sequence[place]] = -1
    for piece in range(count):
        if totals[piece] >= 0:
            sequence[first] = piece
            first += 1
    return sequence


@njit(cache=True, nogil=True)
def search(
    docs: Docs,
    values: Values,
    classes: Classes,
    starts: Offsets,
    begins: Docs,
    bounds: Scores,
    sequence: Offsets,
    tables: Scores,
    exact: int,
    k: int,
    share: float,
) -> tuple[Docs, bool]:  # pragma: no cover
    """The documents whose scores may be among the k best, in no order, and whether all documents were in their pieces.

    `starts` int64[terms] is where the postings of each term begin, `begins` int32[terms, pieces + 1] where those of its pieces
    begin after that, `bounds` float32[terms, pieces] are the bounds, `sequence` int64[pieces] is the order of the search, and
    `tables` float32[terms, frequencies, classes] are the scores; a frequency above `exact` has a bound there instead. A score
    is at least `share` times the sum of those in the tables.
    """
    terms = len(starts)
    sums = np.full(PIECE, -1, dtype=np.float32)
    loose = np.zeros(PIECE, dtype=np.bool_)
    touched = np.empty(PIECE + 1, dtype=np.int32)
    order = np.arange(terms)
    below = np.zeros(terms + 1, dtype=np.float32)
    best = np.empty(k, dtype=np.float32)
    found = np.empty(4 * k + 4 * PIECE, dtype=np.int32)
    scores = np.empty(len(found), dtype=np.float32)
    held, count, threshold = 0, 0, np.float32(-1)
    for piece in sequence:
        total = np.float32(0)
        for term in range(terms):
            total += bounds[term, piece]
        if total < threshold:
            continue
        # Sorted by insertion: the order of one piece is nearly that of the next.
        for place in range(1, terms):
            term, at = order[place], place
            while at > 0 and bounds[order[at - 1], piece] > bounds[term, piece]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = term
        first = 0
        for place in range(terms):
            below[place + 1] = below[place] + bounds[order[place], piece]
            if below[place + 1] < threshold:
                first = place + 1
        base, seen = piece << PIECE_BITS, 0
        part = classes[base : base + PIECE]
        for place in range(terms - 1, first - 1, -1):
            term = order[place]
            begin, end = starts[term] + begins[term, piece], starts[term] + begins[term, piece + 1]
            seen = _add(docs[begin:end], values[begin:end], base, part, tables[term], exact, sums, loose, touched, seen)
            if seen < 0:
                return found[:0], False
        for place in range(first - 1, -1, -1):
            seen = _left(sums, loose, touched, seen, threshold - below[place + 1])
            if seen == 0:
                break
            term = order[place]
            begin, end = starts[term] + begins[term, piece], starts[term] + begins[term, piece + 1]
            _look_up(docs[begin:end], values[begin:end], base, part, tables[term], exact, sums, loose, touched[:seen])
        for number in range(seen):
            doc = np.int64(touched[number])
            score = sums[doc]
            sums[doc] = -1
            if score >= threshold:
                found[count], scores[count] = base + doc, score
                count += 1
                if not loose[doc] and (held < k or score > best[0]):
                    held = _hold(best, held, score)
                    if held == k:
                        threshold = np.float32(best[0] * share)
            loose[doc] = False
        if count + PIECE > len(found):
            count = _keep(found, scores, count, threshold)
            if 2 * count > len(found):
                found, scores = _doubled(found), _doubled(scores)
    count = _keep(found, scores, count, threshold)
    return found[:count], True


@njit(cache=True, nogil=True)
def _add(
    docs: Docs,
    values: Values,
    base: int,
    classes: Classes,
    table: Scores,
    exact: int,
    sums: Scores,
    loose: Flags,
    touched: Docs,
    seen: int,
) -> int:  # pragma: no cover
    """Add the scores of a term to the sums of its documents in a piece, which begins with the document `base`.

    Returns how many documents have been seen by now, which `touched` lists; -1 if a document is not in the piece.
    """
    rows = len(table)
    for at in range(len(docs)):
        doc = np.int64(docs[at]) - base
        if doc < 0 or doc >= len(classes):
            return -1
        value = int(values[at])
        if value > exact:
            loose[doc] = True
        score = table[_row(value, rows), classes[doc]]
        touched[seen] = doc
        seen += sums[doc] < 0
        sums[doc] = max(sums[doc], np.float32(0)) + score
    return seen


@njit(cache=True, nogil=True)
def _look_up(
    docs: Docs,
    values: Values,
    base: int,
    classes: Classes,
    table: Scores,
    exact: int,
    sums: Scores,
    loose: Flags,
    wanted: Docs,
) -> None:  # pragma: no cover
    """Add the scores of a term to the sums of the `wanted` documents only."""
    rows = len(table)
    many = len(wanted) * _SCANNED >= len(docs)
    for number in range(len(docs) if many else len(wanted)):
        at, doc = number, np.int64(wanted[0 if many else number])
        if many:
            doc = np.int64(docs[at]) - base
            if doc < 0 or doc >= len(classes) or sums[doc] < 0:
                continue
        else:
            at, high = 0, len(docs)
            while at < high:
                middle = (at + high) >> 1
                if np.int64(docs[middle]) - base < doc:
                    at = middle + 1
                else:
                    high = middle
            if at == len(docs) or np.int64(docs[at]) - base != doc:
                continue
        value = int(values[at])
        if value > exact:
            loose[doc] = True
        sums[doc] += table[_row(value, rows), classes[doc]]


@njit(cache=True, nogil=True)
def _left(sums: Scores, loose: Flags, touched: Docs, seen: int, least: Any) -> int:  # pragma: no cover
    """Forget the documents whose sums are below `least`; returns how many are left, at the front of `touched`."""
    kept = 0
    for number in range(seen):
        doc = touched[number]
        if sums[doc] < least:
            sums[doc] = -1
            loose[doc] = False
        else:
            touched[kept] = doc
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _hold(best: Scores, held: int, score: float) -> int:  # pragma: no cover
    """Add a score to the heap of the best, least on top, in place of the least where it is full; returns how many it holds."""
    size = len(best)
    if held < size:
        at = held
        while at > 0 and best[(at - 1) // 2] > score:
            best[at] = best[(at - 1) // 2]
            at = (at - 1) // 2
        best[at] = score
        return held + 1
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and best[child + 1] < best[child]:
            child += 1
        if score <= best[child]:
            break
        best[at] = best[child]
        at = child
    best[at] = score
    return held


@njit(cache=True, nogil=True)
def _keep(found: Docs, scores: Scores, count: int, threshold: Any) -> int:  # pragma: no cover
    """Move the documents with at least this score to the front; returns how many they are."""
    kept = 0
    for number in range(count):
        if scores[number] >= threshold:
            found[kept], scores[kept] = found[number], scores[number]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _doubled(values: Any) -> Any:  # pragma: no cover
    larger = np.empty(2 * len(values), dtype=values.dtype)
    larger[: len(values)] = values
    return larger


@njit(cache=True, nogil=True)
def frequencies(docs: Docs, values: Values, starts: Offsets, begins: Docs, wanted: Docs) -> Values:  # pragma: no cover
    """The frequencies [terms, wanted] of each term in each of the `wanted` documents, 0 where it has none."""
    out = np.zeros((len(starts), len(wanted)), dtype=values.dtype)
    for term in range(len(starts)):
        for number in range(len(wanted)):
            doc = wanted[number]
            piece = doc >> PIECE_BITS
            low = starts[term] + begins[term, piece]
            end = starts[term] + begins[term, piece + 1]
            high = end
            while low < high:
                middle = (low + high) >> 1
                if docs[middle] < doc:
                    low = middle + 1
                else:
                    high = middle
            if low < end and docs[low] == doc:
                out[term, number] = values[low]
    return out


@njit(cache=True, nogil=True)
def add_up(tables: Scores, frequencies: Values, classes: Classes) -> Scores:  # pragma: no cover
    """The scores float32[n] of documents with these `frequencies` [terms, n] and these classes of length, by the tables.

    Scores are added in the order of the terms, so that they are the sums that scoring term by term gives.
    """
    scores, rows = np.zeros(len(classes), dtype=np.float32), tables.shape[1]
    for number in range(len(classes)):
        none = True
        for term in range(len(tables)):
            value = int(frequencies[term, number])
            if value > 0:
                score = tables[term, _row(value, rows), classes[number]]
                scores[number] = score if none else scores[number] + score
                none = False
    return scores


@njit(cache=True, nogil=True)
def choose(
    docs: Docs,
    values: Values,
    classes: Classes,
    starts: Offsets,
    parts: Docs,
    tables: Scores,
    exact: int,
    whole: bool,
    first: int,
    k: int,
    share: float,
) -> tuple[Docs, Values, Scores, bool, bool]:  # pragma: no cover
    """The documents whose scores may be among the k best, int32[n] ascending, and their frequencies [terms, n] of each term.

    The third array is their scores float32[n]. It is empty if the tables do not contain them: where a frequency is above
    `exact`, and unless `whole`, which says that all documents of a class have one length. Says as well whether the tables bound
    scores, and whether all documents were in their pieces. `parts` are as `cut` returns them; for `first`, see `in_sequence`; for
    the others, see `search`.
    """
    bounded, bounds, begins = _bounded(tables), bound(parts, tables), parts[:, 0]
    sequence = in_sequence(bounds, first)[: bounds.shape[1] if bounded else 0]
    found, sound = search(docs, values, classes, starts, begins, bounds, sequence, tables, exact, k, share)
    found.sort()
    times = frequencies(docs, values, starts, begins, found)
    for value in times.reshape(-1):
        whole &= value <= exact
    scores = add_up(tables, times, classes[found]) if whole else np.empty(0, dtype=np.float32)
    return found, times, scores, bounded, sound
