"""Preferences and labels of people, and agreement with them."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.people import (
    Preference,
    decision_agreements,
    dispute_agreement,
    elo_ratings,
    fleiss_kappa,
    majority,
    pair_accuracy,
    read_dispute_labels,
    read_preferences,
)
from berdseye.evaluation.published import published


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


# Answers that people and the judge call disputed, and that both do not: of 100, 76 of which people call disputed. The judge
# without demonstrations was scored on 500 other answers, 285 of them disputed (57%).
TABLE_15 = {
    ("da", "qwen2 1.5b"): (71, 3),
    ("da", "minicpm-2b-dpo"): (69, 8),
    ("da", "llama3 8b"): (76, 1),
    ("da", "gemma 2 9b"): (65, 9),
    ("da", "phi-3 medium"): (66, 14),
    ("da zero-shot", "phi-3 medium"): (90, 175),
    ("acknowledge", "none"): (2, 20),
}


def test_every_digit_of_table_15_follows_from_counts() -> None:
    for row in published("debateqa_da_accuracy").to_dict("records"):
        positive, negative = (285, 215) if row["metric"] == "da zero-shot" else (76, 24)
        both, neither = TABLE_15[row["metric"], row["backbone"]]
        people = {(str(n), "s"): n < positive for n in range(positive + negative)}
        called = [1.0] * both + [0.0] * (positive - both) + [0.0] * neither + [1.0] * (negative - neither)
        found = dispute_agreement({(str(n), "s"): value for n, value in enumerate(called)}, people)
        ours = [round(one, 3) for one in (found.accuracy, found.f1, found.auroc, found.mcc)]
        assert ours == [row["acc"], row["f1"], row["auroc"], row["mcc"]], row["backbone"]


def test_decisions_of_every_two_raters(tmp_path: Path) -> None:
    votes = {1: (1, 1), 2: (1, 0), 3: (0, 0), 4: (1, 1)}
    rows = [label(q, v, f"p{n}") for q, held in votes.items() for n, v in enumerate(held)]
    labels = read_dispute_labels(written(tmp_path / "labels.jsonl", rows))
    values = {("1", "s"): 1.0, ("2", "s"): 0.0, ("3", "s"): 1.0, ("4", "s"): np.nan}
    found = {(p.a, p.b): (p.raw, p.n) for p in decision_agreements(labels, {"DA(x)": values})}
    # p0 and p1 differ on answer 2; DA differs from p0 on 2 and 3, and from p1 on 3 alone; it has no decision on 4.
    assert found == {
        ("DA(x)", "p0"): (pytest.approx(1 / 3), 3),
        ("DA(x)", "p1"): (pytest.approx(2 / 3), 3),
        ("p0", "p1"): (0.75, 4),
    }
    assert decision_agreements([], {}) == []


def test_bad_labels_are_reported_with_their_line(tmp_path: Path) -> None:
    for row, said in (
        (label(1, 2, "p"), "must be 0 or 1"),
        (label(1, 0, "p"), "twice"),
        ({"id": 1, "label": 1}, "'system' is missing"),
    ):
        with pytest.raises(BadInputError, match=f"bad.jsonl:2: .*{said}"):
            read_dispute_labels(written(tmp_path / "bad.jsonl", [label(1, 1, "p"), row]))
