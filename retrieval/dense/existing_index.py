"""Existing FAISS indexes in the layout of distributed-faiss, in which Sphere was released (Piktus et al. 2021): one folder per
partition with `index.faiss`, `meta.pkl` (a list with the id and the texts of each vector's document) and `cfg.json`.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from pickletools import genops
from typing import Any, BinaryIO, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids, Passage, Ranking
from berdseye.retrieval.dense.index import DenseIndex
from berdseye.retrieval.document_ids import DocidIndexer, check_text, explains_missing, missing_error
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.ranking import top_k

FITTING = "Use a corpus made from the passages of the index, under the index's ids and uncut (--chunker whole)."
_INDEX, _META, _SETTINGS = "index.faiss", "meta.pkl", "cfg.json"
_IDS = "passages.npy"
_FORMAT = 2
_ENDS = 65_536
_SLACK = 32
_BLOCK = 100_000
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_VALUES = {
    *_CONSTANTS,
    *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"),
    *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"),
}
"""The instructions of a pickle that put a value on its stack."""


class Document(NamedTuple):
    """The entry of a vector: the id of its document, and its texts, empty if the entry has none."""

    docid: str
    text: str


def partition_folders(folder: Path) -> list[Path]:
    """The folders of the partitions in order: `folder` itself, or its folders 0, 1, 2 and so on.

    Raises `BadInputError` if there is none, or if a partition or one of its files is missing.
    """
    if (folder / _INDEX).is_file():
        found = [folder]
    else:
        numbered = [p for p in folder.iterdir() if p.is_dir() and p.name.isdecimal()] if folder.is_dir() else []
        found = sorted(numbered, key=lambda p: int(p.name))
        if not found:
            raise BadInputError(
                "The folder has no FAISS index.",
                where=folder,
                hint=f"Give a folder that contains {_INDEX} and {_META}, or folders 0, 1, 2, … that do.",
            )
        missing = sorted(set(range(int(found[-1].name) + 1)) - {int(p.name) for p in found})
        if missing:
            raise BadInputError(f"Partition {missing[0]} is missing.", where=folder, hint="Download the index again.")
    for partition in found:
        for name in (_INDEX, _META):
            if not (partition / name).is_file():
                raise BadInputError(f"The file {name} is missing.", where=partition, hint="Download the index again.")
    return found


def _plain_value(file: BinaryIO) -> Any:
    """The lists, tuples, texts and numbers that a pickle describes; raises `ValueError` for anything else.

    A pickle is a program. This reads its instructions one by one and runs none: those that name or call a class or function are
    refused, like all others that plain values do not need.
    """
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        start = marks.pop()
        values = stack[start:]
        del stack[start:]
        return values

    argument: Any
    for opcode, argument, _ in genops(file):
        name = opcode.name
        if name in _VALUES:
            stack.append(_CONSTANTS.get(name, argument))
        elif name in ("EMPTY_LIST", "EMPTY_TUPLE"):
            stack.append([] if name == "EMPTY_LIST" else ())
        elif name == "MARK":
            marks.append(len(stack))
        elif name in ("TUPLE", "LIST"):
            values = since_mark()
            stack.append(tuple(values) if name == "TUPLE" else values)
        elif name in _TUPLES:
            values = stack[-_TUPLES[name] :]
            del stack[-_TUPLES[name] :]
            stack.append(tuple(values))
        elif name in ("APPEND", "APPENDS"):
            values = [stack.pop()] if name == "APPEND" else since_mark()
            if not isinstance(stack[-1], list):
                raise ValueError("it adds values to something other than a list")
            stack[-1].extend(values)
        elif name in ("MEMOIZE", "BINPUT", "LONG_BINPUT"):
            memo[len(memo) if argument is None else argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "STOP":
            return stack.pop()
        elif name not in ("PROTO", "FRAME"):
            raise ValueError(f"it has the instruction {name}, which plain values do not need")
    raise ValueError("it has no end")


def read_documents(partition: Path, count: int | None = None) -> Iterator[Document]:
    """Yield the entry of each of `count` vectors (None: all entries); raises `BadInputError` for a file that is not a list of
    plain values, or that has fewer entries.

    An entry is a list or tuple that begins with the document's id, followed by its text and title, which may be compressed with
    zlib; or the id alone. `custom_meta_id_idx` in `cfg.json` names another place of the id. distributed-faiss also saves the
    entries of vectors that are still in its buffer, after those of the index; like its loader, this leaves them out.
    """
    path, place = partition / _META, int(_settings(partition).get("custom_meta_id_idx", 0))
    try:
        with path.open("rb") as file:
            entries = _plain_value(file)
    except (ValueError, IndexError, KeyError) as error:
        raise BadInputError(f"The file cannot be read: {error}.", where=path, hint="Download it again.") from error
    if not isinstance(entries, list):
        raise BadInputError(f"Expected a list, got {type(entries).__name__}.", where=path, hint="Download it again.")
    if count is not None and len(entries) < count:
        raise BadInputError(
            f"The file has {len(entries):,} entries for the {count:,} vectors of {_INDEX}.",
            where=path,
            hint="Download it again.",
        )
    for number, entry in enumerate(entries[:count]):
        values = list(entry) if isinstance(entry, list | tuple) else [entry]
        if not -len(values) <= place < len(values) or not isinstance(values[place], str | int):
            raise BadInputError(
                f"Entry {number:,} has no document id.", where=path, hint="Set custom_meta_id_idx in cfg.json."
            )
        docid = str(values.pop(place))
        yield Document(docid, " ".join(filter(None, map(_text, reversed(values[:2])))))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return zlib.decompress(value).decode("utf-8", "replace")
        except zlib.error:
            return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _settings(partition: Path) -> dict[str, Any]:
    try:
        settings = json.loads((partition / _SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def files_version(folder: Path) -> str:
    """A hash, 16 hex digits, of the sizes, beginnings and ends of all files of the partitions."""
    digest = blake2b(digest_size=8)
    for partition in partition_folders(folder):
        for path in (partition / _INDEX, partition / _META):
            size = path.stat().st_size
            with path.open("rb") as file:
                digest.update(f"{path.name} {size}".encode() + file.read(_ENDS))
                file.seek(max(0, size - _ENDS))
                digest.update(file.read())
    return digest.hexdigest()


@dataclass(frozen=True)
class PassagesOfVectors:
    """Builds the passage of each vector of an existing index, all partitions in order, from its documents' ids."""

    index: str
    corpus: Path

    @property
    def name(self) -> str:
        return f"faiss-ids({blake2b(self.index.encode(), digest_size=8).hexdigest()})"

    @property
    def engine(self) -> str:
        return f"faiss-ids {_FORMAT}, index {files_version(Path(self.index).expanduser())}"

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        """Write the table; raises `BadInputError` for documents that the corpus lacks, or of which one has another text."""
        del batches
        corpus, where = Corpus(self.corpus), Path(self.index).expanduser()
        docids = StoredCorpus(corpus).index(DocidIndexer(self.corpus))
        parts: list[Ids] = []
        first_missing = ""
        for partition in partition_folders(where):
            documents = read_documents(partition, _vectors(partition).ntotal)
            while block := list(islice(documents, _BLOCK)):
                found = docids.passages([d.docid for d in block])
                parts.append(found)
                lost = np.flatnonzero(found < 0)
                first_missing = first_missing or (block[int(lost[0])].docid if len(lost) else "")
                middle = len(block) // 2
                if found[middle] >= 0 and block[middle].text:
                    [passage] = corpus.passages([int(found[middle])])
                    check_text(*block[middle], passage, corpus, partition, FITTING)
        ids = np.concatenate([np.empty(0, np.int64), *parts])
        if first_missing and not explains_missing(corpus, len(ids)):
            raise missing_error(first_missing, docids, corpus, len(ids), where, FITTING)
        np.save(folder / _IDS, ids)

    def load(self, folder: Path) -> npt.NDArray[np.int64]:
        table: npt.NDArray[np.int64] = np.load(folder / _IDS, mmap_mode="r")
        return table


