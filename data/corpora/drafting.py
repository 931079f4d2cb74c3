"""The first pass of adding a corpus: cut documents into rows; the second pass assigns ids and removes duplicates."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.corpora.corpus import PART_ROWS, PASSAGES_A_PAGE, SCHEMA, write_part
from berdseye.data.corpora.loading import Loading, Reached
from berdseye.data.corpora.manifest import Kind
from berdseye.data.documents import BadRow, Document, InputFile, Position, Row, read_blocks
from berdseye.data.files.atomic import write_with
from berdseye.data.progress import Progress
from berdseye.data.texts.chunkers import Chunker, Whole
from berdseye.data.texts.passages import clean

_PART_CHARACTERS = 64_000_000
_WHOLE = Whole()


def read_all(loading: Loading, reached: Reached, files: list[InputFile], draft: "Draft", progress: Progress) -> None:
    """Read the files from the position in `reached` to their end, writing rows and keys part by part."""
    total = sum(f.size for f in files)
    for number in range(reached.file, len(files)):
        file = files[number]
        start = reached.position if number == reached.file else Position()
        for block in read_blocks(file, start):
            draft.add(block.rows, file.name)
            if block.format and block.format not in reached.formats:
                reached.formats.append(block.format)
            if draft.is_full:
                draft.write(number, block.position)
            done = reached.bytes + file.read
            progress(draft.count, "passages", round(draft.count * total / done) if done else None)
        loading.sources.add(json.dumps({"path": file.name, "size": file.size, "blake2b": file.close()}))
        reached.bytes += file.size
    reached.complete = True
    draft.write(len(files), Position())


class Draft:
    """Cuts documents into rows and buffers the rows until they fill a part."""

    def __init__(self, loading: Loading, reached: Reached, kind: Kind, chunker: Chunker, *, cut_whole: bool) -> None:
        """Start an empty draft; with `cut_whole`, texts that already are passages are cut as well."""
        self.loading, self.reached, self.kind = loading, reached, kind
        self._cut, self._cut_whole = chunker, cut_whole
        self._begin_part()

    @property
    def count(self) -> int:
        """The number of rows so far, on disk and in memory."""
        return self.reached.rows + len(self._texts)

    @property
    def is_full(self) -> bool:
        return len(self._texts) >= PART_ROWS or self._characters >= _PART_CHARACTERS

    def add(self, rows: Iterable[Row], file: str) -> None:
        """Add rows of a file; invalid rows are logged, and reported once everything is read."""
        for row in rows:
            problem = row if isinstance(row, BadRow) else self._take(row, file)
            if problem is not None:
                self.loading.bad_rows.add(str(problem))

    def write(self, file: int, position: Position) -> None:
        """Write the buffered rows to disk, and record the position at which reading continues."""
        loading, reached = self.loading, self.reached
        if self._texts:
            rows = np.arange(reached.rows, reached.rows + len(self._texts))
            columns = [pa.array(rows), self._ids, self._titles, self._texts, self._urls]
            write_part(_numbered(loading.rows, reached.rows), pa.table(columns, schema=SCHEMA))
            keys = {"row": rows, "document": self._owners, **_halves(self._keys)}
            _write_keys(_numbered(loading.keys, reached.rows), keys)
        if self._document_ids:
            ordinals = np.arange(reached.documents, reached.documents + len(self._document_ids))
            documents = {"document": ordinals, "file": self._files, "line": self._lines, "id": self._document_ids}
            _write_keys(_numbered(loading.documents, reached.documents), documents | _halves(self._document_keys))
        reached.rows += len(self._texts)
        reached.documents += len(self._document_ids)
        reached.file, reached.position = file, position
        loading.save(reached)
        self._begin_part()

    def _begin_part(self) -> None:
        self._characters = 0
        self._ids: list[str] = []
        self._titles: list[str] = []
        self._texts: list[str] = []
        self._urls: list[str] = []
        self._keys: list[bytes] = []
        self._owners: list[int] = []
        self._document_ids: list[str] = []
        self._document_keys: list[bytes] = []
        self._files: list[str] = []
        self._lines: list[int] = []

    def _take(self, document: Document, file: str) -> BadRow | None:
        source_id, url, title = clean(document.source_id), clean(document.url), title_of(document)
        texts = texts_of(document, self.kind, self._cut, cut_whole=self._cut_whole)
        if isinstance(texts, BadRow):
            return texts
        self.reached.whole += document.whole and not self._cut_whole
        owner = self.reached.documents + len(self._document_ids)
        self._document_ids.append(source_id)
        self._document_keys.append(blake2b(source_id.encode(), digest_size=16).digest())
        self._files.append(file)
        self._lines.append(document.line)
        for number, text in enumerate(texts):
            self._ids.append(source_id if len(texts) == 1 else f"{source_id}#{number}")
            self._keys.append(blake2b(f"{title}\0{text}".encode(), digest_size=16).digest())
            self._characters += len(text)
        self._texts += texts
        self._titles += [title] * len(texts)
        self._urls += [url] * len(texts)
        self._owners += [owner] * len(texts)
        return None


def title_of(document: Document) -> str:
    """Return the title of a document's passages: its own, on one line."""
    return " ".join(clean(document.title).split())


def texts_of(document: Document, kind: Kind, cut: Chunker, *, cut_whole: bool) -> list[str] | BadRow:
    """Cut a document into the texts of its passages, or of its single page, or say why it has none.

    With `cut_whole`, a text that already is a passage is cut as well.
    """
    keep_whole = document.whole and not cut_whole
    texts = (_WHOLE if keep_whole or kind == "pages" else cut)(document.text)
    if not texts:
        return BadRow(clean(document.source_id), document.line, "the text is empty")
    if kind == "pages" and len(document.text) > PASSAGES_A_PAGE and len(cut(texts[0])) > PASSAGES_A_PAGE:
        return BadRow(clean(document.source_id), document.line, f"a page of more than {PASSAGES_A_PAGE:,} passages")
    return texts


def _halves(keys: list[bytes]) -> dict[str, Any]:
    """128-bit keys as two columns uint64, which compare faster than bytes."""
    both = np.frombuffer(b"".join(keys), np.uint64).reshape(-1, 2)
    return {"high": both[:, 0], "low": both[:, 1]}


def _numbered(folder: Path, first: int) -> Path:
    return folder / f"{first:012d}.parquet"


def _write_keys(path: Path, columns: dict[str, Any]) -> None:
    write_with(path, lambda to: pq.write_table(pa.table(columns), to, compression="zstd", use_dictionary=["file"]))
