"""Pruned search beside scoring all postings, tantivy, PISA and bm25s: processor milliseconds a query over the same passages.

    BERDSEYE_BENCH_SIZES="100000,1000000" BERDSEYE_BENCH_BM25S=100000 \
    python -m pytest -m benchmark -s tests/benchmarks/bench_pruning.py

Each query is asked of every engine once, in random order, in one process. Passages are made up.
Queries have no stop words, which tantivy and PISA would search and the others would not. PISA is measured where it is installed
(`in_pisa` says how). BERDSEYE_BENCH_BM25S is the largest size at which bm25s is measured: it keeps all texts and its index in
memory.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import bm25s
import numpy as np
import pytest
import Stemmer
import tantivy

from berdseye.data.records import Ranking
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.lexical.writing import build_postings
from tests.benchmarks.in_pisa import in_pisa
from tests.data.synthetic_passages import synthetic_passages, synthetic_queries

SIZES = [int(n) for n in os.environ.get("BERDSEYE_BENCH_SIZES", "100000").split(",")]
LARGEST_BM25S = int(os.environ.get("BERDSEYE_BENCH_BM25S", "100000"))
WORDS = (2, 4, 6, 8, 12, 20, 30)
EACH, WARMING, OPENED = 80, 20, 15
ENGLISH = TOKENIZERS["english"]
Search = Callable[[str, int], object]


def texts(count: int) -> Iterator[list[str]]:
    for table in synthetic_passages(count):
        yield [f"{a} {b}" for a, b in zip(table["title"].to_pylist(), table["text"].to_pylist(), strict=True)]


def queries(length: int) -> list[str]:
    """Queries of so many words: the words of made questions, in their order."""
    words = re.findall(r"\w+", " ".join(synthetic_queries(length * (EACH + WARMING))).lower())
    kept = [word for word in words if ENGLISH.term(word) is not None]
    return [" ".join(kept[n * length : (n + 1) * length]) for n in range(EACH + WARMING)]


def ours(folder: Path, *, pruned: bool) -> LexicalIndex:
    index = LexicalIndex(folder, ENGLISH)
    if not pruned:
        index._pruning = None
    return index


def in_tantivy(folder: Path, count: int) -> Search:
    folder.mkdir()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name="en_stem")
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(200_000_000, num_threads=2)
    for batch in texts(count):
        for text in batch:
            writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return lambda query, k: searcher.search(index.parse_query(query, ["text"]), k)


def in_bm25s(count: int) -> Search:
    stemmer = Stemmer.Stemmer("english")

    def tokens(some: list[str]) -> bm25s.tokenization.Tokenized:
        return bm25s.tokenize(some, stopwords="en", stemmer=stemmer, show_progress=False)

    engine = bm25s.BM25(k1=0.9, b=0.4)
    engine.index(tokens([text for batch in texts(count) for text in batch]), show_progress=False)
    return lambda query, k: engine.retrieve(tokens([query]), k=k, show_progress=False)


def milliseconds(search: Callable[[], object]) -> float:
    """Processor time of all threads of this process, which does not count the turns of other processes."""
    began = time.process_time()
    search()
    return 1000 * (time.process_time() - began)


def same(one: list[Ranking], other: list[Ranking]) -> bool:
    return all(
        np.array_equal(a.ids, b.ids) and np.array_equal(a.scores, b.scores) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.benchmark
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("size", SIZES)
def test_pruned_search(size: int, tmp_path: Path) -> None:
    """Prints the medians and their ratios; asserts that pruning changes no ranking."""
    folder, scoring, rng = tmp_path / "ours", BM25(), np.random.default_rng(0)
    folder.mkdir()
    build_postings(texts(size), ENGLISH, folder)
    pruned, plain = ours(folder, pruned=True), ours(folder, pruned=False)
    engines: dict[str, Search] = {
        "pruned": lambda query, k: pruned.search([query], k, scoring),
        "all": lambda query, k: plain.search([query], k, scoring),
        "tantivy": in_tantivy(tmp_path / "tantivy", size),
    }
    engines |= in_pisa(tmp_path / "pisa", texts(size))
    if size <= LARGEST_BM25S:
        engines["bm25s"] = in_bm25s(size)
    others = [name for name in engines if name != "pruned"]
    print(f"\n{size:,} passages; ratios are pruned / other, of the medians")
    print("| k | words |", *(f"{name}, ms |" for name in engines), *(f"/ {name} |" for name in others))
    for k, length in product((10, 100), WORDS):
        asked = queries(length)
        assert same(pruned.search(asked[:WARMING], k, scoring), plain.search(asked[:WARMING], k, scoring))
        taken: dict[str, list[float]] = {name: [] for name in engines}
        for query in asked:
            for name in rng.permutation(list(engines)).tolist():
                taken[name].append(milliseconds(partial(engines[name], query, k)))
        medians = {name: float(np.median(times[WARMING:])) for name, times in taken.items()}
        print(f"| {k} | {length} |", *(f"{medians[name]:.2f} |" for name in engines), end=" ")
        print(*(f"{medians['pruned'] / medians[name]:.2f} |" for name in others), flush=True)
    for length in (6, 12):
        first: dict[bool, list[float]] = {True: [], False: []}
        for query, kind in product(queries(length)[:OPENED], first):
            first[kind].append(milliseconds(partial(once, folder, query, kind)))
        times = {("pruned" if kind else "all"): round(float(np.median(found)), 2) for kind, found in first.items()}
        print(f"opened for one query of {length} words, k=100, ms:", times)


def once(folder: Path, query: str, pruned: bool) -> None:
    """Open the index for one query."""
    ours(folder, pruned=pruned).search([query], 100, BM25())
