"""The time that a person spends on a pair, without breaks, and the time that they have judged since the last break."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

import streamlit as st

LONGEST_THOUGHT = 600.0
"""Seconds without a judgment after which a person counts as having been away."""


@dataclass
class _Look:
    uid: str
    since: float
    before: float = 0.0


@dataclass
class WorkingTime:
    """The clock of one session. `clock` returns seconds."""

    clock: Callable[[], float] = time.monotonic
    _looks: dict[str, _Look] = field(default_factory=dict)
    _spent: dict[str, float] = field(default_factory=dict)
    _began: float | None = None
    _last: float = 0.0

    def show(self, pair: str) -> None:
        """Start timing the pair that is drawn. Drawing it again changes nothing."""
        now = self.clock()
        if pair not in self._looks:
            self._looks = {pair: _Look(str(uuid4()), now, self._spent.pop(pair, 0.0))}
        if self._began is None or now - self._last > LONGEST_THOUGHT:
            self._began = now
        self._last = now

    def take(self, pair: str) -> tuple[float, str] | None:
        """Return the seconds spent on the pair and an id with which a key pressed twice counts once, or None if the pair was
        already taken."""
        look = self._looks.pop(pair, None)
        return None if look is None else (round(look.before + self.clock() - look.since, 2), look.uid)

    def rest(self) -> None:
        """Start a break. The time spent on the pair on screen is kept for when the pair returns."""
        now = self.clock()
        self._spent |= {pair: look.before + now - look.since for pair, look in self._looks.items()}
        self._looks.clear()
        self._began = None

    def restart(self) -> None:
        """Forget all times: the next pair is timed from zero."""
        self._looks.clear()
        self._spent.clear()

    def minutes(self) -> float:
        """Return the minutes that this person has judged since the last break."""
        return 0.0 if self._began is None else (self.clock() - self._began) / 60


def working_time() -> WorkingTime:
    """Return the clock of this session."""
    clock: WorkingTime = st.session_state.setdefault("working_time", WorkingTime())
    return clock
