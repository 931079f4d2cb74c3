"""How long work tells how far it is."""

from collections.abc import Callable

Progress = Callable[[int, str], None]
"""Given how many are done, and of what."""


def silent(count: int, what: str) -> None:
    """Tell nobody."""
    del count, what
