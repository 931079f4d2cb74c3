"""FAISS layouts side by side on the same vectors: size, memory, time to build, open and search, and recall against exact search.

    BERDSEYE_BENCH_VECTORS=1000000 python -m pytest -m benchmark -s tests/benchmarks/bench_layouts.py

The passages are made up (`tests/data/synthetic_passages.py`) and encoded once by the static embedding. Their vectors hardly form
clusters, which is harder than text. `BERDSEYE_BENCH_TEXTS` names a Parquet file with texts in its column `passage` and queries in
`perspective`, which are used instead; with BERDSEYE_BENCH_MIXED=1, so many vectors are mixed from its texts by `group`
(`tests/data/mixed_vectors.py`). Each build and each search runs in a process of its own, with one thread. With
BERDSEYE_BENCH_WORKSPACE, a folder, vectors, indexes and exact rankings are kept there, and a later run goes on.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from berdseye.data.records import Passage
from berdseye.retrieval.dense.layouts import LAYOUTS
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.protocol import Vectors
from tests.data.mixed_vectors import Sentences
from tests.data.synthetic_passages import synthetic_passages, synthetic_queries

COUNT = int(os.environ.get("BERDSEYE_BENCH_VECTORS", "100000"))
TEXTS = os.environ.get("BERDSEYE_BENCH_TEXTS")
NAMES = os.environ.get("BERDSEYE_BENCH_LAYOUTS", ";".join(LAYOUTS)).split(";")
MIXED = os.environ.get("BERDSEYE_BENCH_MIXED") == "1"
QUERIES, K, BATCH, EXACT_BLOCK = 200, 100, 2_000, 100_000
PROBES = [int(n) for n in os.environ.get("BERDSEYE_BENCH_PROBES", "0").split(",")]
"""Numbers of lists to visit; 0 is that of the layout."""

COMMON = r"""
import json, re, sys, time
from pathlib import Path
import faiss
import numpy as np
from berdseye.retrieval.dense.building import build_vectors
from berdseye.retrieval.dense.index import load, save
from berdseye.retrieval.dense.layouts import LAYOUTS
faiss.omp_set_num_threads(1)
folder, layout = Path(sys.argv[1]), LAYOUTS[sys.argv[2]]
place = folder / layout.name
def memory(field):
    return int(re.search(field + r":\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024
"""

BUILD = """
vectors = np.memmap(folder / "vectors.f16", np.float16, "r", shape=tuple(json.loads((folder / "shape.json").read_text())))
place.mkdir(exist_ok=True)
started, worked = time.perf_counter(), time.process_time()
blocks = (np.asarray(vectors[n : n + 65536], np.float32) for n in range(0, len(vectors), 65536))
save(build_vectors(blocks, vectors.shape[1], faiss.METRIC_INNER_PRODUCT, layout, place / "scratch"), place)
print(json.dumps({"build_s": round(time.perf_counter() - started, 1),
                  "build_processor_s": round(time.process_time() - worked, 1), "build_peak_mb": memory("VmHWM"),
                  "disk_mb": (place / "vectors.faiss").stat().st_size >> 20}))
"""

SEARCH = """
queries = np.load(folder / "queries.npy")
started = time.perf_counter()
index = load(place, "dot", exact=layout.exact, probes=int(sys.argv[3]) or layout.probes)
opened = time.perf_counter() - started
index.search(queries[:3], 100)
times, ids = [], []
for query in queries:
    started = time.perf_counter()
    ids.append(index.search(query[None], 100)[0].ids.tolist())
    times.append(1000 * (time.perf_counter() - started))
own = memory("RssAnon")
started = time.perf_counter()
index.search(queries, 100)
print(json.dumps({"open_ms": round(1000 * opened), "median_ms": round(float(np.median(times)), 2),
                  "p95_ms": round(float(np.percentile(times, 95)), 2),
                  "batch_ms_a_query": round(1000 * (time.perf_counter() - started) / len(queries), 2),
                  "own_mb": own, "mapped_mb": memory("RssFile"), "ids": ids}))
"""


def child(code: str, *arguments: str) -> dict[str, object]:
    """What a fresh process prints last."""
    done = subprocess.run([sys.executable, "-c", COMMON + code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def passages() -> Iterator[list[str]]:
    """The texts, in batches."""
    if TEXTS:
        rows = duckdb.sql(f"SELECT DISTINCT passage FROM '{TEXTS}' ORDER BY passage").fetchall()
        yield [text for (text,) in rows]
    else:
        for table in synthetic_passages(COUNT):
            yield table["text"].to_pylist()


def questions() -> list[str]:
    """The queries."""
    if not TEXTS:
        return synthetic_queries(QUERIES)
    rows = duckdb.sql(
        f"SELECT DISTINCT perspective FROM '{TEXTS}' ORDER BY hash(perspective) LIMIT {QUERIES}"
    ).fetchall()
    return [text for (text,) in rows]


def vectors() -> Iterator[Vectors]:
    """The vectors of the passages, float32[n, d] each."""
    if TEXTS and MIXED:
        yield from Sentences(Path(TEXTS)).mixed(COUNT)
        return
    encoder = open_encoder("static")
    for texts in passages():
        for start in range(0, len(texts), BATCH):
            records = [Passage(n, str(n), "", text) for n, text in enumerate(texts[start : start + BATCH])]
            yield encoder.encode_passages(records)


def encode(folder: Path) -> None:
    """Write the vectors of passages float16[n, d] and of queries float32[n, d]."""
    scratch = folder / "vectors.f16"
    count = dimension = 0
    with scratch.open("wb") as file:
        for block in vectors():
            block.astype(np.float16).tofile(file)
            count, dimension = count + len(block), block.shape[1]
    (folder / "shape.json").write_text(json.dumps([count, dimension]))
    np.save(folder / "queries.npy", open_encoder("static").encode_queries(questions()))


def exact_ids(folder: Path) -> list[list[int]]:
    """The ids of the best K for each query among the vectors in half precision, found block by block."""
    found = folder / "exact.npy"
    if not found.exists():
        stored, queries = stored_vectors(folder), np.load(folder / "queries.npy")
        scores, ids = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        for start in range(0, len(stored), EXACT_BLOCK):
            here = queries @ stored[start : start + EXACT_BLOCK].astype(np.float32).T
            best = np.argpartition(-here, min(K, here.shape[1]) - 1, axis=1)[:, :K]
            scores = np.hstack([scores, np.take_along_axis(here, best, 1)])
            ids = np.hstack([ids, best + start])
            kept = np.argsort(-scores, axis=1, kind="stable")[:, :K]
            scores, ids = np.take_along_axis(scores, kept, 1), np.take_along_axis(ids, kept, 1)
        np.save(found, ids)
    ids_of: list[list[int]] = np.load(found).tolist()
    return ids_of


def stored_vectors(folder: Path) -> Any:
    count, dimension = json.loads((folder / "shape.json").read_text())
    return np.memmap(folder / "vectors.f16", np.float16, "r", shape=(count, dimension))


@pytest.mark.benchmark
@pytest.mark.timeout(36_000)
def test_layouts(tmp_path: Path) -> None:
    """Prints a row for each layout; asserts only that each finds something."""
    folder = Path(os.environ.get("BERDSEYE_BENCH_WORKSPACE", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "queries.npy").exists():
        encode(folder)
    exact = exact_ids(folder)
    for name, probes in product(NAMES, PROBES):
        row: dict[str, object] = {"layout": name, "vectors": len(stored_vectors(folder))}
        if not (folder / name / "vectors.faiss").exists():
            row |= child(BUILD, str(folder), name)
        row |= ({"probes": probes} if probes else {}) | child(SEARCH, str(folder), name, str(probes))
        ids: list[list[int]] = row.pop("ids")  # type: ignore[assignment]
        assert all(ids)
        row["recall@100"] = round(float(np.mean([len({*a} & {*b}) / K for a, b in zip(ids, exact, strict=True)])), 3)
        print("\n" + json.dumps(row), flush=True)
