"""Detectors that answer from a table and remember what they were asked."""

from collections.abc import Callable, Sequence

import numpy as np

from berdseye.data.records import Pair
from berdseye.detectors.protocol import Bools, Floats


class Made:
    """P(supports) is what `says` makes of a pair; `asked` holds every batch."""

    version = "1"
    threshold_source = "made"
    measured = ""

    def __init__(
        self, says: Callable[[Pair], float], name: str = "made", threshold: float = 0.5, pairs_at_once: int = 3
    ) -> None:
        self.says, self.name, self.threshold, self.pairs_at_once = says, name, threshold, pairs_at_once
        self.asked: list[list[Pair]] = []

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        self.asked.append(list(pairs))
        return np.array([self.says(pair) for pair in pairs], dtype=np.float32)


class Cutting(Made):
    """A detector that reads 30 words of a passage."""

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        return np.array([len(pair.passage.split()) > 30 for pair in pairs], dtype=np.bool_)


def by_passage(**probabilities: float) -> Callable[[Pair], float]:
    """P by the passage's text."""
    return lambda pair: probabilities[pair.passage]
