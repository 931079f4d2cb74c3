"""A threshold for duplicates from people's judgments: pairs of questions drawn evenly over the similarities, and what they say.

DebateQA drew 500 pairs stratified by similarity, had people mark the true duplicates, and took the highest threshold with no
true duplicate below it (appendix A).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.evaluation.construction.debateqa.similarity import Doubles, blocks, unit_vectors

PAIRS = 500
"""The number of pairs that DebateQA's authors judged."""
LOWEST = 0.5
"""Pairs that are less similar are not drawn; set it lower for an encoder that gives low cosines."""
STRATA = 20


class SimilarPair(NamedTuple):
    """Two questions by their ids, the smaller id first, and their cosine."""

    first: str
    second: str
    cosine: float


class JudgedPair(NamedTuple):
    """The cosine of a pair that people judged, and how many of them call it a duplicate, and how many do not."""

    cosine: float
    duplicate: int
    different: int

    @property
    def is_duplicate(self) -> bool | None:
        """What most people say; None if they are evenly divided."""
        return None if self.duplicate == self.different else self.duplicate > self.different


class Suggestion(NamedTuple):
    """The threshold (None if no pair is a duplicate), and what it rests on: the numbers of pairs by their majority, of pairs
    without one, and of different questions at or above the threshold, which would be joined."""

    threshold: float | None
    duplicates: int
    different: int
    undecided: int
    joined: int


def drawn_pairs(
    ids: Sequence[str],
    texts: Sequence[str],
    *,
    pairs: int = PAIRS,
    lowest: float = LOWEST,
    encoder: str = "static",
    seed: int = 0,
) -> list[SimilarPair]:
    """Draw pairs of questions, equally many from each of 20 equal strata of cosines from `lowest` to 1, the most similar first.

    What a stratum lacks is drawn from the others. The draw depends on the seed and the questions, not on their order. Raises
    `BadInputError` for a number of pairs below 1 or a `lowest` that is not below 1.
    """
    if pairs < 1:
        raise BadInputError(f"At least 1 pair must be drawn, got {pairs}.", hint=f"DebateQA draws {PAIRS}.")
    if not -1 <= lowest < 1:
        raise BadInputError(f"The lowest cosine must be below 1, got {lowest:g}.", hint=f"The default is {LOWEST:g}.")
    order = sorted(range(len(ids)), key=ids.__getitem__)
    vectors = unit_vectors([texts[n] for n in order], encoder)
    edges = np.linspace(lowest, 1.0, STRATA + 1, dtype=np.float64)
    held = _held(vectors, edges)
    taken = _quotas(held, pairs)
    rng = np.random.default_rng(seed)
    ranks = [np.sort(rng.choice(int(n), size=int(k), replace=False)) for n, k in zip(held, taken, strict=True)]
    found = _at(vectors, edges, ranks)
    drawn = [SimilarPair(ids[order[a]], ids[order[b]], cosine) for a, b, cosine in found]
    return sorted(drawn, key=lambda pair: (-pair.cosine, pair.first, pair.second))


def suggested_threshold(judged: Sequence[JudgedPair]) -> Suggestion:
    """Return the highest threshold with no true duplicate below it: the lowest cosine of a pair that most call a duplicate."""
    true = [pair.cosine for pair in judged if pair.is_duplicate]
    other = [pair.cosine for pair in judged if pair.is_duplicate is False]
    threshold = min(true) if true else None
    joined = 0 if threshold is None else sum(cosine >= threshold for cosine in other)
    return Suggestion(threshold, len(true), len(other), len(judged) - len(true) - len(other), joined)


def _strata(cosines: Doubles, edges: Doubles) -> npt.NDArray[np.int64]:
    """Return the stratum of each cosine; -1 below the lowest. A cosine of 1 is in the highest stratum."""
    return np.minimum(np.searchsorted(edges, cosines, side="right") - 1, STRATA - 1)


def _held(vectors: Doubles, edges: Doubles) -> npt.NDArray[np.int64]:
    """Return the number of pairs in each stratum, int64[STRATA]."""
    held = np.zeros(STRATA, dtype=np.int64)
    for _, _, cosines in blocks(vectors):
        inside = cosines[cosines >= edges[0]]
        held += np.bincount(_strata(inside, edges), minlength=STRATA)
    return held


def _quotas(held: npt.NDArray[np.int64], pairs: int) -> npt.NDArray[np.int64]:
    """Return how many pairs each stratum gives: equally many, where it has them, and the most similar strata one more."""
    taken = np.zeros(STRATA, dtype=np.int64)
    left = min(pairs, int(held.sum()))
    while left:
        open_strata = np.flatnonzero(taken < held)
        each = max(1, left // len(open_strata))
        for stratum in open_strata[::-1]:
            more = min(each, int(held[stratum] - taken[stratum]), left)
            taken[stratum] += more
            left -= more
    return taken


def _at(vectors: Doubles, edges: Doubles, ranks: Sequence[npt.NDArray[np.int64]]) -> list[tuple[int, int, float]]:
    """Return the pairs with these ranks within their strata, in the order of `blocks`, as rows and cosine."""
    seen = np.zeros(STRATA, dtype=np.int64)
    found: list[tuple[int, int, float]] = []
    for row, column, cosines in blocks(vectors):
        rows, columns = np.nonzero(cosines >= edges[0])
        values = cosines[rows, columns]
        strata = _strata(values, edges)
        for stratum, wanted in enumerate(ranks):
            places = np.flatnonzero(strata == stratum)
            inside = wanted[(wanted >= seen[stratum]) & (wanted < seen[stratum] + len(places))] - seen[stratum]
            for place in places[inside].tolist():
                found.append((row + int(rows[place]), column + int(columns[place]), min(1.0, float(values[place]))))
            seen[stratum] += len(places)
    return found
