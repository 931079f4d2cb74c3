"""What a piece of work took of language models, counted while it is done."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from berdseye.data.language_models.protocol import Completion


@dataclass
class Usage:
    """Texts that were taken, and their tokens. `unknown` counts those whose tokens nobody told."""

    texts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown: int = 0

    def add(self, completions: Iterable[Completion]) -> None:
        """Count some more."""
        for text in completions:
            self.texts += 1
            self.prompt_tokens += text.prompt_tokens or 0
            self.completion_tokens += text.completion_tokens or 0
            self.unknown += text.prompt_tokens is None or text.completion_tokens is None


_COUNTED: ContextVar[tuple[Usage, ...]] = ContextVar("counted", default=())


@contextmanager
def counted() -> Iterator[Usage]:
    """What is taken within, whether it was written now or kept from an earlier time: the same work has the same figures."""
    usage = Usage()
    token = _COUNTED.set((*_COUNTED.get(), usage))
    try:
        yield usage
    finally:
        _COUNTED.reset(token)


def count(completions: Iterable[Completion]) -> None:
    """Tell whoever counts of texts that were taken."""
    taken = list(completions)
    for usage in _COUNTED.get():
        usage.add(taken)
