"""Delimited text is read as `csv` reads it, and a quotation mark that is never closed is an error of the row that it opens."""

import csv
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.layouts.table import read_question_table
from berdseye.data.documents.records import BadRow, Document, Position
from berdseye.data.documents.tables import read_csv
from berdseye.data.errors import BadInputError
from berdseye.data.files.delimited import UnreadableRowError, delimited_rows

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6), st.sampled_from(",;\t"))
def test_rows_that_a_writer_made_come_back_with_their_first_lines(rows: list[list[str]], delimiter: str) -> None:
    out = StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    found = list(delimited_rows(StringIO(out.getvalue(), newline=""), delimiter))
    assert [cells for _, cells in found] == rows
    lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert [first for first, _ in found] == [1 + sum(lines[:place]) for place in range(len(rows))]


@given(st.text('ab",\n', max_size=30))
def test_other_text_is_read_as_csv_reads_it_or_has_an_open_cell(text: str) -> None:
    expected = list(csv.reader(StringIO(text, newline="")))
    try:
        found = [cells for _, cells in delimited_rows(StringIO(text, newline=""), ",")]
    except UnreadableRowError:
        with pytest.raises(csv.Error, match=r"unexpected end of data|expected after"):
            list(csv.reader(StringIO(text, newline=""), strict=True))
    else:
        assert found == expected


def test_an_open_cell_names_the_row_that_it_is_in_and_keeps_those_before_it() -> None:
    rows = delimited_rows(StringIO('a,b\n"two\nlines",c\nd,"e\nf,g\n'), ",")
    assert [next(rows), next(rows)] == [(1, ["a", "b"]), (2, ["two\nlines", "c"])]
    with pytest.raises(UnreadableRowError, match="never closed") as error:
        next(rows)
    assert (error.value.first, error.value.lines) == (4, 2)
    assert "twice" in error.value.hint


def test_a_cell_that_is_too_long_names_its_row() -> None:
    before = csv.field_size_limit(10)
    try:
        with pytest.raises(UnreadableRowError, match="field larger") as error:
            list(delimited_rows(["a\n", "b" * 11 + "\n"], ","))
        assert error.value.first == 2
    finally:
        csv.field_size_limit(before)


def test_a_question_table_with_an_open_cell_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text('question,perspective\nFirst?,Yes.\n"Second?,Yes.\nThird?,No.\n', encoding="utf-8")
    with pytest.raises(BadInputError, match="never closed") as error:
        read_question_table(path)
    assert error.value.line == 3


def test_labelled_pairs_with_an_open_cell_name_its_row(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text('passage,perspective,label\na,b,1\nc,"d,0\ne,f,1\n', encoding="utf-8")
    with pytest.raises(BadInputError, match="never closed") as error:
        read_labelled_pairs(path)
    assert error.value.line == 3


def test_documents_before_an_open_cell_are_kept_and_the_row_is_reported() -> None:
    stream = BytesIO(b'id,text\n1,one\n2,two\n3,"three\n4,four\n')
    rows = [row for block in read_csv(stream, "corpus.csv", Position()) for row in block.rows]
    assert [row.text for row in rows if isinstance(row, Document)] == ["one", "two"]
    [bad] = [row for row in rows if isinstance(row, BadRow)]
    assert bad.line == 4
    assert "never closed" in bad.reason


def test_an_empty_table_has_no_rows() -> None:
    assert list(delimited_rows([], ",")) == []
    assert [block.rows for block in read_csv(BytesIO(b""), "empty.csv", Position())] == [[]]
