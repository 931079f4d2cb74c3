"""How long a person looks at a pair, breaks left out, and how long they have judged without one."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

import streamlit as st

LONGEST_THOUGHT = 600.0
"""Seconds without a word after which someone counts as having been away."""


@dataclass
class _Look:
    uid: str
    since: float
    before: float = 0.0


@dataclass
class WorkingTime:
    """The clock of one session; `clock` tells seconds."""

    clock: Callable[[], float] = time.monotonic
    _looks: dict[str, _Look] = field(default_factory=dict)
    _spent: dict[str, float] = field(default_factory=dict)
    _began: float | None = None
    _last: float = 0.0

    def show(self, pair: str) -> None:
        """The pair is drawn; drawing it again changes nothing."""
        now = self.clock()
        if pair not in self._looks:
            self._looks = {pair: _Look(str(uuid4()), now, self._spent.pop(pair, 0.0))}
        if self._began is None or now - self._last > LONGEST_THOUGHT:
            self._began = now
        self._last = now

    def take(self, pair: str) -> tuple[float, str] | None:
        """Seconds spent on the pair, and a mark by which a key that is hit twice counts once; None: it was taken already."""
        look = self._looks.pop(pair, None)
        return None if look is None else (round(look.before + self.clock() - look.since, 2), look.uid)

    def rest(self) -> None:
        """A break begins: what was spent on the pair in sight is kept for when it comes back."""
        now = self.clock()
        self._spent |= {pair: look.before + now - look.since for pair, look in self._looks.items()}
        self._looks.clear()
        self._began = None

    def restart(self) -> None:
        """Whatever pair comes next is timed from nothing."""
        self._looks.clear()
        self._spent.clear()

    def minutes(self) -> float:
        """How long this person has judged since the last break."""
        return 0.0 if self._began is None else (self.clock() - self._began) / 60


def working_time() -> WorkingTime:
    """The clock of this session."""
    clock: WorkingTime = st.session_state.setdefault("working_time", WorkingTime())
    return clock
