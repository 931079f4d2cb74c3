"""No interval of a small sample is a point: it has a width, or is not there."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pytest

from berdseye.data.statistics import NO_INTERVAL, bootstrap_interval, expanded_tail
from berdseye.detectors.quality import quality
from berdseye.evaluation.agreement.alignment import aligned
from berdseye.evaluation.agreement.pairwise import pair_agreements
from berdseye.evaluation.agreement.together import together
from berdseye.evaluation.bias.sides import Leaning, shares_of_leanings
from berdseye.evaluation.detection.calibration import calibration
from berdseye.evaluation.detection.operating_points import cells_by_group, figures
from berdseye.evaluation.pir.measures import shares_over_roots
from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.statistics.significance import compare

Ends = Iterable[tuple[float, float]]


def people(n: int) -> pd.DataFrame:
    """Two people who agree on n items."""
    labels = ["supports" if item % 2 else "does not support" for item in range(n)]
    return pd.DataFrame(
        [{"item": str(i), "annotator": who, "label": label} for who in "ab" for i, label in enumerate(labels)]
    )


def of_agreement(n: int) -> Ends:
    labels = aligned(people(n), ("does not support", "supports"))
    for found in together(labels):
        yield found.low, found.high
        assert (found.interval == NO_INTERVAL) == np.isnan(found.low), found
    for grouped in together(labels, questions=np.zeros(n, dtype=np.int64)):
        yield grouped.low, grouped.high
    [pair] = pair_agreements(labels)
    yield pair.low, pair.high
    for name in ("raw", "positive", "negative", "ac1", "pabak"):
        yield getattr(pair, f"{name}_low"), getattr(pair, f"{name}_high")


def of_detection(n: int) -> Ends:
    truth, chances, groups = np.arange(n) % 2 == 1, (np.arange(n) % 2).astype(np.float32), np.arange(n)
    yield from quality(truth, chances, 0.5, list(range(n)), resamples=50).intervals.values()
    found = calibration(truth, chances, groups)
    yield from zip(found.bins["low"], found.bins["high"], strict=True)
    yield from ((e.low, e.high) for e in (found.error, found.gap))
    yield from ((e.low, e.high) for e in figures(cells_by_group(truth, chances > 0.5, groups)).values())


def of_measures(n: int) -> Ends:
    for value, bounds in ((1.0, (0.0, 1.0)), (0.4, (0.0, 1.0)), (3.0, (1.0, 6.0)), (7.0, None)):
        found = mean_with_interval(np.full(n, value), bounds=bounds)
        yield found.low, found.high
    for differences in (np.zeros(n), np.full(n, 0.5)):
        for limits in ((-1.0, 1.0), None):
            [compared] = compare({"a": differences, "b": np.zeros(n)}, bounds=limits)
            yield compared.low, compared.high
    yield from ((e.low, e.high) for e in shares_over_roots(np.tile([2.0, 0.0], (n, 1))))
    yield from ((float(str(s["low"])), float(str(s["high"]))) for s in shares_of_leanings([Leaning.BOTH] * n))
    judged = np.append(np.ones(n), np.full(20, np.nan))
    estimate = corrected_mean(judged, np.ones(n + 20)).estimate
    yield estimate.low, estimate.high


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("path", [of_agreement, of_detection, of_measures])
def test_no_interval_of_few_alike_items_is_a_point(path: Callable[[int], Ends], n: int) -> None:
    ends = list(path(n))
    assert len(ends) > 5
    assert all((np.isnan(low) and np.isnan(high)) or high - low > 1e-6 for low, high in ends), ends


def test_kappa_of_three_items_has_no_interval() -> None:
    [pair] = pair_agreements(aligned(people(3), ("does not support", "supports")))
    assert pair.cohen_kappa == 1.0
    assert np.isnan([pair.low, pair.high, pair.ac1_low]).all()
    assert (pair.raw_low, pair.raw_high) == pytest.approx((0.4385, 1.0), abs=1e-3)  # 3 / (3 + 1.96^2), Wilson's


def test_percentiles_are_put_further_out_for_a_small_sample() -> None:
    # Student's quantile of 9 degrees, 2.2622, times sqrt(10 / 9) is 2.3845, beyond which .00855 of a normal distribution lies.
    assert expanded_tail(10) == pytest.approx(0.00855, abs=1e-5)
    assert expanded_tail(100_000) == pytest.approx(0.025, abs=1e-4)
    assert np.isnan(bootstrap_interval(np.arange(100.0), 4)).all()
    assert np.isnan(bootstrap_interval(np.where(np.arange(100) % 5, np.nan, 1.0), 50)).all()
