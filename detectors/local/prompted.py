"""Language models on this machine that are asked whether a passage supports a perspective: `prompted(MODEL)`."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.verdicts import YES_OR_NO, said_first
from berdseye.data.records import Pair
from berdseye.detectors.local.answers import YES_NO, Answerer
from berdseye.detectors.local.fitting import FittedPrompts
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.pair_detector import version_of
from berdseye.detectors.local.reading import Title, passage_text, readable
from berdseye.detectors.protocol import UNTUNED, Floats

Answer = Literal["probability", "generate"]
ANSWERS = ("probability", "generate")
MAX_LENGTH = 2_048
"""Tokens of a prompt, where the model reads as many and nothing else is asked for."""

_ANSWER_ROOM = 16


class PromptedDetector:
    """P(Yes) / (P(Yes) + P(No)) as the model's next words, or 1 or 0 by what it writes (`answer=generate`).

    Prompts are fitted as `FittedPrompts` says. `temperature` divides the log-odds of the two words. An answer that is written
    and says neither counts 0.5.
    """

    pairs_at_once = 64

    def __init__(
        self,
        name: str,
        model: AnsweringModel,
        answerer: Answerer,
        prompt: PromptTemplate,
        *,
        title: Title = "none",
        answer: Answer = "probability",
        max_length: int | None = None,
        temperature: float = 1.0,
        threshold: float = 0.5,
        threshold_source: str = UNTUNED,
        measured: str = "",
    ) -> None:
        self.name = name
        self.title = title
        self.answer = answer
        self.threshold = threshold
        self.threshold_source = threshold_source
        self.measured = measured
        self.answerer = answerer
        self.temperature = temperature
        length = min(checked_length(max_length, answerer), answerer.window - _ANSWER_ROOM)
        self.prompts = FittedPrompts(answerer, model, prompt, length)
        self.version = version_of("prompted", *model.made_of, prompt.version, title, answer, length, temperature)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """P(supports), float32[n_pairs]; 0 where a text is empty, which is not asked for."""
        out = np.zeros(len(pairs), dtype=np.float32)
        asked = readable(pairs)
        prompts = self.prompts.ids([(passage_text(pairs[at], self.title), pairs[at].perspective) for at in asked])
        if self.answer == "probability":
            out[asked] = self.answerer.preferences(prompts, YES_NO, self.temperature)
        else:
            said = [said_first(text, YES_OR_NO) for text in self.answerer.written(prompts)]
            out[asked] = [0.5 if word is None else float(word) for word in said]
        return out


def checked_length(max_length: int | None, answerer: Answerer) -> int:
    """How many tokens are read; raises `BadInputError` for more than the model does."""
    if max_length is not None and max_length > answerer.window:
        raise BadInputError(
            f"max_length is {max_length}, and {answerer.name} reads {answerer.window} tokens.",
            hint=f"Give {answerer.window} at most.",
        )
    return max_length or min(answerer.window, MAX_LENGTH)
