"""Ranks of relevant passages from runs, and what is refused."""

import pytest
from made_ranks import RELEVANT, RUNS, hand_made

from berdseye.data.errors import BadInputError
from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, rank_matrices


def test_ranks_are_those_of_the_lists() -> None:
    made = hand_made()
    assert made.ranks[0, 0, :2].tolist() == [1, 3]
    assert made.ranks[0, 1].tolist() == [1, 2, 4]
    assert made.ranks[1].tolist() == [[2, NOT_FOUND, NOT_FOUND], [1, NOT_FOUND, NOT_FOUND]]
    assert made.counts.tolist() == [2, 3]
    assert made.depth == 4
    assert not made.exists[0, 2]


def test_what_lies_below_the_depth_is_not_found() -> None:
    made = rank_matrices(RUNS, RELEVANT, depth=2)
    assert made.ranks[0, 1].tolist() == [1, 2, NOT_FOUND]
    with pytest.raises(BadInputError, match=r"between 1 and 2, .* got 3"):
        made.checked(3)


def test_a_missing_list_is_refused_by_name_or_dealt_with_as_asked() -> None:
    short = {**RUNS, "two": {"q1": RUNS["two"]["q1"]}}
    with pytest.raises(BadInputError, match=r"Run 'two' has no list for 1 of 2 queries \(q2\)"):
        rank_matrices(short, RELEVANT)
    zero = rank_matrices(short, RELEVANT, missing="zero")
    assert (zero.ranks[1, 1] == NOT_FOUND).all()
    assert zero.filled == 1
    dropped = rank_matrices(short, RELEVANT, missing="left-out")
    assert (dropped.queries, dropped.left_out) == (("q1",), ("q2",))


def test_a_query_without_relevant_passages_is_left_out_and_reported() -> None:
    made = rank_matrices(RUNS, {**RELEVANT, "q3": []})
    assert (made.queries, made.left_out) == (("q1", "q2"), ("q3",))


@pytest.mark.parametrize(
    ("runs", "relevant", "said"),
    [
        ({}, RELEVANT, "no run"),
        ({"one": {"q1": ["a", "b", "a"], "q2": []}}, RELEVANT, "ranks passage 'a' twice for query 'q1'"),
        (RUNS, {"q1": []}, "No query has both relevant passages"),
    ],
)
def test_what_cannot_be_used_is_reported(runs: dict, relevant: dict, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        rank_matrices(runs, relevant)
