"""The store of web pages: pages are never deleted, and their ids never change."""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_parquet
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.files.locks import locked
from berdseye.data.records import Passage

_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("key", pa.binary(16)),
    ]
)
_DIGITS = 12


class Page(NamedTuple):
    """A web page: its address, title and main text."""

    url: str
    title: str
    text: str

    @property
    def key(self) -> bytes:
        """A 16-byte hash of address and text, by which the store recognises a page on any day."""
        return hashlib.blake2b(f"{self.url}\0{self.text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


class PageStore:
    """Pages in immutable Parquet segments, each named by its first and last id.

    Any number of processes may read and add concurrently; a process killed while adding leaves the store as it was.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids: dict[bytes, int] = {}
        self._known: set[Path] = set()

    def add(self, pages: Sequence[Page]) -> list[int]:
        """Add the pages that are not stored yet under the next free ids; returns the ids of all pages, in order."""
        with locked(self._folder / ".lock"):
            for left_over in self._folder.glob(".*.tmp"):  # left by a killed process; this one holds the lock
                left_over.unlink(missing_ok=True)
            segments = self._segments()
            for segment in set(segments) - self._known:
                table = _read(segment, columns=["key", "id"])
                self._ids.update(zip(table["key"].to_pylist(), table["id"].to_pylist(), strict=True))
                self._known.add(segment)
            first = _last(segments[-1]) + 1 if segments else 0
            new = list({page.key: page for page in pages if page.key not in self._ids}.values())
            if new:
                rows = [(first + n, *page, page.key) for n, page in enumerate(new)]
                columns = dict(zip(_SCHEMA.names, zip(*rows, strict=True), strict=True))
                name = f"{first:0{_DIGITS}d}-{first + len(new) - 1:0{_DIGITS}d}.parquet"
                write_parquet(self._folder / name, pa.table(columns, schema=_SCHEMA))
                segment_files(self._folder / name).seal()
                self._ids.update((row[-1], row[0]) for row in rows)
                self._known.add(self._folder / name)
        return [self._ids[page.key] for page in pages]

    def pages(self, ids: Sequence[int]) -> list[Passage]:
        """The complete pages with these ids, in the order given; raises `StaleError` for an unknown id."""
        segments = self._segments()
        firsts = [_first(segment) for segment in segments]
        ids_by_segment: dict[Path, set[int]] = {}
        for i in ids:
            place = bisect_right(firsts, i) - 1
            if place < 0 or i > _last(segments[place]):
                raise StaleError(
                    f"There is no web page {i}.",
                    where=self._folder,
                    hint="Check whether the folder of web pages was replaced.",
                )
            ids_by_segment.setdefault(segments[place], set()).add(i)
        passages: dict[int, Passage] = {}
        for segment, segment_ids in ids_by_segment.items():
            for row in _read(segment, filters=[("id", "in", segment_ids)]).to_pylist():
                passages[row["id"]] = Passage(row["id"], row["url"], row["title"], row["text"], row["url"])
        return [passages[i] for i in ids]

    def _segments(self) -> list[Path]:
        for record in self._folder.glob(f"[0-9]*{RECORD}"):
            segment_files(record.with_suffix(".parquet")).check(waiting=False)
        return sorted(self._folder.glob("[0-9]*.parquet"))


def segment_files(segment: Path) -> FileSet:
    """The files of a segment of pages of a web corpus, `corpora/<name>/web/pages/<segment>`."""
    return FileSet(
        segment.with_suffix(RECORD),
        (segment.name,),
        lambda: (
            "Restore the corpus from a backup made with --corpora, or start it again: "
            f"`berdseye corpus web {segment.parents[2].name} --replace`."
        ),
    )


def _read(segment: Path, **chosen: Any) -> pa.Table:
    try:
        return pq.read_table(segment, **chosen)
    except (OSError, pa.ArrowException) as error:
        raise segment_files(segment).unreadable(segment, error) from error


def _first(segment: Path) -> int:
    return int(segment.stem[:_DIGITS])


def _last(segment: Path) -> int:
    return int(segment.stem[_DIGITS + 1 :])
