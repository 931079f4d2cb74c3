"""What every language model offers."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from berdseye.data.progress import Progress, silent

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a chat."""

    role: Role
    content: str


Prompt = tuple[Message, ...]
"""The turns that a model is shown; it writes the next one."""


class Alternative(NamedTuple):
    """A token that could have come first, and its natural log-probability."""

    token: str
    log_probability: float


class Completion(NamedTuple):
    """What a model wrote. `cost` is in dollars, None where the price is not known; tokens None where it was not told.

    `alternatives` are the likeliest first tokens, None where they were not asked for or are not offered.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    alternatives: tuple[Alternative, ...] | None = None


Ready = Callable[[int, Completion], None]
"""Given the place of a prompt in its batch and its completion, as soon as that is there."""


def unused(place: int, completion: Completion) -> None:
    """Wait for the whole batch."""
    del place, completion


class LanguageModel(Protocol):
    """Completes chats. `name` is canonical; `version` changes when the weights or the server do."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        alternatives: int = 0,
        progress: Progress = silent,
        ready: Ready = unused,
    ) -> list[Completion]:
        """A completion of at most `max_tokens` tokens for each prompt, in their order.

        Temperature 0 is greedy and ignores `seed`. At most `alternatives` first tokens come with it, where the model tells
        them; they are those of temperature 1. A model that fails midway raises a `BerdseyeError` after it has told
        `ready` of all that was finished.
        """
        ...
