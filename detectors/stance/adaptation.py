"""The detector `stance` adapted to labels of a workspace: its last layer, fitted further around the shipped one.

The log-odds of support gain a linear function of what the last layer reads. It is a maximum a posteriori estimate under a
Gaussian prior around no change, so that few labels change little; it is fitted in seconds, without PyTorch.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json
from berdseye.detectors.protocol import Floats

Doubles = npt.NDArray[np.float64]

ADAPTATION_FILE = "stance_adaptation.json"
PRIOR = 30.0
"""The precision of the prior of each weight; that of the intercept is a tenth, because collections differ most in base rates."""
_INTERCEPT_SHARE = 0.1
_EDGE = 1e-6
_PLACES = 6


@dataclass(frozen=True)
class Adaptation:
    """What is added to the log-odds of support: `weights` times the features, and `intercept`; and the card of the training."""

    made_for: str
    weights: tuple[float, ...]
    intercept: float
    threshold: float
    threshold_source: str
    measured: str = ""

    @property
    def version(self) -> str:
        """A hash (12 hex digits) of the numbers."""
        numbers = json.dumps([self.made_for, self.weights, self.intercept])
        return hashlib.blake2b(numbers.encode(), digest_size=6).hexdigest()

    def stances(self, stances: Floats, features: Floats) -> Floats:
        """Return adapted probabilities, float32[n, 3], from the shipped network's and its features, float32[n, width].

        A pair without features keeps its probabilities.
        """
        added = features.astype(np.float64) @ np.array(self.weights) + self.intercept
        return np.where(features.any(axis=1, keepdims=True), moved_stances(stances, 1.0, added), stances)


def moved_stances(stances: Floats, slope: float, added: float | Doubles) -> Floats:
    """Return probabilities, float32[n, 3], whose log-odds of support are multiplied by `slope`, with `added` to them.

    P(opposes) and P(neither) keep their ratio.
    """
    from scipy.special import expit, logit  # takes long to load

    supports = np.clip(stances[:, 0].astype(np.float64), _EDGE, 1 - _EDGE)
    moved = expit(slope * logit(supports) + added)
    rest = ((1 - moved) / (1 - supports))[:, None] * stances[:, 1:]
    return np.column_stack([moved, rest]).astype(np.float32)


def fit_adaptation(
    stances: Floats, features: Floats, targets: Doubles, made_for: str, prior: float = PRIOR
) -> Adaptation:
    """Return the most probable adaptation, from probabilities float32[n, 3], features float32[n, width] and targets float64[n].

    Targets are labels or a teacher's probabilities. Without rows nothing changes. The threshold remains to be chosen.
    """
    from scipy.optimize import minimize  # these take long to load
    from scipy.special import expit, logit

    design = np.column_stack([features.astype(np.float64), np.ones(len(features))])
    offset = logit(np.clip(stances[:, 0].astype(np.float64), _EDGE, 1 - _EDGE))
    precision = np.full(design.shape[1], prior)
    precision[-1] *= _INTERCEPT_SHARE

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        logits = offset + design @ weights
        value = np.logaddexp(0.0, logits).sum() - targets @ logits + 0.5 * precision @ weights**2
        return float(value), design.T @ (expit(logits) - targets) + precision * weights

    optimum = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    *weights, intercept = (round(float(x), _PLACES) for x in optimum.x)
    return Adaptation(made_for, tuple(weights), intercept, 0.5, "not tuned")


def write_adaptation(folder: Path, adaptation: Adaptation) -> None:
    """Write an adaptation into the folder of its training."""
    write_json(folder / ADAPTATION_FILE, asdict(adaptation))


def read_adaptation(folder: Path, made_for: str) -> Adaptation:
    """Read an adaptation; raises `StaleError` if it cannot be read or is for other weights than those of version `made_for`."""
    path = folder / ADAPTATION_FILE
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        found = Adaptation(**{**raw, "weights": tuple(map(float, raw["weights"]))})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StaleError("The adaptation cannot be read.", where=path, hint="Discard it and train it again.") from error
    if found.made_for != made_for:
        raise StaleError(
            "The adaptation is for an earlier version of `stance`.", where=path, hint="Discard it and train it again."
        )
    return found
