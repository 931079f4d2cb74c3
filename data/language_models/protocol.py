"""The interface of language models."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from berdseye.data.progress import Progress, silent

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a chat."""

    role: Role
    content: str


Prompt = tuple[Message, ...]
"""The turns of a chat that a model continues with the next turn."""


class Alternative(NamedTuple):
    """A possible first token and its natural log-probability."""

    token: str
    log_probability: float


class Completion(NamedTuple):
    """The output of a model.

    `cost` is in dollars, None if the price is not known; the numbers of tokens are None if the model does not report them.
    `alternatives` are the likeliest first tokens, None if they were not requested or are not available.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    alternatives: tuple[Alternative, ...] | None = None


Ready = Callable[[int, Completion], None]
"""Callback that receives the index of a prompt in its batch and its completion, as soon as it is finished."""


def unused(place: int, completion: Completion) -> None:
    """Ignore single completions and wait for the batch."""
    del place, completion


class LanguageModel(Protocol):
    """A model that completes chats; `name` is canonical, `version` changes when the weights or the server change."""

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
        top_p: float = 1.0,
        seed: int = 0,
        alternatives: int = 0,
        progress: Progress = silent,
        ready: Ready = unused,
    ) -> list[Completion]:
        """A completion of at most `max_tokens` tokens for each prompt, in order.

        Temperature 0 is greedy and ignores `seed` and `top_p`, the share of the probability from which a token is drawn. A
        completion has at most `alternatives` first tokens, at temperature 1, if the model reports them. A model that fails
        midway raises a `BerdseyeError` after calling `ready` for every finished completion.
        """
        ...
