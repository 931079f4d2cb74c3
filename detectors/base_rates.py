"""Base rates: the share of supporting pairs that a detector's probabilities are for, and the one that new pairs have.

Retrieved passages support perspectives more or less often by corpus and by k, so that a threshold chosen on other data calls too
many or too few of them. Both estimates move all log-odds by one number: from probabilities alone, by expectation maximisation
(Saerens, Latinne and Decaestecker, Neural Computation 2002), or from some judged pairs. A threshold can also be the one that a
given share of the new pairs reaches, which needs the order of the probabilities alone.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

Doubles = npt.NDArray[np.float64]

_EDGE = 1e-6
_ROUNDS = 1000
_CLOSE = 1e-7
_PRIOR = 1.0
"""The standard deviation of the move, in log-odds, that judged pairs are weighed against."""


def moved(probabilities: npt.NDArray[np.floating], by: float) -> Doubles:
    """Return probabilities, float64[n], with their log-odds moved."""
    return np.asarray(expit(_log_odds(probabilities) + by), dtype=np.float64)


def estimated_base_rate(probabilities: npt.NDArray[np.floating], base_rate: float) -> float:
    """Return the base rate of unlabelled pairs, from P(supports), float[n], for pairs with the share `base_rate` of support.

    By expectation maximisation: the rate is the mean of the probabilities moved to it. Without pairs it is `base_rate`.
    """
    if not len(probabilities):
        return base_rate
    rate = base_rate
    for _ in range(_ROUNDS):
        before = rate
        rate = float(np.clip(moved(probabilities, logit(rate) - logit(base_rate)).mean(), _EDGE, 1 - _EDGE))
        if abs(rate - before) < _CLOSE:
            break
    return rate


def move_from_labels(
    probabilities: npt.NDArray[np.floating], supports: npt.NDArray[np.bool_], expected: float = 0.0
) -> float:
    """Return the move of log-odds that fits judged pairs best, from P(supports), float[n], and labels, bool[n].

    It is weighed against a normal prior around the move `expected`, so that few judgments move little.
    """
    odds, by = _log_odds(probabilities), expected
    for _ in range(_ROUNDS):  # Newton's method on a concave function of one number
        p = expit(odds + by)
        slope = float((supports - p).sum()) - (by - expected) / _PRIOR**2
        curve = float((p * (1 - p)).sum()) + 1 / _PRIOR**2
        step = slope / curve
        by += float(np.clip(step, -1.0, 1.0))
        if abs(step) < _CLOSE:
            break
    return by


def moved_threshold(threshold: float, by: float) -> float:
    """Return the threshold on the original probabilities that equals `threshold` on the moved ones."""
    return float(moved(np.array([threshold]), -by)[0])


def threshold_of_share(probabilities: npt.NDArray[np.floating], share: float) -> float:
    """Return the highest threshold, of four places, that at least a `share` (above 0, up to 1) of P(supports), float[n > 0],
    reach."""
    reaching = max(1, int(np.ceil(share * len(probabilities) - _CLOSE)))
    return float(np.floor(float(np.sort(probabilities)[-reaching]) * 1e4) / 1e4)


def _log_odds(probabilities: npt.NDArray[np.floating]) -> Doubles:
    return np.asarray(logit(np.clip(probabilities.astype(np.float64), _EDGE, 1 - _EDGE)), dtype=np.float64)