class ExistingIndex:
    """The partitions of an existing index as one; scores are inner products or negative squared distances."""

    def __init__(self, folder: Path, probes: int | None) -> None:
        self.folder, self.partitions = folder, [_open(p, probes) for p in partition_folders(folder)]
        self.dimension = int(self.partitions[0].vectors.d)

    def search(self, queries: Vectors, k: int, passages: npt.NDArray[np.int64]) -> list[Ranking]:
        """A ranking of at most k passages for each row of `queries` float32[n, dimension]; `passages` int64[n_vectors].

        An index for distances with one dimension more than the queries ranks by inner products: the further dimension of each
        passage makes all lengths equal, and that of a query is 0 (as in Sphere's release). Raises `BadInputError` for any other
        dimension.
        """
        if queries.shape[1] + 1 == self.dimension and self.partitions[0].similarity == "euclidean":
            queries = np.hstack([queries, np.zeros((len(queries), 1), np.float32)])
        if queries.shape[1] != self.dimension:
            raise BadInputError(
                f"The index has vectors of dimension {self.dimension}, but the encoder returns {queries.shape[1]}.",
                where=self.folder,
                hint="Use the encoder that the index was made with.",
            )
        return [_best(rankings, k) for rankings in zip(*self._searched(queries, k, passages), strict=True)]

    def _searched(self, queries: Vectors, k: int, passages: npt.NDArray[np.int64]) -> Iterator[list[Ranking]]:
        start = 0
        for partition in self.partitions:
            own = np.asarray(passages[start : start + partition.count])
            start += partition.count
            depth = min(k, partition.count)
            while True:
                found = partition.search(queries, depth)
                rankings = [_in_corpus(ranking, own) for ranking in found]
                # Documents that the corpus dropped or merged take places of the k best.
                short = any(
                    len(np.unique(ours.ids)) < k and len(all_.ids) == depth
                    for ours, all_ in zip(rankings, found, strict=True)
                )
                if not short or depth == partition.count:
                    break
                depth = min(2 * depth + _SLACK, partition.count)
            yield rankings


