"""Reading documents out of the files people have, compressed or not, one by one, in a folder or in a tar archive.

A row that cannot be used becomes a `BadRow` with its file and line, and the reading goes on, so that one pass tells
everything that is wrong with a file.
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
    """Documents of a file or of all readable files below a folder; raises `BadInputError` for what cannot be read."""
    for file in input_files(path):
        for block in read_blocks(file):
            yield from block.rows
