"""Lines of a stream, with their numbers and where they end."""

from collections.abc import Iterator
from typing import IO

from berdseye.data.documents.records import BadRow, Position

LONGEST_LINE = 10_000_000
_STEP = 1 << 20


class Lines:
    """Numbered lines as UTF-8; a line that is too long or wrongly encoded is told, and costs no memory.

    `number` and `offset` are the last line's number and end.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.stream, self.name = stream, name
        self.number = self.offset = 0

    def skip_to(self, position: Position) -> None:
        """Go on from a line end further down."""
        left = position.offset - self.offset
        while left > 0 and (got := len(self.stream.read(min(left, _STEP)))):
            left -= got
        self.number, self.offset = max(self.number, position.line), max(self.offset, position.offset)

    def __iter__(self) -> Iterator[str | BadRow]:
        readline = self.stream.readline
        while raw := self._next(readline(LONGEST_LINE)):
            if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
                while (rest := readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    self.offset += len(rest)
                self.offset += len(rest)
                yield BadRow(self.name, self.number, f"longer than {LONGEST_LINE // 1_000_000} MB")
                continue
            try:
                yield raw.decode("utf-8-sig" if self.number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                yield BadRow(self.name, self.number, encoding_reason(error))

    def _next(self, raw: bytes) -> bytes:
        self.number += bool(raw)
        self.offset += len(raw)
        return raw

    def position(self, start: Position) -> Position:
        """Where the reading of the member that `start` names stands."""
        return Position(start.member, self.offset, self.number)


def encoding_reason(error: UnicodeDecodeError) -> str:
    """Why a text is none."""
    return f"not UTF-8 (byte {error.start} of the line); convert the file, for example with iconv"
