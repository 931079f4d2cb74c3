"""Thresholds moved to the base rate of a run's pairs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.language_models.cost import HighestCost
from berdseye.data.records import Pair
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.baselines import RandomDetector
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.ensemble import MeanDetector
from berdseye.detectors.protocol import highest_cost_of, is_quick
from berdseye.detectors.thresholds import (
    Tuned,
    TunedThreshold,
    threshold_history,
    with_tuned_threshold,
    write_threshold,
)
from berdseye.evaluation.detection.thresholds import doubt_of, is_well_judged, moved_to_run
from berdseye.evaluation.labels.labelled_runs import keyed_run
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.scoring import score_run
from tests.evaluation.small_workspace import QUESTIONS, judge, key


@pytest.fixture
def run_name(small: Workspace) -> str:
    return list_runs(small)[0].name


def stored(small: Workspace, run_name: str, probability: float) -> int:
    """Store this probability for every pair of the run; returns the number of pairs."""
    keyed = keyed_run(small, load_run(small, run_name), QUESTIONS, 3)
    keys = sorted(set(keyed.keys[keyed.keys != b""].astype(str).tolist()))
    detector = parse_detector("random")
    LabelStore(small).put(detector.name, detector.version, keys, [probability] * len(keys))
    return len(keys)


def test_low_probabilities_raise_the_threshold_and_high_ones_lower_it(
    small: Workspace, judgments: Judgments, run_name: str
) -> None:
    detector, run = parse_detector("random"), load_run(small, run_name)
    stored(small, run_name, 0.02)
    low = moved_to_run(small, judgments, detector, run, 3)
    stored(small, run_name, 0.6)
    high = moved_to_run(small, judgments, detector, run, 3)
    assert low.value > detector.threshold > high.value
    assert low.base_rate is not None
    assert high.base_rate is not None
    assert low.base_rate < 0.168 < high.base_rate
    assert high.called_before == 0


def test_judgments_correct_what_probabilities_suggest(small: Workspace, judgments: Judgments, run_name: str) -> None:
    detector, run = parse_detector("random"), load_run(small, run_name)
    stored(small, run_name, 0.3)
    before = moved_to_run(small, judgments, detector, run, 3)
    ana = judgments.sign_in("Ana")
    for perspective in (0, 1):
        for text in (0, 1, 2):
            judge(judgments, ana, 0, perspective, text, "does not support")
    after = moved_to_run(small, judgments, detector, run, 3)
    assert (before.judged, after.judged) == (0, 6)
    assert after.value > before.value


def test_simulated_annotators_do_not_move_a_threshold(small: Workspace, judgments: Judgments, run_name: str) -> None:
    """A pair that a person and a simulated annotator judged differently has the person's label, not a tie."""
    detector, run = parse_detector("random"), load_run(small, run_name)
    stored(small, run_name, 0.3)
    before = moved_to_run(small, judgments, detector, run, 3)
    noor = judgments.sign_in("Noor", demo=True)
    for perspective in (0, 1):
        for text in (0, 1, 2):
            judge(judgments, noor, 0, perspective, text, "does not support")
    after = moved_to_run(small, judgments, detector, run, 3)
    assert (after.judged, after.positives, after.simulated) == (0, 0, 6)
    assert (after.value, after.base_rate) == (before.value, before.base_rate)
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 0, "supports")
    by_ana = moved_to_run(small, judgments, detector, run, 3)
    assert (by_ana.judged, by_ana.positives, by_ana.simulated) == (1, 1, 6)
    write_threshold(small, by_ana)
    adjudicate(judgments, judgments.sign_in("Eve"), key(0, 1, 0), "supports")
    by_eve = moved_to_run(small, judgments, detector, run, 3)
    assert (by_eve.judged, by_eve.positives) == (2, 2), "an adjudicator is a person"
    assert threshold_history(small, "random")[-1].simulated == 6


@pytest.mark.parametrize(
    ("before", "after", "rate", "plausible"),
    [
        (0.2, 0.4, 0.3, True),
        (0.2, 0.41, 0.3, False),
        (0.2, 0.1, 0.1, True),
        (0.2, 0.09, 0.1, False),
        (0.4, 0.5, 0.5, True),
        (0.4, 0.51, 0.5, False),
        (0.0, 0.01, 0.2, False),
        (0.2, 0.9, None, True),  # a share that a person gave
    ],
)
def test_what_calls_too_many_or_too_few_pairs_supporting_is_doubted(
    before: float, after: float, rate: float | None, plausible: bool
) -> None:
    tuned = TunedThreshold(
        "random", "1", 0.25, "run", "", 200, 5, 0.0, "", base_rate=rate, share=None if rate else after,
        judged=29, called_before=before, called_after=after,
    )  # fmt: skip
    assert (doubt_of(tuned) == "") == plausible
    if not plausible:
        assert f"of 200 pairs, 29 of them judged, is {rate:.1%}: the threshold 0.25 calls {after:.1%}" in doubt_of(
            tuned
        )
        assert doubt_of(tuned).endswith(f"the one in use {before:.1%}.")
    assert not is_well_judged(tuned)
    assert is_well_judged(replace(tuned, judged=30))


