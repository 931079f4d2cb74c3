"""`berdseye index`; with a cluster it is tested in tests/retrieval/cluster."""

from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output


@pytest.fixture
def corpus(workspace: Workspace, tmp_path: Path) -> Path:
    (tmp_path / "texts.jsonl").write_text('{"text": "Cars in the city."}\n{"text": "Elephants in the zoo."}\n')
    output("corpus", "add", "c", tmp_path / "texts.jsonl", "-w", workspace.folder)
    return workspace.corpus_folder("c")


def made(corpus: Path) -> dict[str, int]:
    """When each index of the corpus was made."""
    return {p.parent.name: p.stat().st_mtime_ns for p in (corpus / "indexes").glob("*/manifest.json")}


def test_every_index_of_a_pipeline_is_built_once(workspace: Workspace, corpus: Path) -> None:
    asked = ("index", "c", "--pipeline", "hybrid(bm25,dense(static))", "-w", workspace.folder)
    assert output(*asked) == ""
    first = made(corpus)
    assert set(first) == {"lexical(english)", "dense(static)"}
    output(*asked)
    assert made(corpus) == first
    output(*asked, "--rebuild")
    assert all(made(corpus)[name] > time for name, time in first.items())


def test_shards_need_a_cluster(workspace: Workspace, corpus: Path) -> None:
    with pytest.raises(BadInputError, match="--shards requires --ray"):
        output("index", "c", "--shards", 3, "-w", workspace.folder)
    assert not (corpus / "shards").exists()


def test_a_cluster_that_does_not_answer_is_reported(workspace: Workspace, corpus: Path) -> None:
    with pytest.raises(UnavailableError, match="There is no response"):
        output("index", "c", "--ray", "127.0.0.1:9", "--shards", 3, "-w", workspace.folder)
    assert not (corpus / "shards").exists()
