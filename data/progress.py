"""How long work tells how far it is."""

from typing import Protocol


class Progress(Protocol):
    """Is told how many are done, of what, and how many there will be, where that is known or can be estimated."""

    def __call__(self, done: int, what: str, total: int | None = None, /) -> None: ...


def silent(done: int, what: str, total: int | None = None, /) -> None:
    """Tell nobody."""
    del done, what, total
