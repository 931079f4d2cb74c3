"""Whom the top of a ranking speaks for: one side, the other, both or neither, and whether it follows the side that asks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import proportion_confint

from berdseye.data.records import Question
from berdseye.evaluation.support import Support


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


def shares_of_leanings(found: Iterable[Leaning | None]) -> list[dict[str, object]]:
    """The share of each leaning among those that are known, in percent with Wilson's 95% interval: `leaning`, `place` (the order
    of the figure), `value`, `low`, `high` and `n`."""
    said = Counter(one for one in found if one is not None)
    total, rows = said.total(), []
    for place, kind in enumerate(Leaning):
        low, high = proportion_confint(said[kind], total, method="wilson") if total else (np.nan, np.nan)
        value = 100 * said[kind] / total if total else np.nan
        row = {"leaning": str(kind), "place": place, "value": value, "low": 100 * low, "high": 100 * high, "n": total}
        rows.append(row)
    return rows


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
