"""The documents of a Lucene index, read as a corpus."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from berdseye.data.documents import BadRow, Row
from berdseye.data.documents.records import TITLE, first_of, to_document
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.retrieval.lucene.index import StoredDocument, index_folder, open_index

_LONGEST_TITLE = 200
_QUOTED = re.compile(r'"(?P<title>[^\n]*)"[ \t]*\n(?P<text>.+)', re.DOTALL)
_ADDRESS = re.compile(r"(?P<url>https?://\S+)[ \t]*\n(?P<rest>.+)", re.DOTALL)


def documents_of(index: str, start: int = 0) -> Iterator[Row]:
    """Yield the documents of an index (a path or a prebuilt name) from number `start` on, in index order.

    The `line` of a document is its number plus one, so that reading can resume. Documents are passages, under the index's
    ids, so that `lucene(INDEX)` can search a corpus of them. Documents without a text are invalid rows. Raises
    `BadInputError` for an index that does not store its documents.
    """
    opened = open_index(index_folder(index))
    for stored in opened.stored(start):
        if stored.raw is None and stored.contents is None:
            raise BadInputError(
                f"The index does not store its documents ('{stored.docid}' has no text).",
                where=opened.folder,
                hint="Use an index that does; names of prebuilt indexes without texts end in -slim.",
            )
        yield document_of(stored, opened.folder.name)


def document_of(stored: StoredDocument, where: str) -> Row:
    """The document in a common layout: JSON with `contents`, or with `text` and `title`, or a plain text.

    The contents may begin with a title: a first line in quotation marks (DPR's Wikipedia), or a short first line; in MS MARCO,
    the address of the page precedes it.
    """
    line = stored.number + 1
    row = _row(stored.raw)
    if row is None:
        row = _split_heading(stored.contents if stored.contents is not None else stored.raw or "")
    elif isinstance(row.get("contents"), str) and "text" not in row and first_of(row, TITLE) is None:
        row = row | _split_heading(row["contents"])
    read = to_document(where, line, row, whole=True)
    return read if isinstance(read, BadRow) else read._replace(source_id=stored.docid)


def _row(raw: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(raw) if raw is not None and raw.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _split_heading(contents: str) -> dict[str, str]:
    """Split contents into address, title and text, as far as it has them."""
    fields: dict[str, str] = {}
    if address := _ADDRESS.fullmatch(contents):
        fields["url"], contents = address["url"], address["rest"]
    if quoted := _QUOTED.fullmatch(contents):
        return fields | {"title": quoted["title"], "text": quoted["text"]}
    title, _, text = contents.partition("\n")
    if text.strip() and len(title) <= _LONGEST_TITLE:
        return fields | {"title": title, "text": text}
    return fields | {"text": contents}


def write_documents(index: str, target: Path, progress: Progress = silent) -> None:
    """Write the documents of an index as JSONL with their ids; a document without a text is reported when it is read."""
    total = open_index(index_folder(index)).count
    with target.open("w", encoding="utf-8") as file:
        for done, row in enumerate(documents_of(index), start=1):
            document = (
                {"id": row.where, "text": ""}
                if isinstance(row, BadRow)
                else {"id": row.source_id, "title": row.title, "text": row.text, "url": row.url}
            )
            file.write(json.dumps(document) + "\n")
            if done % 10_000 == 0:
                progress(done, "documents of the index", total)
