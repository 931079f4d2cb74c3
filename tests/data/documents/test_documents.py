"""Reading the files people have: what is wrong is told with its line, and the rest is read."""

import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berdseye.data.documents import BadRow, Document, Row, read_documents
from berdseye.data.errors import BadInputError


def rows_of(folder: Path, name: str, content: bytes | str) -> list[Row]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_documents(path))


def bad(rows: list[Row]) -> list[BadRow]:
    return [row for row in rows if isinstance(row, BadRow)]


def good(rows: list[Row]) -> list[Document]:
    return [row for row in rows if isinstance(row, Document)]


def jsonl(count: int) -> list[str]:
    return [json.dumps({"id": f"d{n}", "text": f"Text {n}."}) for n in range(1, count + 1)]


def test_a_bad_line_is_told_by_its_number(tmp_path: Path) -> None:
    lines = jsonl(9)
    lines[6] = '{"id": "d7", "text": '
    rows = rows_of(tmp_path, "docs.jsonl", "\n".join(lines))
    assert [str(b).partition(": ")[0] for b in bad(rows)] == ["docs.jsonl line 7"]
    assert "not valid JSON" in bad(rows)[0].reason
    assert [d.source_id for d in good(rows)] == ["d1", "d2", "d3", "d4", "d5", "d6", "d8", "d9"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            '{"id": "x", "heading": "h"}',
            "no text: expected a column named text or contents or passage or document or body",
        ),
        ('{"id": "x", "text": "  "}', "the text is empty"),
        ('{"id": "x", "text": null}', "no text"),
        ('["a list"]', "expected an object, got list"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_each_kind_of_bad_row_says_why(tmp_path: Path, line: str, reason: str) -> None:
    (row,) = rows_of(tmp_path, "docs.jsonl", line)
    assert isinstance(row, BadRow)
    assert row.reason.startswith(reason)


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.csv", "docs.tsv", "docs.html"])
def test_an_empty_file_holds_no_document(tmp_path: Path, name: str) -> None:
    assert good(rows_of(tmp_path, name, "")) == []


def test_a_table_of_headers_alone_holds_no_row(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "docs.csv", "id,text\n") == []


def test_a_line_of_50_mb_is_reported_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "d1", "text": "')
        for _ in range(50):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n{"id": "d2", "text": "Short."}\n')
    tracemalloc.start()
    rows = list(read_documents(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(b.line, b.reason) for b in bad(rows)] == [(1, "longer than 10 MB")]
    assert [d.source_id for d in good(rows)] == ["d2"]
    assert peak < 45_000_000  # held whole, the line would take its 50 MB once or twice


def test_a_wrong_encoding_is_reported(tmp_path: Path) -> None:
    (row,) = bad(rows_of(tmp_path, "docs.csv", "id,text\n1,plain\n2,café\n3,plain\n".encode("latin-1")))
    assert (row.line, row.reason) == (3, "not UTF-8 (byte 5 of the line); convert the file, for example with iconv")


def test_lines_after_one_that_cannot_be_read_keep_their_numbers(tmp_path: Path) -> None:
    content = "id,text\n1,café\n2,plain\n3\n".encode("latin-1")
    rows = rows_of(tmp_path, "docs.csv", content)
    assert [b.line for b in bad(rows)] == [2, 4]
    assert [d.line for d in good(rows)] == [3]


def test_quoted_cells_may_hold_newlines_commas_and_quotes(tmp_path: Path) -> None:
    content = 'id,title,text\n1,A,"one,\ntwo ""three"""\n2,B,four\n'
    rows = good(rows_of(tmp_path, "docs.csv", content))
    assert [(d.source_id, d.text) for d in rows] == [("1", 'one,\ntwo "three"'), ("2", "four")]


def test_extra_and_missing_cells_are_reported(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "docs.csv", "id,title,text\n1,A,one,two\n2,B\n3,C,three\n")
    assert [(b.line, b.reason.partition(", got ")[0]) for b in bad(rows)] == [
        (2, "4 cells, but the header has 3 columns"),
        (3, "no text: expected a column named text or contents or passage or document or body"),
    ]
    assert [d.source_id for d in good(rows)] == ["3"]


def test_tabs_separate_in_tsv(tmp_path: Path) -> None:
    assert good(rows_of(tmp_path, "docs.tsv", "pid\tpassage\n1\ta, b\n"))[0].text == "a, b"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("docs.csv", "id,text\n1,one\n"),
        ("docs.jsonl", '{"id": 1, "text": "one"}\n'),
        ("docs.json", '[{"id": 1, "text": "one"}]'),
    ],
)
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, name: str, content: str) -> None:
    (row,) = rows_of(tmp_path, name, b"\xef\xbb\xbf" + content.encode())
    assert isinstance(row, Document)
    assert (row.source_id, row.text) == ("1", "one")


def test_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"docid": [4, 5], "contents": ["one", None]}), tmp_path / "docs.parquet")
    rows = list(read_documents(tmp_path / "docs.parquet"))
    assert good(rows) == [Document("4", "", "one", "", 1)]
    assert [b.line for b in bad(rows)] == [2]


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="Not a valid Parquet file"):
        rows_of(tmp_path, "docs.parquet", "no parquet")


def test_json_lists_of_texts_and_pir_corpora(tmp_path: Path) -> None:
    assert [d.text for d in good(rows_of(tmp_path, "a.json", '["one", "two"]'))] == ["one", "two"]
    assert [d.text for d in good(rows_of(tmp_path, "b.json", '{"corpus": ["one"], "queries": []}'))] == ["one"]


def test_a_folder_of_pages(tmp_path: Path) -> None:
    for folder in ("", "sub/"):
        (tmp_path / folder).mkdir(exist_ok=True)
        content = f"<html><title>T</title><body><p>{'Words of the page. ' * 20}</p></body></html>"
        (tmp_path / folder / "index.html").write_text(content)
    (tmp_path / "empty.html").write_text("<html></html>")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    rows = list(read_documents(tmp_path))
    assert [(d.source_id, d.title) for d in good(rows)] == [("index.html", "T"), ("sub/index.html", "T")]
    assert [str(b) for b in bad(rows)] == ["empty.html line 1: no readable text in this page"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("none.jsonl", "does not exist"), ("picture.png", "not supported"), ("empty", "no supported file")],
)
def test_what_cannot_be_opened_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match=said):
        list(read_documents(tmp_path / name))
