"""Data sets in a workspace."""

from pathlib import Path

import pytest

from berdseye.data.datasets.stored import import_dataset, load_dataset, save_dataset
from berdseye.data.errors import BadInputError, DamagedError, UnknownNameError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace

QUESTIONS = [
    Question("b", "d", "Should it 😀?", (Perspective("Yes.", "supporting"), Perspective("No.", "opposing"))),
    Question("a", "d", "What next?", (Perspective("This."),)),
    Question("c", "d", "Nothing?", ()),
]


def test_a_data_set_comes_back_as_it_was(workspace: Workspace) -> None:
    save_dataset(workspace, "d", QUESTIONS)
    assert load_dataset(workspace, "d") == QUESTIONS
    save_dataset(workspace, "d", QUESTIONS[:1])
    assert load_dataset(workspace, "d") == QUESTIONS[:1]


def test_questions_have_ids_of_their_own_and_a_text(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="Two questions have the id 'a'"):
        save_dataset(workspace, "d", [Question("a", "d", "One?"), Question("a", "d", "Two?")])
    with pytest.raises(BadInputError, match="'b' has no text"):
        save_dataset(workspace, "d", [Question("a", "d", "One?"), Question("b", "d", " ")])
    assert workspace.datasets() == []


def test_a_failed_import_changes_nothing(workspace: Workspace, tmp_path: Path) -> None:
    save_dataset(workspace, "d", QUESTIONS)
    (tmp_path / "bad.jsonl").write_text('{"question": "Fine?"}\n{"question": ""}\n')
    with pytest.raises(BadInputError, match=r"bad\.jsonl:2: "):
        import_dataset(workspace, "d", tmp_path / "bad.jsonl")
    assert load_dataset(workspace, "d") == QUESTIONS


def test_wrong_names(workspace: Workspace) -> None:
    save_dataset(workspace, "policy", QUESTIONS)
    with pytest.raises(UnknownNameError, match="Did you mean policy"):
        load_dataset(workspace, "polcy")
    with pytest.raises(BadInputError, match="cannot be the name"):
        save_dataset(workspace, "../policy", QUESTIONS)


def test_a_truncated_file_is_reported(workspace: Workspace) -> None:
    save_dataset(workspace, "d", QUESTIONS)
    path = workspace.dataset_file("d")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedError, match=r"100 of its .*`berdseye dataset add d FILE --replace`"):
        load_dataset(workspace, "d")


def test_all_of_berds_is_802_questions(workspace: Workspace, shared_data: Path) -> None:
    """BERDS, development split: 250 of Arguana, 258 of Kialo, 294 of OpinionQA."""
    for name in ("arguana_generated", "kialo", "opinionqa"):
        import_dataset(workspace, name, shared_data / "berds_dev" / f"{name}.jsonl")
    assert sum(len(load_dataset(workspace, name)) for name in workspace.datasets()) == 802
