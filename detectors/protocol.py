"""The interface of every detector."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from berdseye.data.language_models.cost import HighestCost
from berdseye.data.records import Pair

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

UNTUNED = "not tuned"
"""The source of a threshold that was not chosen on data."""
DEFAULT_DETECTOR = "stance"
"""The detector that a new workspace uses."""


class Detector(Protocol):
    """Estimates whether passages support perspectives.

    `name` is canonical and keys stored labels together with `version`, which changes whenever weights, prompts, features or
    preprocessing change. A pair is supporting if its probability is at least `threshold`; `threshold_source` names the data
    that the threshold was chosen on. `measured` summarizes measured quality and its data, and is empty if nothing was
    measured. `pairs_at_once` is the best number of pairs per call.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def threshold(self) -> float: ...

    @property
    def threshold_source(self) -> str: ...

    @property
    def measured(self) -> str: ...

    @property
    def pairs_at_once(self) -> int: ...

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports) of each pair, float32[n_pairs], finite and within [0, 1], in the order of `pairs`."""
        ...


def stances_function(detector: Detector) -> Callable[[Sequence[Pair]], Floats] | None:
    """Return the detector's function from pairs to P(supports), P(opposes) and P(neither), float32[n_pairs, 3].

    None if the detector has no method `stances`: most only say whether a passage supports a perspective.
    """
    found: Callable[[Sequence[Pair]], Floats] | None = getattr(detector, "stances", None)
    return found


def cut_function(detector: Detector) -> Callable[[Sequence[Pair]], Bools] | None:
    """Return the detector's function from pairs to whether a text of each is too long for it and is cut, bool[n_pairs].

    None if the detector has no method `cut`: it reads texts of any length, or does not report which it cuts.
    """
    found: Callable[[Sequence[Pair]], Bools] | None = getattr(detector, "cut", None)
    return found


def is_quick(detector: Detector) -> bool:
    """Whether the detector labels about a hundred pairs a second or more on a processor, at no cost.

    A page may then ask it about every sentence of a passage. A detector says so by an attribute `quick`.
    """
    return bool(getattr(detector, "quick", False))


def highest_cost_of(detector: Detector, pairs: Sequence[Pair]) -> HighestCost | None:
    """Return what the labels of pairs cost at most; None if the detector runs on this machine, which costs nothing."""
    estimate: Callable[[Sequence[Pair]], HighestCost] | None = getattr(detector, "highest_cost", None)
    return None if estimate is None else estimate(pairs)


def count_truncated(detector: Detector, pairs: Sequence[Pair]) -> int | None:
    """Return for how many distinct pairs the detector reads only a part of a text; None if it does not report this."""
    cut = cut_function(detector)
    return None if cut is None else int(cut(list(dict.fromkeys(pairs))).sum())
