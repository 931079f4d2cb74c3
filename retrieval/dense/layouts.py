"""The layouts of FAISS indexes: exact, or smaller and faster at the cost of a little recall.

`retrieval/README.md` has measurements of each.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import faiss

DEFAULT_LAYOUT = "flat"
METRICS = {"cosine": faiss.METRIC_INNER_PRODUCT, "dot": faiss.METRIC_INNER_PRODUCT, "euclidean": faiss.METRIC_L2}
_MOST_TRAINING = 500_000
_QUANTISED = "SQ8"


@dataclass(frozen=True)
class Layout:
    """A type of FAISS index, given by its factory text.

    `exact` means that its scores are those of the vectors themselves. Its n vectors are divided into `lists(n)` inverted
    lists, of which a query visits `probes` (for hnsw: the number of candidate neighbours). FAISS requires `fewest` vectors
    for training; fewer vectors are only quantised.
    """

    name: str
    factory: str
    exact: bool = False
    trained: bool = True
    probes: int | None = None
    fewest: int = 0

    def description(self, count: int, dimension: int) -> str:
        """The text for FAISS's index factory for `count` vectors."""
        if count < self.fewest:
            return _QUANTISED
        return self.factory.format(lists=lists(count), pieces=_pieces(dimension))

    def training(self, count: int) -> int:
        """The number of vectors for training the codes and lists."""
        return min(count, max(_MOST_TRAINING, 64 * lists(count))) if self.trained else 0


def lists(count: int) -> int:
    """The number of inverted lists for `count` vectors: a power of two near sqrt(count)."""
    return 1 << max(0, round(math.log2(4 * math.sqrt(max(count, 1) / 16))))


def _pieces(dimension: int) -> int:
    """The number of equal pieces, of at least four numbers each, into which a vector is cut."""
    return max((n for n in range(1, dimension // 4 + 1) if dimension % n == 0), default=1)


LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("flat", "Flat", exact=True, trained=False),
        Layout("fp16", "SQfp16", trained=False),
        Layout("sq8", _QUANTISED),
        Layout("hnsw", "HNSW32_SQ8", probes=256),
        # 39 vectors per list, and for ivfpq 39 for each of the 256 codes of a piece. "np" skips the training for polysemous
        # search, which is not used and takes most of the time.
        Layout("ivf", "IVF{lists},SQ8", probes=512, fewest=4_096),
        Layout("ivfpq", "IVF{lists},PQ{pieces}np,Refine(SQ8)", probes=512, fewest=9_984),
        Layout("rabitq", "IVF{lists},RaBitQfs,Refine(SQfp16)", probes=512, fewest=4_096),
    )
}
