"""Temperature and curve."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from berdseye.detectors.quality import quality
from berdseye.detectors.training.calibration import best_temperature, calibrated
from berdseye.detectors.training.cards import CURVE_FILE, Curve, read_curve


@settings(deadline=None, max_examples=10)
@given(st.sampled_from([0.3, 1.0, 4.0]), st.integers(0, 100))
def test_the_temperature_undoes_overconfidence(by: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    honest = rng.normal(-1.0, 2.0, 20_000)
    truth = rng.random(20_000) < expit(honest)
    found = best_temperature(honest * by, truth)
    assert found == pytest.approx(by, rel=0.1)
    p = calibrated(honest * by, found)
    assert quality(truth, p, 0.5, resamples=10).ece < 0.02
    assert (np.diff(p[np.argsort(honest)]) >= 0).all()


def test_a_curve_goes_on_where_its_checkpoint_stands(tmp_path: Path) -> None:
    first, second = Curve(tmp_path, 0), Curve(tmp_path, 1)
    for curve in (first, second):
        for step in (2, 4, 6):
            curve.add(step, 1.0 / step, 0.5)
    with (tmp_path / CURVE_FILE).open("a") as file:
        file.write('{"trial": 1, "st')  # a process that was killed while it wrote
    second.resume(4)
    assert [(p.trial, p.step) for p in read_curve(tmp_path)] == [(0, 2), (0, 4), (0, 6), (1, 2), (1, 4)]
