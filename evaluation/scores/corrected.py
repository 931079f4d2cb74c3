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

from berdseye.evaluation.statistics.intervals import Estimate

Values = npt.NDArray[np.float64]


class Corrected(NamedTuple):
    """A corrected mean; `weight` is how much of the detector was used, `n` of the estimate how many questions people judged."""

    estimate: Estimate
    weight: float
    centre: float
    standard_error: float
    freedom: int

    @property
    def p(self) -> float:
        """Two-sided p of a mean of 0, for differences between systems: below .05 where the 95% interval leaves 0 out."""
        if not np.isfinite(self.standard_error):
            return float("nan")
        return float(2 * stats.t.sf(abs(self.centre) / self.standard_error, self.freedom))


def corrected_mean(
    people: Values,
    detector: Values,
    *,
    weight: float | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> Corrected:
    """The mean that people would give if they judged all questions.

    `people` float64[n_questions] is NaN where people did not judge, `detector` float64[n_questions] NaN only where a question
    has no value at all. `weight` None takes the one that PPI++ calls best, between 0 (people alone) and 1 (plain PPI, unbiased
    for every sample size; with a tuned weight the bias is of order 1/n).

    An unbiased estimate can lie outside `bounds`, the least and largest value of a question, by a little. The interval is
    Student's; where all values are `bounds` or 0, and where the judged questions do not differ, two more are added that went as
    far off as the bounds let them, one to each side: the idea of Agresti and Coull (1998), without which rare values are covered
    too seldom, and a sample in which all agree has an interval of no width.

    Fewer than two judged questions give no interval, none gives NaN throughout.
    """
    known = ~np.isnan(detector)
    judged = known & ~np.isnan(people)
    said, guessed, elsewhere = people[judged], detector[judged], detector[known & ~judged]
    n, others = len(said), len(elsewhere)
    if n == 0:
        return Corrected(Estimate(np.nan, np.nan, np.nan, 0), 0.0, np.nan, np.nan, 0)
    if others == 0:
        used = 0.0
    elif weight is not None:
        used = weight
    else:
        used = _best_weight(said, guessed, elsewhere)
    off, filled_in = said - used * guessed, used * float(elsewhere.mean()) if others else 0.0
    value = float(off.mean()) + filled_in
    if n == 1:
        return Corrected(Estimate(value, np.nan, np.nan, 1), used, value, np.nan, 0)
    lowest, highest = bounds
    coarse = np.isin(np.concatenate([said, guessed]), (lowest, 0.0, highest)).all() or np.ptp(off) == 0
    widened = np.append(off, [lowest - used * highest, highest - used * lowest]) if coarse else off
    variance = widened.var(ddof=1) / len(widened)
    if others > 1:
        variance += used**2 * elsewhere.var(ddof=1) / others
    error, centre = float(np.sqrt(variance)), float(widened.mean()) + filled_in
    half = float(stats.t.ppf((1 + confidence) / 2, len(widened) - 1)) * error
    low, high = min(max(centre - half, lowest), value), max(min(centre + half, highest), value)
    return Corrected(Estimate(value, low, high, n), used, centre, error, len(widened) - 1)


def _best_weight(said: Values, guessed: Values, elsewhere: Values) -> float:
    """The weight with the least variance (PPI++, section 6), held between 0 and 1."""
    spread = np.concatenate([guessed, elsewhere]).var(ddof=1)
    if len(said) < 2 or spread == 0:
        return 0.0
    shared = np.mean((said - said.mean()) * (guessed - guessed.mean()))
    return float(np.clip(shared / ((1 + len(said) / len(elsewhere)) * spread), 0.0, 1.0))
