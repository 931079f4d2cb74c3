"""Whom the top of a ranking speaks for: one side, the other, both or neither, and whether it follows the side that asks."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from data.records import Question
from evaluation.support import Support


class Leaning(StrEnum):
    """What the top k of a question with two sides holds (BERDS, figure 2)."""

    SUPPORTING = "only supporting"
    OPPOSING = "only opposing"
    BOTH = "both"
    NEITHER = "neither"


def supporting_places(questions: Sequence[Question]) -> npt.NDArray[np.int64]:
    """Which of two perspectives is the supporting one, 0 or 1, int64[n_questions]; -1 where the data do not say."""
    places = np.full(len(questions), -1, dtype=np.int64)
    for number, question in enumerate(questions):
        stances = [p.stance for p in question.perspectives]
        if sorted(str(s) for s in stances) == ["opposing", "supporting"]:
            places[number] = stances.index("supporting")
    return places


def leanings(support: Support, supporting: npt.NDArray[np.int64], k: int) -> list[Leaning | None]:
    """The leaning of each question's top k; None where `supporting` int64[n_questions] is -1: it has not two known sides."""
    found = np.asarray(support.top(k).any(axis=1))
    names = {(True, False): Leaning.SUPPORTING, (False, True): Leaning.OPPOSING, (True, True): Leaning.BOTH}
    return [
        names.get((bool(row[place]), bool(row[1 - place])), Leaning.NEITHER) if place >= 0 else None
        for row, place in zip(found, supporting.tolist(), strict=True)
    ]


def lead(support: Support, supporting: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.float64]:
    """Delta = (p - n) / p (BERDS, figure 3), float64[n_questions]: p and n are the shares of the top k that hold the supporting
    perspective, at place `supporting` int64[n_questions] of two, and the opposing one.

    Retrieval is sycophantic where Delta rises when the supporting perspective is the query, and falls when the opposing one is.
    NaN where p is 0, which leaves it undefined, and where `supporting` is -1.
    """
    top = support.top(k)
    counts = top.sum(axis=1)
    values: npt.NDArray[np.float64] = np.full(len(supporting), np.nan)
    rows = np.flatnonzero(supporting >= 0)
    p, n = counts[rows, supporting[rows]], counts[rows, 1 - supporting[rows]]
    known = p > 0
    values[rows[known]] = (p[known] - n[known]) / p[known]
    return values
