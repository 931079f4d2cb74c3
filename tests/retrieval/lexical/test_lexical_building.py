"""Inverted indexes are the same however little memory they are built in."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.postings import Postings
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.lexical.writing import build_postings
from tests.retrieval.lexical.made_indexes import index_of

ODD = ("a", "b", "ab", "", "é", "\ud800", "\udfff", "\U0001f600", "\n", "x\ny", "\x00", "zz", "\uffff")
"""Lone surrogates are kept as question marks, and so are both one word."""
TEXTS = st.lists(st.lists(st.sampled_from(ODD), max_size=8).map(" ".join), max_size=14)
SIZES = st.sampled_from([1, 2, 5, 1_000_000])


def built(folder: Path, texts: list[str], *, batch: int, block: int, stretch: int, tokenizer: str) -> dict[str, bytes]:
    """The files of an index whose blocks and merged stretches have these sizes."""
    folder.mkdir()
    with (
        patch("berdseye.retrieval.lexical.writing._BLOCK_TOKENS", block),
        patch("berdseye.retrieval.lexical.writing._STRETCH", stretch),
        patch("berdseye.retrieval.lexical.writing._TERMS", stretch),
        patch("os.fsync"),
    ):
        batches = [texts[start : start + batch] for start in range(0, len(texts), batch)]
        build_postings(batches, TOKENIZERS[tokenizer], folder)
    assert [p for p in folder.iterdir() if not p.is_file()] == []
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@settings(max_examples=40, deadline=None)
@given(TEXTS, SIZES, SIZES, st.integers(1, 4), st.sampled_from(["spaces", "words", "english"]))
def test_the_size_of_blocks_changes_no_byte(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int, stretch: int, batch: int, tokenizer: str
) -> None:
    folder = tmp_path_factory.mktemp("index")
    whole = built(folder / "whole", texts, batch=100, block=1_000_000, stretch=1_000_000, tokenizer=tokenizer)
    assert built(folder / "pieces", texts, batch=batch, block=block, stretch=stretch, tokenizer=tokenizer) == whole


@settings(max_examples=40, deadline=None)
@given(TEXTS, SIZES, SIZES)
def test_postings_are_the_counts_of_terms(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int, stretch: int
) -> None:
    folder = tmp_path_factory.mktemp("index") / "made"
    built(folder, texts, batch=2, block=block, stretch=stretch, tokenizer="spaces")
    documents = [t.replace("\ud800", "?").replace("\udfff", "?").split(" ") for t in texts]
    postings = Postings(folder)
    assert (postings.documents, postings.tokens) == (len(texts), sum(map(len, documents)))
    assert postings.lengths.tolist() == [len(d) for d in documents]
    for word in (*ODD, "?"):
        held = [(n, d.count(word)) for n, d in enumerate(documents) if word in d]
        number = postings.find(word)
        assert (number is None) == (not held)
        if number is not None:
            docs, values = postings.of(number)
            assert list(zip(docs.tolist(), values.tolist(), strict=True)) == held
    assert postings.find("nowhere") is None


def test_hundreds_of_blocks_are_merged(tmp_path: Path) -> None:
    texts = [f"common w{n % 7} only{n}" for n in range(200)]
    pieces = built(tmp_path / "pieces", texts, batch=1, block=1, stretch=200, tokenizer="words")
    assert pieces == built(tmp_path / "whole", texts, batch=500, block=10**6, stretch=10**6, tokenizer="words")
    postings = Postings(tmp_path / "pieces")
    assert postings.of(postings.find("common") or 0)[0].tolist() == list(range(200))


def test_a_frequency_beyond_what_is_stored_counts_as_the_largest(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["a " * 70_000 + "b", "a " * 65_535 + "b", "a"])
    docs, values = index.postings.of(index.postings.find("a") or 0)
    assert (docs.tolist(), values.tolist()) == ([0, 1, 2], [65_535, 65_535, 1])
    assert index.postings.lengths.tolist() == [70_001, 65_536, 1]
    (found,) = index.search(["a"], 3, BM25(b=0.0))
    assert found.scores[0] == found.scores[1] > found.scores[2]


def test_an_index_is_opened_without_being_read(tmp_path: Path) -> None:
    postings = index_of(tmp_path, ["a b", "b c"]).postings
    for array in (postings.docs, postings.values, postings.lengths, postings.ends):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable
