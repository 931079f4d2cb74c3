"""Checks of a path that a user gives, before anything is read or written there."""

import stat
from pathlib import Path

from berdseye.data.errors import BadInputError

_SHOWN = 80


def possible_path(path: Path) -> Path:
    """Return the path unchanged; raises `BadInputError` if it cannot be the path of a file or folder.

    That is the case for a name that is not UTF-8, is too long or contains a NUL character, a loop of links, a path below a
    file, and anything that is neither a file nor a folder: reading a pipe may block, a device never ends, and a write would
    replace either.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:  # SQLite, DuckDB and Arrow accept UTF-8 only
        raise BadInputError(
            f"The path {str(path)[-_SHOWN:]!a} is not UTF-8.", hint="Rename the file or folder."
        ) from error
    shown_path = str(path) if len(str(path)) <= _SHOWN else f"{str(path)[:_SHOWN]}…"
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path
    except NotADirectoryError as error:
        raise BadInputError("A part of the path is a file.", where=shown_path, hint="Check the path.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        reason = getattr(error, "strerror", None) or error
        raise BadInputError(f"Not a valid path: {reason}.", where=shown_path, hint="Check the path.") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise BadInputError(
            "This is neither a file nor a folder.",
            where=shown_path,
            hint="Copy its content into a file, and pass that file.",
        )
    return path


def is_file(written: str) -> bool:
    """Whether a text is the path of an existing file; false for a text that is not a valid path."""
    try:
        return Path(written).is_file()
    except (OSError, ValueError):
        return False


def regular_file(path: Path, hint: str = "Check the path.") -> Path:
    """Return the path of an existing file; raises `BadInputError` for a folder and for a path that does not exist."""
    if possible_path(path).is_dir():
        raise BadInputError("Expected a file, got a folder.", where=path, hint="Give the path of a file in it.")
    if not path.exists():
        raise BadInputError("The file does not exist.", where=path, hint=hint)
    return path
