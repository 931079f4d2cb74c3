"""A cluster that Berdseye starts itself, on this machine alone, and the command line."""

import json
import subprocess
import sys

import pytest
from one_index import QUERIES
from tied_corpus import write_tied_corpus

from berdseye.data.workspace import Workspace
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import parse_pipeline

# Builds by the command line and searches; prints what was found, and who listens where beyond this machine.
SESSION = """
import json, os, sys
from contextlib import suppress
from pathlib import Path
import psutil
from typer.testing import CliRunner
from berdseye.app.cli import cli
from berdseye.data.corpora import Corpus
from berdseye.retrieval.cluster.searching import sharded
from berdseye.retrieval.cluster.connection import connect
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.pipeline import search_passages

workspace, queries = sys.argv[1], json.loads(sys.argv[2])
with connect("local", object_store=80_000_000) as cluster:
    told = CliRunner().invoke(cli, ["index", "c", "--ray", "local", "--shards", "2", "-w", workspace])
    with sharded(Corpus(Path(workspace) / "corpora" / "c"), "local") as passages:
        ids, _ = search_passages(passages, parse_pipeline("bm25"), queries, 20)
    listening = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # a worker that has just ended
            found = [c.laddr for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
            listening += [(process.name(), address) for address in found]
_, left = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=20)
print(json.dumps({
    "exit": told.exit_code,
    "out": told.stdout,
    "told": told.stderr,
    "ids": ids.tolist(),
    "listening": len(listening),
    "beyond": [name for name, address in listening if address.ip not in ("127.0.0.1", "::1", "::ffff:127.0.0.1")],
    "left": [process.name() for process in left],
    "usage": os.environ["RAY_USAGE_STATS_ENABLED"],
}))
"""


@pytest.mark.slow
def test_local_listens_on_this_machine_alone_and_leaves_nothing_behind(workspace: Workspace) -> None:
    corpus = write_tied_corpus(workspace, 500)
    questions = [q.text for q in QUERIES]
    run = subprocess.run(
        [sys.executable, "-c", SESSION, str(workspace.folder), json.dumps(questions)],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)  # Ray has printed nothing among the results
    assert (found["exit"], found["out"]) == (0, "")
    assert "c: index lexical(english) is ready in 2 shards" in found["told"]
    assert found["ids"] == search(corpus, parse_pipeline("bm25"), questions, 20)[0].tolist()
    assert found["listening"] > 0
    assert found["beyond"] == []
    assert found["left"] == []
    assert found["usage"] == "0"
