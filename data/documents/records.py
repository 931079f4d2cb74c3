"""The records that reading a file yields: documents, invalid rows, blocks of rows, and positions in the file."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple

ID = ("id", "_id", "docid", "source_id", "pid")
TEXT = ("text", "contents", "passage", "document", "body", "raw")
TITLE = ("title", "headline")
URL = ("url", "link", "source")
BLOCK_ROWS = 1_000
BLOCK_BYTES = 2_000_000


class Document(NamedTuple):
    """A text to cut into passages; `line` is its line in the file (1 for files that are one document).

    `whole` is true if the text is already a passage, as in DPR's Wikipedia and in Sphere.
    """

    source_id: str
    title: str
    text: str
    url: str
    line: int
    whole: bool = False


class BadRow(NamedTuple):
    """An invalid row: its file, its line, and why it is invalid."""

    where: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.where} line {self.line}: {self.reason}"


Row = Document | BadRow


class Position(NamedTuple):
    """How far a file has been read: finished archive members, then bytes (or table rows) and lines of the next member."""

    member: int = 0
    offset: int = 0
    line: int = 0


class Block(NamedTuple):
    """Some rows of a file, the position after them, from which reading can resume, and the format of the file."""

    rows: list[Row]
    position: Position
    format: str


Reader = Callable[[IO[bytes], str, Position], Iterator[Block]]
"""Reads a stream with the given file name, from a position on."""


def to_document(name: str, number: int, row: Any, whole: bool = False) -> Row:
    """The document in a row of a file, or a `BadRow`; the columns `ID`, `TITLE`, `TEXT` and `URL` are looked up by name."""
    if not isinstance(row, dict):
        return BadRow(name, number, f"expected an object, got {type(row).__name__}")
    text = first_of(row, TEXT)
    if text is None:
        columns = ", ".join(map(str, list(row)[:8])) or "nothing"
        return BadRow(name, number, f"no text: expected a column named {' or '.join(TEXT[:-1])}, got {columns}")
    if not text or text.isspace():
        return BadRow(name, number, "the text is empty")
    source_id = first_of(row, ID)
    url = first_of(row, URL)
    if url is None and isinstance(row.get("metadata"), dict):
        url = first_of(row["metadata"], URL)
    return Document(
        f"{name}:{number}" if source_id is None else source_id,
        first_of(row, TITLE) or "",
        text,
        url or "",
        number,
        whole or is_sphere(row),
    )


def first_of(row: Mapping[Any, Any], names: tuple[str, ...]) -> str | None:
    """The value of the first of these columns that holds a text or a number; None if none does."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, int | float):
            return str(value)
    return None


def is_sphere(row: Mapping[Any, Any]) -> bool:
    """Whether a row has the layout of Sphere's release, whose `raw` texts are passages of 100 words."""
    return "raw" in row and "url" in row and "title" in row and "text" not in row
