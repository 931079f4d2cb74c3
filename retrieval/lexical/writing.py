"""Building an inverted index in bounded memory: sorted blocks are written to disk and merged term by term.

This is single-pass in-memory indexing (Manning, Raghavan and Schuetze, 2008, section 4.3). Only one block, or one stretch of
the merged postings, is in memory at a time; the vocabulary never is.
"""

import heapq
import json
import shutil
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby, repeat, takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.files.atomic import sync_folder
from berdseye.retrieval.lexical.arrays import Docs, Offsets, Values, mapped
from berdseye.retrieval.lexical.kernels import invert, scatter
from berdseye.retrieval.lexical.tokenizers import Tokenizer

_STRETCH = 32_000_000  # postings merged at a time
_TERMS = 4_096  # ends of a block's terms in memory at a time
_BLOCK_TOKENS = 16_000_000
_FILES = {"documents.lengths", "postings.docs", "postings.ends", "postings.values", "terms.bytes", "terms.ends"}


class PostingsWriter:
    """Writes blocks of postings, with documents ascending from block to block, as a folder for `Postings`.

    Blocks that an interrupted writer left in the folder come first.
    """

    def __init__(self, folder: Path, values: str = "uint16") -> None:
        self.folder, self.dtype = folder, np.dtype(values)
        self._blocks = [_Block(path, self.dtype) for path in _whole_blocks(folder)]
        self._documents = documents_in_blocks(folder)

    def add(self, terms: Sequence[bytes], ends: Offsets, docs: Docs, values: Values, lengths: Docs) -> None:
        """Add a block: sorted distinct `terms`, the `ends` of their postings, and the lengths of the block's documents.

        `docs` count from 0 in the block; a frequency above 65,535 is stored as 65,535.
        """
        path = _block_path(self.folder, len(self._blocks))
        folder = path.with_name(f"{path.name}.part")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write_terms(folder, terms)
        np.asarray(ends, dtype=np.int64).tofile(folder / "postings.ends")
        (docs + np.int32(self._documents)).astype(np.int32).tofile(folder / "postings.docs")
        if self.dtype.kind == "u":
            values = np.minimum(values, np.iinfo(self.dtype).max)
        values.astype(self.dtype).tofile(folder / "postings.values")
        lengths.astype(np.int32).tofile(folder / "documents.lengths")
        sync_folder(folder)
        folder.rename(path)
        self._documents += len(lengths)
        self._blocks.append(_Block(path, self.dtype))

    def finish(self) -> None:
        """Merge the blocks into the index."""
        if not self._blocks:
            self.add([], np.empty(0, np.int64), *(np.empty(0, np.int32) for _ in range(3)))
        if len(self._blocks) == 1:
            for path in list(self._blocks[0].folder.iterdir()):
                path.rename(self.folder / path.name)
        else:
            self._merge()
        for block in self._blocks:
            shutil.rmtree(block.folder)
        lengths = mapped(self.folder / "documents.lengths", np.int32)
        totals = {
            "documents": self._documents,
            "tokens": int(lengths.sum(dtype=np.int64)),
            "mean_idf": self._mean_idf(),
            "values": self.dtype.name,
        }
        (self.folder / "totals.json").write_text(json.dumps(totals), encoding="utf-8")

    def _mean_idf(self) -> float:
        df = np.diff(np.fromfile(self.folder / "postings.ends", dtype=np.int64), prepend=0)
        return float(np.log((self._documents - df + 0.5) / (df + 0.5)).mean()) if len(df) else 0.0

    def _merge(self) -> None:
        with (self.folder / "documents.lengths").open("wb") as all_lengths:
            for block in self._blocks:
                all_lengths.write((block.folder / "documents.lengths").read_bytes())
        ends = np.cumsum(self._merge_terms())
        ends.tofile(self.folder / "postings.ends")
        with (self.folder / "postings.docs").open("wb") as docs, (self.folder / "postings.values").open("wb") as values:
            for first, last in _stretches(ends):
                begin = int(ends[first - 1]) if first else 0
                all_docs = np.empty(int(ends[last - 1]) - begin, dtype=np.int32)
                all_values = np.empty(len(all_docs), dtype=self.dtype)
                cursors = (np.concatenate([[0], ends[first : last - 1] - begin])).astype(np.int64)
                for block in self._blocks:
                    terms, lengths, block_docs, block_values = block.postings(first, last)
                    scatter(terms - np.int32(first), lengths, block_docs, block_values, cursors, all_docs, all_values)
                all_docs.tofile(docs)
                all_values.tofile(values)

    def _merge_terms(self) -> Offsets:
        """Write the vocabulary of all blocks; returns the number of documents of each term."""
        numbers = [array("i") for _ in self._blocks]
        streams = [zip(block.terms(), repeat(at)) for at, block in enumerate(self._blocks)]
        number, end = 0, 0
        with (self.folder / "terms.bytes").open("wb") as texts, (self.folder / "terms.ends").open("wb") as ends:
            for term, group in groupby(heapq.merge(*streams), key=itemgetter(0)):
                texts.write(term)
                end += len(term)
                ends.write(end.to_bytes(8, "little"))
                for _, at in group:
                    numbers[at].append(number)
                number += 1
        frequencies = np.zeros(number, dtype=np.int64)
        for block, block_numbers in zip(self._blocks, numbers, strict=True):
            block.numbers = np.frombuffer(block_numbers, dtype=np.int32)
            frequencies[block.numbers] += np.diff(block.ends, prepend=0)
        return frequencies


