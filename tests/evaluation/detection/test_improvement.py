"""Two detectors on the same held-out questions: the differences, their intervals, and when a new one is worth using."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import UnknownNameError
from berdseye.data.records import Pair
from berdseye.detectors.protocol import Floats
from berdseye.evaluation.detection.improvement import Improvement, compare_detectors, worth_adopting


class Table:
    """A detector that looks its probabilities up."""

    threshold, threshold_source, measured, pairs_at_once = 0.5, "made", "", 7

    def __init__(self, name: str, known: dict[str, float]) -> None:
        self.name, self.version, self.known = name, f"{name} 1", known

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        return np.array([self.known[p.passage] for p in pairs], dtype=np.float32)


def rows(questions: int, each: int = 6) -> list[LabelledPair]:
    return [
        LabelledPair(Pair(f"p {q} {n}", "Yes."), n % 3 == 0, f"Question {q}?")
        for q in range(questions)
        for n in range(each)
    ]


def guessing(name: str, held: Sequence[LabelledPair], right: float, seed: int) -> Table:
    """Right about this share of the rows."""
    drawn = np.random.default_rng(seed).random(len(held)) < right
    return Table(name, {r.pair.passage: 0.9 if r.supports == ok else 0.1 for r, ok in zip(held, drawn, strict=True)})


def test_the_figures_are_scikit_learns() -> None:
    held = rows(12)
    old, new = guessing("old", held, 0.6, 1), guessing("new", held, 0.9, 2)
    found = compare_detectors(old, new, held)
    truth = [r.supports for r in held]
    scores = {d.name: [d.known[r.pair.passage] for r in held] for d in (old, new)}
    by_figure = {d.figure: d for d in found.differences}
    for name, figure in (
        ("f1", lambda s: f1_score(truth, np.array(s) >= 0.5)),
        ("auroc", lambda s: roc_auc_score(truth, s)),
    ):
        assert by_figure[name].present == pytest.approx(figure(scores["old"]))
        assert by_figure[name].new == pytest.approx(figure(scores["new"]))
    for difference in found.differences:
        assert difference.difference == pytest.approx(difference.new - difference.present)
        assert difference.low <= difference.difference <= difference.high
    assert (found.pairs, found.questions, found.seen) == (72, 12, 0)


def test_a_better_one_is_adopted_and_a_worse_or_equal_one_is_not() -> None:
    held = rows(60)
    good, bad = guessing("good", held, 0.95, 1), guessing("bad", held, 0.6, 2)
    better, worse, same = (compare_detectors(a, b, held) for a, b in ((bad, good), (good, bad), (good, good)))
    assert (better.verdict, worse.verdict, same.verdict) == ("better", "worse", "no clear difference")
    assert better.p < 0.001
    assert same.p == 1.0
    assert np.isnan(same.differences[0].low), "no resample says how far two alike detectors may differ"
    assert "nan" not in str(same)
    assert [worth_adopting(f, "if-better") for f in (better, worse, same)] == [True, False, False]
    assert [worth_adopting(f, "always") for f in (better, worse, same)] == [True, True, True]
    assert [worth_adopting(f, "never") for f in (better, worse, same)] == [False, False, False]
    with pytest.raises(UnknownNameError, match="adopting"):
        worth_adopting(better, "sometimes")  # type: ignore[arg-type]


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Two detectors that are equally good: of 40 draws, 95% intervals miss 0 twice on average, and more than 7 times with a
    chance of one in 500 (binomial)."""
    missed = 0
    for seed in range(40):
        held = rows(30)
        a, b = guessing("a", held, 0.8, 2 * seed), guessing("b", held, 0.8, 2 * seed + 1)
        found = compare_detectors(a, b, held, seed=seed)
        missed += found.verdict != "no clear difference"
    assert missed <= 7


def test_too_few_questions_decide_nothing_however_large_the_difference() -> None:
    held = rows(4)
    found = compare_detectors(guessing("bad", held, 0.0, 1), guessing("good", held, 1.0, 2), held)
    assert found.verdict == "no clear difference"
    assert "needs at least 5 questions" in str(found)


def test_questions_that_the_present_one_learned_from_are_left_out() -> None:
    held = rows(8)
    old, new = guessing("old", held, 0.7, 1), guessing("new", held, 0.8, 2)
    found = compare_detectors(old, new, held, learned=frozenset({"question 0?", "question 5?", "another?"}))
    assert (found.pairs, found.questions, found.seen) == (36, 6, 12)
    assert "12 held-out pairs from which old has learned are left out" in str(found)
    same = compare_detectors(old, new, [r for r in held if r.question not in ("Question 0?", "Question 5?")])
    assert found.differences == same.differences


def test_without_held_out_pairs_there_is_no_verdict() -> None:
    found = compare_detectors(Table("a", {}), Table("b", {}), [])
    assert (found.pairs, found.verdict, math.isnan(found.p)) == (0, "no clear difference", True)
    assert "cannot be compared" in str(found)
    assert isinstance(found, Improvement)
    assert not worth_adopting(found, "if-better")


def test_pairs_that_a_detector_cuts_are_counted() -> None:
    class Cutting(Table):
        def cut(self, pairs: Sequence[Pair]) -> npt.NDArray[np.bool_]:
            return np.array([pair.passage.endswith("0") for pair in pairs])

    held = rows(6)
    known = guessing("old", held, 0.7, 1).known
    found = compare_detectors(Cutting("old", known), Table("new", known), held)
    assert (found.present_truncated, found.new_truncated) == (6, None)
    assert str(found).endswith("6 of 36 pairs have a text that is too long for old and was cut.")
    assert found.as_row()["present_truncated"] == 6


def test_one_label_alone_leaves_auroc_undefined_and_f1_without_worth() -> None:
    held = [r._replace(supports=True) for r in rows(6)]
    found = compare_detectors(guessing("a", held, 0.5, 1), guessing("b", held, 0.5, 2), held)
    auroc = next(d for d in found.differences if d.figure == "auroc")
    assert math.isnan(auroc.difference)
    assert math.isnan(auroc.low)
