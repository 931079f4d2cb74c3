"""One process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from data.errors import BerdseyeError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that is this file, waiting for whoever holds it; it falls with the process that held it.

    Raises `BerdseyeError` where the folder cannot be written.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise BerdseyeError(
            f"The folder cannot be written: {error.strerror or error}.", where=path.parent, hint="Check its rights."
        ) from error
    try:
        yield
    finally:
        lock.release()
