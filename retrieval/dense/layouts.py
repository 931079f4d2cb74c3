"""How vectors are laid out for search: exactly, or smaller and quicker for a little recall.

What each costs and keeps was measured; see `retrieval/README.md`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

_MOST_TRAINING = 500_000
_QUANTISED = "SQ8"


@dataclass(frozen=True)
class Layout:
    """A FAISS index by its factory text. `exact` says that its scores are those of the vectors themselves.

    `lists` are the inverted lists it divides n vectors into, `probes` how many of them a query visits (for hnsw: how many
    neighbours it keeps in sight). FAISS wants `fewest` vectors to learn from; with fewer than that they are only quantised.
    """

    name: str
    factory: str
    exact: bool = False
    trained: bool = True
    probes: int | None = None
    fewest: int = 0

    def description(self, count: int, dimension: int) -> str:
        """What FAISS's index factory is told for so many vectors."""
        if count < self.fewest:
            return _QUANTISED
        return self.factory.format(lists=lists(count), pieces=_pieces(dimension))

    def training(self, count: int) -> int:
        """How many vectors it learns its codes and lists from."""
        return min(count, max(_MOST_TRAINING, 64 * lists(count))) if self.trained else 0


def lists(count: int) -> int:
    """A power of two of about sqrt(count), so that lists are neither too long nor too many."""
    return 1 << max(0, round(math.log2(4 * math.sqrt(max(count, 1) / 16))))


def _pieces(dimension: int) -> int:
    """How many pieces of equal length, four numbers or more each, a vector is cut into."""
    return max((n for n in range(1, dimension // 4 + 1) if dimension % n == 0), default=1)


LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("flat", "Flat", exact=True, trained=False),
        Layout("fp16", "SQfp16", trained=False),
        Layout("sq8", _QUANTISED),
        Layout("hnsw", "HNSW32_SQ8", probes=256),
        # 39 a list, and for ivfpq 39 for each of the 256 codes of a piece. "np" leaves out what only polysemous search,
        # which is not used, learns: most of the time.
        Layout("ivf", "IVF{lists},SQ8", probes=512, fewest=4_096),
        Layout("ivfpq", "IVF{lists},PQ{pieces}np,Refine(SQ8)", probes=512, fewest=9_984),
    )
}
DEFAULT_LAYOUT = "flat"