def test_a_share_of_the_pairs_reaches_the_threshold(small: Workspace, judgments: Judgments, run_name: str) -> None:
    detector, run = parse_detector("random"), load_run(small, run_name)
    few, many = (moved_to_run(small, judgments, detector, run, 3, share=share) for share in (0.2, 0.8))
    assert few.value > many.value
    assert few.called_after is not None
    assert many.called_after is not None
    assert 0.2 <= few.called_after < many.called_after
    assert few.called_after < 0.5
    assert few.base_rate is None
    write_threshold(small, few)
    assert with_tuned_threshold(small, detector).threshold_source.startswith(f"reached by 20.0% of {few.n} pairs")
    for share in (0.0, 1.1):
        with pytest.raises(BadInputError, match="above 0% and at most 100%"):
            moved_to_run(small, judgments, detector, run, 3, share=share)


def test_a_moved_threshold_says_where_it_comes_from_and_is_moved_once(
    small: Workspace, judgments: Judgments, run_name: str
) -> None:
    detector, run = parse_detector("random"), load_run(small, run_name)
    count = stored(small, run_name, 0.3)
    first = moved_to_run(small, judgments, detector, run, 3)
    write_threshold(small, first)
    tuned = with_tuned_threshold(small, detector)
    assert isinstance(tuned, Tuned)
    assert f"estimated from {count} pairs of {run_name} at k=3, 0 of them judged" in tuned.threshold_source
    assert moved_to_run(small, judgments, tuned, run, 3).value == first.value
    assert np.isfinite(first.value)


def test_a_moved_threshold_keeps_what_it_changed(small: Workspace, judgments: Judgments, run_name: str) -> None:
    """The threshold before is the one in use, which the move itself does not start from."""
    detector, run = parse_detector("random"), load_run(small, run_name)
    first = moved_to_run(small, judgments, detector, run, 3, share=0.2, made_by="Ana")
    keys = keyed_run(small, run, QUESTIONS, 3).keys
    p = LabelStore(small).get("random", keys[keys != b""].astype(str).tolist(), detector.version)
    assert (first.before, first.judged) == (detector.threshold, 0)
    assert first.called_before == pytest.approx((p >= detector.threshold).mean())
    assert first.called_after == pytest.approx((p >= first.value).mean())
    write_threshold(small, first)
    ana = judgments.sign_in("Ana")
    judge(judgments, ana, 0, 0, 0, "supports")
    second = moved_to_run(small, judgments, with_tuned_threshold(small, detector), run, 3, share=0.8)
    assert (second.before, second.called_before) == (first.value, first.called_after)
    assert (second.judged, second.positives) == (1, 1)
    assert f"{len(p)} pairs of {run_name} at k=3, 1 of them judged" in second.source


def test_numbers_keep_a_tuned_threshold(small: Workspace, judgments: Judgments, run_name: str) -> None:
    detector, run = parse_detector("random"), load_run(small, run_name)
    source = parse_label_source("random")
    before = score_run(small, judgments, run, source, parse_measures("MRecall@3"))[0]
    assert before.as_row()["detector_version"] == detector.version
    stored(small, run_name, 0.02)
    moved = moved_to_run(small, judgments, detector, run, 3)
    write_threshold(small, moved)
    after = score_run(small, judgments, run, source, parse_measures("MRecall@3"))[0]
    assert after.as_row()["detector_version"] == f"{detector.version} at {moved.value:g}"
    stamps = {entry.stamp: entry for entry in threshold_history(small, "random")}
    assert stamps[str(after.as_row()["detector_version"])] == moved, "the stamp of a number leads to what made it"
    assert after.as_row()["grade"] == "topic"


def test_a_tuned_threshold_changes_neither_cost_nor_speed() -> None:
    assert is_quick(Tuned(parse_detector("stance"), 0.4, "by hand"))
    assert highest_cost_of(Tuned(parse_detector("stance"), 0.4, "by hand"), []) is None
    costly = Tuned(_Costly(), 0.4, "by hand")
    assert not is_quick(costly)
    pairs = [Pair("a passage", "a perspective")]
    assert highest_cost_of(costly, pairs) == HighestCost(1, 10, 20, 0.5)
    assert highest_cost_of(MeanDetector([costly, _Costly(), parse_detector("random")]), pairs) == HighestCost(
        2, 20, 40, 1.0
    )
    assert highest_cost_of(MeanDetector([parse_detector("random"), parse_detector("embedded")]), pairs) is None


class _Costly(RandomDetector):
    """A detector whose labels cost half a dollar each."""

    def highest_cost(self, pairs: Sequence[Pair]) -> HighestCost:
        return HighestCost(len(pairs), 10 * len(pairs), 20 * len(pairs), 0.5 * len(pairs))


def test_the_share_before_is_the_one_at_the_threshold_in_use(
    small: Workspace, judgments: Judgments, run_name: str
) -> None:
    detector, run = parse_detector("random"), load_run(small, run_name)
    stored(small, run_name, 0.3)
    assert moved_to_run(small, judgments, detector, run, 3).called_before == 0  # its own threshold is 0.832
    low = moved_to_run(small, judgments, detector, run, 3, share=1.0)
    write_threshold(small, low)
    assert moved_to_run(small, judgments, with_tuned_threshold(small, detector), run, 3).called_before == 1
