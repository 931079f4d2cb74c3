"""A cap in dollars on what language models cost a workspace, kept before the money is spent."""

from pathlib import Path
from threading import Condition, Event
from typing import Protocol

from berdseye.data.errors import UnavailableError

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
