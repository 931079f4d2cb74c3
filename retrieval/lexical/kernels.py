"""The arrays of an inverted index, memory-mapped from disk, and loops over postings compiled by Numba.

All loops release the interpreter's lock.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berdseye.retrieval.lexical.vectorised import accumulate, best, gather, invert, scatter, within
else:
    try:
        from berdseye.retrieval.lexical.compiled import accumulate, best, gather, invert, scatter, within
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        from berdseye.retrieval.lexical.vectorised import accumulate, best, gather, invert, scatter, within

from berdseye.data.records import Ids, Scores

Docs = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
"""Term frequencies, uint16, or learned weights, float32."""


def mapped(path: Path, dtype: npt.DTypeLike) -> Any:
    """Memory-map the array in a file; an empty file, which cannot be mapped, gives an empty array."""
    if not path.stat().st_size:
        return np.empty(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))


@njit(cache=True, nogil=True)
def invert(tokens: Docs, ends: Offsets, terms: int) -> tuple[Offsets, Docs, Docs]:  # pragma: no cover
    """The postings of a block: `tokens` int32[n] are term numbers, and those of document i end at `ends[i]`.

    Returns the offsets at which each term's postings begin, int64[terms + 1], and the documents and frequencies, both int32.
    """
    counts = np.zeros(terms + 1, dtype=np.int64)
    for token in tokens:
        counts[token + 1] += 1
    starts = np.cumsum(counts)
    docs = np.empty(len(tokens), dtype=np.int32)
    frequencies = np.empty(len(tokens), dtype=np.int32)
    next_places = starts[:-1].copy()
    begin = 0
    for doc, end in enumerate(ends):
        for at in range(begin, end):
            term = tokens[at]
            place = next_places[term]
            if place > starts[term] and docs[place - 1] == doc:
                frequencies[place - 1] += 1
            else:
                docs[place] = doc
                frequencies[place] = 1
                next_places[term] = place + 1
        begin = end
    offsets = np.zeros(terms + 1, dtype=np.int64)
    for term in range(terms):
        length = next_places[term] - starts[term]
        offsets[term + 1] = offsets[term] + length
        for at in range(length):
            docs[offsets[term] + at] = docs[starts[term] + at]
            frequencies[offsets[term] + at] = frequencies[starts[term] + at]
    return offsets, docs[: offsets[terms]], frequencies[: offsets[terms]]


@njit(cache=True, nogil=True)
def scatter(
    terms: Docs, lengths: Docs, docs: Docs, values: Values, cursors: Offsets, all_docs: Docs, all_values: Values
) -> None:  # pragma: no cover
    """Append the postings of a block to those of equal terms; `cursors` are the positions of each term, and are advanced."""
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
    """Whether document numbers are distinct, ascending and below `count`, as in the postings of a term.

    The other kernels use these numbers as indices without checks, and a damaged file may contain any number.
    """
    sound = len(docs) == 0 or (docs[0] >= 0 and docs[-1] < count)
    for at in range(1, len(docs)):
        sound &= docs[at - 1] < docs[at]
    return sound


@njit(cache=True, nogil=True)
def gather(values: Docs, docs: Docs) -> Docs:  # pragma: no cover
    """`values[docs]`, without the copy of `docs` that NumPy makes."""
    out = np.empty(len(docs), dtype=values.dtype)
    for at in range(len(docs)):
        out[at] = values[docs[at]]
    return out


@njit(cache=True, nogil=True)
def accumulate(docs: Docs, scores: Scores, totals: Scores, touched: Docs, count: int) -> int:  # pragma: no cover
    """Add a term's scores to the totals of its documents, which are minus infinity for documents without a score.

    Returns the number of documents with a score so far; `touched` lists them.
    """
    for at in range(len(docs)):
        doc = docs[at]
        total = totals[doc]
        if total == -np.inf:
            touched[count] = doc
            count += 1
            totals[doc] = scores[at]
        else:
            totals[doc] = total + scores[at]
    return count


@njit(cache=True, nogil=True)
def best(touched: Docs, totals: Scores, k: int) -> tuple[Ids, Scores, bool]:  # pragma: no cover
    """The k best touched documents by score, then id, both descending, in no particular order (a heap, worst on top).

    Also returns whether no score is NaN, and resets the totals.
    """
    size, numbers = min(k, len(touched)), True
    ids = np.empty(size, dtype=np.int64)
    scores = np.empty(size, dtype=np.float32)
    filled = 0
    for number in range(len(touched)):
        doc, score = np.int64(touched[number]), totals[touched[number]]
        totals[touched[number]] = -np.inf
        numbers = numbers and score == score
        if filled < size:
            at = filled
            filled += 1
            while at > 0:
                parent = (at - 1) // 2
                if scores[parent] < score or (scores[parent] == score and ids[parent] < doc):
                    break
                ids[at], scores[at] = ids[parent], scores[parent]
                at = parent
            ids[at], scores[at] = doc, score
        elif score > scores[0] or (score == scores[0] and doc > ids[0]):
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
    return ids, scores, numbers
