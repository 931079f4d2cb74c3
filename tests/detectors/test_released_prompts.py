"""BERDS's released prompts by their names: where their files are searched for, and what is asked."""

import shutil
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.prompts import PASSAGE, PERSPECTIVE, RELEASED_PROMPTS, detection_prompt


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, without a prompt."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"{text} [Doc 1] [Doc 2]")
    return folder / name


def asked(workspace: Workspace | None, name: str = "berds") -> str:
    return detection_prompt(0, name, workspace).messages[0].content.partition(" ")[0]


def test_the_workspace_comes_before_the_current_folder_and_a_file_of_the_name_before_both(
    workspace: Workspace, here: Path
) -> None:
    file = RELEASED_PROMPTS["berds"]
    written(here / "prompts", file, "here")
    assert (asked(workspace), asked(None)) == ("here", "here")
    written(workspace.folder / "prompts", file, "workspace")
    assert (asked(workspace), asked(None)) == ("workspace", "here")
    written(here, "berds", "own")
    assert (asked(workspace), asked(None)) == ("own", "own")
    (here / "berds").unlink()
    (here / "berds").mkdir()
    assert asked(workspace) == "workspace", "a folder is not a file"


@pytest.mark.parametrize("name", RELEASED_PROMPTS)
def test_a_missing_file_is_named_with_the_folders_that_were_searched(
    workspace: Workspace, here: Path, name: str
) -> None:
    assert here.is_dir()
    with pytest.raises(BadInputError) as caught:
        parse_detector(f"api(small,prompt={name})", workspace)
    for said in (RELEASED_PROMPTS[name], str(workspace.folder / "prompts"), "'prompts'"):
        assert said in str(caught.value)
    with pytest.raises(BadInputError, match="'berdss' is neither a file nor in"):
        parse_detector("api(small,prompt=berdss)", workspace)
    with pytest.raises(BadInputError, match="has its own examples"):
        parse_detector(f"api(small,shots=1,prompt={name})", workspace)


def test_the_names_are_the_released_prompts(workspace: Workspace, here: Path, shared_data: Path) -> None:
    """Turns of each file: two of the chats, four with the worked example, and one of the plain text."""
    assert here.is_dir()
    shutil.copytree(shared_data / "berds_dev" / "prompts", workspace.folder / "prompts")
    prompts = {name: detection_prompt(0, name, workspace) for name in RELEASED_PROMPTS}
    assert {name: len(prompt.messages) for name, prompt in prompts.items()} == {
        "berds": 2, "berds-1-shot": 4, "berds-plain": 1, "berds-evaluator": 2,
    }  # fmt: skip
    for prompt in prompts.values():
        assert not prompt.fenced
        filled = prompt.fill({PASSAGE: "Trams run.", PERSPECTIVE: "Trams are good."})[-1].content
        assert "Document: Trams run.\nStatement: Trams are good." in filled
    detector = parse_detector("api(small,prompt=berds-1-shot)", workspace)
    assert detector.name == "api(small,prompt=berds-1-shot)"
    assert detector.version != parse_detector("api(small,prompt=berds)", workspace).version
