"""Workspaces and their settings."""

from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError, UnknownNameError
from berdseye.data.workspace import DEFAULTS, Workspace, file_stem, find_prompt


def test_a_new_workspace_has_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    workspace = Workspace.create(tmp_path / "new" / "workspace")
    assert workspace.settings == DEFAULTS
    assert workspace.judgments_url == f"sqlite:///{workspace.folder / 'judgments.db'}"
    assert (workspace.corpora(), workspace.datasets()) == ([], [])


def test_settings_are_kept_and_the_environment_comes_first(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    (workspace.folder / "berdseye.toml").write_text('[judgments]\nurl = "postgresql://host/db"\n')
    again = Workspace.create(workspace.folder)
    assert again.judgments_url == "postgresql://host/db"
    assert again.settings["label_studio"] == DEFAULTS["label_studio"]
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", "sqlite:///elsewhere.db")
    assert again.judgments_url == "sqlite:///elsewhere.db"


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ("[judgments", BadInputError, "cannot be read"),
        ("\xff", BadInputError, "cannot be read"),
        ("[judgment]\nurl = ''", UnknownNameError, "Did you mean judgments"),
        ("[judgments]\nurll = ''", UnknownNameError, "Did you mean url"),
        ("judgments = 3", BadInputError, "Write it as [judgments]"),
        ("judgments = 'sqlite://'", BadInputError, "Write it as [judgments]"),
        ("[judgments]\nurl = 5", BadInputError, "'url' in [judgments] must be a text"),
    ],
)
def test_bad_settings_are_reported(workspace: Workspace, settings: str, kind: type[BerdseyeError], said: str) -> None:
    (workspace.folder / "berdseye.toml").write_bytes(settings.encode("latin-1"))
    with pytest.raises(kind) as error:
        Workspace.open(workspace.folder)
    assert said in str(error.value)


def test_a_folder_without_a_workspace(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="There is no workspace here"):
        Workspace.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="must be a folder"):
        Workspace.create(tmp_path / "file")


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERDSEYE_WORKSPACE", raising=False)
    assert Workspace.default_folder() == Path("workspace")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", "/elsewhere")
    assert Workspace.default_folder() == Path("/elsewhere")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("dense(a/model) >> mmr(0.95)", "dense(a~model)~~~~mmr(0.95)"),
        ("bm25(k1=0.9,b=0.4)@5", "bm25(k1=0.9,b=0.4)@5"),
        ('lora("ü b")', "lora(~~~b~)"),
    ],
)
def test_canonical_names_as_file_names(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_a_prompt_is_a_file_or_a_name_in_the_folder_of_prompts(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here, named = tmp_path / "views.txt", workspace.folder / "prompts" / "views.txt"
    named.parent.mkdir()
    for path in (here, named, named.with_name("released by a paper.txt")):
        path.write_text("[Question]", encoding="utf-8")
    assert find_prompt("views.txt", workspace) == here
    assert find_prompt("views", workspace) == named
    assert find_prompt("paper", workspace, "released by a paper.txt").name == "released by a paper.txt"
    with pytest.raises(BadInputError, match="The prompt 'vews' is neither a file nor in"):
        find_prompt("vews", workspace)
    with pytest.raises(BadInputError, match=r"Copy the released file other\.txt there"):
        find_prompt("paper", workspace, "other.txt")
