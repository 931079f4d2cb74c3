"""Reading one file of any supported format from the position where an earlier read stopped."""

import tarfile
import zlib
from collections.abc import Iterator
from typing import IO

from berdseye.data.documents.files import PARQUET, InputFile, decompressed, is_readable, is_tar, reader_of
from berdseye.data.documents.records import BadRow, Block, Position
from berdseye.data.documents.tables import read_parquet

_DAMAGED = (EOFError, OSError, zlib.error, tarfile.TarError)


def read_blocks(file: InputFile, start: Position = Position()) -> Iterator[Block]:  # noqa: B008 (immutable)
    """Yield blocks of rows from `start` on; a read resumed after any block yields the same blocks as an unbroken one.

    Truncated compressed data yields a `BadRow` after all rows that could be read.
    """
    if file.name.lower().endswith(PARQUET):
        yield from read_parquet(file.path, file.name, start)
        return
    reached = start
    try:
        for block in _stream_blocks(file.open(), file.name, start):
            reached = block.position
            yield block
    except _DAMAGED as error:
        reason = f"the file is damaged ({error or 'it is truncated'}); the rest of the file was not read"
        yield Block([BadRow(file.name, reached.line + 1, reason)], reached, "")


def _stream_blocks(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    if is_tar(name):
        yield from _members(stream, name, start)
    elif reader := reader_of(name):
        yield from reader(stream, name, start)


def _members(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield the blocks of an archive's readable files, in archive order; nothing is unpacked to disk."""
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for number, member in enumerate(archive):
            reader = reader_of(member.name) if member.isfile() and is_readable(member.name) else None
            content = archive.extractfile(member) if number >= start.member else None
            if reader is None or content is None:
                continue
            member_start = start if number == start.member else Position(number)
            yield from reader(decompressed(content, member.name), f"{name}/{member.name}", member_start)
            yield Block([], Position(number + 1), "")
