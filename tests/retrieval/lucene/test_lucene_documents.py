"""Documents as Lucene indexes store them."""

import json

import pytest

from berdseye.data.documents import BadRow, Document
from berdseye.retrieval.lucene.documents import document_of
from berdseye.retrieval.lucene.index import StoredDocument


def read(raw: object, contents: str | None = None) -> Document | BadRow:
    text = raw if isinstance(raw, str) or raw is None else json.dumps(raw)
    return document_of(StoredDocument(6, "d7", text, contents), "wiki")


@pytest.mark.parametrize(
    ("raw", "title", "text", "url"),
    [
        # DPR's Wikipedia, prebuilt: the title in quotation marks, other marks in it as they are.
        ({"id": "1", "contents": '"Aaron"\nAaron is a prophet.'}, "Aaron", "Aaron is a prophet.", ""),
        ({"id": "1", "contents": '""Weird Al" Yankovic"\nA singer.'}, '"Weird Al" Yankovic', "A singer.", ""),
        (
            {"id": "1", "contents": "Aaron\nAaron is a prophet.\nSo he is."},
            "Aaron",
            "Aaron is a prophet.\nSo he is.",
            "",
        ),
        ({"id": "1", "title": "Aaron", "text": "A prophet."}, "Aaron", "A prophet.", ""),
        ({"id": "1", "title": "Aaron", "contents": "Aaron\nA prophet."}, "Aaron", "Aaron\nA prophet.", ""),
        # MS MARCO: passages in one line, pages under their address and title.
        ({"id": "1", "contents": "One line."}, "", "One line.", ""),
        (
            {"id": "D1", "contents": "https://a.example/x\nA title\nThe body.\nMore."},
            "A title",
            "The body.\nMore.",
            "https://a.example/x",
        ),
        # BEIR.
        (
            {"_id": "1", "title": "T", "text": "One.\nTwo.", "metadata": {"url": "https://a.example"}},
            "T",
            "One.\nTwo.",
            "https://a.example",
        ),
        ({"id": "1", "contents": "l" * 201 + "\nrest"}, "", "l" * 201 + "\nrest", ""),
        ({"id": "1", "contents": "ends with a line\n"}, "", "ends with a line\n", ""),
    ],
)
def test_the_usual_layouts_are_read(raw: object, title: str, text: str, url: str) -> None:
    assert read(raw) == Document("d7", title, text, url, 7, True)


def test_what_is_not_json_is_text() -> None:
    assert read("<DOC>not so</DOC>", "Title\nplain") == Document("d7", "Title", "plain", "", 7, True)
    assert read("{broken", None) == Document("d7", "", "{broken", "", 7, True)
    assert read(None, "only contents") == Document("d7", "", "only contents", "", 7, True)


@pytest.mark.parametrize("raw", [{"id": "1", "contents": ""}, {"id": "1", "contents": " \n "}, {"id": "1", "n": 3}])
def test_a_document_without_text_is_a_bad_row_with_its_number(raw: object) -> None:
    row = read(raw)
    assert isinstance(row, BadRow)
    assert str(row).startswith("wiki line 7: ")
