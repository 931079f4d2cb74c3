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
        """Hash (12 hex digits) of all numbers, of the features' version and of the embedding's."""
        parts = [FEATURES_VERSION, list(FEATURE_NAMES), EMBEDDING_VERSION, asdict(self)]
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=6).hexdigest()

    def probabilities(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """P of each row of `values` float32[n, n_coefficients], as float32[n]."""
        standard = (values.astype(np.float64) - np.array(self.mean)) / np.array(self.scale)
        # One row at a time in effect: a matrix product may round a row differently in another batch.
        logits = self.intercept + np.einsum("ij,j->i", standard, np.array(self.coefficients))
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)), dtype=np.float32)


@dataclass(frozen=True)
class Weights:
    """What training leaves behind: the model, the calibrated cosine beside it, and the figures of both."""

    embedded: Logistic
    similarity: Logistic
    card: dict[str, Any]

    def to_json(self) -> str:
        """The file's text; equal weights give equal text."""
        made_for = {
            "features": FEATURES_VERSION,
            "names": list(FEATURE_NAMES),
            "embedding": EMBEDDING_VERSION,
        }
        return json.dumps({"made_for": made_for, **asdict(self)}, indent=1, sort_keys=True) + "\n"


class EmbeddedDetector:
    """Scores topic and wording well and stance weakly; see `detectors/weights/README.md` for how well."""

    pairs_at_once = 8_192

    def __init__(self, weights: Weights | None = None, trained: str | None = None) -> None:
        weights = weights or shipped_weights()
        self.name = str(Call("embedded", () if trained is None else (trained,)))
        self.model = weights.embedded
        self.threshold = self.model.threshold
        self.threshold_source = str(weights.card.get("threshold_source", THRESHOLD_SOURCE))
        self.measured = str(weights.card.get("measured") or measured_on_debates(weights, "embedded"))
        self.version = self.model.version

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """P(supports), float32[n_pairs], calibrated for a base rate of 16.8%."""
        return self.model.probabilities(features(pairs))


def read_weights(text: str, where: str | Path) -> Weights:
    """Weights from a file's text.

    Raises `UnavailableError` when it is broken, `StaleError` when it was made for other features.
    """
    try:
        raw = json.loads(text)
        made_for = (raw["made_for"]["features"], raw["made_for"]["names"], raw["made_for"]["embedding"])
        weights = Weights(_logistic(raw["embedded"]), _logistic(raw["similarity"]), dict(raw["card"]))
    except (ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"The weights cannot be read ({error!r}).", where=where, hint=_RETRAIN) from error
    if made_for != (FEATURES_VERSION, list(FEATURE_NAMES), EMBEDDING_VERSION):
        raise StaleError("The weights were made for other features.", where=where, hint=_RETRAIN)
    if len(weights.embedded.coefficients) != len(FEATURE_NAMES):
        raise UnavailableError("The weights do not have one coefficient per feature.", where=where, hint=_RETRAIN)
    return weights


@lru_cache(maxsize=1)
def shipped_weights() -> Weights:
    """The weights in the package, read once per process."""
    path = files("berdseye.detectors") / "weights" / WEIGHTS_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UnavailableError("The weights are missing.", where=str(path), hint=_RETRAIN) from error
    return read_weights(text, str(path))


def measured_on_debates(weights: Weights, name: str) -> str:
    """The test figures of the shipped card in one line; empty where the card has none."""
    try:
        found = weights.card["figures"][name]["test"]
        right, always = (found["claim_or_denial"][key] for key in ("right", "always_claim"))
        return (
            f"AUROC {found['auroc'][0]:.2f}, F1 {found['f1_at_base_rate'][0]:.2f} at 16.8% positive on held-out debates; "
            f"of a claim and its denial it takes the right one in {right:.0%} (always the claim: {always:.0%})"
        )
    except (KeyError, TypeError, IndexError):
        return ""


def trained_weights(workspace: Workspace, name: str) -> Weights:
    """The weights of a training in the workspace; raises `UnavailableError` where there is none."""
    path = workspace.detectors_folder / name / WEIGHTS_FILE
    if not path.is_file():
        raise UnavailableError(f"There is no detector 'embedded({name})'.", where=path, hint="Train it first.")
    return read_weights(path.read_text(encoding="utf-8"), path)


def _logistic(raw: dict[str, Any]) -> Logistic:
    mean, scale, coefficients = (tuple(float(x) for x in raw[k]) for k in ("mean", "scale", "coefficients"))
    if not len(mean) == len(scale) == len(coefficients):
        raise ValueError("mean, scale and coefficients differ in length")
    return Logistic(mean, scale, coefficients, float(raw["intercept"]), float(raw["threshold"]))
