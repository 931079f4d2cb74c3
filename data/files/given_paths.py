"""What a path that a person gives must be before anything is read or written there."""

import stat
from pathlib import Path

from berdseye.data.errors import BadInputError

_SHOWN = 80


def possible_path(path: Path) -> Path:
    """The path as it is; raises `BadInputError` for one at which no file or folder can be.

    That is a name that is not UTF-8, is too long or holds a NUL character, a loop of links, a path below a file, and anything
    that is neither a file nor a folder: a pipe would be waited for, a device never ends, and a write would replace either.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:  # SQLite, DuckDB and Arrow take no others
        raise BadInputError(
            f"The path {str(path)[-_SHOWN:]!a} is not UTF-8.", hint="Rename the file or folder."
        ) from error
    shown = str(path) if len(str(path)) <= _SHOWN else f"{str(path)[:_SHOWN]}…"
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path
    except NotADirectoryError as error:
        raise BadInputError("A part of the path is a file.", where=shown, hint="Check the path.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        said = getattr(error, "strerror", None) or error
        raise BadInputError(f"This cannot be a path: {said}.", where=shown, hint="Check the path.") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise BadInputError(
            "This is neither a file nor a folder.", where=shown, hint="Copy what it holds into a file, and name that."
        )
    return path


def is_file(written: str) -> bool:
    """Whether a text is the path of a file; false for a text that no path can be."""
    try:
        return Path(written).is_file()
    except (OSError, ValueError):
        return False


def regular_file(path: Path, hint: str = "Check the path.") -> Path:
    """The path of a file that exists; raises `BadInputError` for a folder, and for a path where nothing is."""
    if possible_path(path).is_dir():
        raise BadInputError("This is a folder, and a file is needed.", where=path, hint="Name a file in it.")
    if not path.exists():
        raise BadInputError("There is no such file.", where=path, hint=hint)
    return path
