"""Which questions are dropped as duplicates: a greedy vertex cover of the graph of similar questions (DebateQA, algorithm 1).

An edge joins two questions with a cosine of at least the threshold (0.78 in the paper, with gte-large-en-v1.5). The question
with the most edges is dropped with its edges, again and again, until no edge is left. Of several with equally many, the one with
the smallest id is dropped, so the outcome does not depend on the order of the questions.

The paper's algorithm may drop a question whose neighbours are all dropped after it; nothing then represents it. Such a
question is taken back here, the one that was dropped last first, so that each dropped question has a neighbour that is kept, and
still no edge joins two kept questions.

Questions with the same words are one vertex: of these, the one with the smallest id stays, before any cosine is computed.

Edges are not stored, only the number of each question's edges; the cosines of a dropped question are computed again. Memory
therefore grows with the number of questions, not with that of the edges, even if all questions are alike.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.construction.debateqa.similarity import Doubles, blocks, unit_vectors
from berdseye.evaluation.construction.debateqa.thresholds import THRESHOLD, checked_threshold

Counts = npt.NDArray[np.int64]


class Dropped(NamedTuple):
    """A question that is dropped, the most similar question that is kept, and their cosine."""

    id: str
    kept: str
    cosine: float


def duplicates(
    ids: Sequence[str],
    texts: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    encoder: str = "static",
    progress: Progress = silent,
) -> list[Dropped]:
    """Return the questions to drop, in order of id; the outcome is the same for every order of the questions.

    Raises `BadInputError` for repeated ids and for a threshold that is not above 0 and at most 1.
    """
    from berdseye.data.datasets.stored import same_question

    checked_threshold(threshold)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    sorted_ids = [ids[n] for n in order]
    if repeated := next((a for a, b in pairwise(sorted_ids) if a == b), None):
        raise BadInputError(f"Two questions have the id '{repeated}'.", hint="Use unique ids.")
    firsts: dict[str, int] = {}
    same_as = [firsts.setdefault(same_question(texts[n]), place) for place, n in enumerate(order)]
    places = list(firsts.values())
    vectors = unit_vectors([texts[order[place]] for place in places], encoder)
    left = {places[row]: (places[kept], cosine) for row, kept, cosine in cover(vectors, threshold, progress=progress)}
    found = []
    for place, first in enumerate(same_as):
        if place != first or first in left:
            kept, cosine = left.get(first, (first, 1.0))
            found.append(Dropped(sorted_ids[place], sorted_ids[kept], cosine))
    return found


def cover(vectors: Doubles, threshold: float, *, progress: Progress = silent) -> list[tuple[int, int, float]]:
    """Return the dropped rows of exact unit vectors, ascending, each with its most similar kept row and their cosine.

    Rows are in order of id: the smaller row is preferred where two have equally many edges, and where two kept rows are equally
    similar.
    """
    degrees = edge_counts(vectors, threshold, progress)
    joined = np.flatnonzero(degrees)  # the other questions have no edge and are kept
    graph = _Graph(np.ascontiguousarray(vectors[joined]), threshold)
    dropped = _greedy(graph, degrees[joined], progress)
    alive = np.ones(len(joined), dtype=bool)
    alive[dropped] = False
    found: list[tuple[int, int, float]] = []
    for place in reversed(dropped):
        cosines = graph.cosines(place)
        if not (alive & (cosines >= threshold)).any():
            alive[place] = True
    for place in np.flatnonzero(~alive).tolist():
        cosines = np.where(alive, graph.cosines(place), -np.inf)
        best = int(np.argmax(cosines))
        found.append((int(joined[place]), int(joined[best]), min(1.0, float(cosines[best]))))
    return found


def edge_counts(vectors: Doubles, threshold: float, progress: Progress = silent) -> Counts:
    """Return the number of edges of each row of exact unit vectors, int64[n]."""
    counts = np.zeros(len(vectors), dtype=np.int64)
    for row, column, cosines in blocks(vectors):
        edges = cosines >= threshold
        counts[row : row + edges.shape[0]] += edges.sum(axis=1)
        counts[column : column + edges.shape[1]] += edges.sum(axis=0)
        progress(row + edges.shape[0], "questions compared", len(vectors))
    return counts


class _Graph(NamedTuple):
    """The questions that have an edge, by their exact unit vectors."""

    vectors: Doubles
    threshold: float

    def cosines(self, place: int) -> Doubles:
        """Return the cosine of a question with every question, and -inf with itself."""
        cosines: Doubles = self.vectors @ self.vectors[place]
        cosines[place] = -np.inf
        return cosines


def _greedy(graph: _Graph, degrees: Counts, progress: Progress) -> list[int]:
    """Return the places of a vertex cover in the order in which they are dropped."""
    degrees, alive = degrees.copy(), np.ones(len(degrees), dtype=bool)
    dropped: list[int] = []
    while len(degrees) and degrees[place := int(np.argmax(degrees))] > 0:  # argmax takes the first of equals
        degrees -= alive & (graph.cosines(place) >= graph.threshold)
        alive[place], degrees[place] = False, 0
        dropped.append(place)
        if len(dropped) % 500 == 0:
            progress(len(dropped), "duplicates found", None)
    return dropped
