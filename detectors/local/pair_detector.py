"""What NLI models and cross-encoders have in common as detectors: windows, batches, and a head that makes P of logits."""

from collections.abc import Callable, Sequence
from hashlib import sha256

from berdseye.data.records import Pair
from berdseye.detectors.local.pair_model import PairModel
from berdseye.detectors.local.reading import Title
from berdseye.detectors.local.windows import Window, windowed
from berdseye.detectors.protocol import UNTUNED, Floats

PREPROCESSING = "1"
"""To be raised with every change in this folder that changes a probability."""


class PairDetector:
    """P(supports) from the logits of a model that reads the passage first and the perspective second.

    A passage that does not fit is read in windows that overlap by a quarter; `windows` says whether the largest P of them
    counts (max), that of the first one, or their mean.
    """

    pairs_at_once = 1_024

    def __init__(
        self,
        name: str,
        model: PairModel,
        head: Callable[[Floats], Floats],
        made_of: Sequence[object],
        *,
        title: Title = "none",
        windows: str = "max",
        threshold: float = 0.5,
        threshold_source: str = UNTUNED,
        measured: str = "",
    ) -> None:
        self.name = name
        self.model = model
        self.head = head
        self.title = title
        self.windows = windows
        self.threshold = threshold
        self.threshold_source = threshold_source
        self.measured = measured
        self.version = version_of(*made_of, title, windows, model.length)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """P(supports), float32[n_pairs]; 0 where a text is empty."""

        def scored(windows: Sequence[Window]) -> Floats:
            return self.head(self.model.logits(windows))

        return windowed(pairs, self.model.tokenizer, self.model.room, self.title, self.windows, scored)


def version_of(*made_of: object) -> str:
    """12 hex digits: a hash of all that a detector's probabilities depend on."""
    return sha256(repr((PREPROCESSING, *made_of)).encode()).hexdigest()[:12]
