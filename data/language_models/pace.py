"""Requests a minute: every request of this process to one server waits for its turn."""

import time
from functools import lru_cache
from threading import Event, Lock


class Pace:
    """Turns at even distances; 0 requests a minute mean no limit. Shared by threads."""

    def __init__(self, per_minute: float) -> None:
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self, stopping: Event) -> None:
        """Return when it is one's turn, or when the work is stopping."""
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._apart
        stopping.wait(turn - time.monotonic())


@lru_cache(maxsize=64)
def pace_of(place: str, per_minute: float) -> Pace:
    """The one pace of a server in this process."""
    del place  # it is the key
    return Pace(per_minute)
