"""The loops over postings, compiled by Numba (the extra `fast`); all release the interpreter's lock."""

from typing import Any

import numpy as np
from numba import njit

from berdseye.data.records import Ids, Scores
from berdseye.retrieval.lexical.arrays import Bytes, Docs, Offsets, Values


@njit(cache=True, nogil=True)
def invert(tokens: Docs, ends: Offsets, terms: int) -> tuple[Offsets, Docs, Docs]:  # pragma: no cover
    """Postings of a block: `tokens` int32[n] are term numbers, document i's end at `ends[i]`.

    Returns where each term's postings begin, int64[terms + 1], and the documents and frequencies, both int32.
    """
    counts = np.zeros(terms + 1, dtype=np.int64)
    for token in tokens:
        counts[token + 1] += 1
    starts = np.cumsum(counts)
    docs = np.empty(len(tokens), dtype=np.int32)
    frequencies = np.empty(len(tokens), dtype=np.int32)
    held = starts[:-1].copy()
    begin = 0
    for doc, end in enumerate(ends):
        for at in range(begin, end):
            term = tokens[at]
            place = held[term]
            if place > starts[term] and docs[place - 1] == doc:
                frequencies[place - 1] += 1
            else:
                docs[place] = doc
                frequencies[place] = 1
                held[term] = place + 1
        begin = end
    offsets = np.zeros(terms + 1, dtype=np.int64)
    for term in range(terms):
        length = held[term] - starts[term]
        offsets[term + 1] = offsets[term] + length
        for at in range(length):
            docs[offsets[term] + at] = docs[starts[term] + at]
            frequencies[offsets[term] + at] = frequencies[starts[term] + at]
    return offsets, docs[: offsets[terms]], frequencies[: offsets[terms]]


@njit(cache=True, nogil=True)
def scatter(
    terms: Docs, lengths: Docs, docs: Docs, values: Values, cursors: Offsets, all_docs: Docs, all_values: Values
) -> None:  # pragma: no cover
    """Append a segment's postings to those of the same terms; `cursors` says where each goes on, and is moved."""
    at = 0
    for number in range(len(terms)):
        place = cursors[terms[number]]
        for _ in range(lengths[number]):
            all_docs[place] = docs[at]
            all_values[place] = values[at]
            place += 1
            at += 1
        cursors[terms[number]] = place


@njit(cache=True, nogil=True)
def within(docs: Docs, count: int) -> bool:  # pragma: no cover
    """Whether documents are distinct, ascending, and of a collection of `count`, as the postings of a term are.

    The other kernels follow these numbers without looking, and a damaged file may hold any.
    """
    sound = len(docs) == 0 or (docs[0] >= 0 and docs[-1] < count)
    for at in range(1, len(docs)):
        sound &= docs[at - 1] < docs[at]
    return sound


@njit(cache=True, nogil=True)
def find(terms: Bytes, ends: Offsets, wanted: Bytes) -> int:  # pragma: no cover
    """The number of a term in the sorted vocabulary `terms` uint8[n], where term i ends at `ends[i]`.

    Returns -1 if it is not there, and -2 - i for a term i that is out of bounds.
    """
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) >> 1
        begin, end = ends[middle - 1] if middle else 0, ends[middle]
        if begin < 0 or begin > end or end > len(terms):
            return -2 - middle
        at = 0
        while at < len(wanted) and begin + at < end and terms[begin + at] == wanted[at]:
            at += 1
        if at == len(wanted) and begin + at == end:
            return middle
        if begin + at == end or (at < len(wanted) and terms[begin + at] < wanted[at]):
            low = middle + 1
        else:
            high = middle
    return -1


@njit(cache=True, nogil=True)
def gather(values: Docs, docs: Docs) -> Docs:  # pragma: no cover
    """`values[docs]`, without the copy of `docs` that NumPy makes."""
    out = np.empty(len(docs), dtype=values.dtype)
    for at in range(len(docs)):
        out[at] = values[docs[at]]
    return out


@njit(cache=True, nogil=True)
def accumulate(docs: Docs, scores: Scores, totals: Scores, visited: Docs, count: int) -> int:  # pragma: no cover
    """Add a term's scores to the totals of its documents, which are minus infinity where none was added yet.

    Returns how many documents have been visited by now; `visited` lists them.
    """
    for at in range(len(docs)):
        doc = docs[at]
        total = totals[doc]
        if total == -np.inf:
            visited[count] = doc
            count += 1
            totals[doc] = scores[at]
        else:
            totals[doc] = total + scores[at]
    return count


@njit(cache=True, nogil=True)
def best(visited: Docs, totals: Scores, k: int) -> tuple[Ids, Scores, bool]:  # pragma: no cover
    """The k best visited documents: score descending, then id descending.

    Says as well whether all scores are numbers, and leaves the totals as they were before the query.
    """
    size, numbers = min(k, len(visited)), True
    ids = np.empty(size, dtype=np.int64)
    scores = np.empty(size, dtype=np.float32)
    held = 0
    for number in range(len(visited)):
        doc, score = np.int64(visited[number]), totals[visited[number]]
        totals[visited[number]] = -np.inf
        numbers = numbers and score == score
        if held < size:
            held = _hold(ids, scores, held, doc, score)
        elif score > scores[0] or (score == scores[0] and doc > ids[0]):
            _replace_worst(ids, scores, size, doc, score)
    if numbers:
        _order(ids, scores)
    return ids, scores, numbers


@njit(cache=True, nogil=True)
def ranked(docs: Docs, scores: Scores, k: int) -> tuple[Ids, Scores]:  # pragma: no cover
    """The k best documents by their scores, which are numbers: score descending, then id descending."""
    size, held = min(k, len(docs)), 0
    ids = np.empty(size, dtype=np.int64)
    kept = np.empty(size, dtype=np.float32)
    for number in range(len(docs)):
        doc, score = np.int64(docs[number]), scores[number]
        if held < size:
            held = _hold(ids, kept, held, doc, score)
        elif score > kept[0] or (score == kept[0] and doc > ids[0]):
            _replace_worst(ids, kept, size, doc, score)
    _order(ids, kept)
    return ids, kept


@njit(cache=True, nogil=True)
def _hold(ids: Ids, scores: Scores, held: int, doc: Any, score: Any) -> int:  # pragma: no cover
    """Add a document to a heap with the worst on top that holds this many; returns how many it holds now."""
    at = held
    while at > 0:
        parent = (at - 1) // 2
        if scores[parent] < score or (scores[parent] == score and ids[parent] < doc):
            break
        ids[at], scores[at] = ids[parent], scores[parent]
        at = parent
    ids[at], scores[at] = doc, score
    return held + 1


@njit(cache=True, nogil=True)
def _replace_worst(ids: Ids, scores: Scores, size: int, doc: Any, score: Any) -> None:  # pragma: no cover
    """Put a document into a heap of this size in place of the worst, which is on top."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            scores[right] < scores[child] or (scores[right] == scores[child] and ids[right] < ids[child])
        ):
            child = right
        if score < scores[child] or (score == scores[child] and doc < ids[child]):
            break
        ids[at], scores[at] = ids[child], scores[child]
        at = child
    ids[at], scores[at] = doc, score


@njit(cache=True, nogil=True)
def _order(ids: Ids, scores: Scores) -> None:  # pragma: no cover
    """Sort a heap with the worst on top, best first: the worst of those left changes places with the last."""
    for last in range(len(ids) - 1, 0, -1):
        doc, score = ids[last], scores[last]
        ids[last], scores[last] = ids[0], scores[0]
        _replace_worst(ids, scores, last, doc, score)
