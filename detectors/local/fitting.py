"""Prompts that fit what a model reads: a passage that is too long loses its end, and the instruction nothing."""

from collections.abc import Sequence
from typing import Protocol

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Prompt
from berdseye.detectors.local.answers import Answerer, Ids
from berdseye.detectors.local.windows import Tokens, tokens_of
from berdseye.detectors.prompts import PASSAGE, PERSPECTIVE

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
