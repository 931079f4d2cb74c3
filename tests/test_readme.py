"""The commands of the README and of the pages in docs run as they are printed, on the demo workspace."""

import gzip
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.app.access.roles import PAGES as APP_PAGES
from berdseye.app.cli import cli
from berdseye.data.workspace import Workspace
from tests.browser.screenshots import CAPTIONS, FOLDER, gallery

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
BLOCKS = [block for text in TEXTS.values() for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)]
TRANSCRIPT = re.findall(r"^\$ (berdseye .+)\n((?:(?!\$ |```).*\n)*)", README, flags=re.MULTILINE)
MADE = {
    "colbert.run": ["runs", "export", "debate--web--bm25", "colbert.run"],
    "paper.zip": ["bundle", "all", "paper.zip"],
}
"""Files that these pages name and Berdseye itself writes."""
COMMANDS = list(dict.fromkeys(line for block in BLOCKS for line in block.splitlines() if line.startswith("berdseye ")))
ELSEWHERE = " --workspace my-study"


@pytest.fixture
def copied(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo workspace, the files that these pages name, and a present folder that holds both."""
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


def test_the_page_of_pictures_has_every_page_and_no_other_picture() -> None:
    """`make screenshots` writes it."""
    text = TEXTS[ROOT / "docs" / "README.md"]
    assert text == gallery()
    assert list(CAPTIONS) == list(APP_PAGES)
    assert sorted(re.findall(r"\(screenshots/([^)]+)\)", text)) == sorted(path.name for path in FOLDER.iterdir())


def test_pages_have_commands() -> None:
    assert len(COMMANDS) >= 15
    assert len(TRANSCRIPT) >= 4


@pytest.mark.parametrize("command", [command for command in COMMANDS if not command.endswith(ELSEWHERE)])
def test_command_of_a_page_runs(command: str, copied: Path) -> None:
    assert copied.exists()
    for file, making in MADE.items():
        if file in command and "bundle" not in command:
            assert CliRunner().invoke(cli, making).exit_code == 0
    result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_commands_for_a_workspace_of_your_own_run_one_after_the_other(copied: Path) -> None:
    commands = [command for command in COMMANDS if command.endswith(ELSEWHERE)]
    assert len(commands) >= 4
    for command in commands:
        result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
        assert result.exit_code == 0, result.output
    assert (copied / "my-study").is_dir()


@pytest.mark.parametrize(("command", "printed"), TRANSCRIPT, ids=[command for command, _ in TRANSCRIPT])
def test_the_transcript_is_what_a_command_prints(command: str, printed: str, copied: Path) -> None:
    """White space aside, and with anything in place of `...`."""
    assert copied.exists()
    result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
    parts = [re.escape(" ".join(part.split())) for part in printed.split("...")]
    assert re.search(r"\s*.*?\s*".join(parts), " ".join(result.output.split())), result.output


def test_files_the_pages_name_exist() -> None:
    for page, text in TEXTS.items():
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (page.parent / target).exists(), (page.name, target)


def test_sections_the_pages_name_exist() -> None:
    for page, text in TEXTS.items():
        for target, section in re.findall(r"\]\(([^)#:]+)#([^)]+)\)", text):
            headings = re.findall(r"^#+ (.+)$", (page.parent / target).read_text(encoding="utf-8"), flags=re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert section in slugs, (page.name, target, section)


def test_make_targets_the_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", "\n".join(TEXTS.values()))) | {"app", "test"} <= targets
