"""Detector-corrected means: a detector's values everywhere, put right by people's values on a sample of the questions.

Prediction-powered inference (Angelopoulos et al., Science 2023) with the power tuning of PPI++ (Angelopoulos, Duchi and Zrnic,
2023): the detector's mean over the questions that people did not judge, plus the mean of what people found it to be off by on
those they did. However wrong the detector is, the estimate stays right; the better it is, the narrower the interval.

It holds when the judged questions are a random sample. Questions chosen for their labels (the doubtful ones, say) are not.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from evaluation.intervals import Estimate

Values = npt.NDArray[np.float64]


class Corrected(NamedTuple):
    """A corrected mean; `weight` is how much of the detector was used, `n` of the estimate how many questions people judged."""

    estimate: Estimate
    weight: float
    standard_error: float

    @property
    def p(self) -> float:
        """Two-sided p of a mean of 0, for differences between systems."""
        if not np.isfinite(self.standard_error):
            return float("nan")
        if self.standard_error == 0:
            return float(self.estimate.value == 0)
        t = abs(self.estimate.value) / self.standard_error
        return float(2 * stats.t.sf(t, self.estimate.n - 1))


def corrected_mean(
    people: Values, detector: Values, *, weight: float | None = None, confidence: float = 0.95
) -> Corrected:
    """The mean that people would give if they judged all questions.

    `people` float64[n_questions] is NaN where people did not judge, `detector` float64[n_questions] NaN only where a question
    has no value at all. `weight` None takes the one that PPI++ calls best, between 0 (people alone) and 1 (plain PPI, unbiased
    for every sample size; with a tuned weight the bias is of order 1/n). The interval is Student's, n - 1 degrees of freedom.
    Fewer than two judged questions give no interval, none gives NaN throughout.
    """
    known = ~np.isnan(detector)
    judged = known & ~np.isnan(people)
    said, guessed, elsewhere = people[judged], detector[judged], detector[known & ~judged]
    n, others = len(said), len(elsewhere)
    if n == 0:
        return Corrected(Estimate(np.nan, np.nan, np.nan, 0), 0.0, np.nan)
    if others == 0:
        used = 0.0
    elif weight is not None:
        used = weight
    else:
        used = _best_weight(said, guessed, elsewhere)
    value = float((said - used * guessed).mean() + (used * elsewhere.mean() if others else 0.0))
    if n == 1:
        return Corrected(Estimate(value, np.nan, np.nan, 1), used, np.nan)
    variance = (said - used * guessed).var(ddof=1) / n
    if others > 1:
        variance += used**2 * elsewhere.var(ddof=1) / others
    error = float(np.sqrt(variance))
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    return Corrected(Estimate(value, value - half, value + half, n), used, error)


def _best_weight(said: Values, guessed: Values, elsewhere: Values) -> float:
    """The weight with the least variance (PPI++, section 6), held between 0 and 1."""
    spread = np.concatenate([guessed, elsewhere]).var(ddof=1)
    if len(said) < 2 or spread == 0:
        return 0.0
    shared = np.mean((said - said.mean()) * (guessed - guessed.mean()))
    return float(np.clip(shared / ((1 + len(said) / len(elsewhere)) * spread), 0.0, 1.0))
