"""Errors that a user can cause; each message says what went wrong, where, and what to do."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from berdseye.data.texts.counts import counted, plural


class BerdseyeError(Exception):
    """Base class of every error that is shown to the user as one line instead of a traceback."""

    def __init__(self, what: str, *, where: str | Path | None = None, line: int | None = None, hint: str = "") -> None:
        self.what, self.where, self.line, self.hint = what, where, line, hint
        place = "" if where is None else f"{where}:{line}: " if line is not None else f"{where}: "
        super().__init__(f"{place}{what}{' ' + hint if hint else ''}")

    def __reduce__(self) -> tuple[Callable[..., "BerdseyeError"], tuple[object, ...]]:
        return _restore, (
            type(self),
            self.args,
            self.__dict__,
        )  # pickle the fields; `__init__` would build another message


class UnknownNameError(BerdseyeError):
    """A name that no registry, corpus, data set or run has; the message suggests the closest existing names."""

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
    """A file, row, parameter or question that is invalid."""


class BadRowsError(BadInputError):
    """Invalid rows of a file: `faults` has one error for each. The message is that of the first, with the number of others."""

    def __init__(self, faults: Sequence[BadInputError]) -> None:
        first, *others = faults
        more = f"{counted(len(others), 'more row')} {plural(len(others), 'is', 'are')} invalid." if others else ""
        super().__init__(
            first.what, where=first.where, line=first.line, hint=" ".join(filter(None, [first.hint, more]))
        )
        self.faults = list(faults)


class StaleError(BerdseyeError):
    """A stored result no longer matches its source (the corpus changed, or another version wrote it)."""


class DamagedError(BerdseyeError):
    """A stored file is missing or has changed since it was written; the hint says how to rebuild it."""


class UnavailableError(BerdseyeError):
    """A required service or file is not available."""


def _restore(kind: type[BerdseyeError], message: tuple[Any, ...], fields: dict[str, Any]) -> BerdseyeError:
    """Rebuild an error that another process raised."""
    error = kind.__new__(kind, *message)
    error.__dict__.update(fields)
    return error
