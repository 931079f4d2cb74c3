"""Texts to postings."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from berdseye.retrieval.lexical.arrays import Docs
from berdseye.retrieval.lexical.kernels import invert
from berdseye.retrieval.lexical.postings_writer import PostingsWriter
from berdseye.retrieval.lexical.tokenizers import Tokenizer

_BLOCK_TOKENS = 16_000_000


def build_postings(batches: Iterable[Sequence[str]], tokenizer: Tokenizer, folder: Path) -> None:
    """Index texts, numbered from 0 in their order, into `folder`; memory is bounded by one block of tokens."""
    writer = PostingsWriter(folder)
    block = _Block(tokenizer)
    for batch in batches:
        block.take(batch)
        if block.tokens >= _BLOCK_TOKENS:
            block.write(writer)
            block = _Block(tokenizer)
    if block.lengths:
        block.write(writer)
    writer.finish()


class _Block(dict[str, int]):
    """Tokens seen in this block, with the number of their term; -1 where a token has none."""

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
