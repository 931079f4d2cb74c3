"""Answers by a language model, with or without passages, and the check whether a prompt fits into the model's context window."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.local import LocalModel, context_window
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
"""A cautious estimate: English has four to five."""
_TOKENS_A_TURN = 16
_THOUGHTS = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_SEARCH = re.compile(r"^\W*search\W*:\W*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_LONGEST_SEARCH = 300
_TOKENS_OF_A_SEARCH = 128


class Window(NamedTuple):
    """The context window of a model.

    For a local model, the window is known and tokens are counted. For a server, `tokens` gives the window, and a token is assumed
    to be three characters. If the window is unknown, every prompt fits, and the server rejects prompts that are too long.
    """

    model: LanguageModel
    tokens: int | None = None

    def fits(self, prompt: Prompt, max_tokens: int) -> bool:
        """Whether the prompt and an answer of `max_tokens` tokens fit into the window."""
        if isinstance(self.model, LocalModel):
            loaded = self.model.load()
            known = context_window(loaded.model.config, loaded.tokenizer)
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


class Sampling(NamedTuple):
    """The maximum length of an answer in tokens, and its sampling; temperature 0 is greedy and ignores the others.

    A token is drawn from the likeliest ones that together have at least the probability `top_p` (nucleus sampling).
    """

    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0
    top_p: float = 1.0


class Spending(NamedTuple):
    """The costs of texts: calls, reported tokens, dollars, and the numbers of calls whose tokens (`unreported`) or price are
    unknown."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unreported: int = 0
    unpriced: int = 0

    def plus(self, other: "Spending") -> "Spending":
        return Spending._make(a + b for a, b in zip(self, other, strict=True))


class Written(NamedTuple):
    """An answer, the chunks that the model read, best first, and those left out because the window was full.

    `searches` holds the search queries. `spent` holds the costs of all completions for this answer.
    """

    text: str
    read: tuple[Chunk, ...] = ()
    left_out: tuple[Chunk, ...] = ()
    searches: tuple[str, ...] = ()
    spent: Spending = Spending()


@dataclass(frozen=True)
class Asker:
    """A model with everything that its answers depend on; `window` is its context window in tokens if the model does not report
    it, and `next_search` is the prompt between two retrievals.

    A prompt that is longer than the window loses its last chunks until it fits; for a question that does not fit without chunks,
    the model raises `BadInputError`. The thoughts of a reasoning model are removed from its answer.
    """

    model: LanguageModel
    cache: CompletionCache
    style: Style = STYLES["basic"]
    sampling: Sampling = field(default_factory=Sampling)
    window: int | None = None
    next_search: PromptTemplate = NEXT_SEARCH

    def answer(
        self,
        questions: Sequence[str],
        chunks: Sequence[Sequence[Chunk]] | None = None,
        *,
        progress: Progress = silent,
    ) -> list[Written]:
        """Answer each question, with its chunks if it has any."""
        by_question: Sequence[Sequence[Chunk]] = chunks if chunks is not None else [()] * len(questions)
        written: dict[int, Written] = {}
        for from_passages in (False, True):
            places = [n for n, own in enumerate(by_question) if bool(own) == from_passages]
            if not places:
                continue
            template = self.style.template(from_passages)
            prompts = [_Prompt({QUESTION: questions[n]}, tuple(by_question[n])) for n in places]
            before = len(written)
            completed = self._complete(
                template,
                prompts,
                self.sampling,
                lambda done, *_, before=before: progress(before + done, "answers", len(questions)),
            )
            for place, (completion, read, left_out) in zip(places, completed, strict=True):
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
        """Return what to search for next, given the searches so far and the chunks they found.

        If a completion does not have the requested form, its last line is used. If it has no query of its own, the question is
        searched again, which then finds the next passages of the ranking.
        """
        prompts = [
            _Prompt({QUESTION: q, SEARCHES: "\n".join(done)}, tuple(read))
            for q, done, read in zip(questions, searches, chunks, strict=True)
        ]
        sampling = self.sampling._replace(max_tokens=_TOKENS_OF_A_SEARCH)
        completed = self._complete(
            self.next_search, prompts, sampling, lambda done, *_: progress(done, "searches", len(questions))
        )
        return [
            (parse_search(completion.text) or question, spending(completion))
            for question, (completion, _, _) in zip(questions, completed, strict=True)
        ]

    def _complete(
        self, template: PromptTemplate, prompts: Sequence["_Prompt"], sampling: Sampling, progress: Progress
    ) -> list[tuple[Completion, tuple[Chunk, ...], tuple[Chunk, ...]]]:
        window = Window(self.model, self.window)
        fitted = []
        for prompt in prompts:
            chunks = prompt.chunks
            while chunks and not window.fits(template.fill(prompt.values(chunks)), sampling.max_tokens):
                chunks = chunks[:-1]
            fitted.append(chunks)
        completions = self.cache.complete(
            self.model,
            template,
            [prompt.values(chunks) for prompt, chunks in zip(prompts, fitted, strict=True)],
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=sampling.seed,
            progress=progress,
        )
        return [
            (completion, chunks, prompt.chunks[len(chunks) :])
            for completion, chunks, prompt in zip(completions, fitted, prompts, strict=True)
        ]


class _Prompt(NamedTuple):
    """The values that fill a template; chunks are separate."""

    slots: dict[str, str]
    chunks: tuple[Chunk, ...]

    def values(self, chunks: Sequence[Chunk]) -> dict[str, str]:
        return {**self.slots, PASSAGES: "\n\n".join(chunk.shown(n) for n, chunk in enumerate(chunks, start=1))}


def parse_search(text: str) -> str:
    """Return the search query of a completion: its first `Search:` line, otherwise its last line.

    Empty if the completion is empty or repeats the instruction, as small models do.
    """
    answer = _THOUGHTS.sub("", text, count=1)
    lines = _SEARCH.findall(answer) or [line for line in reversed(answer.splitlines()) if any(map(str.isalnum, line))]
    query = " ".join(lines[0].strip(" \t\"'*`“”").split())[:_LONGEST_SEARCH] if lines else ""
    return "" if SEARCH_PLACEHOLDER.startswith(query.casefold().rstrip(".")) else query


def spending(completion: Completion) -> Spending:
    """Return the costs of one completion."""
    reported = completion.prompt_tokens is not None and completion.completion_tokens is not None
    return Spending(
        1,
        completion.prompt_tokens or 0,
        completion.completion_tokens or 0,
        completion.cost or 0.0,
        int(not reported),
        int(completion.cost is None),
    )
