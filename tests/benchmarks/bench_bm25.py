"""BM25 engines side by side, each in a process of its own: build seconds, peak memory, size on disk, milliseconds a query.

Texts are synthetic, 100 words each, drawn from a Zipf law over 200,000 words.
"""

import json
import subprocess
import sys

import pytest

PASSAGES = 100_000

COMMON = r"""
import json, re, sys, tempfile, time
from pathlib import Path
import numpy as np
N = int(sys.argv[1])
rng = np.random.default_rng(0)
words = np.array([f"w{i:x}q" for i in range(200_000)])
def texts(count):
    for _ in range(count // 1000):
        ranks = np.minimum(rng.zipf(1.15, size=(1000, 100)), 200_000) - 1
        yield [" ".join(words[row]) for row in ranks]
queries = [q for batch in texts(1000) for q in (" ".join(t.split()[:12]) for t in batch)][:200]
folder = Path(tempfile.mkdtemp())
def peak_mb():  # of this process alone, which getrusage does not say after a fork
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024
started = time.perf_counter()
"""

REPORT = """
built = time.perf_counter() - started
size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
times = []
for q in queries:
    t = time.perf_counter(); search(q); times.append(time.perf_counter() - t)
print(json.dumps({"build_s": round(built, 1), "peak_mb": peak_mb(), "disk_mb": size // 2**20,
                  "query_ms": round(1000 * float(np.median(times)), 2)}))
"""

OURS = """
from retrieval.bm25 import BM25
index = BM25().build(texts(N))
index.save(folder)
search = lambda q: index.search([q], 100)
"""

RAW_BM25S = """
import bm25s, Stemmer
stemmer = Stemmer.Stemmer("english")
tokens = bm25s.tokenize([t for b in texts(N) for t in b], stopwords="en", stemmer=stemmer, show_progress=False)
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
index = tantivy.Index(builder.build(), path=str(folder))
writer = index.writer(200_000_000, num_threads=2)
n = 0
for batch in texts(N):
    for text in batch:
        writer.add_document(tantivy.Document(text=text, id=n)); n += 1
writer.commit(); writer.wait_merging_threads(); index.reload()
searcher = index.searcher()
search = lambda q: searcher.search(index.parse_query(q, ["text"]), 100)
"""


def measured(engine: str) -> dict[str, float]:
    """The figures of one engine, from a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", COMMON + engine + REPORT, str(PASSAGES)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


@pytest.mark.benchmark
@pytest.mark.timeout(900)
def test_bm25_engines() -> None:
    """Prints the figures; asserts only that each engine did its work."""
    found = {name: measured(code) for name, code in (("ours", OURS), ("bm25s", RAW_BM25S), ("tantivy", TANTIVY))}
    print(f"\nBM25 over {PASSAGES:,} passages of 100 words")
    for name, figures in found.items():
        print(f"{name:8}", figures)
    print("ours / bm25s:", {k: round(v / found["bm25s"][k], 2) for k, v in found["ours"].items() if found["bm25s"][k]})
    assert all(figures["disk_mb"] > 0 for figures in found.values())
