"""Reading a corpus out of a Lucene index that stores its documents."""

import json
import re
from collections.abc import Iterator
from typing import Any

from berdseye.data.documents import BadRow, Row
from berdseye.data.documents.records import TITLE, first_of, to_document
from berdseye.data.errors import BadInputError
from berdseye.retrieval.lucene.index import StoredDocument, open_index
from berdseye.retrieval.lucene.locating import index_folder

_LONGEST_TITLE = 200
_QUOTED = re.compile(r'"(?P<title>[^\n]*)"[ \t]*\n(?P<text>.+)', re.DOTALL)
_ADDRESS = re.compile(r"(?P<url>https?://\S+)[ \t]*\n(?P<rest>.+)", re.DOTALL)


def documents_of(index: str, start: int = 0) -> Iterator[Row]:
    """The documents of an index (a path or a prebuilt name) from number `start` on, as they come; the `line` of each is
    its number plus one, so that a reading can be taken up again.

    They are passages as they are, under the index's ids, so that `lucene(INDEX)` can search a corpus of them. Those
    without a text are bad rows. Raises `BadInputError` for an index that does not store its documents.
    """
    opened = open_index(index_folder(index))
    for stored in opened.stored(start):
        if stored.raw is None and stored.contents is None:
            raise BadInputError(
                f"The index does not store its documents ('{stored.docid}' has no text).",
                where=opened.folder,
                hint="Take one that does; prebuilt ones without texts have names that end in -slim.",
            )
        yield document_of(stored, opened.folder.name)


def document_of(stored: StoredDocument, where: str) -> Row:
    """The document in one of the usual layouts: JSON with `contents`, or with `text` and `title`, or a plain text.

    A title may head the contents: a first line in quotation marks (DPR's Wikipedia), or a short one; the pages of
    MS MARCO have their address before it.
    """
    line = stored.number + 1
    row = _row(stored.raw)
    if row is None:
        row = _headed(stored.contents if stored.contents is not None else stored.raw or "")
    elif isinstance(row.get("contents"), str) and "text" not in row and first_of(row, TITLE) is None:
        row = row | _headed(row["contents"])
    read = to_document(where, line, row, whole=True)
    return read if isinstance(read, BadRow) else read._replace(source_id=stored.docid)


def _row(raw: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(raw) if raw is not None and raw.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _headed(contents: str) -> dict[str, str]:
    """A text without what stands above it."""
    found: dict[str, str] = {}
    if address := _ADDRESS.fullmatch(contents):
        found["url"], contents = address["url"], address["rest"]
    if quoted := _QUOTED.fullmatch(contents):
        return found | {"title": quoted["title"], "text": quoted["text"]}
    title, _, text = contents.partition("\n")
    if text.strip() and len(title) <= _LONGEST_TITLE:
        return found | {"title": title, "text": text}
    return found | {"text": contents}
