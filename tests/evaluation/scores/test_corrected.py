"""Detector-corrected means: against the authors' library, how often their intervals hold, and what is missing."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan, nan

import numpy as np
import numpy.typing as npt
import pytest

from berdseye.annotation.batches.stored import BatchPlan, create_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.records import Perspective
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import labels_of, parse_label_source
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import mrecall, parse_measures, precision
from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.scores.scoring import score_run, score_runs
from berdseye.evaluation.selection.batches import drawn_order, of_runs
from tests.evaluation.small_workspace import QUESTIONS, judge, send_random_questions

TRIALS, DATASET, JUDGED = 2_000, 1_000, 100


def test_the_estimate_is_that_of_the_authors_library() -> None:
    random = np.random.default_rng(5)
    truth = (random.random(1_000) < 0.35).astype(float)
    detector = np.where(random.random(1_000) < 0.85, truth, 1 - truth)
    people = truth.copy()
    people[100:] = nan
    # ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3 on the same numbers.
    tuned, plain = corrected_mean(people, detector), corrected_mean(people, detector, weight=1.0)
    assert tuned.estimate.value == pytest.approx(0.33736844, abs=1e-8)
    assert plain.estimate.value == pytest.approx(0.36555556, abs=1e-8)
    # There normal quantiles; here Student's, and two questions added, which are a little wider at n = 100.
    for found, low, high in ((tuned, 0.26246558, 0.4122713), (plain, 0.27677401, 0.4543371)):
        assert found.estimate.low == pytest.approx(low, abs=0.01)
        assert found.estimate.high == pytest.approx(high, abs=0.01)
        assert found.estimate.high - found.estimate.low > high - low
    assert tuned.estimate.n == 100


@pytest.mark.parametrize(
    ("right_yes", "right_no", "measure", "narrower_than"),
    [(0.9, 0.95, mrecall, 0.75), (0.9, 0.95, precision, 0.6), (0.7, 0.8, precision, 0.9), (0.5, 0.5, mrecall, 1.01)],
)
def test_the_interval_holds_as_often_as_it_says(
    right_yes: float, right_no: float, measure: Callable[[Support, int], npt.NDArray[np.float64]], narrower_than: float
) -> None:
    # Questions of two perspectives and five passages; a detector that is right so often where a pair supports, where not.
    random = np.random.default_rng(0)
    shape = (100_000, 5, 2)
    truth = random.random(shape) < random.beta(1, 3, size=(shape[0], 1, 1))
    luck = random.random(shape)
    said = np.where(truth, luck < right_yes, luck > right_no)
    people, detector = (measure(_support(labels), 5) for labels in (truth, said))
    target, held, widths, alone = people.mean(), 0, [], []
    for _ in range(TRIALS):
        drawn = random.integers(0, len(people), DATASET)
        judged = people[drawn].copy()
        judged[JUDGED:] = nan
        estimate = corrected_mean(judged, detector[drawn]).estimate
        held += estimate.low <= target <= estimate.high
        widths.append(estimate.high - estimate.low)
        by_people = corrected_mean(judged, detector[drawn], weight=0.0).estimate
        alone.append(by_people.high - by_people.low)
    assert abs(held / TRIALS - 0.95) <= 0.015
    assert np.mean(widths) / np.mean(alone) < narrower_than


@pytest.mark.parametrize(
    ("right", "share", "judged"), [(0.97, 0.05, 20), (0.97, 0.9, 50), (0.85, 0.1, 10), (0.6, 0.9, 20)]
)
def test_rare_values_and_few_judgments_are_covered_too(right: float, share: float, judged: int) -> None:
    random, held = np.random.default_rng(0), 0
    for _ in range(TRIALS):
        truth = (random.random(DATASET) < share).astype(float)
        detector = np.where(random.random(DATASET) < right, truth, 1 - truth)
        truth[judged:] = nan
        estimate = corrected_mean(truth, detector).estimate
        held += estimate.low <= share <= estimate.high
        assert estimate.low <= estimate.value <= estimate.high
    assert held / TRIALS >= 0.935


def test_a_sample_in_which_all_agree_still_has_an_interval() -> None:
    people = np.full(400, nan)
    people[:8] = 1
    found = corrected_mean(people, np.ones(400)).estimate
    assert found.value == found.high == 1
    assert 0.4 < found.low < 0.9


def _support(labels: npt.NDArray[np.bool_]) -> Support:
    questions, depth, width = labels.shape
    return Support(labels, np.full(questions, width), np.full(questions, depth), np.ones_like(labels))


def test_hand_worked() -> None:
    # Judged: people 1, 0; detector 1, 1. Elsewhere the detector says 1, 0. Weight 1: (0 - 1)/2 + 1/2 = 0.
    people, detector = np.array([1, 0, nan, nan]), np.array([1, 1, 1, 0.0])
    found = corrected_mean(people, detector, weight=1.0)
    assert found.estimate.value == 0
    # Off by 0 and -1, and by the added -1 and 1: variance 11/12 over 4; elsewhere 1 and 0: 1/2 over 2.
    assert found.standard_error == pytest.approx(np.sqrt(11 / 48 + 1 / 4))


def test_all_judged_one_judged_and_none() -> None:
    detector = np.array([1, 0, 1.0])
    assert corrected_mean(np.array([1, 0, 0.0]), detector).estimate.value == pytest.approx(1 / 3)
    one = corrected_mean(np.array([1, nan, nan]), detector)
    assert one.estimate.n == 1
    assert isnan(one.estimate.low)
    assert isnan(one.p)
    none = corrected_mean(np.full(3, nan), detector)
    assert isnan(none.estimate.value)
    assert none.estimate.n == 0


def test_a_question_without_a_value_is_left_out() -> None:
    people, detector = np.array([1, 0, nan, 1]), np.array([1, 0, 1, nan])
    assert corrected_mean(people, detector).estimate.n == 2


CORRECTED = parse_label_source("corrected(random)")


def test_a_stored_run_is_corrected_by_the_drawn_questions_that_are_judged_whole(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    measures = parse_measures("Precision@2")
    send_random_questions(small, judgments, [run.manifest.name], 2, 2, seed=drawn_first(1))
    ana = judgments.sign_in("Ana")
    judge(judgments, ana, 1, 0, 3, "supports")
    with pytest.raises(BadInputError, match="drew at random"):
        score_run(small, judgments, run, CORRECTED, measures)  # one of the two passages of that question is not judged
    judge(judgments, ana, 1, 0, 2, "does not support")
    [whole] = score_run(small, judgments, run, CORRECTED, measures)
    [plain] = score_run(small, judgments, run, CORRECTED.plain, measures)
    assert whole.people is not None
    np.testing.assert_equal(whole.people, [nan, 0.5, nan])
    np.testing.assert_equal(whole.values, plain.values)
    assert (whole.estimate.n, whole.judged) == (1, pytest.approx(2 / 6))  # of 2 * 2 and 1 * 2 pairs
    assert whole.detector_version == plain.detector_version
    judge(judgments, ana, 1, 0, 2, "unsure")  # dealt with, and of no use
    with pytest.raises(BadInputError, match="drew at random"):
        score_run(small, judgments, run, CORRECTED, measures)


def drawn_first(question: int) -> int:
    """A seed by which a batch draws this question of the two first."""
    name = ("zoos", "cars")[question]
    return next(seed for seed in range(50) if drawn_order(["zoos", "cars"], 2, f"{seed} made")[0] == name)


def test_questions_judged_out_of_turn_do_not_count(small: Workspace, run: Run, judgments: Judgments) -> None:
    """Whoever judges the second question because it looks telling leaves no random sample."""
    send_random_questions(small, judgments, [run.manifest.name], 2, 2, seed=drawn_first(0))
    ana = judgments.sign_in("Ana")
    for passage in (3, 2):
        judge(judgments, ana, 1, 0, passage, "supports")
    with pytest.raises(BadInputError, match="drew at random"):
        score_run(small, judgments, run, CORRECTED, parse_measures("Precision@2"))
    for perspective in (0, 1):
        for passage in (0, 1):
            judge(judgments, ana, 0, perspective, passage, "does not support")
    [both] = score_run(small, judgments, run, CORRECTED, parse_measures("Precision@2"))
    np.testing.assert_equal(both.people, [0, 1, nan])


def test_any_other_sample_is_refused_with_the_way_out(small: Workspace, run: Run, judgments: Judgments) -> None:
    """Questions chosen by the detector's own label, pairs of an ordinary batch, and a batch of less than this top k."""
    measures, ana = parse_measures("Precision@2"), judgments.sign_in("Ana")
    by_detector = score_run(small, judgments, run, CORRECTED.plain, measures)[0].values
    chosen = int(np.nanargmax(by_detector))
    pairs = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)] if chosen == 0 else [(1, 0, 3), (1, 0, 2)]
    for question, perspective, passage in pairs:
        judge(judgments, ana, question, perspective, passage, "supports")
    create_batch(judgments, BatchPlan("ordinary"), of_runs(small, [run.manifest.name], 2))
    send_random_questions(small, judgments, [run.manifest.name], 2, 1, name="shallow")
    with pytest.raises(BadInputError, match="--preset random-questions --run"):
        score_run(small, judgments, run, CORRECTED, measures)
    with pytest.raises(BadInputError, match="--preset random-questions --run"):
        score_runs(small, judgments, [run], CORRECTED, measures)
    for perspective, passage in ((0, 0), (1, 0), (0, 1), (1, 1)):
        judge(judgments, ana, 0, perspective, passage, "supports")
    send_random_questions(small, judgments, [run.manifest.name], 1, 2, name="right", seed=drawn_first(chosen))
    assert score_run(small, judgments, run, CORRECTED, measures)[0].estimate.n == 1
    grown = [*QUESTIONS[:2], replace(QUESTIONS[2], perspectives=(Perspective("Yes."),))]
    save_dataset(small, "made", grown)  # one more question that could have been drawn
    with pytest.raises(BadInputError, match="--preset random-questions --run"):
        score_run(small, judgments, run, CORRECTED, measures)


