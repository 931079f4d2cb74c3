"""One process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from berdseye.data.errors import BerdseyeError


@contextmanager
def locked(path: Path, *, busy: BerdseyeError | None = None) -> Iterator[None]:
    """Hold the lock that is this file, waiting for whoever holds it; it falls with the process that held it.

    With `busy` nobody waits: that is raised where another holds it. Raises `BerdseyeError` where the folder cannot be
    written.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=-1 if busy is None else 0)
    except Timeout:
        assert busy is not None  # else it would have waited on
        raise busy from None
    except OSError as error:
        raise BerdseyeError(
            f"The folder cannot be written: {error.strerror or error}.", where=path.parent, hint="Check its rights."
        ) from error
    try:
        yield
    finally:
        lock.release()
