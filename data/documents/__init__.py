"""Reading documents from files in common formats: compressed or not, single, in a folder or in a tar archive.

An invalid row becomes a `BadRow` with its file and line, and reading continues, so that one pass reports everything that
is wrong with a file.
"""

from collections.abc import Iterator
from pathlib import Path

from berdseye.data.documents.files import InputFile, input_files
from berdseye.data.documents.reading import read_blocks
from berdseye.data.documents.records import BadRow, Block, Document, Position, Row

__all__ = [
    "BadRow",
    "Block",
    "Document",
    "InputFile",
    "Position",
    "Row",
    "input_files",
    "read_blocks",
    "read_documents",
]


def read_documents(path: Path) -> Iterator[Row]:
    """Yield the documents of a file or of all readable files below a folder; raises `BadInputError` for unreadable input."""
    for file in input_files(path):
        for block in read_blocks(file):
            yield from block.rows