def _in_corpus(ranking: Ranking, passages: Ids) -> Ranking:
    ids = passages[ranking.ids]
    return Ranking(ids[ids >= 0], ranking.scores[ids >= 0])


def _best(rankings: Sequence[Ranking], k: int) -> Ranking:
    """The k best passages; of the vectors of one passage, the best counts."""
    ids, scores = (np.concatenate(column) for column in zip(*rankings, strict=True))
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(ids[order], return_index=True)
    return top_k(ids[order][first], scores[order][first], k)


def _vectors(partition: Path) -> Any:
    """The FAISS index of a partition, memory-mapped if its type allows it."""
    path = partition / _INDEX
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except (RuntimeError, MemoryError, AttributeError) as error:
        reason = str(error).rpartition("Error: ")[2] or type(error).__name__
        raise BadInputError(f"The index cannot be opened: {reason}.", where=path, hint="Download it again.") from error


def _open(partition: Path, probes: int | None) -> DenseIndex:
    vectors, own_probes = _vectors(partition), _settings(partition).get("nprobe")
    similarity = "dot" if vectors.metric_type == faiss.METRIC_INNER_PRODUCT else "euclidean"
    chosen = probes or (int(own_probes) if isinstance(own_probes, int) and own_probes > 0 else None)
    return DenseIndex(vectors, similarity, exact=False, probes=chosen)  # type: ignore[arg-type]


@lru_cache(maxsize=4)
def open_existing(folder: str, version: str, probes: int | None) -> ExistingIndex:
    """Open an index, which stays open; `version` of its files is part of the key, so that a changed index is opened again."""
    del version
    return ExistingIndex(Path(folder).expanduser(), probes)
