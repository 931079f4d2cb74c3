"""Delimited text is read as `csv` reads it, and a quotation mark that is not closed is a fault of the row that it opens."""

import csv
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.layouts.table import read_question_table
from berdseye.data.documents.records import BadRow, Document, Position, Row
from berdseye.data.documents.tables import read_csv
from berdseye.data.errors import BadInputError
from berdseye.data.files.delimited import DelimitedRow, delimited_rows

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


def rows_of(text: str, delimiter: str = ",") -> list[DelimitedRow]:
    return list(delimited_rows(StringIO(text, newline=""), delimiter))


def strict_complaint(text: str) -> str:
    try:
        list(csv.reader(StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        return str(error)
    return ""


def documents_of(text: bytes, start: Position = Position()) -> list[Row]:  # noqa: B008  a position never changes
    return [row for block in read_csv(BytesIO(text), "corpus.csv", start) for row in block.rows]


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6), st.sampled_from(",;\t"))
def test_rows_that_a_writer_made_come_back_with_their_lines(rows: list[list[str]], delimiter: str) -> None:
    out = StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    found = rows_of(out.getvalue(), delimiter)
    assert [row.cells for row in found] == rows
    assert not any(row.fault for row in found)
    lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert [(row.first, row.last) for row in found] == [
        (1 + sum(lines[:n]), sum(lines[: n + 1])) for n in range(len(rows))
    ]


@given(st.text('ab",\n', max_size=30))
def test_other_text_is_read_as_csv_reads_it_and_an_open_end_is_a_fault(text: str) -> None:
    found = rows_of(text)
    assert [row.cells for row in found] == list(csv.reader(StringIO(text, newline="")))
    assert not any(row.fault for row in found if row.first == row.last and row is not found[-1])
    complaint = strict_complaint(text)
    assert complaint or not any(row.fault for row in found)
    assert "unexpected end of data" not in complaint or "never closed" in found[-1].fault


def test_a_cell_that_is_never_closed_is_a_fault_of_its_row() -> None:
    *before, last = rows_of('a,b\n"two\nlines",c\nd,"e\nf,g\n')
    assert [tuple(row) for row in before] == [(1, 1, ["a", "b"], "", ""), (2, 3, ["two\nlines", "c"], "", "")]
    assert (last.first, last.last) == (4, 5)
    assert "never closed" in last.fault
    assert "twice" in last.hint
    assert "never closed" in rows_of('"')[0].fault


def test_a_cell_that_a_later_quotation_mark_closes_is_a_fault_and_the_rows_after_it_are_read() -> None:
    swallowed, after = rows_of('2,"two\n3,three\n4,"four"\n5,five\n')
    assert (swallowed.first, swallowed.last) == (1, 3)
    assert "followed by more text" in swallowed.fault
    assert tuple(after) == (4, 4, ["5", "five"], "", "")
    assert rows_of('x,"y"z\n')[0].fault == ""  # one line: nothing is swallowed


@pytest.mark.parametrize(("text", "first", "guessed"), [("a\n" + "b" * 11, 2, False), ('a\n"b\n' + "c" * 11, 2, True)])
def test_a_cell_that_is_too_long_ends_the_reading(text: str, first: int, guessed: bool) -> None:
    before = csv.field_size_limit(10)
    try:
        last = rows_of(f"{text}\nd\n")[-1]
    finally:
        csv.field_size_limit(before)
    assert last.first == first
    assert "field larger" in last.fault
    assert ("perhaps a quotation mark" in last.fault, bool(last.hint)) == (guessed, guessed)


def test_a_question_table_with_an_open_cell_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text('question,perspective\nFirst?,Yes.\n"Second?,Yes.\n' + "Third?,No.\n" * 20_000, encoding="utf-8")
    with pytest.raises(BadInputError, match="never closed") as error:
        read_question_table(path)
    assert error.value.line == 3
    assert "twice" in error.value.hint


def test_other_separators_of_lines_do_not_end_a_row(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("question,perspective\nWhat\u2028now?,Yes.\n", encoding="utf-8")
    [question] = read_question_table(path).questions
    assert [one.text for one in question.perspectives] == ["Yes."]


def test_labelled_pairs_with_an_open_cell_name_its_row(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text('passage,perspective,label\na,b,1\nc,"d,0\ne,f,1\n', encoding="utf-8")
    with pytest.raises(BadInputError, match="never closed") as error:
        read_labelled_pairs(path)
    assert error.value.line == 3


def test_documents_around_a_faulty_row_are_kept_and_it_is_reported() -> None:
    rows = documents_of(b'id,text\n1,one\n2,"two\n3,three\n4,"four"\n5,five\n6,"six\n\xff\xff\n7,seven\n')
    assert [row.text for row in rows if isinstance(row, Document)] == ["one", "five"]
    assert sorted((row.line, row.reason.split()[0]) for row in rows if isinstance(row, BadRow)) == [
        (3, "a"),
        (7, "a"),
        (8, "not"),
    ]


def test_a_faulty_header_of_documents_is_reported() -> None:
    [bad] = documents_of(b'id,"text\n1,one\n2,two\n')
    assert isinstance(bad, BadRow)
    assert bad.line == 1


def test_documents_are_read_on_from_any_row_with_the_same_lines() -> None:
    text = b'\xff\nid,text\n1,one\n2,"two\n2b"\n3,"three\n4,"four"\n5,five\n6,"six\n'
    whole = documents_of(text)
    lines = text.splitlines(keepends=True)
    for line in (3, 5, 7, 8):  # ends of rows
        start = Position(0, sum(map(len, lines[:line])), line)
        assert documents_of(text, start) == [row for row in whole if row.line > line]


def test_an_empty_table_has_no_rows(tmp_path: Path) -> None:
    assert rows_of("") == []
    assert documents_of(b"") == []
    path = tmp_path / "empty.csv"
    path.write_text("", encoding="utf-8")
    with pytest.raises(BadInputError, match="no column"):
        read_question_table(path)
    with pytest.raises(BadInputError, match="Missing"):
        read_labelled_pairs(path)
