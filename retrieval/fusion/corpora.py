"""Rankings over several corpora as one list, whose passages are known by corpus and id."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from berdseye.data.records import Ranking
from berdseye.retrieval.fusion.fusions import reciprocal_rank
from berdseye.retrieval.ranking import top_k

CONSTANT = 60.0
"""That of Cormack et al., SIGIR 2009."""


class Fused(NamedTuple):
    """A passage of one of the corpora, its fused score, and its rank (from 1) in each pipeline that found it."""

    corpus: str
    id: int
    score: float
    ranks: dict[str, int]


def fused_over_corpora(found: Mapping[tuple[str, str], Ranking], k: int, constant: float = CONSTANT) -> list[Fused]:
    """The k best passages of rankings by (corpus, pipeline), by reciprocal ranks.

    Scores of different corpora and pipelines cannot be compared, ranks can: the first of each comes before the second of any,
    and a passage that two pipelines find comes before one that only one of them does at the same rank.
    """
    numbers: dict[tuple[str, int], int] = {}
    ranks: dict[tuple[str, int], dict[str, int]] = {}
    lists = []
    for (corpus, pipeline), ranking in found.items():
        places = [(corpus, passage) for passage in ranking.ids.tolist()]
        for rank, place in enumerate(places, start=1):
            numbers.setdefault(place, len(numbers))
            ranks.setdefault(place, {})[pipeline] = rank
        # Ties go to the higher number; counted down, the one that was found first has it.
        lists.append(Ranking(np.array([-numbers[place] for place in places], dtype=np.int64), ranking.scores))
    if not numbers:
        return []
    known = list(numbers)
    best = top_k(*reciprocal_rank(lists, constant), k)
    return [
        Fused(corpus, passage, float(score), ranks[corpus, passage])
        for (corpus, passage), score in zip((known[-n] for n in best.ids.tolist()), best.scores.tolist(), strict=True)
    ]