class _Block:
    """A block on disk; `numbers` are the positions of its terms in the merged vocabulary, in ascending order."""

    def __init__(self, folder: Path, values: np.dtype[Any]) -> None:
        self.folder, self.values = folder, values
        self.numbers: Docs = np.empty(0, dtype=np.int32)

    @property
    def ends(self) -> Offsets:
        ends: Offsets = mapped(self.folder / "postings.ends", np.int64)
        return ends

    def terms(self) -> Iterator[bytes]:
        ends, begin = mapped(self.folder / "terms.ends", np.int64), 0
        with (self.folder / "terms.bytes").open("rb") as file:
            for start in range(0, len(ends), _TERMS):
                for end in ends[start : start + _TERMS].tolist():
                    yield file.read(end - begin)
                    begin = end

    def postings(self, first: int, last: int) -> tuple[Docs, Docs, Docs, Values]:
        """The numbers, posting counts and postings in this block of the merged terms from `first` to before `last`."""
        low, high = np.searchsorted(self.numbers, [first, last])
        ends = self.ends
        begin = int(ends[low - 1]) if low else 0
        count = (int(ends[high - 1]) if high else 0) - begin
        lengths = np.diff(ends[low:high], prepend=begin).astype(np.int32)
        docs = np.fromfile(self.folder / "postings.docs", dtype=np.int32, count=count, offset=4 * begin)
        size = self.values.itemsize
        values = np.fromfile(self.folder / "postings.values", dtype=self.values, count=count, offset=size * begin)
        return self.numbers[low:high], lengths, docs, values


def documents_in_blocks(folder: Path) -> int:
    """The number of documents in the blocks that an interrupted writer left in a folder, counted from the first."""
    return sum((path / "documents.lengths").stat().st_size // 4 for path in _whole_blocks(folder))


def _whole_blocks(folder: Path) -> list[Path]:
    paths = takewhile(Path.exists, (_block_path(folder, n) for n in count()))
    return list(takewhile(lambda path: {p.name for p in path.iterdir()} == _FILES, paths))


def _block_path(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05d}"


def _stretches(ends: Offsets) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms whose postings fit into memory, with at least one term each."""
    first = 0
    while first < len(ends):
        begin = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, begin + _STRETCH, side="right")))
        yield first, last
        first = last


def _write_terms(folder: Path, terms: Sequence[bytes]) -> None:
    (folder / "terms.bytes").write_bytes(b"".join(terms))
    np.cumsum([len(t) for t in terms], dtype=np.int64).tofile(folder / "terms.ends")


def build_postings(batches: Iterable[Sequence[str]], tokenizer: Tokenizer, folder: Path) -> None:
    """Index texts, numbered from 0 in order, into `folder`; memory use is limited to one block of tokens.

    If an interrupted build has left blocks there, the texts follow those of the blocks (`documents_in_blocks`).
    """
    writer = PostingsWriter(folder)
    block = _TextBlock(tokenizer)
    for batch in batches:
        block.take(batch)
        if block.tokens >= _BLOCK_TOKENS:
            block.write(writer)
            block = _TextBlock(tokenizer)
    if block.lengths:
        block.write(writer)
    writer.finish()


class _TextBlock(dict[str, int]):
    """The tokens of a block with the numbers of their terms, -1 for a token without a term."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.terms: dict[str, int] = {}
        self.lengths: list[Docs] = []
        self.numbers: list[Docs] = []
        self.tokens = 0

    def __missing__(self, token: str) -> int:
        term = self.tokenizer.term(token)
        number = -1 if term is None else self.terms.setdefault(term, len(self.terms))
        self[token] = number
        return number

    def take(self, texts: Sequence[str]) -> None:
        tokens = self.tokenizer.tokens(texts)
        ends = tokens.offsets.to_numpy()[1:]
        distinct = tokens.values.dictionary_encode()
        numbers = np.array([self[token] for token in distinct.dictionary.to_pylist()], dtype=np.int32)
        flat = numbers[distinct.indices.to_numpy()] if len(distinct) else np.empty(0, dtype=np.int32)
        kept = np.concatenate([[0], np.cumsum(flat >= 0)])
        self.lengths.append(np.diff(kept[ends], prepend=0).astype(np.int32))
        self.numbers.append(flat[flat >= 0])
        self.tokens += len(self.numbers[-1])

    def write(self, writer: PostingsWriter) -> None:
        terms = [term.encode("utf-8", "surrogatepass") for term in self.terms]
        order = sorted(range(len(terms)), key=terms.__getitem__)
        rank = np.empty(len(terms), dtype=np.int32)
        rank[order] = np.arange(len(terms), dtype=np.int32)
        lengths = np.concatenate(self.lengths)
        tokens = rank[np.concatenate(self.numbers)] if terms else np.empty(0, dtype=np.int32)
        offsets, docs, frequencies = invert(tokens, np.cumsum(lengths, dtype=np.int64), len(terms))
        writer.add([terms[i] for i in order], offsets[1:], docs, frequencies, lengths)
