"""NLI models that write their verdict: T5 as in TRUE (Honovich et al. 2022), which answers 1 for entailment and else 0."""

from collections.abc import Sequence

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.local.answers import ONE_ZERO, open_answerer
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.pair_detector import version_of
from berdseye.detectors.local.reading import Title
from berdseye.detectors.local.windows import Window, windowed
from berdseye.detectors.protocol import UNTUNED, Floats

_FORM = "premise: {} hypothesis: {}"
_LEAST_ROOM = 16


class AnswerNliDetector:
    """P(1) / (P(1) + P(0)) at the first step of the decoder; long passages are read in windows, as by `nli` otherwise."""

    threshold = 0.5
    threshold_source = UNTUNED
    measured = ""
    pairs_at_once = 256

    def __init__(
        self, name: str, model: str, *, title: Title = "none", windows: str = "max", max_length: int | None = None
    ) -> None:
        self.name = name
        self.title = title
        self.windows = windows
        asked = AnsweringModel(model)
        self.answerer = open_answerer(asked)
        length = max_length or self.answerer.window
        (form,) = self.answerer.encode([_FORM.format("", "")])
        self.room = length - len(form)
        if self.room < _LEAST_ROOM or length > self.answerer.window:
            raise BadInputError(
                f"max_length is {length}, and '{model}' reads {self.answerer.window} tokens.",
                hint=f"Give one from {len(form) + _LEAST_ROOM} to {self.answerer.window}.",
            )
        self.version = version_of("answer nli", *asked.made_of, _FORM, title, windows, length)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """P(supports), float32[n_pairs]; 0 where a text is empty."""
        return windowed(pairs, self.answerer.tokenizer, self.room, self.title, self.windows, self._scored)

    def _scored(self, windows: Sequence[Window]) -> Floats:
        prompts = self.answerer.encode([_FORM.format(w.text, w.perspective) for w in windows])
        return np.asarray(self.answerer.preferences(prompts, ONE_ZERO), dtype=np.float32)
