"""Data sets as tables, and the report of all invalid rows at once."""

from pathlib import Path

import pytest

from berdseye.data.datasets.layouts import read_dataset
from berdseye.data.errors import BadInputError, BadRowsError


def table(tmp_path: Path, text: str, name: str = "questions.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_rows_of_one_question_become_its_perspectives(tmp_path: Path) -> None:
    found = read_dataset(
        table(
            tmp_path,
            "\ufeffQuestion,Perspective,Stance\n"
            'Should cars go?,"Cars are loud,\nand fast.",pro\n'
            "Is tea good?,,\n"
            "Should cars go?,People need cars.,Opposing\n"
            "Should cars go?,People need cars.,Opposing\n",
        )
    )
    assert [(q.id, q.text) for q in found.questions] == [("1", "Should cars go?"), ("2", "Is tea good?")]
    first, second = found.questions
    assert [p.stance for p in first.perspectives] == ["supporting", "opposing"]
    assert second.perspectives == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "question\tperspective\nWhy, then?\tBecause.\n"),
        ("a.csv", "question;perspective\nWhy, then?;Because.\n"),
    ],
)
def test_tabs_and_semicolons_separate_cells(tmp_path: Path, name: str, text: str) -> None:
    [question] = read_dataset(table(tmp_path, text, name)).questions
    assert (question.text, [p.text for p in question.perspectives]) == ("Why, then?", ["Because."])


def test_every_invalid_row_of_a_table_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadRowsError) as caught:
        read_dataset(table(tmp_path, "question,perspective,stance\n,Lost.,\nWhy?,Good.,maybe\nWhy?,Fine.,con\n"))
    assert [fault.line for fault in caught.value.faults] == [2, 3]
    assert "1 more row is invalid" in str(caught.value)


def test_a_table_without_questions_says_which_columns_it_needs(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="question, perspective"):
        read_dataset(table(tmp_path, "text,label\na,b\n"))


def test_every_invalid_line_of_json_lines_is_reported(tmp_path: Path) -> None:
    lines = ['{"question": "Why?"}', "not json", '{"question": ""}', "[1]", '{"id": "1", "question": "How?"}']
    with pytest.raises(BadRowsError) as caught:
        read_dataset(table(tmp_path, "\n".join(lines), "questions.jsonl"))
    assert sorted(fault.line or 0 for fault in caught.value.faults) == [2, 3, 4, 5]
