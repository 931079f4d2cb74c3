"""Language models on this machine that are asked whether a passage supports a perspective: `prompted(MODEL)`.

Prompts that fit what a model reads: a passage that is too long loses its end, and the instruction nothing.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.choosing import YES_OR_NO, said_first
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Prompt
from berdseye.data.records import Pair
from berdseye.detectors.local.answers import YES_NO, Answerer, Ids
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.pair_model import version_of
from berdseye.detectors.local.windows import Title, Tokens, passage_text, readable, tokens_of
from berdseye.detectors.prompts import PASSAGE, PERSPECTIVE
from berdseye.detectors.protocol import UNTUNED, Floats

_PERSPECTIVE_SHARE = 4  # a perspective may take a quarter of what the model reads
_LEAST_ROOM = 16


class Writer(Protocol):
    """Whatever turns messages into the text that a model reads."""

    def written(self, prompt: Prompt) -> str: ...


class FittedPrompts:
    """Token ids of a prompt about a passage and a perspective, `limit` at most.

    A passage keeps its beginning, as far as there is room beside the rest of the prompt; a perspective of more than a quarter
    of the limit is cut to that first. Raises `BadInputError` where the prompt leaves a passage fewer than 16 tokens.
    """

    def __init__(self, answerer: Answerer, writer: Writer, template: PromptTemplate, limit: int) -> None:
        self.answerer = answerer
        self.writer = writer
        self.template = template
        self.limit = limit
        if limit - self._length("", "") < _LEAST_ROOM:
            raise BadInputError(
                f"The prompt alone has {self._length('', '')} tokens, and the model reads {limit}.",
                hint="Use a model that reads more, a shorter prompt, or a larger max_length.",
            )

    def ids(self, texts: Sequence[tuple[str, str]]) -> list[Ids]:
        """Token ids for each passage and perspective."""
        tokenizer = self.answerer.tokenizer
        passages = tokens_of(tokenizer, [passage for passage, _ in texts])
        share = self.limit // _PERSPECTIVE_SHARE
        statements = [t.first(share).text for t in tokens_of(tokenizer, [statement for _, statement in texts])]
        # One that has the whole limit is cut before it is put in: taking it apart is what costs time.
        cut = [passage.first(self.limit) for passage in passages]
        found = self.answerer.encode([self._written(p.text, s) for p, s in zip(cut, statements, strict=True)])
        return [
            ids if len(ids) <= self.limit else self._shortened(passage, statement, len(ids))
            for ids, passage, statement in zip(found, cut, statements, strict=True)
        ]

    def _shortened(self, passage: Tokens, statement: str, length: int) -> Ids:
        kept = passage
        while True:
            kept = kept.first(max(1, len(kept.offsets) - (length - self.limit)))
            (ids,) = self.answerer.encode([self._written(kept.text, statement)])
            length = len(ids)
            if length <= self.limit or len(kept.offsets) <= 1:
                return ids[: self.limit]

    def _written(self, passage: str, statement: str) -> str:
        return self.writer.written(self.template.fill({PASSAGE: passage, PERSPECTIVE: statement}))

    def _length(self, passage: str, statement: str) -> int:
        return len(self.answerer.encode([self._written(passage, statement)])[0])


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
