"""The detector that ships with Berdseye: a logistic regression over features of static embeddings."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import StaleError, UnavailableError
from berdseye.data.grammar import Call
from berdseye.data.models.static_embedding import WEIGHTS_SHA256
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.features import FEATURE_NAMES, FEATURES_VERSION, features

WEIGHTS_FILE = "embedded.json"
EMBEDDING_VERSION = WEIGHTS_SHA256[:12]
THRESHOLD_SOURCE = "best F1 at 16.8% positive on the dev debates"
_RETRAIN = "Train it again with `python -m berdseye.detectors.train_embedded DATA_FOLDER`."


@dataclass(frozen=True)
class Logistic:
    """P = sigmoid(intercept + sum of coefficient * (value - mean) / scale); `threshold` is a probability."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    threshold: float

    @property
    def version(self) -> str:
        """A hash (12 hex digits) of all numbers and of the versions of the features and the embedding."""
        parts = [FEATURES_VERSION, list(FEATURE_NAMES), EMBEDDING_VERSION, asdict(self)]
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=6).hexdigest()

    def probabilities(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return P, float32[n], of each row of `values` float32[n, n_coefficients]."""
        standard = (values.astype(np.float64) - np.array(self.mean)) / np.array(self.scale)
        # Effectively one row at a time: a matrix product may round a row differently in another batch.
        logits = self.intercept + np.einsum("ij,j->i", standard, np.array(self.coefficients))
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)), dtype=np.float32)


@dataclass(frozen=True)
class Weights:
    """The result of a training: the model, the calibrated cosine for comparison, and the measures of both (`card`)."""

    embedded: Logistic
    similarity: Logistic
    card: dict[str, Any]

    def to_json(self) -> str:
        """Return the text of the weights' file; equal weights give equal texts."""
        made_for = {
            "features": FEATURES_VERSION,
            "names": list(FEATURE_NAMES),
            "embedding": EMBEDDING_VERSION,
        }
        return json.dumps({"made_for": made_for, **asdict(self)}, indent=1, sort_keys=True) + "\n"


class EmbeddedDetector:
    """A logistic regression that recognizes topic and wording well and stance weakly; see `detectors/weights/README.md`."""

    pairs_at_once = 8_192
    quick = True

    def __init__(self, weights: Weights | None = None, trained: str | None = None) -> None:
        weights = weights or shipped_weights()
        self.name = str(Call("embedded", () if trained is None else (trained,)))
        self.model = weights.embedded
        self.threshold = self.model.threshold
        self.threshold_source = str(weights.card.get("threshold_source", THRESHOLD_SOURCE))
        self.measured = str(weights.card.get("measured") or measured_on_debates(weights, "embedded"))
        self.version = self.model.version

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """Return P(supports), float32[n_pairs], calibrated for a base rate of 16.8%."""
        return self.model.probabilities(features(pairs))


def read_weights(text: str, where: str | Path) -> Weights:
    """Parse weights from a file's text.

    Raises `UnavailableError` if it is damaged, `StaleError` if the weights are for other features.
    """
    try:
        raw = json.loads(text)
        made_for = (raw["made_for"]["features"], raw["made_for"]["names"], raw["made_for"]["embedding"])
        weights = Weights(_logistic(raw["embedded"]), _logistic(raw["similarity"]), dict(raw["card"]))
    except (ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"The weights cannot be read ({error!r}).", where=where, hint=_RETRAIN) from error
    if made_for != (FEATURES_VERSION, list(FEATURE_NAMES), EMBEDDING_VERSION):
        raise StaleError("The weights were trained on another version of the features.", where=where, hint=_RETRAIN)
    if len(weights.embedded.coefficients) != len(FEATURE_NAMES):
        raise UnavailableError(
            f"The weights have {len(weights.embedded.coefficients)} coefficients, expected {len(FEATURE_NAMES)}.",
            where=where,
            hint=_RETRAIN,
        )
    return weights


@lru_cache(maxsize=1)
def shipped_weights() -> Weights:
    """Return the weights in the package, read once per process."""
    path = files("berdseye.detectors") / "weights" / WEIGHTS_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UnavailableError(
            "The weights of the detector `embedded` are missing.", where=str(path), hint=_RETRAIN
        ) from error
    return read_weights(text, str(path))


def measured_on_debates(weights: Weights, name: str) -> str:
    """Summarize the test measures of a shipped detector in one line; empty if the card has none."""
    try:
        measures = weights.card["figures"][name]["test"]
        right, always = (measures["claim_or_denial"][key] for key in ("right", "always_claim"))
        return (
            f"AUROC {measures['auroc'][0]:.2f}, F1 {measures['f1_at_base_rate'][0]:.2f} at 16.8% positive on held-out debates; "
            f"prefers the right one of a claim and its denial in {right:.0%} (always the claim: {always:.0%})"
        )
    except (KeyError, TypeError, IndexError):
        return ""


def trained_weights(workspace: Workspace, name: str) -> Weights:
    """Read the weights of a training in the workspace; raises `UnavailableError` if there is none."""
    path = workspace.detectors_folder / name / WEIGHTS_FILE
    if not path.is_file():
        raise UnavailableError(
            f"The detector 'embedded({name})' does not exist.",
            where=path,
            hint=f"Train it first: `berdseye detector train --name {name}`.",
        )
    return read_weights(path.read_text(encoding="utf-8"), path)


def _logistic(raw: dict[str, Any]) -> Logistic:
    mean, scale, coefficients = (tuple(float(x) for x in raw[k]) for k in ("mean", "scale", "coefficients"))
    if not len(mean) == len(scale) == len(coefficients):
        raise ValueError("mean, scale and coefficients differ in length")
    return Logistic(mean, scale, coefficients, float(raw["intercept"]), float(raw["threshold"]))
