"""Calibration against scikit-learn's curve, against the figure of cards, and by hand."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from berdseye.detectors.quality import quality
from berdseye.evaluation.detection.calibration import Binning, calibration

RNG = np.random.default_rng(1)
P = RNG.beta(0.6, 1.2, 3_000).astype(np.float32)
TRUE = RNG.random(3_000) < P**1.5
QUESTIONS = RNG.integers(0, 120, 3_000)


@pytest.mark.parametrize(("binning", "strategy"), [("equal width", "uniform"), ("equal count", "quantile")])
def test_the_bins_are_those_of_scikit_learn(binning: Binning, strategy: str) -> None:
    found = calibration(TRUE, P, QUESTIONS, binning=binning).bins
    share, said = calibration_curve(TRUE, P.astype(np.float64), n_bins=10, strategy=strategy)
    assert np.allclose(found["share"], share, atol=2e-3)
    assert np.allclose(found["probability"], said, atol=2e-3)
    assert found["n"].sum() == 3_000


def test_the_error_over_ten_equal_bins_is_the_one_that_cards_tell() -> None:
    found = calibration(TRUE, P, QUESTIONS)
    assert found.error.value == pytest.approx(quality(TRUE, P, 0.5, resamples=10).ece)
    assert found.error.low < found.error.value < found.error.high
    assert found.gap.value == pytest.approx(float(P.astype(np.float64).mean() - TRUE.mean()))
    assert found.error.n == 120


def test_by_hand() -> None:
    """Bin 0.2 to 0.3: said .25, true 1 of 2; bin 0.9 to 1: said .955, true 2 of 2. Gaps .25 and .045."""
    found = calibration(
        np.array([True, False, True, True]), np.array([0.25, 0.25, 0.91, 1.0], dtype=np.float32), np.array([0, 1, 0, 1])
    )
    assert found.bins[["n", "share"]].to_numpy().tolist() == [[2, 0.5], [2, 1.0]]
    assert found.error.value == pytest.approx((0.25 + 0.045) / 2, abs=1e-6)
    assert found.gap.value == pytest.approx((0.25 * 2 + 1.91) / 4 - 0.75, abs=1e-6)
    alike = found.bins.iloc[1]
    assert (alike["low"], alike["high"]) == (pytest.approx(2 / (2 + 1.959964**2)), pytest.approx(1.0)), (
        "Wilson's of 2 of 2"
    )


def test_intervals_are_over_questions_not_pairs() -> None:
    """The same pairs, each thirty times in its question, tell no more."""
    once = calibration(TRUE[:200], P[:200], np.arange(200)).error
    often = calibration(np.repeat(TRUE[:200], 30), np.repeat(P[:200], 30), np.repeat(np.arange(200), 30)).error
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_one_question_has_no_interval_and_one_probability_is_one_bin() -> None:
    found = calibration(np.array([True, False]), np.array([0.5, 0.5], dtype=np.float32), np.zeros(2, dtype=np.int64))
    assert np.isnan([found.error.low, found.bins["low"][0]]).all()
    same = calibration(
        np.array([True, False]), np.array([0.5, 0.5], dtype=np.float32), np.arange(2), binning="equal count"
    )
    assert same.bins["n"].tolist() == [2]
