"""The costs of language models: counting the texts and tokens that a piece of work uses, and enforcing a cap in dollars.

The cap is checked before a request is sent.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event
from typing import NamedTuple, Protocol

from berdseye.data.errors import UnavailableError
from berdseye.data.language_models.protocol import Completion, LanguageModel, Message

_LOOK_EVERY = 0.05
TOKENS_PER_WORD = 1.3
"""The mean number of tokens of an English word, by which lengths are estimated without a tokenizer."""


PRICES = "language_models.prices"
"""The section of `berdseye.toml` with the prices of API models: NAME = [dollars per million input tokens, output tokens]."""


class Price(NamedTuple):
    """Dollars per million tokens of the prompt and of the completion."""

    prompt: float
    completion: float


@dataclass
class Usage:
    """The number of texts used, and of their tokens; `unknown` counts texts whose tokens were not reported."""

    texts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown: int = 0

    def add(self, completions: Iterable[Completion]) -> None:
        """Count these completions."""
        for text in completions:
            self.texts += 1
            self.prompt_tokens += text.prompt_tokens or 0
            self.completion_tokens += text.completion_tokens or 0
            self.unknown += text.prompt_tokens is None or text.completion_tokens is None


_COUNTED: ContextVar[tuple[Usage, ...]] = ContextVar("counted", default=())


@contextmanager
def counted() -> Iterator[Usage]:
    """Count all completions used within the context, new or cached, so that repeated work gives equal numbers."""
    usage = Usage()
    token = _COUNTED.set((*_COUNTED.get(), usage))
    try:
        yield usage
    finally:
        _COUNTED.reset(token)


def count(completions: Iterable[Completion]) -> None:
    """Add used completions to every active count."""
    used = list(completions)
    for usage in _COUNTED.get():
        usage.add(used)


class HighestCost(NamedTuple):
    """What prompts cost at most: calls, words read (about 1.3 tokens each), tokens written, and dollars (None: unknown)."""

    calls: int
    words: int
    tokens: int
    dollars: float | None

    def described(self, model: str) -> str:
        """Return a line for a person."""
        unknown = f"of unknown price (set it under [{PRICES}] in berdseye.toml)"
        cost = unknown if self.dollars is None else f"at most ${self.dollars:.2f}"
        return (
            f"{self.calls:,} calls of {model}: {self.words:,} words read, up to {self.tokens:,} tokens written, {cost}"
        )


def highest_cost(model: LanguageModel, prompts: Iterable[Sequence[Message]], max_tokens: int) -> HighestCost:
    """Return what asking a model once with each prompt costs at most, without asking it; stored completions cost nothing."""
    lengths = [sum(len(message.content.split()) for message in prompt) for prompt in prompts]
    price, words, tokens = getattr(model, "price", None), sum(lengths), max_tokens * len(lengths)
    dollars = None if price is None else (TOKENS_PER_WORD * words * price.prompt + tokens * price.completion) / 1e6
    return HighestCost(len(lengths), words, tokens, dollars)


class Ledger(Protocol):
    """A record of calls: returns the last call and the cost, in dollars, of all calls after a given one."""

    def cost_after(self, call: int) -> tuple[int, float]: ...


class Budget:
    """Allows a request only if the cap holds even at the request's maximum cost; shared by the threads of a process.

    The costs of other processes in the workspace count as soon as their completions are stored.
    """

    def __init__(self, cap: float, ledger: Ledger, settings: Path) -> None:
        self.cap = cap
        self._ledger = ledger
        self._settings = settings
        self._last, self._spent = 0, 0.0
        self._reserved = 0.0
        self._under_way = 0
        self._changed = Condition()

    def reserve(self, most: float, stopping: Event) -> None:
        """Reserve `most` dollars, waiting while pending requests may turn out cheaper than their maximum.

        Raises `UnavailableError` if the cap could be exceeded. Returns at once if the work is stopping.
        """
        with self._changed:
            while self._now() + self._reserved + most > self.cap and not stopping.is_set():
                if not self._under_way:
                    raise UnavailableError(
                        f"The next request could cost ${most:.4f}, but ${self._spent:.4f} of the cap of ${self.cap:.2f} "
                        "are already spent.",
                        where=self._settings,
                        hint="To continue, raise cap under [language_models]; finished completions are kept.",
                    )
                self._changed.wait(_LOOK_EVERY)
            self._reserved += most
            self._under_way += 1

    def release(self, most: float) -> None:
        """Release a reservation, once the completion and its cost are stored, or if there is none."""
        with self._changed:
            self._under_way -= 1
            self._reserved = self._reserved - most if self._under_way else 0.0
            self._changed.notify_all()

    def _now(self) -> float:
        self._last, more = self._ledger.cost_after(self._last)
        self._spent += more
        return self._spent
