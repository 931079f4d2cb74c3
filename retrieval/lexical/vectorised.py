"""The loops over postings in NumPy, for installations without Numba. `compiled` describes each function's arrays."""

import numpy as np

from berdseye.data.records import Ids, Scores
from berdseye.retrieval.lexical.arrays import Bytes, Docs, Offsets, Values


def invert(tokens: Docs, ends: Offsets, terms: int) -> tuple[Offsets, Docs, Docs]:
    """Postings of a block: where each term's postings begin, int64[terms + 1], and documents and frequencies, both int32."""
    docs = np.repeat(np.arange(len(ends), dtype=np.int32), np.diff(ends, prepend=0))
    order = np.argsort(tokens, kind="stable")  # documents ascend within a term
    terms_of, docs = tokens[order], docs[order]
    first = np.ones(len(tokens), dtype=bool)
    first[1:] = (terms_of[1:] != terms_of[:-1]) | (docs[1:] != docs[:-1])
    at = np.flatnonzero(first)
    frequencies = np.diff(at, append=len(tokens)).astype(np.int32)
    offsets = np.zeros(terms + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms_of[at], minlength=terms), out=offsets[1:])
    return offsets, docs[at], frequencies


def scatter(
    terms: Docs, lengths: Docs, docs: Docs, values: Values, cursors: Offsets, all_docs: Docs, all_values: Values
) -> None:
    """Append a segment's postings to those of the same terms; `cursors` says where each goes on, and is moved."""
    sizes = lengths.astype(np.int64)
    begins = np.cumsum(sizes) - sizes
    places = np.repeat(cursors[terms] - begins, sizes) + np.arange(int(sizes.sum()))
    all_docs[places] = docs[: len(places)]
    all_values[places] = values[: len(places)]
    cursors[terms] += sizes


def within(docs: Docs, count: int) -> bool:
    """Whether documents are distinct, ascending, and of a collection of `count`."""
    return not len(docs) or bool(docs[0] >= 0 and docs[-1] < count and (docs[1:] > docs[:-1]).all())


def find(terms: Bytes, ends: Offsets, wanted: Bytes) -> int:
    """The number of a term in the vocabulary: -1 if it is not there, and -2 - i for a term i that is out of bounds."""
    low, high, sought = 0, len(ends), wanted.tobytes()
    while low < high:
        middle = (low + high) // 2
        begin, end = int(ends[middle - 1]) if middle else 0, int(ends[middle])
        if not 0 <= begin <= end <= len(terms):
            return -2 - middle
        term = terms[begin:end].tobytes()
        if term == sought:
            return middle
        low, high = (middle + 1, high) if term < sought else (low, middle)
    return -1


def gather(values: Docs, docs: Docs) -> Docs:
    """`values[docs]`."""
    return values[docs]


def accumulate(docs: Docs, scores: Scores, totals: Scores, visited: Docs, count: int) -> int:
    """Add a term's scores to the totals of its documents, which are minus infinity where none was added yet.

    Returns how many documents have been visited by now; `visited` lists them.
    """
    before = totals[docs]
    new = before == -np.inf
    totals[docs] = np.where(new, scores, before + scores)
    found = docs[new]
    visited[count : count + len(found)] = found
    return count + len(found)


def best(visited: Docs, totals: Scores, k: int) -> tuple[Ids, Scores, bool]:
    """The k best visited documents: score descending, then id descending.

    Says as well whether all scores are numbers, and leaves the totals as they were before the query.
    """
    scores = totals[visited]
    totals[visited] = -np.inf
    numbers = not np.isnan(scores).any()
    if numbers and 0 < k < len(visited):
        enough = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        visited, scores = visited[enough], scores[enough]
    return *ranked(visited, scores, k), bool(numbers)


def ranked(docs: Docs, scores: Scores, k: int) -> tuple[Ids, Scores]:
    """The k best documents by their scores: score descending, then id descending."""
    order = np.lexsort((docs, scores))[::-1][:k]
    return docs[order].astype(np.int64), scores[order]
