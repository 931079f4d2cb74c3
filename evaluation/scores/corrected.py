"""Corrected means: a detector's values on all questions, corrected by people's values on a sample of the questions.

Prediction-powered inference (Angelopoulos et al., Science 2023) with the power tuning of PPI++ (Angelopoulos, Duchi and Zrnic,
2023): the detector's mean over the questions that people did not judge, plus the detector's mean error on the questions that they
judged. The estimate is valid however wrong the detector is; the better the detector, the narrower the interval.

The judged questions must be a random sample. Questions chosen for their labels (for example, the uncertain ones) are not.
Several detectors are combined first (`evaluation.statistics.proxies`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.statistics.intervals import Estimate
from berdseye.evaluation.statistics.proxies import proxy_of_mean

Values = npt.NDArray[np.float64]


class Corrected(NamedTuple):
    """A corrected mean. `weight` is the weight of the detector, or of the combination of several, and `weights` that of each;
    `n` of the estimate is the number of questions people judged."""

    estimate: Estimate
    weight: float
    centre: float
    standard_error: float
    freedom: int
    weights: tuple[float, ...] = ()

    @property
    def p(self) -> float:
        """Two-sided p of a mean of 0, for differences between systems: below .05 if the 95% interval excludes 0."""
        if not np.isfinite(self.standard_error):
            return float("nan")
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.centre) / self.standard_error))


def corrected_mean(
    people: Values,
    detector: Values,
    *,
    weight: float | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> Corrected:
    """Estimate the mean that people would give if they judged all questions.

    `people` float64[n_questions] is NaN where people did not judge; `detector` float64[n_questions] is NaN only where a question
    has no value at all. Several detectors are float64[n_detectors, n_questions], and their combination counts as the detector
    (`proxy_of_mean`). `weight` None uses the optimal weight of PPI++, between 0 (people alone) and 1 (plain PPI, unbiased for
    every sample size; with a tuned weight the bias is of order 1/n).

    An unbiased estimate can lie slightly outside `bounds`, the least and the largest value of a question. The interval is
    Student's. If all values are `bounds` or 0, or if the judged questions do not differ, two questions with the largest possible
    error, one in each direction, are added. This follows Agresti and Coull (1998): without them, the intervals of rare values
    would have too little coverage, and a sample with equal values would have an interval of zero width.

    With one judged question there is no interval; with none, all values are NaN.
    """
    detectors = np.atleast_2d(detector)
    proxy = proxy_of_mean(people, detectors)
    known = ~np.isnan(proxy.values)
    judged = known & ~np.isnan(people)
    by_people, by_detector, elsewhere = people[judged], proxy.values[judged], proxy.values[known & ~judged]
    n, others = len(by_people), len(elsewhere)
    if n == 0:
        return Corrected(Estimate(np.nan, np.nan, np.nan, 0), 0.0, np.nan, np.nan, 0)
    if others == 0:
        used = 0.0
    elif weight is not None:
        used = weight
    else:
        used = _best_weight(by_people, by_detector, elsewhere)
    weights = tuple((used * proxy.weights).tolist())
    errors, elsewhere_part = by_people - used * by_detector, used * float(elsewhere.mean()) if others else 0.0
    value = float(errors.mean()) + elsewhere_part
    if n == 1:
        return Corrected(Estimate(value, np.nan, np.nan, 1), used, value, np.nan, 0, weights)
    from scipy.special import stdtrit

    lowest, highest = bounds
    said = np.concatenate([by_people, detectors[:, judged].ravel()])
    coarse = np.isin(said, (lowest, 0.0, highest)).all() or np.ptp(errors) == 0
    widened = np.append(errors, [lowest - used * highest, highest - used * lowest]) if coarse else errors
    variance = widened.var(ddof=1) / len(widened)
    if others > 1:
        variance += used**2 * elsewhere.var(ddof=1) / others
    error, centre = float(np.sqrt(variance)), float(widened.mean()) + elsewhere_part
    half = float(stdtrit(len(widened) - 1, (1 + confidence) / 2)) * error
    low, high = min(max(centre - half, lowest), value), max(min(centre + half, highest), value)
    return Corrected(Estimate(value, low, high, n), used, centre, error, len(widened) - 1, weights)


def _best_weight(by_people: Values, by_detector: Values, elsewhere: Values) -> float:
    """Return the weight with the least variance (PPI++, section 6), clipped to [0, 1]."""
    variance = np.concatenate([by_detector, elsewhere]).var(ddof=1)
    if len(by_people) < 2 or variance == 0:
        return 0.0
    covariance = np.mean((by_people - by_people.mean()) * (by_detector - by_detector.mean()))
    return float(np.clip(covariance / ((1 + len(by_people) / len(elsewhere)) * variance), 0.0, 1.0))
