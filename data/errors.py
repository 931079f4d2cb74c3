"""Errors a person can cause; each says what was wrong, where, and what to do."""

import difflib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


class BerdseyeError(Exception):
    """Base of every error that is shown to a person in one line rather than as a traceback."""

    def __init__(self, what: str, *, where: str | Path | None = None, line: int | None = None, hint: str = "") -> None:
        self.what, self.where, self.line, self.hint = what, where, line, hint
        place = "" if where is None else f"{where}:{line}: " if line is not None else f"{where}: "
        super().__init__(f"{place}{what}{' ' + hint if hint else ''}")

    def __reduce__(self) -> tuple[Callable[..., "BerdseyeError"], tuple[object, ...]]:
        return _again, (type(self), self.args, self.__dict__)  # as it is, not made anew from its message


class UnknownNameError(BerdseyeError):
    """A name that no registry, corpus, data set or run answers to; the message holds the nearest right ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        options = sorted(set(known))
        near = difflib.get_close_matches(name, options, n=3, cutoff=0.4)
        if near:
            hint = f"Did you mean {' or '.join(near)}?"
        elif options:
            hint = f"Known: {', '.join(options[:12])}{', …' if len(options) > 12 else ''}."
        else:
            hint = f"There is no {kind} yet."
        super().__init__(f"Unknown {kind} '{name}'.", hint=hint)


class BadInputError(BerdseyeError):
    """A file, row, parameter or question that cannot be used as it is."""


class StaleError(BerdseyeError):
    """Something stored no longer fits what it was made from (a changed corpus, another version)."""


class DamagedError(BerdseyeError):
    """A stored file is missing or not as it was written; the hint says how it is made again."""


class UnavailableError(BerdseyeError):
    """A service or file that should be there does not answer."""


def _again(kind: type[BerdseyeError], message: tuple[Any, ...], fields: dict[str, Any]) -> BerdseyeError:
    """An error that comes from another process."""
    error = kind.__new__(kind, *message)
    error.__dict__.update(fields)
    return error
