"""Agreement of each annotator with measures and with one another, by hand and against the printed digits of table 14."""

from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.annotators import (
    measured_orders,
    orders_by_question,
    over_questions,
    over_systems,
    rank_agreement,
)
from berdseye.evaluation.answer_measures.people import Preference
from berdseye.evaluation.published import published


def games(question: str, order: str, who: str) -> list[Preference]:
    """The earlier letter wins every comparison."""
    return [Preference(question, a, b, "a", who) for a, b in combinations(order, 2)]


def test_agreement_by_hand() -> None:
    ratings = {"a": 1200.0, "b": 1100.0, "c": 1000.0, "d": 900.0}
    values = {"a": 6.0, "b": 4.0, "c": 5.0, "d": 3.0}  # a c b d
    # One of 6 pairs is turned: tau = (5 - 1) / 6; rho = 1 - 6 (0 + 1 + 1 + 0) / (4 * 15) = 0.8.
    assert rank_agreement(values, ratings) == pytest.approx((0.8, 4 / 6, 4))
    assert rank_agreement({name: -v for name, v in values.items()}, ratings) == pytest.approx((-0.8, -4 / 6, 4))
    assert np.isnan(rank_agreement(dict.fromkeys("abcd", 1.0), ratings).rho)
    few = rank_agreement({"a": 1.0, "b": 2.0, "c": float("nan"), "x": 1.0}, ratings)
    assert (np.isnan(few.rho), few.n) == (True, 2)


@given(st.permutations("abcdef"))
def test_equal_orders_agree_wholly(order: list[str]) -> None:
    ratings = {name: 1000.0 - n for n, name in enumerate(order)}
    assert rank_agreement(ratings, ratings) == pytest.approx((1.0, 1.0, 6))


def test_points_of_a_question() -> None:
    played = [
        Preference("1", "x", "y", "a", "p"),
        Preference("1", "x", "z", "tie", "p"),
        Preference("1", "z", "y", "b", ""),
    ]
    # x wins and ties: 1.5 of 2; z ties. The third comparison is of a person without a name.
    assert orders_by_question(played) == {
        "p": {"1": {"x": 0.75, "y": 0.0, "z": 0.5}},
        "?": {"1": {"z": 0.0, "y": 1.0}},
    }


def test_each_annotators_own_correlation_is_averaged() -> None:
    preferences = [*games("1", "xyz", "p"), *games("2", "xyz", "p"), *games("1", "yxz", "r")]
    values = {"x": {"1": 1.0, "2": 3.0}, "y": {"1": 2.0, "2": 2.0}, "z": {"1": 3.0, "2": 1.0}}  # lower is better
    people = orders_by_question(preferences)
    measure = measured_orders(values, lower_is_better=True)
    assert measure["1"] == {"x": -1.0, "y": -2.0, "z": -3.0}
    # p: rho 1 on question 1 and -1 on question 2, mean 0. r: rho 1/2, tau 1/3. Pooled, rho would be (1 - 1 + 1/2) / 3.
    found = over_questions(list(people.values()), measure)
    assert (found.rho.value, found.tau.value, found.rho.n) == pytest.approx((0.25, 1 / 6, 3))
    between = over_questions([people["p"]], people["r"])
    assert (between.rho.value, between.tau.value, between.rho.n) == pytest.approx((0.5, 1 / 3, 1))
    # Over systems, by each annotator's own Elo: means order x y z; p has rho 1, r has 1/2.
    systems = over_systems(preferences, {"x": -1.0, "y": -2.0, "z": -3.0})
    assert systems == pytest.approx((0.75, (1 + 1 / 3) / 2, 3))


def test_questions_without_an_order_do_not_count() -> None:
    people = orders_by_question([*games("1", "xyz", "p"), *games("2", "xy", "p")])
    measure = measured_orders({s: {"1": 1.0, "2": float(n)} for n, s in enumerate("xyz")}, lower_is_better=False)
    found = over_questions(list(people.values()), measure)  # question 1 is tied, question 2 has two systems
    assert (np.isnan(found.rho.value), found.rho.n) == (True, 0)
    assert over_questions([], {}).tau.n == 0
    tied = over_systems(games("1", "xyz", "p"), dict.fromkeys("xyz", 1.0))
    assert (np.isnan(tied.rho), tied.n) == (True, 3)
    with pytest.raises(BadInputError, match="Only 2 systems have both"):
        over_systems(games("1", "xyz", "p"), {"x": 1.0, "y": 2.0, "z": float("nan")})


def test_the_printed_digits_demand_correlations_per_question() -> None:
    """DebateQA, table 14: 5 systems, 100 questions, 3 annotators. Tau of 5 systems without ties is a multiple of 1/5, so a mean
    of three is a multiple of 1/15: not one of the printed values. A mean over 300 orders is a multiple of 1/1500."""
    printed = published("debateqa_pd_alignment")["tau"]

    def reached(orders: int) -> list[bool]:
        return [abs(tau - round(tau * 5 * orders) / (5 * orders)) < 0.0005 + 1e-9 for tau in printed]

    assert len(printed) == 12
    assert not any(reached(3))
    assert all(reached(300))


def test_what_annotators_share_with_a_measure_does_not_depend_on_the_order_of_games() -> None:
    played = [*games("1", "abcde", "p"), *games("2", "badce", "p"), *games("1", "edcba", "q")]
    measure = measured_orders(
        {s: {"1": float(n), "2": float(-n)} for n, s in enumerate("abcde")}, lower_is_better=False
    )
    one, other = (over_questions(list(orders_by_question(p).values()), measure) for p in (played, played[::-1]))
    assert one.rho.value == pytest.approx(other.rho.value)
    # p: -1 on question 1; question 2, b a d c e against a b c d e: two adjacent pairs turned, rho 0.8. q: 1 on question 1.
    assert one.rho.value == pytest.approx(mean([(-1 + 0.8) / 2, 1.0]))
