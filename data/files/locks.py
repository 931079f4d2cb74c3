"""Locks between processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from berdseye.data.errors import BerdseyeError


@contextmanager
def locked(path: Path, *, busy: BerdseyeError | None = None) -> Iterator[None]:
    """Hold the lock file `path`, waiting for another process that holds it; the lock ends with the process that holds it.

    With `busy`, that error is raised at once if another process holds the lock. Raises `BerdseyeError` if the folder cannot
    be written.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=-1 if busy is None else 0)
    except Timeout:
        assert busy is not None  # without `busy`, `acquire` waits without a limit
        raise busy from None
    except OSError as error:
        raise BerdseyeError(
            f"The folder cannot be written: {error.strerror or error}.",
            where=path.parent,
            hint="Check its permissions.",
        ) from error
    try:
        yield
    finally:
        lock.release()
