"""Corpora: collections of passages, immutable once written."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from data.atomic import write_json, write_parquet
from data.documents import BadRow, Document, read_documents
from data.errors import BadInputError, BerdseyeError, StaleError, UnknownNameError
from data.passages import clean, cut
from data.progress import Progress, silent
from data.records import Passage
from data.workspace import Workspace

Kind = Literal["passages", "pages"]
_PART = 50_000
_SMALL = 50_000
_TOLD = 10
_PASSAGES_A_PAGE = 10_000
_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("source_id", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("url", pa.string()),
    ]
)


@dataclass(frozen=True)
class Manifest:
    """What a corpus is and what it was made from; `hash` changes whenever a passage does."""

    name: str
    kind: Kind
    count: int
    documents: int
    duplicates_merged: int
    hash: str
    source: str
    created: str
    bad_rows: list[str] = field(default_factory=list)


class Corpus:
    """A corpus in a workspace. Of kind 'passages' its rows are passages; of kind 'pages' they are whole web pages,
    from which passages are cut when a question asks for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = _read_manifest(folder)
        self.name = self.manifest.name

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        """The passages of these ids, in their order; raises `StaleError` for an id the corpus does not hold."""
        wanted = list(dict.fromkeys(int(i) for i in ids))
        if self.manifest.kind == "pages":
            pages = {p.id: p for p in self._rows({i // _PASSAGES_A_PAGE for i in wanted})}
            found = {p.id: p for page in pages.values() for p in cut_page(page)}
        else:
            found = {p.id: p for p in self._rows(set(wanted))}
        missing = [i for i in wanted if i not in found]
        if missing:
            raise StaleError(
                f"Corpus '{self.name}' holds no passage {missing[0]}.",
                hint="It was made anew; run the pipeline again.",
            )
        return [found[int(i)] for i in ids]

    def batches(self, size: int = 4096) -> Iterator[list[Passage]]:
        """All rows in order of id, a batch at a time."""
        for part in self._parts:
            for batch in pq.ParquetFile(part).iter_batches(batch_size=size):
                yield [Passage(*row) for row in zip(*(batch.column(n).to_pylist() for n in _SCHEMA.names), strict=True)]

    def _rows(self, ids: set[int]) -> list[Passage]:
        if self._count <= _SMALL:
            return [self._small[i] for i in ids if i in self._small]
        with duckdb.connect() as connection:
            result = connection.execute(
                "SELECT id, source_id, title, text, url FROM read_parquet($parts) WHERE id IN (SELECT unnest($ids))",
                {"parts": [str(p) for p in self._parts], "ids": sorted(ids)},
            )
            return [Passage(*row) for row in result.fetchall()]

    @cached_property
    def _small(self) -> dict[int, Passage]:
        return {p.id: p for batch in self.batches() for p in batch}

    @cached_property
    def _count(self) -> int:
        return sum(pq.ParquetFile(p).metadata.num_rows for p in self._parts)

    @cached_property
    def _parts(self) -> list[Path]:
        return sorted((self.folder / "passages").glob("*.parquet"))


def cut_page(page: Passage) -> list[Passage]:
    """The passages of a web page; their ids are made from the page's, so that they are the same at every asking."""
    return [
        Passage(page.id * _PASSAGES_A_PAGE + n, f"{page.source_id}#{n}", page.title, text, page.url)
        for n, text in enumerate(cut(page.text))
    ]


def open_corpus(workspace: Workspace, name: str) -> Corpus:
    """The corpus of this name; raises `UnknownNameError` with the nearest names there are."""
    if name not in workspace.corpora():
        raise UnknownNameError("corpus", name, workspace.corpora())
    return Corpus(workspace.corpus_folder(name))


def add_corpus(
    workspace: Workspace,
    name: str,
    source: Path,
    *,
    kind: Kind = "passages",
    replace: bool = False,
    skip_bad: bool = False,
    progress: Progress = silent,
) -> Manifest:
    """Read `source`, cut it into passages (or keep its pages whole) and add it as a corpus.

    Exact duplicates become one passage. Bad rows end it, all told together, before anything is changed; with `skip_bad`
    they are left out and listed in the manifest. Killed half-way, the workspace is as before.
    """
    folder = workspace.corpus_folder(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.parent / f".{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise BerdseyeError(
            f"Corpus '{name}' is being written by another process.", hint="Wait until it has finished."
        ) from error
    try:
        if (folder / "manifest.json").exists() and not replace:
            raise BadInputError(f"There is a corpus '{name}' already.", hint="Choose another name, or pass --replace.")
        building = folder.parent / f".{name}.building"
        shutil.rmtree(building, ignore_errors=True)
        try:
            manifest = _build(building, name, source, kind, skip_bad, progress)
            _put_in_place(building, folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return manifest
    finally:
        lock.release()


def _put_in_place(building: Path, folder: Path) -> None:
    """Two renames, so that a corpus is replaced in an instant however long deleting the old one takes."""
    old = folder.parent / f".{folder.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    try:
        if folder.exists():
            folder.rename(old)
        building.rename(folder)
    except OSError as error:
        raise BerdseyeError(f"The corpus could not be put in place: {error}.", where=folder) from error
    shutil.rmtree(old, ignore_errors=True)


def _build(building: Path, name: str, source: Path, kind: Kind, skip_bad: bool, progress: Progress) -> Manifest:
    writer = _Writer(building, keep_whole=kind == "pages")
    bad: list[BadRow] = []
    for row in read_documents(source):
        problem = row if isinstance(row, BadRow) else writer.add(row)
        if problem is not None:
            bad.append(problem)
        if writer.documents % 1000 == 0:
            progress(writer.count, "passages")
    if bad and not skip_bad:
        told = "; ".join(str(b) for b in bad[:_TOLD]) + (f"; and {len(bad) - _TOLD} more" if len(bad) > _TOLD else "")
        raise BadInputError(
            f"{len(bad)} row{'s' if len(bad) > 1 else ''} cannot be used. {told}.",
            where=source,
            hint="Nothing was added. Correct the file, or pass --skip-bad to leave these rows out.",
        )
    if writer.count == 0:
        raise BadInputError("No passage was found.", where=source, hint="Nothing was added. Is it the right file?")
    writer.flush()
    progress(writer.count, "passages")
    manifest = Manifest(
        name,
        kind,
        writer.count,
        writer.documents,
        writer.duplicates,
        writer.hash,
        source.name,
        datetime.now(UTC).isoformat(timespec="seconds"),
        [str(b) for b in bad],
    )
    write_json(building / "manifest.json", asdict(manifest))
    return manifest


class _Writer:
    """Cuts documents and writes the passages in parts, merging exact duplicates."""

    def __init__(self, folder: Path, *, keep_whole: bool) -> None:
        self.folder, self.keep_whole = folder, keep_whole
        self.count = self.documents = self.duplicates = 0
        self._rows: list[Passage] = []
        self._seen: set[bytes] = set()
        self._ids: dict[str, int] = {}
        self._digest = hashlib.blake2b(digest_size=16)
        self._written = 0

    def add(self, document: Document) -> BadRow | None:
        """Take a document in; a second document with the same id is told and left out."""
        source_id, title = clean(document.source_id), " ".join(clean(document.title).split())
        if source_id in self._ids:
            return BadRow(
                source_id,
                document.line,
                f"the id stands already on line {self._ids[source_id]}; ids must be unique",
            )
        texts = [clean(document.text)] if self.keep_whole else list(cut(document.text))
        if not any(texts):
            return BadRow(source_id, document.line, "the text is empty")
        self._ids[source_id] = document.line
        self.documents += 1
        for n, text in enumerate(texts):
            key = hashlib.blake2b(f"{title}\0{text}".encode(), digest_size=16).digest()
            if key in self._seen:
                self.duplicates += 1
                continue
            self._seen.add(key)
            self._digest.update(key)
            part_id = source_id if len(texts) == 1 else f"{source_id}#{n}"
            self._rows.append(Passage(self.count, part_id, title, text, clean(document.url)))
            self.count += 1
            if len(self._rows) >= _PART:
                self.flush()
        return None

    @property
    def hash(self) -> str:
        return self._digest.hexdigest()

    def flush(self) -> None:
        if self._rows:
            columns = {name: [row[i] for row in self._rows] for i, name in enumerate(_SCHEMA.names)}
            part = self.folder / "passages" / f"part-{self._written:05d}.parquet"
            write_parquet(part, pa.table(columns, schema=_SCHEMA))
            self._written += 1
            self._rows = []


def _read_manifest(folder: Path) -> Manifest:
    path = folder / "manifest.json"
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(**read)
    except (OSError, ValueError, TypeError) as error:
        raise StaleError("The corpus manifest cannot be read.", where=path, hint="Add the corpus again.") from error
