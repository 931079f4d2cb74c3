"""How indexes grow: build rate, memory, disk, time to open and to search, at several sizes of synthetic corpora.

    BERDSEYE_BENCH_SIZES="1000000,5000000" BERDSEYE_BENCH_PIPELINES="bm25;dense(static,index=ivf)" make bench-scale

Each build and each search runs in a process of its own. Approximate layouts are compared with exact search (recall@100) up to a
million passages. The rows are printed as a table and, with BERDSEYE_BENCH_OUT, written as JSON.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from berdseye.data.workspace import Workspace
from tests.data.synthetic_passages import synthetic_queries, write_synthetic_corpus

SIZES = [int(n) for n in os.environ.get("BERDSEYE_BENCH_SIZES", "100000,300000").split(",")]
PIPELINES = os.environ.get(
    "BERDSEYE_BENCH_PIPELINES",
    "bm25;dense(static);dense(static,index=sq8);dense(static,index=ivf);dense(static,index=ivfpq);dense(static,index=hnsw)",
).split(";")
EXACT = "dense(static)"
LARGEST_COMPARED = 1_000_000

COMMON = r"""
import json, re, sys, time
from pathlib import Path
from berdseye.data.corpora import open_corpus
from berdseye.data.workspace import Workspace
from berdseye.retrieval.indexes import ensure_index, index_folder
from berdseye.retrieval.passage_collections import Stored
from berdseye.retrieval.protocol import Query
from berdseye.retrieval.pipeline_registry import parse_pipeline
corpus = open_corpus(Workspace.open(Path(sys.argv[1])), sys.argv[2])
ranker = parse_pipeline(sys.argv[3]).ranker
def peak_mb():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024
[indexer] = ranker.indexers
indexer.engine  # loads an encoder
"""

BUILD = """
import numba
started = time.perf_counter()
ensure_index(corpus, indexer)
seconds = time.perf_counter() - started
folder = index_folder(corpus, indexer)
print(json.dumps({"passages": corpus.manifest.count, "build_s": round(seconds, 1),
                  "passages_a_s": round(corpus.manifest.count / seconds), "build_peak_mb": peak_mb(),
                  "disk_mb": sum(f.stat().st_size for f in folder.iterdir()) >> 20}))
"""

SEARCH = """
import numpy as np
started = time.perf_counter()
ensure_index(corpus, indexer)
opened = time.perf_counter() - started
passages = Stored(corpus)
queries = json.loads(Path(sys.argv[4]).read_text())
ranker.rank(passages, [Query(q) for q in queries[:3]], 100)
times, ids = [], []
for q in queries:
    started = time.perf_counter()
    ids.append(ranker.rank(passages, [Query(q)], 100)[0].ids.tolist())
    times.append(1000 * (time.perf_counter() - started))
print(json.dumps({"open_s": round(opened, 3), "median_ms": round(float(np.median(times)), 2),
                  "p95_ms": round(float(np.percentile(times, 95)), 2), "search_peak_mb": peak_mb(), "ids": ids}))
"""


def child(code: str, *arguments: str) -> dict[str, object]:
    """What a fresh process prints last."""
    done = subprocess.run([sys.executable, "-c", COMMON + code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.benchmark
@pytest.mark.timeout(36_000)
def test_growth(tmp_path: Path) -> None:
    """Prints the rows; asserts only that every index gave rankings."""
    folder = Path(os.environ.get("BERDSEYE_BENCH_WORKSPACE", tmp_path / "workspace"))
    workspace = Workspace.create(folder)
    queries = folder / "queries.json"
    queries.write_text(json.dumps(synthetic_queries(200)))
    rows = []
    for size in SIZES:
        name = f"synthetic-{size}"
        if name not in workspace.corpora():
            write_synthetic_corpus(workspace, name, size)
        exact: list[list[int]] = []
        for pipeline in PIPELINES:
            row = {"pipeline": pipeline, **child(BUILD, str(folder), name, pipeline)}
            row |= child(SEARCH, str(folder), name, pipeline, str(queries))
            ids: list[list[int]] = row.pop("ids")  # type: ignore[assignment]
            assert all(ids)
            exact = ids if pipeline == EXACT and size <= LARGEST_COMPARED else exact
            if exact and pipeline != EXACT and pipeline.startswith("dense"):
                shares = [len(set(a) & set(b)) / len(b) for a, b in zip(ids, exact, strict=True)]
                row["recall@100"] = round(float(np.mean(shares)), 3)
            rows.append(row)
            print("\n" + json.dumps(row), flush=True)
    if out := os.environ.get("BERDSEYE_BENCH_OUT"):
        Path(out).write_text(json.dumps(rows, indent=1))
