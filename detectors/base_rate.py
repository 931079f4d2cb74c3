"""Chance at a known base rate: what every other detector has to beat."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.grammar import Call
from berdseye.data.records import Pair

BASE_RATE = 0.168
"""Share of supporting pairs to expect among retrieved passages."""

_LEVELS = 1 << 24
"""As many probabilities as a float32 below 1 tells apart."""


class RandomDetector:
    """Draws a uniform probability from the pair's key; about `rate` of all pairs reach the threshold."""

    measured = "chance"
    pairs_at_once = 65_536

    def __init__(self, rate: float = BASE_RATE, seed: int = 0) -> None:
        other = ({"rate": rate} if rate != BASE_RATE else {}) | ({"seed": seed} if seed else {})
        self.name = str(Call("random", (), other))
        self.seed = seed
        self.threshold_source = f"says yes to {rate:.1%}"
        self.threshold = 1.0 - rate
        self.version = f"1-{rate:g}-{seed}"

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """P(supports), float32[n_pairs]; the same for the same pair and seed, whatever stands beside it."""
        drawn = [self._draw(pair.key) for pair in pairs]
        return (np.array(drawn, dtype=np.float64) / _LEVELS).astype(np.float32)

    def _draw(self, key: str) -> int:
        digest = hashlib.blake2b(f"{self.seed}:{key}".encode(), digest_size=3).digest()
        return int.from_bytes(digest, "big")
