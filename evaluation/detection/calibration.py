"""Calibration: do pairs with probability p support their perspectives with a share of p?

The expected calibration error is the mean absolute difference between the mean probability and the share of supporting pairs over
bins, weighted by the number of pairs in each bin (Naeini, Cooper and Hauskrecht, AAAI 2015). It grows with the number of bins and
shrinks with the number of pairs, so it is reported with both.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from berdseye.data.statistics import bootstrap_interval
from berdseye.detectors.protocol import Floats
from berdseye.evaluation.detection.operating_points import RESAMPLES, Doubles, Groups, Truth
from berdseye.evaluation.statistics.intervals import Estimate, resampled_means

Binning = Literal["equal width", "equal count"]
BINNINGS: tuple[Binning, ...] = get_args(Binning)
BINS = 10


class Calibration(NamedTuple):
    """The calibration of a detector.

    `bins` has one row for each non-empty bin: from, to, n, questions, probability (the mean), share (of supporting pairs), low
    and high. `error` is the expected calibration error, `gap` the mean probability minus the share of supporting pairs over all
    pairs, both with a 95% interval over questions.
    """

    bins: pd.DataFrame
    error: Estimate
    gap: Estimate


def calibration(
    truth: Truth,
    probabilities: Floats,
    groups: Groups,
    *,
    bins: int = BINS,
    binning: Binning = "equal width",
    seed: int = 0,
) -> Calibration:
    """Compute the calibration of probabilities float32[n] against labels bool[n]; the bootstrap draws groups (questions,
    int64[n]).

    A bin includes its lower edge, and the last bin also includes 1. If all labels of a bin are equal, its interval is Wilson's
    (1927) for as many pairs as the bin has questions, because a bootstrap interval would have no width.
    """
    scores = probabilities.astype(np.float64)
    edges = np.linspace(0, 1, bins + 1) if binning == "equal width" else _quantiles(scores, bins)
    count = len(edges) - 1
    place = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, count - 1)
    group = np.unique(groups, return_inverse=True)[1]
    sums = _sums(truth, scores, place, group, count)
    n, hits, probability_sums = sums.sum(axis=0)
    questions = (sums[:, 0] > 0).sum(axis=0)
    drawn = _drawn(sums, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = np.array(
            [bootstrap_interval(drawn[:, 1, b] / drawn[:, 0, b], int(questions[b])) for b in range(count)]
        ).reshape(-1, 2)
        frame = pd.DataFrame(
            {
                "from": edges[:-1],
                "to": edges[1:],
                "n": n.astype(np.int64),
                "questions": questions,
                "probability": probability_sums / n,
                "share": hits / n,
                "low": ends[:, 0],
                "high": ends[:, 1],
            }
        )
    alike = ((hits == 0) | (hits == n)) & (n > 0)
    wilson = proportion_confint((frame["share"] * questions)[alike], questions[alike], method="wilson")
    frame.loc[alike, ["low", "high"]] = np.stack(wilson, axis=1)
    return Calibration(
        frame[frame["n"] > 0].reset_index(drop=True),
        _estimate(sums, drawn, lambda s: np.abs(s[..., 2, :] - s[..., 1, :]).sum(axis=-1)),
        _estimate(sums, drawn, lambda s: (s[..., 2, :] - s[..., 1, :]).sum(axis=-1)),
    )


def _quantiles(scores: Doubles, bins: int) -> Doubles:
    """Return edges of bins with equal numbers of scores; equal edges are merged."""
    edges = np.unique(np.quantile(scores, np.linspace(0, 1, bins + 1)))
    return edges if len(edges) > 1 else np.array([0.0, 1.0])


def _sums(
    truth: Truth, scores: Doubles, place: npt.NDArray[np.intp], group: npt.NDArray[np.intp], bins: int
) -> Doubles:
    """Return the numbers of pairs and of supporting pairs and the sums of probabilities, float64[n_groups, 3, n_bins]."""
    cell = group * bins + place
    size = (int(group.max(initial=-1)) + 1) * bins
    parts = [np.bincount(cell, weights, size).reshape(-1, bins) for weights in (None, truth.astype(float), scores)]
    return np.stack(parts, axis=1).astype(np.float64)


def _drawn(sums: Doubles, seed: int) -> Doubles:
    """Return the sums of bootstrap samples of the groups, up to a common factor, float64[resamples, 3, n_bins]."""
    flat = sums.reshape(len(sums), -1)
    return resampled_means(flat, RESAMPLES, np.random.default_rng(seed)).reshape(-1, *sums.shape[1:])


def _estimate(sums: Doubles, drawn: Doubles, difference: Callable[[Doubles], Doubles]) -> Estimate:
    total = sums.sum(axis=0)
    value = float(difference(total) / total[0].sum())
    ends = bootstrap_interval(difference(drawn) / drawn[:, 0].sum(axis=-1), len(sums))
    return Estimate(value, *ends, len(sums))
