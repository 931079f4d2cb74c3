"""What every detector offers."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from data.records import Pair


class Detector(Protocol):
    """Answers whether passages support perspectives.

    `name` is canonical and keys stored labels together with `version`, which changes whenever weights,
    features or preprocessing change. A pair is supporting when its probability is at least `threshold`.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def threshold(self) -> float: ...

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """P(supports) of each pair, float32[n_pairs], finite and within [0, 1], in the order of `pairs`."""
        ...
