"""Measures worked out by hand, and what must hold of them whatever the labels."""

from math import nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure, parse_measures


def values(measure: str, *questions: list[list[float]]) -> list[float]:
    [parsed] = parse_measures(measure)
    return parsed.values(Support.of([np.array(q, dtype=float) for q in questions])).tolist()


MEASURES = ("MRecall", "Precision", "Coverage")

# Five passages by three perspectives. Passages 1 and 4 support the first, passage 2 the second, passage 5 the third;
# passage 3 supports none.
FIVE = [[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("MRecall@5", 1.0),  # all three are covered
        ("MRecall@4", 0.0),  # the third is first covered at rank 5
        ("MRecall@3", 0.0),  # two of three
        ("MRecall@2", 1.0),  # m = 3 > k = 2, and two are covered
        ("MRecall@1", 1.0),  # m = 3 > k = 1, and one is covered
        ("Precision@5", 4 / 5),  # all but passage 3
        ("Precision@3", 2 / 3),
        ("Precision@1", 1.0),
        ("Coverage@5", 3 / 3),
        ("Coverage@4", 2 / 3),
        ("Coverage@1", 1 / 3),
    ],
)
def test_five_passages_by_hand(measure: str, expected: float) -> None:
    assert values(measure, FIVE) == [pytest.approx(expected)]


def test_more_perspectives_than_passages() -> None:
    # m = 4, k = 2: min(m, k) = 2 covered perspectives are enough, and it does not matter by how many passages.
    assert values("MRecall@2", [[1, 1, 0, 0], [0, 0, 0, 0]]) == [1.0]
    assert values("MRecall@2", [[1, 0, 0, 0], [1, 0, 0, 0]]) == [0.0]
    assert values("MRecall@2", [[1, 0, 0, 0], [0, 0, 0, 1]]) == [1.0]
    # m = k = 2: both are needed.
    assert values("MRecall@2", [[1, 0], [1, 0]]) == [0.0]


def test_one_passage_may_support_everything() -> None:
    assert values("MRecall@5", [[1, 1, 1]]) == [1.0]
    assert values("Precision@1", [[1, 1, 1]]) == [1.0]


def test_short_rankings() -> None:
    # Two passages where five were asked for: Precision still divides by 5, as the released evaluator does.
    assert values("Precision@5", [[1], [1]]) == [pytest.approx(2 / 5)]
    assert values("MRecall@5", [[1, 0], [0, 1]]) == [1.0]
    # m = 3 > the two passages there are, but m <= k = 5: all three are needed.
    assert values("MRecall@5", [[1, 0, 0], [0, 1, 0]]) == [0.0]


def test_a_question_for_which_nothing_was_found_covers_nothing() -> None:
    support = Support.of([np.full((0, 3), nan), np.ones((2, 2))])
    for name in MEASURES:
        assert parse_measures(f"{name}@2")[0].values(support).tolist() == [0.0, 1.0]
    only = Support.of([np.full((0, 3), nan)])
    assert [m.values(only).tolist() for m in parse_measures("MRecall@5 Precision@5 Coverage@5")] == [[0.0]] * 3


@pytest.mark.parametrize("name", MEASURES)
def test_a_question_without_perspectives_has_no_value(name: str) -> None:
    support = Support.of([np.ones((3, 2)), np.zeros((3, 0)), [], [[], []]])
    assert support.counts.tolist() == [2, 0, 0, 0]
    assert support.depths.tolist() == [3, 3, 0, 2]
    np.testing.assert_equal(parse_measures(f"{name}@3")[0].values(support), [1.0, nan, nan, nan])


def test_no_perspective_anywhere_is_reported() -> None:
    with pytest.raises(BadInputError, match="No question has a perspective"):
        values("MRecall@5", [[], []])
    with pytest.raises(BadInputError, match="No question has a perspective"):
        parse_measures("MRecall@5")[0].values(Support.of([]))


