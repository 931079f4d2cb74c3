"""Our layer and the engines beneath and beside it, each in a process of its own over the same synthetic passages.

Build seconds, peak memory, size on disk and milliseconds a query; ratios to bm25s for words, to raw FAISS for vectors.
BERDSEYE_BENCH_PASSAGES sets how many passages (100,000 unless told; rank-bm25 gets a tenth of them).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PASSAGES = int(os.environ.get("BERDSEYE_BENCH_PASSAGES", "100000"))
ROOT = Path(__file__).parents[2]

COMMON = r"""
import json, re, sys, tempfile, time
from pathlib import Path
import numpy as np
from tests.data.synthetic_passages import synthetic_passages, synthetic_queries
N = int(sys.argv[1])
def texts():
    for table in synthetic_passages(N):
        yield [f"{a} {b}" for a, b in zip(table["title"].to_pylist(), table["text"].to_pylist())]
texts_held = list(texts())
queries = synthetic_queries(200)
folder = Path(tempfile.mkdtemp())
def peak_mb():  # of this process alone, which getrusage does not say after a fork
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024
before = peak_mb()
"""

REPORT = """
built = time.perf_counter() - started
size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
search(queries[0])
times = []
for q in queries:
    t = time.perf_counter(); search(q); times.append(time.perf_counter() - t)
print(json.dumps({"build_s": round(built, 2), "peak_mb_more": peak_mb() - before, "disk_mb": size // 2**20,
                  "query_ms": round(1000 * float(np.median(times)), 3)}))
"""

OURS = """
from berdseye.data.records import Passage
from berdseye.retrieval.lexical.kernels import invert  # compiled before the clock starts, as it is once on a machine
from berdseye.retrieval.lexical.ranker import PRESETS, LexicalIndexer, bm25
from berdseye.retrieval.protocol import Query
warm = Path(tempfile.mkdtemp()); LexicalIndexer().build([[Passage(0, "", "", "warm up")]], warm)
started = time.perf_counter()
indexer = LexicalIndexer()
indexer.build(([Passage(0, "", "", t) for t in b] for b in texts_held), folder)
index = indexer.load(folder)
scoring = bm25(*PRESETS[""]).scoring
search = lambda q: index.search([q], 100, scoring)
"""

BM25S = """
import bm25s, Stemmer
stemmer = Stemmer.Stemmer("english")
started = time.perf_counter()
tokens = bm25s.tokenize([t for b in texts_held for t in b], stopwords="en", stemmer=stemmer, show_progress=False)
engine = bm25s.BM25(k1=0.9, b=0.4)
engine.index(tokens, show_progress=False)
engine.save(folder, show_progress=False)
search = lambda q: engine.retrieve(bm25s.tokenize([q], stopwords="en", stemmer=stemmer, show_progress=False), k=100,
                                   show_progress=False)
"""

TANTIVY = """
import tantivy
builder = tantivy.SchemaBuilder()
builder.add_text_field("text", stored=False, tokenizer_name="en_stem")
builder.add_integer_field("id", stored=True)
started = time.perf_counter()
index = tantivy.Index(builder.build(), path=str(folder))
writer = index.writer(200_000_000, num_threads=2)
n = 0
for batch in texts_held:
    for text in batch:
        writer.add_document(tantivy.Document(text=text, id=n)); n += 1
writer.commit(); writer.wait_merging_threads(); index.reload()
searcher = index.searcher()
plain = lambda q: re.sub(r"[^\\w ]", " ", q)
search = lambda q: searcher.search(index.parse_query(plain(q), ["text"]), 100)
"""

RANK_BM25 = """
from rank_bm25 import BM25Okapi
started = time.perf_counter()
engine = BM25Okapi([t.lower().split() for b in texts_held for t in b])
search = lambda q: np.argsort(engine.get_scores(q.lower().split()))[::-1][:100]
"""

OUR_VECTORS = """
from berdseye.data.records import Passage
from berdseye.retrieval.dense.ranker import DenseIndexer
indexer = DenseIndexer("static"); indexer.open()
started = time.perf_counter()
indexer.build(([Passage(0, "", "", t) for t in b] for b in texts_held), folder)
index = indexer.load(folder)
search = lambda q: index.search(indexer.encode_queries([q]), 100)
"""

RAW_FAISS = """
import faiss
from berdseye.data.models.static_embedding import static_embedding
encoder = static_embedding()
started = time.perf_counter()
vectors = faiss.IndexFlatIP(256)
for b in texts_held:
    vectors.add(encoder.encode(b))
faiss.write_index(vectors, str(folder / "x.faiss"))
search = lambda q: vectors.search(encoder.encode([q]), 100)
"""


def measured(engine: str, count: int = PASSAGES) -> dict[str, float]:
    """The figures of one engine, from a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", COMMON + engine + REPORT, str(count)],
        capture_output=True,
        text=True,
        timeout=1700,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def told(title: str, found: dict[str, dict[str, float]], base: str) -> None:
    """Print the figures, and ours over those of `base`."""
    print(f"\n{title}, {PASSAGES:,} passages")
    for name, figures in found.items():
        print(f"{name:10}", figures)
    ratios = {key: round(value / found[base][key], 2) for key, value in found["ours"].items() if found[base][key]}
    print(f"ours / {base}:", ratios)


@pytest.mark.benchmark
@pytest.mark.timeout(3600)
def test_engines_of_words() -> None:
    """Prints the figures; asserts only that each engine did its work."""
    found = {name: measured(code) for name, code in (("ours", OURS), ("bm25s", BM25S), ("tantivy", TANTIVY))}
    told("BM25", found, "bm25s")
    print("rank-bm25 ", measured(RANK_BM25, PASSAGES // 10), f"over {PASSAGES // 10:,}")
    assert all(figures["disk_mb"] > 0 for figures in found.values())


@pytest.mark.benchmark
@pytest.mark.timeout(3600)
def test_engines_of_vectors() -> None:
    """Prints the figures; asserts only that each engine did its work."""
    found = {name: measured(code) for name, code in (("ours", OUR_VECTORS), ("faiss", RAW_FAISS))}
    told("static vectors, exact", found, "faiss")
    assert all(figures["disk_mb"] > 0 for figures in found.values())
