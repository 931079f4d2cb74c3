"""The merge of rankings in turns, against one written the long way."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.records import Ranking
from berdseye.retrieval.expansion.ranker import round_robin


def ranking(*ids: int) -> Ranking:
    return Ranking(np.array(ids, dtype=np.int64), np.linspace(9, 1, len(ids), dtype=np.float32))


def turn_by_turn(lists: list[list[int]], k: int) -> list[int]:
    """One passage at a time, by queues, as BERDS describes it."""
    merged: list[int] = []
    queues = [iter(ids) for ids in lists]
    for _ in range(max(map(len, lists), default=0)):
        for queue in queues:
            passage = next(queue, -1)
            if passage >= 0 and passage not in merged and len(merged) < k:
                merged.append(passage)
    return merged


def test_lists_take_turns_and_what_is_there_is_skipped() -> None:
    merged = round_robin([ranking(1, 2, 3), ranking(1, 4, 5), ranking(6, 2, 7)], 6)
    assert merged.ids.tolist() == [1, 6, 2, 4, 3, 5]
    assert merged.scores.tolist() == np.float32([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6]).tolist()


def test_short_lists_pads_and_no_lists() -> None:
    assert round_robin([ranking(3), ranking(1, 2, -1, -1), ranking()], 10).ids.tolist() == [3, 1, 2]
    empty = round_robin([], 5)
    assert (empty.ids.dtype, empty.scores.dtype, len(empty.ids)) == (np.int64, np.float32, 0)


def test_one_list_stays_in_its_order() -> None:
    assert round_robin([ranking(9, 3, 7)], 2).ids.tolist() == [9, 3]


lists = st.lists(st.lists(st.integers(0, 15), unique=True, max_size=12), max_size=6)


@given(lists, st.integers(1, 20), st.integers(0, 3))
def test_it_is_what_turns_give(given_lists: list[list[int]], k: int, pads: int) -> None:
    merged = round_robin([ranking(*ids, *[-1] * pads) for ids in given_lists], k)
    assert merged.ids.tolist() == turn_by_turn(given_lists, k)
    assert (merged.ids.dtype, merged.scores.dtype) == (np.int64, np.float32)
    assert (np.diff(merged.scores) < 0).all()


def test_scores_descend_strictly_to_the_largest_k() -> None:
    merged = round_robin([ranking(*range(1000)), ranking(*range(1000, 2000))], 1000)
    assert (np.diff(merged.scores) < 0).all()
    assert len(merged.ids) == 1000
