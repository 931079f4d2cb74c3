"""Documents of an existing index, matched by their ids with the passages of a corpus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from berdseye.data.corpora import Corpus
from berdseye.data.corpora.corpus import list_parts
from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids, Passage
from berdseye.data.texts.passages import clean

_FORMAT = 1
_KEY = np.dtype("<u8")
_BLOCK = 4_000_000
_KEYS, _PASSAGES = "keys.npy", "passages.npy"
_ALIKE = 0.5

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


def check_text(docid: str, text: str, passage: Passage, corpus: Corpus, where: Path, hint: str) -> None:
    """Raise `BadInputError` if the `text` of a document differs from the passage with its id.

    Otherwise, ids that only count documents would match wrong passages if one count began at another number.
    """
    theirs, ours = (set(x.lower().split()) for x in (text, f"{passage.title} {passage.text}"))
    if len(theirs & ours) < _ALIKE * min(len(theirs), len(ours)):
        raise BadInputError(
            f"Document '{docid}' of the index differs from the passage with this id in corpus '{corpus.name}'.",
            where=where,
            hint=hint,
        )


def explains_missing(corpus: Corpus, documents: int) -> bool:
    """Whether the number of documents without a passage is explained by the duplicates and invalid rows of the corpus."""
    manifest = corpus.manifest
    merged = manifest.duplicates_merged + manifest.near_duplicates
    return 0 <= documents - manifest.count - merged <= manifest.left_out and merged + manifest.left_out > 0


def missing_error(docid: str, docids: Docids, corpus: Corpus, documents: int, where: Path, hint: str) -> BadInputError:
    """The error for a document that the corpus lacks, with a hint if the corpus was cut again."""
    cut = int(docids.passages([f"{docid}#0"])[0]) >= 0
    return BadInputError(
        f"Corpus '{corpus.name}' ({corpus.manifest.count:,} passages) lacks document '{docid}' of the index "
        f"({documents:,} documents).",
        where=where,
        hint="Its documents were cut into passages; add the corpus again with --chunker whole." if cut else hint,
    )
