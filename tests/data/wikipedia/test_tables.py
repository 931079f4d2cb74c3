import pytest

from berdseye.data.wikipedia.dump import Site
from berdseye.data.wikipedia.tables import EMPTY_CELL, NO_LINK, NOT_CLOSED, NOT_READ, columns
from berdseye.data.wikipedia.wikitext import Titles

TITLES = Titles(Site("x", "", {"": 0, "file": 6}))


def _found(wikitext: str) -> list[tuple[tuple[str, ...], str, list[str], str]]:
    return [(c.sections, c.header, [cell.title for cell in c.cells], c.fault) for c in columns(wikitext, TITLES)]


def test_columns_have_the_sections_above_their_table() -> None:
    wikitext = """== Old ==
{| class="wikitable"
|+ Names of all
! Name !! Year
|-
| [[A]] || 1
|}
=== Older ===
{|
|-
! Year || style="x" | Other name<br/>(''local'')
|-
| 2
| [[File:b.jpg|20px]] [[B|b]]<ref>c</ref>
|}"""
    assert _found(wikitext) == [(("Old",), "Name", ["A"], ""), (("Old", "Older"), "Other name (local)", ["B"], "")]


def test_spanning_cells_count_in_each_row_and_column() -> None:
    wikitext = """{|
! rowspan=2 | Name
! colspan=2 | Names of people
|-
! first !! second
|-
! scope="row" | [[A]]
| [[B]] || [[C]]
|-
| colspan="3" | A heading in the table
|-
| rowspan="2" | [[D]] || [[E]] || [[F]]
|-
| [[G]] || [[H]]
|}"""
    assert _found(wikitext) == [
        ((), "Name", ["A", "D", "D"], ""),
        ((), "Names of people first", ["B", "E", "G"], ""),
        ((), "Names of people second", ["C", "F", "H"], ""),
    ]


def test_tables_in_html_may_lack_end_tags() -> None:
    wikitext = (
        "<table class=a><caption>Names</caption><tbody><TR><th>Name<th>Year<tr><td rowspan='2'>[[A]] <i>x</i></td><td>1</td></tr>"
        "<tr><td>2<table><tr><td>[[Within]]</table><tr><td>{{sortname|B|C}}<td></table>"
    )
    assert _found(wikitext) == [((), "Name", ["A", "A", "B C"], "")]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("|-\n| [[A]]\n|-\n|\n", EMPTY_CELL),
        ("|-\n| [[A]]\n|-\n| <!-- [[B]] -->\n", EMPTY_CELL),
        ("|-\n| [[A]]\n|-\n| B\n", NO_LINK),
        ("|-\n| [[A]]\n|-\n| <ref>[[B]]</ref>text\n", NO_LINK),
    ],
)
def test_columns_that_cannot_be_used_are_kept_with_the_reason(rows: str, fault: str) -> None:
    (column,) = columns(f"{{|\n! Name\n{rows}|}}", TITLES)
    assert column.fault == fault
    assert column.cells[0].title == "A"


def test_a_table_that_does_not_close_ends_with_its_section() -> None:
    wikitext = "{|\n! Name\n|-\n| [[A]]\n== Next ==\n{|\n! Name\n|-\n| [[B]]\n|}\n<table><tr><th>Name"
    assert _found(wikitext) == [
        ((), "", [], NOT_CLOSED),
        (("Next",), "Name", ["B"], ""),
        (("Next",), "", [], NOT_CLOSED),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "{|\n! name\n|-\n" + "| rowspan=99999 colspan=99999 | x\n|-\n" * 300 + "|}",
        "{|\n! name\n" + "|-\n| [[A]]\n" * 20_000 + "|}",
        "<table><tr><th>name" + "<td rowspan=1000>" * 5_000 + "</table>",
        "{|\nname\n|}",
    ],
)
def test_hostile_tables_are_counted_as_not_read(source: str) -> None:
    assert _found(source) == [((), "", [], NOT_READ)]


def test_columns_without_the_word_are_left_out() -> None:
    assert _found("{|\n! Title !! Year\n|-\n| [[Name of A]] || 1\n|}") == []
