"""Parts of a data set: the first questions, or a seeded sample."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.datasets.subsets import Subset
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question


def questions(count: int) -> list[Question]:
    return [Question(f"q{n}", "made", f"Question {n}?") for n in range(count)]


def ids(subset: Subset, count: int = 100) -> list[str]:
    return [q.id for q in subset.of(questions(count))]


def test_the_first_questions_or_all() -> None:
    assert ids(Subset(limit=3)) == ["q0", "q1", "q2"]
    assert ids(Subset(limit=300)) == ids(Subset()) == [q.id for q in questions(100)]


@given(st.integers(0, 2**31 - 1), st.integers(1, 120), st.integers(1, 120), st.randoms())
def test_a_seed_draws_the_same_questions_whatever_their_order(seed: int, one: int, other: int, random: Random) -> None:
    drawn = Subset(sample=one, sample_seed=seed).of(questions(100))
    assert len(drawn) == min(one, 100) == len(set(drawn))
    assert drawn == sorted(drawn, key=lambda q: int(q.id[1:])), "they keep the order of the data set"
    shuffled = random.sample(questions(100), 100)
    assert set(Subset(sample=one, sample_seed=seed).of(shuffled)) == set(drawn)
    more = Subset(sample=max(one, other), sample_seed=seed).of(questions(100))
    assert set(drawn) <= set(more), "a larger sample contains the smaller one"


def test_the_draw_is_fixed() -> None:
    """It must not change between versions: stored results name their sample by its seed alone."""
    assert ids(Subset(sample=4), 10) == ["q3", "q5", "q7", "q8"]


def test_every_question_is_drawn_equally_often() -> None:
    """Of 10 questions, 3 a seed: 600 of 2,000 seeds draw each, with a standard deviation of 20.5."""
    counts = Counter(one for seed in range(2000) for one in ids(Subset(sample=3, sample_seed=seed), 10))
    assert sum(counts.values()) == 6000
    assert all(abs(counts[f"q{n}"] - 600) < 4 * 20.5 for n in range(10))


@pytest.mark.parametrize(
    ("subset", "said"),
    [
        (Subset(limit=3, sample=3), "exclude each other"),
        (Subset(limit=0), "at least 1"),
        (Subset(sample=0), "at least 1"),
    ],
)
def test_what_cannot_be_drawn_is_reported(subset: Subset, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        subset.of(questions(5))


def test_what_a_result_records() -> None:
    recorded = [s.settings for s in (Subset(), Subset(limit=3), Subset(sample=3), Subset(sample=3, sample_seed=7))]
    assert recorded == [{}, {"limit": 3}, {"sample": 3, "sample_seed": 0}, {"sample": 3, "sample_seed": 7}]
