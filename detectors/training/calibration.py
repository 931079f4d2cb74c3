"""Temperature scaling (Guo et al. 2017): one number that calibrates probabilities without changing their order."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit

from berdseye.detectors.protocol import Floats

Doubles = npt.NDArray[np.float64]

_RANGE = (0.05, 20.0)


def best_temperature(logits: Doubles, truth: npt.NDArray[np.bool_]) -> float:
    """Return the T from 0.05 to 20 that minimizes the log loss of sigmoid(logits / T); logits float64[n], truth bool[n]."""

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        return float((np.logaddexp(0.0, scaled) - truth * scaled).mean())

    optimum = minimize_scalar(loss, bounds=tuple(np.log(_RANGE)), method="bounded")
    return round(float(np.exp(optimum.x)), 4)


def calibrated(logits: Doubles, temperature: float) -> Floats:
    """Return sigmoid(logits / temperature), float32[n]."""
    return np.asarray(expit(logits / temperature), dtype=np.float32)
