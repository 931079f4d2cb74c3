"""Preferences and labels of people, and agreement with them."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.people import (
    Preference,
    dispute_agreement,
    elo_ratings,
    fleiss_kappa,
    majority,
    pair_accuracy,
    rank_agreement,
    read_dispute_labels,
    read_preferences,
)


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def games(order: str, questions: int = 4) -> list[Preference]:
    """The earlier letter wins every game."""
    return [Preference(str(q), a, b, "a", "p") for q in range(questions) for a, b in combinations(order, 2)]


def test_elo_finds_the_order_whatever_the_order_of_games() -> None:
    assert list(elo_ratings(games("cabd"))) == list("cabd")
    turned = [p._replace(a=p.b, b=p.a, winner="b") for p in reversed(games("cabd"))]
    assert elo_ratings(turned)["c"] == pytest.approx(elo_ratings(games("cabd"))["c"], abs=1.0)
    ties = [p._replace(winner="tie") for p in games("ab")]
    assert set(elo_ratings(ties).values()) == {1000.0}
    # One game from 1000 each: the winner expects 1/2 and gains K/2 = 2.
    assert elo_ratings(games("ab", 1)) == {"a": 1002.0, "b": 998.0}


def test_agreement_by_hand() -> None:
    ratings = {"a": 1200.0, "b": 1100.0, "c": 1000.0, "d": 900.0}
    values = {"a": 3.0, "b": 5.0, "c": 4.0, "d": 6.0}  # lower is better: a c b d
    # One of 6 pairs is turned: tau = (5 - 1) / 6; rho = 1 - 6 (0 + 1 + 1 + 0) / (4 * 15) = 0.8.
    assert rank_agreement(values, ratings, lower_is_better=True) == pytest.approx((0.8, 4 / 6, 4))
    assert rank_agreement(values, ratings, lower_is_better=False) == pytest.approx((-0.8, -4 / 6, 4))
    assert np.isnan(rank_agreement(dict.fromkeys("abcd", 1.0), ratings, lower_is_better=True).rho)
    with pytest.raises(BadInputError, match="Only 2 systems"):
        rank_agreement({"a": 1.0, "b": 2.0, "c": float("nan"), "x": 1.0}, ratings, lower_is_better=True)


@given(st.permutations("abcdef"))
def test_equal_rankings_agree_wholly(order: list[str]) -> None:
    ratings = {name: 1000.0 - n for n, name in enumerate(order)}
    assert rank_agreement(ratings, ratings, lower_is_better=False) == pytest.approx((1.0, 1.0, 6))


def test_pairs_ordered_as_people_do() -> None:
    preferences = [
        Preference("1", "x", "y", "a", ""),
        Preference("1", "y", "x", "a", ""),
        Preference("2", "x", "y", "b", ""),
        Preference("2", "x", "y", "tie", ""),
        Preference("3", "x", "y", "a", ""),
    ]
    values = {"x": {"1": 2.0, "2": 3.0, "3": 1.0}, "y": {"1": 4.0, "2": 3.0}}
    found = pair_accuracy(preferences, values, lower_is_better=True)
    np.testing.assert_array_equal(found, [1.0, 0.0, 0.5, np.nan])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": 1, "a": "x", "b": "x", "winner": "a"}, "same system"),
        ({"id": 1, "a": "x", "b": "y", "winner": "x"}, "got 'x'"),
        ({"id": 1, "a": "x", "winner": "a"}, "'b' is missing"),
        ({"id": 0, "a": "y", "b": "x", "winner": "tie", "annotator": "p"}, "already judges this pair in line 1"),
    ],
)
def test_bad_preferences_are_reported_with_their_line(tmp_path: Path, row: Any, said: str) -> None:
    good = {"id": 0, "a": "x", "b": "y", "winner": "A", "annotator": "p"}
    assert read_preferences(written(tmp_path / "good.jsonl", [good])) == [Preference("0", "x", "y", "a", "p")]
    with pytest.raises(BadInputError, match=f"bad.jsonl:2: .*{said}"):
        read_preferences(written(tmp_path / "bad.jsonl", [good, row]))


def label(question: int, value: int, annotator: str) -> dict[str, Any]:
    return {"id": question, "system": "s", "label": value, "annotator": annotator}


def test_people_on_dispute(tmp_path: Path) -> None:
    votes = {1: (1, 1, 1), 2: (1, 1, 0), 3: (0, 0, 1), 4: (0, 0, 0)}
    rows = [label(q, v, f"p{n}") for q, held in votes.items() for n, v in enumerate(held)]
    labels = read_dispute_labels(written(tmp_path / "labels.jsonl", [*rows, label(5, 1, "p0"), label(5, 0, "p1")]))
    people, undecided = majority(labels)
    assert (people, undecided) == ({("1", "s"): True, ("2", "s"): True, ("3", "s"): False, ("4", "s"): False}, 1)
    # Fleiss: P = (1 + 1/3 + 1/3 + 1) / 4 = 2/3, P_e = 1/2 (six of twelve are 1), kappa = (2/3 - 1/2) / (1/2) = 1/3.
    assert fleiss_kappa(labels) == (pytest.approx(1 / 3), 4)
    # Called 1 1 1 0 against 1 1 0 0: accuracy 3/4, F1 2*2/(2*2+1) = 0.8, MCC (2*1-0)/sqrt(3*2*2*1) = 0.577; AUROC 0.75.
    values = {(str(q), "s"): v for q, v in zip((1, 2, 3, 4), (1.0, 1.0, 1.0, 0.0), strict=True)}
    found = dispute_agreement(values, people)
    assert found == pytest.approx((0.75, 0.8, 0.75, 0.5774, 4, 0.5), abs=1e-4)
    alone = dispute_agreement({("1", "s"): 1.0}, people)
    assert (alone.accuracy, alone.n) == (1.0, 1)
    assert np.isnan([alone.auroc, alone.mcc]).all()
    with pytest.raises(BadInputError, match="No answer has both"):
        dispute_agreement({("9", "s"): 1.0}, people)


def test_bad_labels_are_reported_with_their_line(tmp_path: Path) -> None:
    for row, said in (
        (label(1, 2, "p"), "must be 0 or 1"),
        (label(1, 0, "p"), "twice"),
        ({"id": 1, "label": 1}, "'system' is missing"),
    ):
        with pytest.raises(BadInputError, match=f"bad.jsonl:2: .*{said}"):
            read_dispute_labels(written(tmp_path / "bad.jsonl", [label(1, 1, "p"), row]))
