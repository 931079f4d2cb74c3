"""A preview of a source before it is added as a corpus: its first documents as they would be read, and its first invalid
rows."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from berdseye.data.corpora.drafting import texts_of, title_of
from berdseye.data.corpora.manifest import Kind
from berdseye.data.corpora.settling import repeated_id
from berdseye.data.documents import BadRow, Document, Row, input_files, read_blocks
from berdseye.data.texts.chunkers import DEFAULT_CHUNKER, parse_chunker
from berdseye.data.texts.passages import clean

_SHOWN = 20
_LISTED = 1_000


class PreviewedDocument(NamedTuple):
    """A document as it would be added: `passages` is the number of passages it becomes, `text` the first of them."""

    id: str
    title: str
    text: str
    url: str
    passages: int


@dataclass
class CorpusPreview:
    """The beginning of a source: its first documents, the invalid rows, and counts up to where reading stopped.

    `complete` says whether the whole source was read. `bad_rows` lists the first thousand of `bad` invalid rows. `formats` are
    the formats that were recognised; `bytes` is the size of all `files`.
    """

    files: int
    bytes: int
    documents: list[PreviewedDocument] = field(default_factory=list)
    count: int = 0
    passages: int = 0
    bad: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    complete: bool = False
    _ids: dict[str, tuple[str, int]] = field(default_factory=dict, repr=False)

    def add(self, row: Row, file: str, cut: Callable[[Document], list[str] | BadRow]) -> None:
        """Count a row of a file, and keep it if it is among the first."""
        texts = row if isinstance(row, BadRow) else cut(row)
        if isinstance(row, Document) and isinstance(texts, list):
            texts = self._repeated(row, file) or texts
        if isinstance(row, BadRow) or isinstance(texts, BadRow):
            self.bad += 1
            if len(self.bad_rows) < _LISTED and isinstance(texts, BadRow):
                self.bad_rows.append(texts)
            return
        if self.count < _SHOWN:
            shown = PreviewedDocument(clean(row.source_id), title_of(row), texts[0], clean(row.url), len(texts))
            self.documents.append(shown)
        self.count += 1
        self.passages += len(texts)

    def _repeated(self, document: Document, file: str) -> BadRow | None:
        """Return what is wrong with a document that has the id of an earlier one."""
        source_id = clean(document.source_id)
        first_file, first_line = self._ids.setdefault(source_id, (file, document.line))
        if (first_file, first_line) == (file, document.line):
            return None
        return repeated_id(source_id, document.line, file, first_line, first_file)


def preview_corpus(
    source: Path, *, kind: Kind = "passages", chunker: str | None = None, seconds: float = 3.0
) -> CorpusPreview:
    """Read the beginning of a file or folder, for about `seconds`, as `add_corpus` would read it; nothing is written.

    Raises `BadInputError` if no file can be read.
    """
    cut = partial(texts_of, kind=kind, cut=parse_chunker(chunker or DEFAULT_CHUNKER), cut_whole=chunker is not None)
    files = input_files(source)
    preview = CorpusPreview(len(files), sum(file.size for file in files))
    until = time.monotonic() + seconds
    for file in files:
        for block in read_blocks(file):
            if block.format and block.format not in preview.formats:
                preview.formats.append(block.format)
            for row in block.rows:
                preview.add(row, file.name, cut)
            if time.monotonic() > until:
                return preview
    preview.complete = True
    return preview
