"""Local language models prompted with the question whether a passage supports a perspective: `prompted(MODEL)`.

Prompts are fitted to the model's length: a passage that is too long is cut at its end, the instruction never.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.choosing import YES_OR_NO, answers_first
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Prompt
from berdseye.data.records import Pair
from berdseye.detectors.local.answers import YES_NO, Answerer, Ids
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.pair_model import version_of
from berdseye.detectors.local.windows import Title, Tokens, passage_text, readable, tokens_of
from berdseye.detectors.prompts import PASSAGE, PERSPECTIVE
from berdseye.detectors.protocol import UNTUNED, Bools, Floats

_PERSPECTIVE_SHARE = 4  # a perspective may take a quarter of what the model reads
_LEAST_ROOM = 16
Answer = Literal["probability", "generate"]
ANSWERS = ("probability", "generate")
MAX_LENGTH = 2_048
"""The default length of a prompt in tokens, if the model reads that many."""
_ANSWER_ROOM = 16


class Writer(Protocol):
    """Turns messages into the text that a model reads."""

    def written(self, prompt: Prompt) -> str: ...


class FittedPrompts:
    """Builds prompts about a passage and a perspective as token ids, at most `limit` of them.

    A perspective longer than a quarter of the limit is cut to that quarter first; then the passage is cut at its end to fit
    the rest of the prompt. Raises `BadInputError` if the prompt leaves fewer than 16 tokens for a passage.
    """

    def __init__(self, answerer: Answerer, writer: Writer, template: PromptTemplate, limit: int) -> None:
        self.answerer = answerer
        self.writer = writer
        self.template = template
        self.limit = limit
        if limit - self._length("", "") < _LEAST_ROOM:
            raise BadInputError(
                f"The prompt without its texts has {self._length('', '')} tokens, but the model reads only {limit}.",
                hint="Use a model with a longer context, a shorter prompt, or a larger max_length.",
            )

    def ids(self, texts: Sequence[tuple[str, str]]) -> list[Ids]:
        """Return the token ids of the prompt for each passage and perspective."""
        tokenizer = self.answerer.tokenizer
        passages = tokens_of(tokenizer, [passage for passage, _ in texts])
        share = self.limit // _PERSPECTIVE_SHARE
        statements = [t.first(share).text for t in tokens_of(tokenizer, [statement for _, statement in texts])]
        # A passage longer than the limit is cut before it is inserted: tokenizing it is what takes time.
        cut = [passage.first(self.limit) for passage in passages]
        encoded = self.answerer.encode([self._written(p.text, s) for p, s in zip(cut, statements, strict=True)])
        return [
            ids if len(ids) <= self.limit else self._shortened(passage, statement, len(ids))
            for ids, passage, statement in zip(encoded, cut, statements, strict=True)
        ]

    def cut(self, texts: Sequence[tuple[str, str]]) -> Bools:
        """Return for which passages and perspectives one of both is cut, bool[n_texts]."""
        share = self.limit // _PERSPECTIVE_SHARE
        statements = tokens_of(self.answerer.tokenizer, [statement for _, statement in texts])
        encoded = self.answerer.encode([self._written(passage, statement) for passage, statement in texts])
        long = [len(s.offsets) > share or len(ids) > self.limit for s, ids in zip(statements, encoded, strict=True)]
        return np.array(long, dtype=np.bool_)

    def _shortened(self, passage: Tokens, statement: str, length: int) -> Ids:
        shortened = passage
        while True:
            shortened = shortened.first(max(1, len(shortened.offsets) - (length - self.limit)))
            (ids,) = self.answerer.encode([self._written(shortened.text, statement)])
            length = len(ids)
            if length <= self.limit or len(shortened.offsets) <= 1:
                return ids[: self.limit]

    def _written(self, passage: str, statement: str) -> str:
        return self.writer.written(self.template.fill({PASSAGE: passage, PERSPECTIVE: statement}))

    def _length(self, passage: str, statement: str) -> int:
        return len(self.answerer.encode([self._written(passage, statement)])[0])


class PromptedDetector:
    """P(Yes) / (P(Yes) + P(No)) as the model's next words, or 1 or 0 from the answer that it writes (`answer=generate`).

    `FittedPrompts` builds the prompts. `temperature` divides the log-odds of the two words. A written answer with neither word
    gives 0.5.
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
        """Return P(supports), float32[n_pairs]; 0 for a pair with an empty text, which the model does not see."""
        out = np.zeros(len(pairs), dtype=np.float32)
        places = readable(pairs)
        prompts = self.prompts.ids([self._texts(pairs[at]) for at in places])
        if self.answer == "probability":
            out[places] = self.answerer.preferences(prompts, YES_NO, self.temperature)
        else:
            answers = [answers_first(text, YES_OR_NO) for text in self.answerer.written(prompts)]
            out[places] = [0.5 if is_yes is None else float(is_yes) for is_yes in answers]
        return out

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        """Return for which pairs a text is cut to fit into the prompt, bool[n_pairs]."""
        out = np.zeros(len(pairs), dtype=np.bool_)
        places = readable(pairs)
        out[places] = self.prompts.cut([self._texts(pairs[at]) for at in places])
        return out

    def _texts(self, pair: Pair) -> tuple[str, str]:
        return passage_text(pair, self.title), pair.perspective


def checked_length(max_length: int | None, answerer: Answerer) -> int:
    """Return the number of tokens to read; raises `BadInputError` for more than the model can read."""
    if max_length is not None and max_length > answerer.window:
        raise BadInputError(
            f"max_length must be at most {answerer.window} for {answerer.name}, got {max_length}.",
        )
    return max_length or min(answerer.window, MAX_LENGTH)
