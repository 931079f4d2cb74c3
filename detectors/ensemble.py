"""Ensembles of detectors: the mean of their probabilities, or a logistic regression over their logits."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from berdseye.data.errors import BadInputError, StaleError, UnavailableError
from berdseye.data.files.atomic import write_json
from berdseye.data.grammar import Call, parse
from berdseye.data.language_models.cost import HighestCost
from berdseye.data.records import Pair
from berdseye.detectors.protocol import Bools, Detector, Floats, cut_function, highest_cost_of

Doubles = npt.NDArray[np.float64]

STACK_FILE = "stacked.json"
_EDGE = 1e-4  # a probability of 0 or 1 has no logit


@dataclass(frozen=True)
class Stack:
    """P = sigmoid(intercept + sum of coefficient * logit of the detector's P), for these versions of these detectors."""

    detectors: tuple[str, ...]
    versions: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    threshold: float
    threshold_source: str = ""
    measured: str = ""

    def probabilities(self, parts: Sequence[Floats]) -> Floats:
        """Return P, float32[n], from the probabilities float32[n] of each detector."""
        return np.asarray(expit(self.intercept + logits(parts) @ np.array(self.coefficients)), dtype=np.float32)


class MeanDetector:
    """`mean(D1,D2,…)`: the mean of the detectors' probabilities; its threshold is the mean of their thresholds."""

    measured = ""

    def __init__(self, parts: Sequence[Detector]) -> None:
        if len(parts) < 2:
            raise BadInputError(
                f"`mean` requires at least two detectors, got {len(parts)}.",
                hint="Name them, for example mean(embedded,random).",
            )
        self.parts = parts
        self.name = str(Call("mean", tuple(_call(p.name) for p in parts)))
        self.version = _version("mean", [p.version for p in parts])
        self.threshold = float(np.mean([p.threshold for p in parts]))
        self.threshold_source = "mean of the thresholds of its detectors"
        self.cut = _cut_by_any(parts)
        self.highest_cost = _cost_of_all(parts)
        self.pairs_at_once = min(p.pairs_at_once for p in parts)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """P(supports), float32[n_pairs]."""
        return np.asarray(np.mean([p.predict(pairs) for p in self.parts], axis=0, dtype=np.float64), dtype=np.float32)


class StackedDetector:
    """`stacked(NAME)`: detectors weighted by a training of the workspace; raises `StaleError` if one has changed since."""

    def __init__(self, name: str, stack: Stack, parts: Sequence[Detector]) -> None:
        changed = [p.name for p, version in zip(parts, stack.versions, strict=True) if p.version != version]
        if changed:
            raise StaleError(
                f"'{changed[0]}' has changed since stacked({name}) was trained.",
                hint=f"Discard '{name}' and train it again.",
            )
        self.name = str(Call("stacked", (name,)))
        self.stack, self.parts = stack, parts
        self.version = _version("stacked", asdict(stack))
        self.threshold = stack.threshold
        self.threshold_source = stack.threshold_source
        self.measured = stack.measured
        self.cut = _cut_by_any(parts)
        self.highest_cost = _cost_of_all(parts)
        self.pairs_at_once = min(p.pairs_at_once for p in parts)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """P(supports), float32[n_pairs]."""
        return self.stack.probabilities([p.predict(pairs) for p in self.parts])


def logits(parts: Sequence[Floats]) -> Doubles:
    """Return the logits, float64[n, n_detectors], of the probabilities float32[n] of each detector."""
    return np.stack([logit(np.clip(p.astype(np.float64), _EDGE, 1 - _EDGE)) for p in parts], axis=1)


def fitted_stack(detectors: Sequence[Detector], parts: Sequence[Floats], truth: npt.NDArray[np.bool_]) -> Stack:
    """Fit a stack to the labels bool[n], given P float32[n] of each detector; its threshold remains to be chosen."""
    model = LogisticRegression(C=1.0, max_iter=1000).fit(logits(parts), truth)
    return Stack(
        tuple(d.name for d in detectors),
        tuple(d.version for d in detectors),
        tuple(round(float(c), 6) for c in model.coef_[0]),
        round(float(model.intercept_[0]), 6),
        0.5,
    )


def write_stack(folder: Path, stack: Stack) -> None:
    """Write a stack into the folder of its training."""
    write_json(folder / STACK_FILE, asdict(stack))


def read_stack(folder: Path) -> Stack:
    """Read the stack of a training; raises `UnavailableError` if it is missing or damaged."""
    path = folder / STACK_FILE
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()
        }
        stack = Stack(**fields)
        if len({len(stack.detectors), len(stack.versions), len(stack.coefficients)}) != 1:
            raise ValueError("detectors, versions and coefficients differ in number")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"The stack cannot be read ({error!r}).", where=path, hint="Train it again.") from error
    return stack


def _cut_by_any(parts: Sequence[Detector]) -> Callable[[Sequence[Pair]], Bools] | None:
    """Return a function from pairs to whether any of the detectors cuts a text of each; None if none of them reports it."""
    found = [cut for cut in map(cut_function, parts) if cut is not None]
    return (lambda pairs: np.any([cut(pairs) for cut in found], axis=0)) if found else None


def _cost_of_all(parts: Sequence[Detector]) -> Callable[[Sequence[Pair]], HighestCost | None]:
    """Return a function from pairs to what their labels by all detectors cost at most; None if they all run on this machine."""

    def cost(pairs: Sequence[Pair]) -> HighestCost | None:
        costs = [one for one in (highest_cost_of(part, pairs) for part in parts) if one is not None]
        if not costs:
            return None
        calls, words, tokens = (sum(column) for column in zip(*(one[:3] for one in costs), strict=True))
        dollars = [one.dollars for one in costs]
        return HighestCost(calls, words, tokens, None if None in dollars else sum(d for d in dollars if d is not None))

    return cost


def _call(name: str) -> Call:
    """Parse a detector's name, as an argument of another detector's name."""
    [call] = parse(name)
    return call


def _version(kind: str, made_of: object) -> str:
    return sha256(json.dumps([kind, made_of]).encode()).hexdigest()[:12]
