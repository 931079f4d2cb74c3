"""The documents of a Lucene index: reading them as a corpus, and mapping their ids to the passages of a corpus."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from berdseye.data.corpora.corpus import list_parts
from berdseye.data.documents import BadRow, Row
from berdseye.data.documents.records import TITLE, first_of, to_document
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Passage
from berdseye.data.texts.passages import clean
from berdseye.retrieval.lucene.index import StoredDocument, index_folder, open_index

_FORMAT = 1
_KEY = np.dtype("<u8")
_BLOCK = 4_000_000
_KEYS, _PASSAGES = "keys.npy", "passages.npy"
_LONGEST_TITLE = 200
_QUOTED = re.compile(r'"(?P<title>[^\n]*)"[ \t]*\n(?P<text>.+)', re.DOTALL)
_ADDRESS = re.compile(r"(?P<url>https?://\S+)[ \t]*\n(?P<rest>.+)", re.DOTALL)

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class DocidIndexer:
    """Builds a table of sorted 64-bit hashes of `source_id` with the passage of each, 12 bytes per passage, read on demand.

    The probability that two of 22 million ids have equal hashes is 1 in 76,000; that is detected. Ids are read from the
    corpus folder without the texts, which takes a tenth of the time.
    """

    corpus: Path

    @property
    def name(self) -> str:
        return "docids"

    @property
    def engine(self) -> str:
        return f"blake2b {_FORMAT}"

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        del batches
        unsorted = folder / "unsorted"
        with unsorted.open("wb") as file:
            for part in list_parts(self.corpus)[0]:
                docids = pq.read_table(part, columns=["source_id"]).column(0).to_pylist()
                file.write(b"".join(map(_hash, docids)))
        _write(np.memmap(unsorted, _KEY, mode="r"), folder)
        unsorted.unlink()

    def load(self, folder: Path) -> "Docids":
        return Docids(np.load(folder / _KEYS, mmap_mode="r"), np.load(folder / _PASSAGES, mmap_mode="r"))


class Docids:
    """A table from the ids of documents to passages."""

    def __init__(self, keys: Keys, passages: npt.NDArray[np.unsignedinteger]) -> None:
        self._keys, self._passages = keys, passages

    def passages(self, docids: Sequence[str]) -> Ids:
        """The passages of documents, int64[n_docids]; -1 for an id that is not in the corpus."""
        wanted = np.frombuffer(b"".join(_hash(clean(docid)) for docid in docids), _KEY)
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[places] == wanted, self._passages[places].astype(np.int64), -1)


def _hash(docid: str) -> bytes:
    return blake2b(docid.encode("utf-8", "surrogatepass"), digest_size=_KEY.itemsize).digest()


def _write(unsorted: Keys, folder: Path) -> None:
    """Sort the keys by ranges that fit into memory; hashes are distributed so evenly that ranges have similar sizes."""
    count = len(unsorted)
    library: Any = np.lib.format  # it has no type annotations
    keys = library.open_memmap(folder / _KEYS, "w+", _KEY, (count,))
    passages = library.open_memmap(folder / _PASSAGES, "w+", np.min_scalar_type(count), (count,))
    ranges = -(-count // _BLOCK)
    bounds = [(part << 64) // ranges for part in range(ranges + 1)]
    done = 0
    for low, high in pairwise(bounds):
        chosen = np.flatnonzero((unsorted >= np.uint64(low)) & (unsorted <= np.uint64(high - 1)))
        range_keys = unsorted[chosen]
        order = np.argsort(range_keys, kind="stable")
        range_keys, chosen = range_keys[order], chosen[order]
        twice = np.flatnonzero(range_keys[1:] == range_keys[:-1])
        if len(twice):
            raise BadInputError(
                f"Passages {chosen[twice[0]]} and {chosen[twice[0] + 1]} have the same document id.",
                hint="This corpus cannot be searched with a Lucene index.",
            )
        keys[done : done + len(range_keys)], passages[done : done + len(range_keys)] = range_keys, chosen
        done += len(range_keys)
    keys.flush()
    passages.flush()


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
