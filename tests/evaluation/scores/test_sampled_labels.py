"""`corrected(DETECTOR)` from a batch that draws with known probabilities: what it estimates, and what it refuses."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from berdseye.annotation.batches.draws import places
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch, BatchPlan, create_batch, load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.leaderboard.board import board
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.batch_draws import batch_draws
from berdseye.evaluation.scores.score import Score, without_questions
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.selection.batches import of_runs
from berdseye.evaluation.studies.comparing import corrected_comparisons
from tests.evaluation.small_workspace import judge

CORRECTED, HUMAN = parse_label_source("corrected(random)"), parse_label_source("human")


def send(small: Workspace, judgments: Judgments, run: Run, **plan: Any) -> Batch:
    items = of_runs(small, [run.manifest.name], 2)
    return create_batch(
        judgments, BatchPlan(**{"name": "drawn", "order": "random", "drawn_by": "passage"} | plan), items
    )


def judge_next(judgments: Judgments, batch: Batch, verdicts: str) -> list[str]:
    """Give the next verdicts, one letter each: s, n or u."""
    names = {"s": "supports", "n": "does not support", "u": "unsure"}
    queue, ana, judged = BatchQueue(judgments, batch), judgments.sign_in("Ana"), []
    for letter in verdicts:
        key = queue.next(ana)
        assert key is not None
        queue.give(ana, key, names[letter])
        judged.append(key)
    return judged


def scored(small: Workspace, judgments: Judgments, run: Run, measures: str, source: Any = CORRECTED) -> list[Score]:
    return score_run(small, judgments, run, source, parse_measures(measures), min_judged=0)


@pytest.mark.parametrize(
    ("unit", "measures"), [("passage", "Precision@2"), ("question", "MRecall@2 Precision@2 ToCover@2")]
)
def test_everything_drawn_is_peoples_own_value(
    small: Workspace, run: Run, judgments: Judgments, unit: str, measures: str
) -> None:
    batch = send(small, judgments, run, drawn_by=unit)
    judge_next(judgments, batch, "snsnss")
    for corrected, human in zip(
        scored(small, judgments, run, measures), scored(small, judgments, run, measures, HUMAN), strict=True
    ):
        assert corrected.estimate[:3] == pytest.approx((human.estimate.value,) * 3)
        assert corrected.people is None
        assert corrected.corrected


def test_one_draw_is_weighted_by_its_probability(small: Workspace, run: Run, judgments: Judgments) -> None:
    batch = send(small, judgments, run, seed=drawn_first(small, run))
    judge_next(
        judgments, batch, "s"
    )  # a passage of the question with one perspective: 1 of 4, each half of one of 2 questions
    [found] = scored(small, judgments, run, "Precision@2")
    assert found.estimate.value == pytest.approx(1.0)
    assert np.isnan(found.estimate.low)
    assert found.estimate.n == 1


def drawn_first(small: Workspace, run: Run) -> int:
    """A seed by which the batch 'drawn' draws a passage with a single pair first."""
    records = [item.record for item in of_runs(small, [run.manifest.name], 2)]
    for seed in range(20):
        arrivals = [place.priority for place in places(records, [1.0] * len(records), "passage", seed, "drawn")]
        if records[int(np.argmin(arrivals))].question_id == "cars":
            return seed
    raise AssertionError


def test_what_is_drawn_in_part_corrects_no_measure_of_the_whole(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    judge_next(judgments, send(small, judgments, run), "snsn")
    [precision, mrecall] = scored(small, judgments, run, "Precision@2 MRecall@2")
    assert np.isfinite(precision.estimate.value)
    assert np.isnan(mrecall.estimate.value)
    assert "MRecall@2 depends on all labels of a question" in mrecall.withheld
    with pytest.raises(BadInputError, match=r"no estimate from them is unbiased.*human>random"):
        scored(small, judgments, run, "MRecall@2")


def test_an_order_that_sorts_is_refused_with_what_can_be_had(small: Workspace, run: Run, judgments: Judgments) -> None:
    judge_next(judgments, send(small, judgments, run, order="batch"), "snsn")
    with pytest.raises(
        BadInputError, match=r"drawn with a known probability.*no interval can be promised.*order uncertainty"
    ):
        scored(small, judgments, run, "Precision@2")


def test_unsure_judgments_are_counted_and_read_both_ways(small: Workspace, run: Run, judgments: Judgments) -> None:
    batch = send(small, judgments, run, drawn_by="question", seed=2)
    judge_next(judgments, batch, "unnunn")
    [found] = scored(small, judgments, run, "Precision@2")
    assert found.sampled is not None
    assert (found.sampled.labels, found.sampled.unsure, found.sampled.waiting) == (4, 2, 0)
    assert found.estimate.low < found.estimate.high
    row = found.as_row()
    assert (row["unsure"], row["waiting"], row["batch"]) == (2, 0, "drawn")
    assert "2 drawn pairs on which people are unsure" in found.sample_note
    low, high = found.at_all_times
    assert 0 <= low <= found.estimate.low
    assert found.estimate.high <= high <= 1
    assert f"the interval {100 * low:.1f} to {100 * high:.1f} holds at every look" in found.sample_note
    shown = board([found])
    assert shown["sample"].tolist() == [found.sample_note]


def test_the_effective_sample_size_is_beside_the_number(small: Workspace, run: Run, judgments: Judgments) -> None:
    judge_next(judgments, send(small, judgments, run), "snsn")
    [found] = scored(small, judgments, run, "Precision@2")
    assert found.sampled is not None
    assert 0 < float(found.as_row()["effective_n"]) <= found.estimate.n
    assert "effective sample size" in found.sample_note
    assert "the heaviest 5% of the draws have" in found.sample_note


def test_a_run_with_pairs_outside_of_the_batch_is_not_corrected(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    judge_next(judgments, send(small, judgments, run), "snsn")
    with pytest.raises(BadInputError, match="does not hold 2 pairs of this run that nobody has judged"):
        scored(small, judgments, run, "Precision@3")
    judge(judgments, judgments.sign_in("Bo"), 0, 0, 2, "supports")
    judge(judgments, judgments.sign_in("Bo"), 0, 1, 2, "supports")
    assert np.isfinite(scored(small, judgments, run, "Precision@3")[0].estimate.value)


def test_questions_can_be_left_out_and_runs_compared(small: Workspace, run: Run, judgments: Judgments) -> None:
    batch = send(small, judgments, run, drawn_by="question")
    judge_next(judgments, batch, "ssssss")
    [found] = scored(small, judgments, run, "Precision@2")
    [rest] = without_questions([found], [True, False, False])
    assert rest.estimate.value == pytest.approx(1.0)
    assert rest.sampled is not None
    assert rest.sampled.counted.tolist() == [False, True, False]
    [same] = corrected_comparisons(
        {"a": found.values * np.nan, "b": found.values * np.nan}, {"a": found.values, "b": found.values}, "holm",
        {"a": found.sampled, "b": found.sampled},
    )  # fmt: skip
    assert (same.difference, same.p) == (0, 1)
    assert load_batch(judgments, "drawn").drawn_by == "question"


def test_two_batches_count_together(small: Workspace, run: Run, judgments: Judgments) -> None:
    for name, verdicts in (("drawn", "sss"), ("again", "nnn")):
        judge_next(judgments, send(small, judgments, run, name=name), verdicts)
    [found] = scored(small, judgments, run, "Precision@2")
    assert found.sampled is not None
    names = {one.draws.batch.name for one in found.sampled.batches}
    assert names == {"drawn", "again"}
    assert (
        "the batches 'again' and 'drawn'" in found.sample_note or "the batches 'drawn' and 'again'" in found.sample_note
    )
    shares = np.sum([one.shares for one in found.sampled.batches], axis=0)
    np.testing.assert_allclose(shares[found.sampled.counted[found.sampled.batches[0].parts.questions]], 1)
    row = found.as_row()
    assert set(str(row["batch"]).split(", ")) == names


def test_batches_on_different_questions_hold_the_whole_together(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    items = of_runs(small, [run.manifest.name], 2)
    for name in ("zoos", "cars"):
        part = [item for item in items if item.record.question_id == name]
        plan = BatchPlan(name, order="random", drawn_by="passage", seed=3)
        judge_next(judgments, create_batch(judgments, plan, part), "s" * len(part))
        if name == "zoos":
            with pytest.raises(
                BadInputError, match="batch 'zoos' does not hold 2 pairs of this run that nobody has judged"
            ):
                scored(small, judgments, run, "Precision@2")
    [found] = scored(small, judgments, run, "Precision@2")
    [human] = scored(small, judgments, run, "Precision@2", HUMAN)
    assert found.estimate[:3] == pytest.approx((human.estimate.value,) * 3)


def test_batches_that_leave_a_part_without_a_probability_are_refused(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    """One batch draws questions of one topic, and another single pairs of the rest: MRecall needs whole questions."""
    items = of_runs(small, [run.manifest.name], 2)
    for name, question, unit in (("whole", "cars", "question"), ("single", "zoos", "pair")):
        part = [item for item in items if item.record.question_id == question]
        plan = BatchPlan(name, order="random", drawn_by=unit, seed=4)
        judge_next(judgments, create_batch(judgments, plan, part), "ss")
    with pytest.raises(
        BadInputError, match=r"together leave 1 parts.*probability of their labels is unknown.*human>random"
    ):
        scored(small, judgments, run, "MRecall@2")


def test_two_batches_of_the_same_random_numbers_do_not_count_twice(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    batches = [send(small, judgments, run, name=name) for name in ("one", "two")]
    first, second = (batch_draws(judgments, batch) for batch in batches)
    assert first.independent_of(second)
    assert not first.independent_of(first)
    assert not first.independent_of(replace(second, clocks=first.clocks)), "as batches of earlier versions"
    assert first.independent_of(replace(second, clocks=first.clocks, batch=replace(second.batch, seed=9)))
    changing = replace(second, batch=replace(second.batch, order="decision"))
    assert not first.independent_of(changing)


def test_several_detectors_correct_a_stored_run(small: Workspace, run: Run, judgments: Judgments) -> None:
    both = parse_label_source("corrected(random,random(0.3))")
    judge_next(judgments, send(small, judgments, run), "snsn")
    [found] = scored(small, judgments, run, "Precision@2", both)
    [one] = scored(small, judgments, run, "Precision@2")
    assert found.labels == str(both)
    assert found.sampled is not None
    assert found.detectors.shape == (2, len(one.values))
    np.testing.assert_array_equal(found.detectors[0], one.values)
    assert len(found.sampled.weights) == 2
    assert found.estimate.n == one.estimate.n
    assert found.detector_version.startswith(one.detector_version)
