"""Answers in the workspace and from files."""

from pathlib import Path

import pytest

from berdseye.data.answers import Answer, AnswerSet, list_answers, load_answers, read_answer_file, save_answers
from berdseye.data.errors import BadInputError, DamagedError, UnavailableError, UnknownNameError
from berdseye.data.workspace import Workspace

HELD = AnswerSet("gpt", "debateqa", "api(gpt)", {"style": "basic"}, [Answer("1", "It is debated."), Answer("7", "")])


def test_a_set_comes_back_as_it_was_kept(workspace: Workspace) -> None:
    manifest = save_answers(workspace, HELD)
    assert load_answers(workspace, "gpt") == HELD
    assert list_answers(workspace) == [manifest]
    assert (manifest.answers, manifest.settings) == (2, {"style": "basic"})


def test_names_and_damage_are_reported(workspace: Workspace) -> None:
    save_answers(workspace, HELD)
    with pytest.raises(UnknownNameError, match="Did you mean gpt"):
        load_answers(workspace, "gpt4")
    with pytest.raises(BadInputError, match="cannot be the name"):
        save_answers(workspace, AnswerSet("../x", "d", "m"))
    with pytest.raises(BadInputError, match="'1' has two answers"):
        save_answers(workspace, AnswerSet("y", "d", "m", {}, [Answer("1", "a"), Answer("1", "b")]))
    (workspace.folder / "answers" / "gpt.parquet").write_bytes(b"no parquet")
    with pytest.raises(DamagedError, match=r"gpt\.parquet: The file is damaged"):
        load_answers(workspace, "gpt")


def test_both_forms_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"generation": "Yes.", "id": 1}\n\n{"id": "b", "answer": "No."}\n')
    assert read_answer_file(path) == [Answer("1", "Yes."), Answer("b", "No.")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not valid JSON"),
        ("[1]", "expected an object, got list"),
        ('{"answer": "a"}', "no `id`"),
        ('{"id": true, "answer": "a"}', "no `id`"),
        ('{"id": 2, "answer": 3}', "no text"),
        ('{"id": 1, "answer": "again"}', "line 1 already answers question '1'"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(f'{{"id": 1, "answer": "a"}}\n{line}\n')
    with pytest.raises(BadInputError, match=f"answers.jsonl:2: .*{said}"):
        read_answer_file(path)


def test_files_without_answers(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be read"):
        read_answer_file(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BadInputError, match="no answer"):
        read_answer_file(tmp_path / "empty.jsonl")


def test_the_released_answers(shared_data: Path) -> None:
    """Counted with `wc -l`: 1,000 lines."""
    answers = read_answer_file(shared_data / "debateqa" / "answers.jsonl")
    assert len(answers) == 1000
    assert answers[0].question_id == "1"
    assert answers[0].text.startswith("The question of whether one can worship oneself")
