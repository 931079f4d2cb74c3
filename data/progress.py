"""Progress reports of long-running work."""

from typing import Protocol


class Progress(Protocol):
    """Callback that receives the number of items done, what they are, and the total where it is known or estimated."""

    def __call__(self, done: int, what: str, total: int | None = None, /) -> None: ...


def silent(done: int, what: str, total: int | None = None, /) -> None:
    """Report nothing."""
    del done, what, total
