"""A cap in dollars on what language models cost a workspace, kept before the money is spent.

What a piece of work took of language models, counted while it is done.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event
from typing import Protocol

from berdseye.data.errors import UnavailableError
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


_LOOK_EVERY = 0.05


class Ledger(Protocol):
    """Tells what the calls after a given one cost, in dollars, and the last of them."""

    def cost_after(self, call: int) -> tuple[int, float]: ...


class Budget:
    """Lets a request out only when the cap holds even if it costs the most it can. Shared by the threads of a process.

    Another process that spends from the same workspace is counted as soon as its answers are stored.
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
        """Set `most` dollars aside; waits while what is under way may turn out cheaper.

        Raises `UnavailableError` where the cap would be exceeded. Returns at once when the work is stopping.
        """
        with self._changed:
            while self._now() + self._reserved + most > self.cap and not stopping.is_set():
                if not self._under_way:
                    raise UnavailableError(
                        f"The next request could cost ${most:.4f}, and ${self._spent:.4f} of the cap of ${self.cap:.2f} "
                        "are spent.",
                        where=self._settings,
                        hint="Raise cap under [language_models] to go on; what was finished is kept.",
                    )
                self._changed.wait(_LOOK_EVERY)
            self._reserved += most
            self._under_way += 1

    def release(self, most: float) -> None:
        """Give back what was set aside, once the answer and its cost are stored, or when there is none."""
        with self._changed:
            self._under_way -= 1
            self._reserved = self._reserved - most if self._under_way else 0.0
            self._changed.notify_all()

    def _now(self) -> float:
        self._last, more = self._ledger.cost_after(self._last)
        self._spent += more
        return self._spent
