"""The README's commands run as they stand there, on the demo workspace."""

import gzip
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.workspace import Workspace

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
MADE = {
    "colbert.run": ["runs", "export", "debate--web--bm25", "colbert.run"],
    "paper.zip": ["bundle", "all", "paper.zip"],
}
"""Files that the README speaks of and Berdseye itself writes."""
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.startswith("berdseye ")]


@pytest.fixture
def copied(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo workspace, the files the README speaks of, and a present folder that holds both."""
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    (tmp_path / "documents.jsonl").write_text('{"text": "Zoos keep animals behind a moat and a fence."}\n')
    (tmp_path / "questions.jsonl").write_text('{"question": "Why?", "perspectives": ["Because.", "No reason."]}\n')
    (tmp_path / "pairs.tsv").write_text(
        "document\tperspective\tlabel\nZoos teach.\tZoos teach.\t1\nTrams run.\tZoos teach.\t0\n"
    )
    with gzip.open(tmp_path / "psgs_w100.tsv.gz", "wt") as file:
        file.write("id\ttext\ttitle\n1\tZoos keep animals.\tZoo\n")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "page.html").write_text("<html><body><article><p>One saved page.</p></article></body></html>")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BERDSEYE_WORKSPACE", raising=False)
    return tmp_path


def test_readme_has_commands() -> None:
    assert len(COMMANDS) >= 9


@pytest.mark.parametrize("command", COMMANDS)
def test_command_of_readme_runs(command: str, copied: Path) -> None:
    assert copied.exists()
    for file, making in MADE.items():
        if file in command and "bundle" not in command:
            assert CliRunner().invoke(cli, making).exit_code == 0
    result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_files_the_readme_names_exist() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_make_targets_the_readme_names_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`?make ([a-z]+)", README)) <= targets
