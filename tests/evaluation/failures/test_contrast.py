"""Two runs side by side, worked out by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.records import Passage, Perspective, Question
from berdseye.evaluation.failures.contrast import Contrast, contrast_table
from berdseye.evaluation.failures.contrast import contrast as contrast_of
from berdseye.evaluation.failures.contrast_charts import difference_bars, names_of, rank_moves, slope_chart
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.measures import Measure, parse_measure, parse_measures
from berdseye.evaluation.scores.counted import Counted

[PRECISION] = parse_measures("Precision@2")
[MRECALL] = parse_measures("MRecall@2")


def run(labels: dict[str, list[list[float]]]) -> LabelledRun:
    """Labels by question id, a row a rank and a column a perspective; every question has two."""
    questions = [Question(q, "made", f"Why {q}?", (Perspective(f"{q} yes"), Perspective(f"{q} no"))) for q in labels]
    block = np.array(list(labels.values()), dtype=np.float64).reshape(len(labels), -1, 2)
    ids = np.arange(block.shape[0] * block.shape[1]).reshape(block.shape[:2])
    return LabelledRun(questions, ids, np.full(block.shape, b"k", dtype="S32"), block)


def contrast(first: LabelledRun, second: LabelledRun, measure: Measure, *, min_judged: float = 0.5) -> Contrast:
    """Where every question counts."""
    first_all, second_all = (Counted(np.ones(len(one.questions), dtype=bool)) for one in (first, second))
    return contrast_of(first, second, measure, (first_all, second_all), min_judged=min_judged)


FIRST = run({"a": [[1, 0], [0, 1]], "b": [[0, 0], [1, 0]], "c": [[1, 0], [1, 0]], "gone": [[1, 1], [1, 1]]})
SECOND = run({"a": [[1, 0], [1, 0]], "b": [[1, 0], [0, 1]], "c": [[1, 0], [1, 0]], "new": [[0, 0], [0, 0]]})


def test_wins_losses_and_what_is_missing() -> None:
    found = contrast(FIRST, SECOND, MRECALL)
    told = found.questions.set_index("question_id")
    assert told["outcome"].to_dict() == {
        "a": "loss",
        "b": "win",
        "c": "tie",
        "gone": "only first",
        "new": "only second",
    }
    assert told["lost"]["a"] == ("a no",)
    assert told["gained"]["b"] == ("b no",)
    assert told["lost"]["gone"] == () == told["gained"]["new"]
    np.testing.assert_array_equal(told["difference"][["a", "b", "c"]], [-1, 1, 0])
    assert told["difference"][["gone", "new"]].isna().all()
    assert (found.comparison.n, found.comparison.left_out, found.comparison.difference) == (3, 2, 0.0)


def test_the_greatest_contrast_comes_first() -> None:
    found = contrast(FIRST, SECOND, PRECISION).questions
    # Precision@2 of the first: a 1, b .5, c 1; of the second: a 1, b 1, c 1.
    assert found["question_id"].tolist()[0] == "b"
    assert found["difference"].abs().fillna(-1).is_monotonic_decreasing


def test_too_few_labels_give_no_value_and_the_reason() -> None:
    nan = np.nan
    half, less = run({"a": [[0, 1], [nan, nan]]}), run({"a": [[0, nan], [nan, nan]]})
    assert contrast(FIRST, half, MRECALL).withheld == ""
    found = contrast(FIRST, less, MRECALL)
    assert found.withheld == "judged below 50%"
    assert found.questions.set_index("question_id")["outcome"]["a"] == "no value"
    assert found.comparison.n == 0
    assert np.isnan([*found.means, found.comparison.difference, found.comparison.low]).all()
    assert contrast_table([found], "none")["withheld"].tolist() == ["judged below 50%"]
    asked = contrast(FIRST, less, MRECALL, min_judged=0)
    assert asked.withheld == ""
    assert asked.questions.set_index("question_id")["outcome"]["a"] == "loss", "what nobody judged does not support"


def test_a_question_counts_for_both_or_for_none() -> None:
    all_but_a = Counted(np.array([False, True, True, True]))
    found = contrast_of(FIRST, SECOND, MRECALL, (all_but_a, all_but_a))
    assert found.questions.set_index("question_id")["outcome"]["a"] == "no value"
    assert found.comparison.n == 2


def test_perspectives_that_are_lost_and_gained_with_their_ranks() -> None:
    found = contrast(FIRST, SECOND, MRECALL).perspectives
    told = [tuple(row) for row in found[["question_id", "place", "first", "second", "change"]].fillna(0).to_numpy()]
    assert told == [("a", 1, 1, 1, ""), ("a", 2, 2, 0, "lost"), ("b", 1, 2, 1, ""), ("b", 2, 0, 2, "gained"),
                    ("c", 1, 1, 1, ""), ("c", 2, 0, 0, "")]  # fmt: skip
    # A rank below k is told, and no cover.
    deep = run({"a": [[1, 0], [1, 0], [0, 1]]})
    lost = contrast(FIRST, deep, MRECALL).perspectives.iloc[1]
    assert (lost["first"], lost["second"], lost["change"]) == (2, 3, "lost")


def test_perspectives_that_one_version_lacks_are_neither_lost_nor_gained() -> None:
    [question] = run({"a": [[0, 0]]}).questions
    other = replace(question, perspectives=(Perspective("a no"), Perspective("a maybe")))
    found = contrast(FIRST, replace(run({"a": [[0, 1], [0, 0]]}), questions=[other]), MRECALL)
    [row] = found.perspectives.to_dict("records")
    assert (row["perspective"], row["place"], row["change"]) == ("a no", 2, "lost")


def test_questions_of_one_id_and_other_words_are_not_the_same() -> None:
    [question] = run({"a": [[0, 0]]}).questions
    other = replace(run({"a": [[1, 1], [1, 1]]}), questions=[replace(question, text="Why else?")])
    found = contrast(run({"a": [[0, 0], [0, 0]]}), other, MRECALL)
    assert found.questions["outcome"].tolist() == ["only first", "only second"]
    assert found.comparison.n == 0
    assert np.isnan(found.means).all()


def test_means_are_over_the_questions_that_both_have() -> None:
    """MRecall@2 of a, b, c is 1, 0, 0 and then 0, 1, 0; 'gone', which the first covers, is in neither mean."""
    held = [contrast(FIRST, SECOND, m) for m in (MRECALL, PRECISION)]
    assert held[0].means == pytest.approx((1 / 3, 1 / 3))
    table = contrast_table(held, "bonferroni")
    assert table["n"].tolist() == [3, 3]
    assert table["left out"].tolist() == [2, 2]
    assert (table["second"] - table["first"]).tolist() == pytest.approx(table["difference"].tolist())
    np.testing.assert_allclose(table["adjusted p"], np.minimum(1, 2 * table["p"]))


def test_moves_of_passages() -> None:
    moves = rank_moves([7, 5, 9], [5, 7, 8]).set_index("passage")
    assert moves.loc[[7, 5]].to_numpy().tolist() == [[1, 2], [2, 1]]
    assert moves.loc[9, "first"] == 3
    assert np.isnan(moves.loc[9, "second"])
    assert moves.loc[8, "second"] == 3


def test_passages_of_two_corpora_meet_by_their_texts() -> None:
    first = [Passage(1, "a", "", "Same  words."), Passage(2, "b", "", "Same words."), Passage(3, "c", "", "Others.")]
    second = [Passage(3, "x", "", "Same words."), Passage(4, "y", "", "New.")]
    moves = rank_moves(names_of(first, by_text=True), names_of(second, by_text=True))
    assert moves[["first", "second"]].fillna(0).to_numpy().tolist() == [[1, 1], [2, 0], [3, 0], [0, 2]]
    by_id = rank_moves(names_of(first, by_text=False), names_of(second, by_text=False))
    assert by_id["first"].notna().sum() + by_id["second"].notna().sum() == 5
    assert len(by_id) == 4


def test_the_slope_chart_draws_a_line_for_each_passage_that_both_have() -> None:
    moves = rank_moves([7, 5, 9, 4], [5, 7, 8, 4]).assign(title="<b>", supports=[(0, 1), (), (1,), (), ()])
    drawn = slope_chart(moves, 3).to_dict()
    [lines, left, right, dots] = (drawn["datasets"][layer["data"]["name"]] for layer in drawn["layer"])
    assert {(row["y"], row["y2"]) for row in lines} == {(1, 2), (2, 1)}, "the fourth is below 3 in both"
    assert [row["alone"] for row in left] == [False, False, True]
    assert [row["alone"] for row in right] == [False, False, True]
    assert sorted(row["perspective"] for row in dots) == ["P1", "P1", "P2", "P2", "P2"]


def test_bins_of_differences_keep_wins_and_losses_apart() -> None:
    random = np.random.default_rng(1)
    values = np.concatenate([random.uniform(-1, 1, 500), np.zeros(20)])
    questions = pd.DataFrame(
        {"difference": values, "outcome": np.select([values > 0, values < 0], ["win", "loss"], "tie")}
    )
    drawn = difference_bars(questions, parse_measure("AP@10"), ("A", "B")).to_dict()
    [counts] = drawn["datasets"].values()
    assert sum(row["questions"] for row in counts) == 520
    assert all(np.sign(row["difference"]) == {"win": 1, "loss": -1, "tie": 0}[row["outcome"]] for row in counts)
    assert len(counts) <= 21


LABELS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4), min_size=1, max_size=6)


@settings(deadline=None, max_examples=40)
@given(LABELS, LABELS)
def test_seen_from_the_other_side_everything_turns(first: list[list[float]], second: list[list[float]]) -> None:
    a, b = (run({f"q{n}": [row[:2], row[2:]] for n, row in enumerate(rows)}) for rows in (first, second))
    there, back = contrast(a, b, MRECALL), contrast(b, a, MRECALL)
    assert (there.count("win"), there.count("tie")) == (back.count("loss"), back.count("tie"))
    assert there.comparison.difference == -back.comparison.difference or np.isnan(there.comparison.difference)
    lost = there.questions.set_index("question_id")["lost"]
    assert back.questions.set_index("question_id")["gained"].to_dict() == lost.to_dict()
