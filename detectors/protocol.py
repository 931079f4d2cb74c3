"""What every detector offers."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from berdseye.data.records import Pair

Floats = npt.NDArray[np.float32]

UNTUNED = "not tuned"
"""The source of a threshold that nobody chose on data."""
DEFAULT_DETECTOR = "embedded"
"""The detector that ships with Berdseye."""


class Detector(Protocol):
    """Answers whether passages support perspectives.

    `name` is canonical and keys stored labels together with `version`, which changes whenever weights, prompts, features or
    preprocessing change. A pair is supporting when its probability is at least `threshold`, and `threshold_source` says in a
    few words what that was chosen on; `measured` says how good it proved on what, and is empty where nobody measured.
    `pairs_at_once` is how many pairs are best asked together.
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
        """P(supports) of each pair, float32[n_pairs], finite and within [0, 1], in the order of `pairs`."""
        ...