def test_a_missing_label_counts_as_not_supporting_and_is_counted() -> None:
    support = Support.of([np.array([[1, nan], [nan, nan]]), np.array([[0, 1, 0], [nan, 1, 1], [0, 0, 0]])])
    assert parse_measures("Coverage@2")[0].values(support).tolist() == [0.5, pytest.approx(2 / 3)]
    # Top 1: of 2 + 3 pairs all but one have a label. Top 2: 1 of 4 and 5 of 6. Top 3: the first has no third passage.
    assert support.judged_at(1) == pytest.approx(4 / 5)
    assert support.judged_at(2) == pytest.approx(6 / 10)
    assert support.judged_at(3) == support.judged_at(100) == pytest.approx(9 / 13)
    assert Support.of([]).judged_at(5) == 0


TABLES = st.integers(1, 5).flatmap(
    lambda m: st.lists(st.lists(st.sampled_from([0.0, 1.0, nan]), min_size=m, max_size=m), min_size=1, max_size=8)
)
EVERY = st.builds(
    lambda name, k: parse_measures(f"{name}@{k}")[0], st.sampled_from(sorted(MEASURES)), st.integers(1, 9)
)


@given(TABLES, EVERY, st.data())
def test_one_more_supporting_label_never_lowers_a_measure(
    table: list[list[float]], measure: Measure, data: st.DataObject
) -> None:
    before = np.array(table)
    after = before.copy()
    row = data.draw(st.integers(0, before.shape[0] - 1))
    after[row, data.draw(st.integers(0, before.shape[1] - 1))] = 1.0
    assert measure.values(Support.of([after]))[0] >= measure.values(Support.of([before]))[0]


@given(st.lists(TABLES, min_size=2, max_size=6), EVERY, st.randoms(use_true_random=False))
def test_the_order_and_company_of_questions_are_irrelevant(
    tables: list[list[list[float]]], measure: Measure, random: Random
) -> None:
    arrays = [np.array(t) for t in tables]
    alone = [measure.values(Support.of([a]))[0] for a in arrays]
    order = random.sample(range(len(arrays)), len(arrays))
    together = measure.values(Support.of([arrays[i] for i in order]))
    assert together.tolist() == [alone[i] for i in order]


@given(st.lists(TABLES, min_size=1, max_size=6), st.integers(1, 9))
def test_mrecall_is_at_most_the_share_of_questions_with_any_hit(tables: list[list[list[float]]], k: int) -> None:
    arrays = [np.array(t) for t in tables]
    support = Support.of(arrays)
    mrecall, coverage, precision = (
        m.values(support) for m in parse_measures(f"MRecall@{k} Coverage@{k} Precision@{k}")
    )
    assert mrecall.mean() <= np.mean([(a[:k] == 1).any() for a in arrays])
    assert (mrecall[coverage == 1] == 1).all()
    assert ((coverage > 0) == (precision > 0)).all()
    assert ((coverage <= 1) & (precision <= 1)).all()


def test_names_are_canonical() -> None:
    assert [str(m) for m in parse_measures(" MRecall@5   Precision@10 ")] == ["MRecall@5", "Precision@10"]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("Recal@5", UnknownNameError, "Did you mean Recall@5 or MRecall@5"),
        ("MRecall", BadInputError, "cutoff of at least 1"),
        ("MRecall@0", BadInputError, "cutoff of at least 1"),
        ("MRecall(5)@5", BadInputError, "Write it like MRecall@5"),
        ("MRecall@5>Precision@5", UnknownNameError, "Unknown measure"),
        ("PD(gpt2)", BadInputError, r"measure of answers.*study debateqa .*--measures 'PD\(gpt2\)'"),
        ("DA(api(gpt-4o))", BadInputError, r"measure of answers.*study debateqa .*--measures 'DA\(api\(gpt-4o\)\)'"),
        ("pRecall@5", BadInputError, "one ranking per perspective.*study pir.*Coverage@k"),
        ("p-Recall@5", BadInputError, "one ranking per perspective"),
        ("MRecall@", BadInputError, "cannot be read after"),
        ("  ", BadInputError, "No measure is given"),
    ],
)
def test_names_that_are_none_are_refused(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        parse_measures(text)


def test_a_cutoff_below_one_is_refused() -> None:
    with pytest.raises(BadInputError, match="got 0"):
        Support.of([np.ones((1, 1))]).top(0)
