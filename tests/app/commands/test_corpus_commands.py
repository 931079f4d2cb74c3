"""`corpus add`, `corpus list` and `corpus duplicates`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.corpora import open_corpus
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output

FIRST = " ".join(f"word{n}" for n in range(60))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    texts = {"a": FIRST, "b": "Something else.", "c": f"{FIRST} more", "d": "Something else."}
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in texts.items()))
    return path


def test_a_chunker_and_dropping_are_named(workspace: Workspace, source: Path) -> None:
    asked = ("corpus", "add", "mine", source, "--chunker", "sentences(40)", "--near-duplicates", "drop")
    added = json.loads(output(*asked, "--threshold", 0.95, "--json", "-w", workspace.folder))
    assert (added["count"], added["near_duplicates"], added["duplicates_merged"]) == (4, 0, 2)
    assert added["chunker"] == "sentences(40)"
    assert added["sources"][0].keys() == {"path", "size", "blake2b"}
    added = json.loads(output(*asked[:4], "--replace", *asked[6:], "--json", "-w", workspace.folder))
    assert (added["count"], added["near_duplicates"], added["chunker"]) == (2, 1, "words(100)")
    assert json.loads(output("corpus", "list", "--json", "-w", workspace.folder)) == [added]


def test_duplicates_are_listed_a_line_a_group(workspace: Workspace, source: Path) -> None:
    output("corpus", "add", "mine", source, "-w", workspace.folder)
    assert output("corpus", "duplicates", "mine", "-w", workspace.folder) == "0\t2\n"
    assert output("corpus", "duplicates", "mine", "--threshold", 1, "-w", workspace.folder) == ""
    assert json.loads(output("corpus", "duplicates", "mine", "--json", "-w", workspace.folder)) == [[0, 2]]


def test_an_unfinished_load_is_reported_and_can_be_restarted(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    add = ["corpus", "add", "mine", str(source), "-w", str(workspace.folder)]
    with monkeypatch.context() as patched:
        patched.setattr("berdseye.data.corpora.adding.Finalising.find_dropped", stop)
        CliRunner().invoke(cli, add)
    assert workspace.corpora() == []
    assert "Resuming after 4 passages." in CliRunner().invoke(cli, add).stderr
    assert open_corpus(workspace, "mine").manifest.count == 3
    with monkeypatch.context() as patched:
        patched.setattr("berdseye.data.corpora.adding.Finalising.find_dropped", stop)
        CliRunner().invoke(cli, [*add, "--replace"])
    assert "Resuming" not in CliRunner().invoke(cli, [*add, "--replace", "--restart"]).stderr


def test_an_unknown_chunker_is_reported_before_anything_is_read(workspace: Workspace, source: Path) -> None:
    with pytest.raises(BadInputError, match="is not a chunker"):
        output("corpus", "add", "mine", source, "--chunker", "words(0)", "-w", workspace.folder)


def test_one_passage_of_one_document_is_said_in_the_singular(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"id": "a", "text": "Something."}\n', encoding="utf-8")
    added = CliRunner().invoke(cli, ["corpus", "add", "one", str(tmp_path / "one.jsonl"), "-w", str(workspace.folder)])
    assert "one: 1 passage from 1 document, 0 duplicates merged" in added.stderr
