"""Having a language model write answers, from passages where there are some.

Whether a prompt fits into what a model reads at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.local import LocalModel, told_window
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Completion, LanguageModel, Prompt
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.answering.chunks import Chunk
from berdseye.evaluation.answering.styles import (
    NEXT_SEARCH,
    PASSAGES,
    QUESTION,
    SEARCH_PLACEHOLDER,
    SEARCHES,
    STYLES,
    Style,
)

_CHARACTERS_A_TOKEN = 3
"""Cautious: English has four to five."""
_TOKENS_A_TURN = 16


class Window(NamedTuple):
    """A model's window. Of a local model it is known, and tokens are counted; of a server `tokens` must be told, and a token
    is taken to be three characters. Where nothing is known everything fits, and the server refuses what does not."""

    model: LanguageModel
    tokens: int | None = None

    def fits(self, prompt: Prompt, max_tokens: int) -> bool:
        """Whether the prompt and `max_tokens` of an answer fit."""
        if isinstance(self.model, LocalModel):
            loaded = self.model.load()
            known = told_window(loaded.model.config, loaded.tokenizer)
            longest = min((n for n in (known, self.tokens) if n is not None), default=None)
            if longest is None:
                return True
            written = self.model.written(prompt)
            bare = loaded.tokenizer.chat_template is None
            return len(loaded.tokenizer(written, add_special_tokens=bare)["input_ids"]) + max_tokens <= longest
        if self.tokens is None:
            return True
        length = sum(len(message.content) / _CHARACTERS_A_TOKEN + _TOKENS_A_TURN for message in prompt)
        return length + max_tokens <= self.tokens


_THOUGHTS = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_SEARCH = re.compile(r"^\W*search\W*:\W*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_LONGEST_SEARCH = 300
_TOKENS_OF_A_SEARCH = 128


class Sampling(NamedTuple):
    """How long an answer may be, in tokens, and how it is drawn; temperature 0 is greedy and ignores the seed."""

    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0


class Spending(NamedTuple):
    """What texts took: calls, tokens that were told of, dollars, and the calls whose tokens or price is not known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    untold: int = 0
    unpriced: int = 0

    def plus(self, other: "Spending") -> "Spending":
        return Spending._make(a + b for a, b in zip(self, other, strict=True))


class Written(NamedTuple):
    """An answer, the chunks it was written from, best first, and those left out because the window was full.

    `searches` are what was searched for. `spent` counts everything that was written for this answer.
    """

    text: str
    read: tuple[Chunk, ...] = ()
    left_out: tuple[Chunk, ...] = ()
    searches: tuple[str, ...] = ()
    spent: Spending = Spending()


@dataclass(frozen=True)
class Asker:
    """A model with all that its answers depend on. `window` is its length in tokens, where the model does not tell it.

    A prompt that is longer than the window loses its last chunks until it fits; a question that does not fit even without
    any raises `BadInputError` from the model. A thinking model's thoughts are no part of its answer.
    """

    model: LanguageModel
    cache: CompletionCache
    style: Style = STYLES["basic"]
    sampling: Sampling = field(default_factory=Sampling)
    window: int | None = None

    def answer(
        self,
        questions: Sequence[str],
        chunks: Sequence[Sequence[Chunk]] | None = None,
        *,
        progress: Progress = silent,
    ) -> list[Written]:
        """An answer to each question, from the chunks of each where they are given; questions without any are asked alone."""
        given: Sequence[Sequence[Chunk]] = chunks if chunks is not None else [()] * len(questions)
        written: dict[int, Written] = {}
        for from_passages in (False, True):
            places = [n for n, held in enumerate(given) if bool(held) == from_passages]
            if not places:
                continue
            template = self.style.template(from_passages)
            asked = [_Prompt({QUESTION: questions[n]}, tuple(given[n])) for n in places]
            before = len(written)
            found = self._complete(
                template,
                asked,
                self.sampling,
                lambda done, *_, before=before: progress(before + done, "answers", len(questions)),
            )
            for place, (completion, read, left_out) in zip(places, found, strict=True):
                text = _THOUGHTS.sub("", completion.text, count=1).strip()
                written[place] = Written(text, read, left_out, spent=spending(completion))
        progress(len(questions), "answers", len(questions))
        return [written[n] for n in range(len(questions))]

    def next_searches(
        self,
        questions: Sequence[str],
        searches: Sequence[Sequence[str]],
        chunks: Sequence[Sequence[Chunk]],
        *,
        progress: Progress = silent,
    ) -> list[tuple[str, Spending]]:
        """What to search for next, given the searches so far and what they found.

        A model that keeps to no form is taken by its last line; one that writes nothing of its own searches for the
        question again, which then finds what comes next in the ranking.
        """
        asked = [
            _Prompt({QUESTION: q, SEARCHES: "\n".join(done)}, tuple(read))
            for q, done, read in zip(questions, searches, chunks, strict=True)
        ]
        drawn = self.sampling._replace(max_tokens=_TOKENS_OF_A_SEARCH)
        found = self._complete(NEXT_SEARCH, asked, drawn, lambda done, *_: progress(done, "searches", len(questions)))
        return [
            (parse_search(completion.text) or question, spending(completion))
            for question, (completion, _, _) in zip(questions, found, strict=True)
        ]

    def _complete(
        self, template: PromptTemplate, asked: Sequence["_Prompt"], sampling: Sampling, progress: Progress
    ) -> list[tuple[Completion, tuple[Chunk, ...], tuple[Chunk, ...]]]:
        window = Window(self.model, self.window)
        fitted = []
        for prompt in asked:
            held = prompt.chunks
            while held and not window.fits(template.fill(prompt.values(held)), sampling.max_tokens):
                held = held[:-1]
            fitted.append(held)
        completions = self.cache.complete(
            self.model,
            template,
            [prompt.values(held) for prompt, held in zip(asked, fitted, strict=True)],
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            seed=sampling.seed,
            progress=progress,
        )
        return [
            (completion, held, prompt.chunks[len(held) :])
            for completion, held, prompt in zip(completions, fitted, asked, strict=True)
        ]


class _Prompt(NamedTuple):
    """What fills a template, chunks apart."""

    slots: dict[str, str]
    chunks: tuple[Chunk, ...]

    def values(self, chunks: Sequence[Chunk]) -> dict[str, str]:
        return {**self.slots, PASSAGES: "\n\n".join(chunk.shown(n) for n, chunk in enumerate(chunks, start=1))}


def parse_search(text: str) -> str:
    """What a model wants to search for: its first `Search:` line, else its last line.

    Empty where it wrote nothing, or repeats the words of the instruction, as small models do.
    """
    said = _THOUGHTS.sub("", text, count=1)
    lines = _SEARCH.findall(said) or [line for line in reversed(said.splitlines()) if any(map(str.isalnum, line))]
    found = " ".join(lines[0].strip(" \t\"'*`“”").split())[:_LONGEST_SEARCH] if lines else ""
    return "" if SEARCH_PLACEHOLDER.startswith(found.casefold().rstrip(".")) else found


def spending(completion: Completion) -> Spending:
    """What one completion took."""
    told = completion.prompt_tokens is not None and completion.completion_tokens is not None
    return Spending(
        1,
        completion.prompt_tokens or 0,
        completion.completion_tokens or 0,
        completion.cost or 0.0,
        int(not told),
        int(completion.cost is None),
    )
