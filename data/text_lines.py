"""Numbered lines of text files, gzipped or not."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from berdseye.data.errors import BadInputError

Line = tuple[int, str]
LONGEST_LINE = 100_000_000
"""Bytes; without a bound a small packed file could be one line that fills the memory."""


def read_lines(path: Path) -> Iterator[Line]:
    """The lines that hold something, with their numbers from 1, of a UTF-8 file with or without a byte order mark.

    A file whose name ends in `.gz` is decompressed. Raises `BadInputError` with the file, and the line where one is at fault.
    """
    if path.is_dir() or not path.exists():
        raise BadInputError("There is no such file.", where=path, hint="Check the path.")
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise BadInputError(
                        f"Longer than {LONGEST_LINE // 1_000_000} MB.", where=path, line=number, hint="Split this line."
                    )
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise BadInputError("Not UTF-8 text.", where=path, line=number, hint="Convert the file.") from error
    except (OSError, EOFError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInputError(f"Cannot be read: {said}.", where=path, hint="Is it the right file?") from error


def text_lines(text: str) -> Iterator[Line]:
    """The lines that hold something of a text, with their numbers."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
