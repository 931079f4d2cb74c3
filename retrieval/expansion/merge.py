"""Merging the rankings of one question's perspectives."""

from collections.abc import Sequence

import numpy as np

from berdseye.data.records import Ranking
from berdseye.retrieval.ranking import PAD


def round_robin(rankings: Sequence[Ranking], k: int) -> Ranking:
    """The k passages that come first when the lists take turns (BERDS, query expansion).

    In each turn every list, in the order given, offers its next passage; one that is there already is skipped and the list
    waits for its next turn. `ids` int64[<= k]; `scores` float32, 1 / place: they tell the order, and nothing of relevance.
    """
    depth = max((len(ranking.ids) for ranking in rankings), default=0)
    turns = np.full((depth, len(rankings)), PAD, dtype=np.int64)
    for column, ranking in enumerate(rankings):
        turns[: len(ranking.ids), column] = ranking.ids
    offered = turns[turns != PAD]
    firsts = np.sort(np.unique(offered, return_index=True)[1])[:k]
    return Ranking(offered[firsts], (1 / np.arange(1, len(firsts) + 1)).astype(np.float32))
