"""Two runs side by side, worked out by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from data.records import Perspective, Question
from evaluation.failures.contrast import contrast, rank_moves
from evaluation.labelled_runs import LabelledRun
from evaluation.measures import parse_measures

[PRECISION] = parse_measures("Precision@2")
[MRECALL] = parse_measures("MRecall@2")


def run(labels: dict[str, list[list[float]]]) -> LabelledRun:
    """Labels by question id, a row a rank and a column a perspective; every question has two."""
    questions = [Question(q, "made", f"Why {q}?", (Perspective(f"{q} yes"), Perspective(f"{q} no"))) for q in labels]
    block = np.array(list(labels.values()), dtype=np.float64).reshape(len(labels), -1, 2)
    ids = np.arange(block.shape[0] * block.shape[1]).reshape(block.shape[:2])
    return LabelledRun(questions, ids, np.full(block.shape, b"k", dtype="S32"), block)


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


def test_questions_without_a_label_have_no_value() -> None:
    unlabelled = run({"a": [[np.nan, np.nan], [np.nan, np.nan]]})
    assert contrast(FIRST, unlabelled, MRECALL).questions.set_index("question_id")["outcome"]["a"] == "no value"


def test_moves_of_passages() -> None:
    moves = rank_moves(np.array([7, 5, 9, -1]), np.array([5, 7, 8, -1])).set_index("passage")
    assert moves.loc[[7, 5]].to_numpy().tolist() == [[1, 2], [2, 1]]
    assert moves.loc[9, "first"] == 3
    assert np.isnan(moves.loc[9, "second"])
    assert moves.loc[8, "second"] == 3


LABELS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4), min_size=1, max_size=6)


@given(LABELS, LABELS)
def test_seen_from_the_other_side_everything_turns(first: list[list[float]], second: list[list[float]]) -> None:
    a, b = (run({f"q{n}": [row[:2], row[2:]] for n, row in enumerate(rows)}) for rows in (first, second))
    there, back = contrast(a, b, MRECALL), contrast(b, a, MRECALL)
    assert (there.count("win"), there.count("tie")) == (back.count("loss"), back.count("tie"))
    assert there.comparison.difference == -back.comparison.difference or np.isnan(there.comparison.difference)
    lost = there.questions.set_index("question_id")["lost"]
    assert back.questions.set_index("question_id")["gained"].to_dict() == lost.to_dict()
