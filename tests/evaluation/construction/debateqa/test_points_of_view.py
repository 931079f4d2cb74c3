"""What is read from completions: points of view with their documents, queries and explanations, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.evaluation.construction.asking import UnreadableError
from berdseye.evaluation.construction.debateqa.documents import fair_limit, without_addresses
from berdseye.evaluation.construction.debateqa.evidence import read_queries
from berdseye.evaluation.construction.debateqa.explanations import read_explanation
from berdseye.evaluation.construction.debateqa.views import PointOfView, fault, parse_points_of_view
from berdseye.evaluation.construction.rows import Row

ROW = Row("q", {"question": "Should zoos be banned?"})
REFERENCES = [{"number": 1}, {"number": 2}, {"number": 3}]


@pytest.mark.parametrize(
    ("line", "text", "documents"),
    [
        ("Point-of-View 1: Zoos harm animals. [Document 1, 3]", "Zoos harm animals.", (1, 3)),
        ("Point of View 2: Zoos teach. [Document 1, Document 2]", "Zoos teach.", (1, 2)),
        ("**Point-of-View 3:** Zoos teach **children** [Documents 1 and 3].", "Zoos teach children.", (1, 3)),
        ("POV 4 - Zoos earn money [1][2]", "Zoos earn money", (1, 2)),
        ("1. Zoos earn money (Documents 1-3)", "Zoos earn money", (1, 2, 3)),
        ("2) Since the ban (1990) zoos are better. [Doc. 2]", "Since the ban (1990) zoos are better.", (2,)),
        ("### Point-of-View 5: “Zoos save species.” 【Document 2】", "Zoos save species.", (2,)),
        ("Point-of-View 6: Zoos save species [Document 2; 9]", "Zoos save species", (2, 9)),
        ("Point-of-View 7: Nobody knows.", "Nobody knows.", ()),
        ("Perspective 8: Zoos are [sic] prisons. [Source 3]", "Zoos are [sic] prisons.", (3,)),
        ("View #9: 70 percent of zoos are small. [Document 1]", "70 percent of zoos are small.", (1,)),
        ("Point-of-View 10: Zoos harm animals. [Document 1–2, 3]", "Zoos harm animals.", (1, 2, 3)),
        ("Point-of-View 11: It spans [Document 1-99999]", "It spans", (1, 99999)),
    ],
)  # fmt: skip
def test_points_of_view_are_read_in_many_forms(line: str, text: str, documents: tuple[int, ...]) -> None:
    assert parse_points_of_view(line) == [PointOfView(text, documents)]


def test_a_point_of_view_may_have_several_lines_and_text_before_the_first_is_none() -> None:
    completion = (
        "<think>1. maybe [Document 1]</think>Here are the points of view I found:\n\n"
        "Point-of-View 1: Zoos harm\nanimals.\n[Document 1]\n\nPoint-of-View 2: Zoos teach. [Document 2]"
    )
    assert parse_points_of_view(completion) == [
        PointOfView("Zoos harm animals.", (1,)),
        PointOfView("Zoos teach.", (2,)),
    ]


@given(st.text(max_size=300))
def test_no_completion_breaks_the_reader(text: str) -> None:
    for view in parse_points_of_view(text):
        assert view.text.strip() == view.text
        assert view.text


def test_a_point_of_view_without_an_existing_document_has_a_fault() -> None:
    assert fault(PointOfView("Zoos teach.", (2, 9)), REFERENCES) == ""
    assert fault(PointOfView("Zoos teach.", ()), REFERENCES) == "cites no document"
    assert fault(PointOfView("Zoos teach.", (8, 9)), REFERENCES) == "cites documents that do not exist: 8, 9"
    assert fault(PointOfView("so " * 121, (1,)), REFERENCES) == "longer than 120 words"


def test_queries_are_read_without_numbers_and_once() -> None:
    text = '1. zoo animal welfare\n- "zoo conservation success"\n* zoo animal welfare\n\nc\nd\ne\nf'
    assert read_queries(ROW, text) == {"queries": ["zoo animal welfare", "zoo conservation success", "c", "d", "e"]}
    with pytest.raises(UnreadableError, match="no search query"):
        read_queries(ROW, "...\n" + "word " * 41)


def test_explanations_have_at_most_300_words_and_do_not_mention_documents() -> None:
    good = "Animals in small cages show stress, and many of them die early."
    assert read_explanation(ROW, f"**Explanation:** {good}") == {"explanation": good}
    assert read_explanation(ROW, f"{good} Public documents show it.")["explanation"].endswith("show it.")
    assert len(read_explanation(ROW, "word " * 300)["explanation"].split()) == 300
    for text, fault_of_it in (
        ("word " * 301, "more than 300 words: 301"),
        ("Too few words.", "too few words: 3"),
        (f"{good} The documents say so.", "mentions the documents: The documents"),
        (f"As Document 2 says, {good}", "mentions the documents: Document 2"),
    ):
        with pytest.raises(UnreadableError, match=fault_of_it):
            read_explanation(ROW, text)


def test_addresses_and_underlines_are_removed() -> None:
    text = "See https://a.org/x?y=1 and www.b.org/z.\n_____ Name ____ a _ b snake_case"
    assert without_addresses(text) == "See and Name a b snake_case"


@given(st.lists(st.integers(0, 200), max_size=8), st.integers(1, 500))
def test_documents_are_cut_fairly(lengths: list[int], total: int) -> None:
    """All fit together, none is cut needlessly, and only the longest are cut."""
    limit = fair_limit(lengths, total)
    assert limit >= 1
    cut = [min(length, limit) for length in lengths]
    assert sum(cut) <= max(total, len(lengths))
    if sum(lengths) <= total:
        assert cut == lengths
    elif total >= len(lengths):
        assert sum(min(length, limit + 1) for length in lengths) > total