def test_a_drawn_sample_covers_and_one_chosen_by_the_detector_does_not() -> None:
    """Data sets of 300 questions of which people judge the first 40 of 60 drawn; then 40 that the detector values most."""
    random, held, chosen_held = np.random.default_rng(0), 0, 0
    ids = [f"q{number:03d}" for number in range(300)]
    for trial in range(400):
        truth = random.binomial(5, random.beta(1, 2, 300)) / 5
        detector = np.clip(truth + random.choice([-0.2, 0, 0.2, 0.4], 300), 0, 1)
        drawn = [ids.index(q) for q in drawn_order(ids, 60, f"{trial} made")[:40]]
        for places, by_chance in ((drawn, True), (np.argsort(-detector, kind="stable")[:40], False)):
            people = np.full(300, nan)
            people[places] = truth[places]
            estimate = corrected_mean(people, detector).estimate
            inside = estimate.low <= 1 / 3 <= estimate.high
            held, chosen_held = held + (by_chance and inside), chosen_held + (not by_chance and inside)
    assert held / 400 >= 0.93
    assert chosen_held / 400 < 0.5


@pytest.mark.parametrize("name", ["corrected(human)", "corrected(gold)", "corrected(corrected(random))", "corrected",
                                  "corrected(random)>human", "corrected(human>random)"])  # fmt: skip
def test_only_one_detector_can_be_corrected(name: str) -> None:
    with pytest.raises(BadInputError, match=r"corrected"):
        parse_label_source(name)


def test_a_corrected_source_labels_no_pair(small: Workspace, judgments: Judgments) -> None:
    with pytest.raises(BadInputError, match="human>random"):
        labels_of(small, judgments, parse_label_source("corrected(random)"), [])
