import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.wikipedia.dump import Site
from berdseye.data.wikipedia.wikitext import Section, Titles, introduction, plain, sections

SITE = Site("x", "", {"": 0, "file": 6, "category": 14, "talk": 1})
_HOSTILE = {
    "templates": "{{" * 100_000,
    "links": "[[" * 100_000 + "]]" * 100_000,
    "both": "{{[[" * 50_000 + "]]}}" * 50_000,
    "references": "<ref>" * 100_000,
    "comments": "<!--" * 100_000,
    "commas": "(" + "," * 500_000,
    "brackets": "(" * 200_000 + "(," * 200_000,
    "heading": "=" + " " * 500_000 + "x",
    "headings": "=a" * 200_000,
    "tables": "\n{|" * 100_000 + "\n|}" * 100,
    "external": "[http://" * 50_000,
    "tags": "<div " * 100_000,
    "names": "{{sortname|" * 50_000,
    "quotes": "'" * 500_000,
}


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''Foo''' (''foo''; {{lang|de|Fu}}; {{IPA|x}}) is [[a|b]].", "Foo (foo; Fu) is b."),
        ("A[[File:x.jpg|thumb|a [[b]] c]] [[Category:C]]z<ref name=q>r</ref><ref name=q/>, <br/>ok", "A z, ok"),
        ("{{Infobox\n| a = {{b|[[c]]}}\n}}\n{| class=x\n| t\n|}\nText [https://x.org here] &amp; there", "Text here & there"),
        ("It is {{convert|5|km|mi|abbr=on}}{{snd}}{{nowrap|not far}}.", "It is 5 km – not far."),
        ("* One\n* Two__NOTOC__ <!-- hidden [[x]] -->three", "One Two three"),
        ("Born ({{birth date|1900|1|1}}), lives [[Paris]]", "Born, lives Paris"),
        ("[[:Category:C|the category]] and [[X#Y]]", "the category and X#Y"),
        ("<math>x<y</math>A <i>b</i> &lt;script&gt;", "A b <script>"),
    ],
)  # fmt: skip
def test_plain_text_of_common_markup(wikitext: str, text: str) -> None:
    found = plain(wikitext)
    assert found == (text, 0)


@pytest.mark.parametrize(
    ("wikitext", "text", "unclosed"),
    [
        ("{{Infobox | a = 1\n\nThe text.", "The text.", 1),
        ("A [[link without end. B", "A link without end. B", 1),
        ("A }} ]] B", "A B", 2),
        ("A {{x [[y}} B", "A B", 1),
        ("A <ref>b. C", "A b. C", 1),
        ("A <!-- B", "A", 1),
    ],
)
def test_markup_that_does_not_close_is_survived_and_counted(wikitext: str, text: str, unclosed: int) -> None:
    assert plain(wikitext) == (text, unclosed)


def test_an_introduction_ends_at_the_first_heading() -> None:
    assert introduction("The ''lead''.\n\n== History ==\nLater.").text == "The lead."
    assert introduction("= One =\nNothing before.").text == ""
    assert introduction("x = 5 == y\nStill the lead.").text == "x = 5 == y Still the lead."


def test_sections_have_the_headings_above_them() -> None:
    assert list(sections("a\n== B ==\nc\n=== D ''x'' ===\ne\n== F ==\ng\n==\n= =")) == [
        Section((), "a\n"),
        Section(("B",), "\nc\n"),
        Section(("B", "D x"), "\ne\n"),
        Section(("F",), "\ng\n==\n= ="),
    ]


def test_links_name_articles_as_the_dump_does() -> None:
    text = (
        "[[one_two#Part|x]] [[ one  two ]] [[:Three]] [[File:A.jpg|[[four]]]] [[Category:C]] [[talk:D]] [[fr:E]] [[#here]] "
        "<!-- [[hidden]] --> [[F&amp;G]] {{box|[[six]]}} [[broken"
    )
    assert Titles(SITE).linked(text) == {"One two", "Three", "Four", "Fr:E", "F&G", "Six", "Broken"}
    assert "one two" in Titles(SITE._replace(first_letter=False)).linked(text)


def test_the_first_link_of_a_cell_is_outside_references_and_files() -> None:
    titles = Titles(SITE)
    assert titles.first_linked("[[File:a.jpg]]<ref>[[no]]</ref> ''[[Yes|y]]'' [[Later]]") == "Yes"
    assert titles.first_linked("{{sortname|Ada|Lovelace}}") == "Ada Lovelace"
    assert titles.first_linked("{{sortname|Ada|King|Ada Lovelace|key=x}}") == "Ada Lovelace"
    assert titles.first_linked("{{sortname|Ada|King|nolink=1}} [[Then]]") == "Then"
    assert titles.first_linked("nothing") == ""


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_markup_takes_linear_time(name: str) -> None:
    began = time.process_time()
    introduction(_HOSTILE[name])
    list(sections(_HOSTILE[name]))
    titles = Titles(SITE)
    titles.linked(_HOSTILE[name])
    titles.first_linked(_HOSTILE[name])
    assert time.process_time() - began < 5


@given(
    st.lists(
        st.sampled_from(
            ["{{", "}}", "[[", "]]", "|", "\n{|", "\n|}", "<ref>", "</ref>", "<!--", "-->", "'''", "==", "\n", "a"]
        )
    )
)
def test_no_markup_is_left_of_any_mixture(parts: list[str]) -> None:
    text = plain("".join(parts)).text
    assert not any(mark in text for mark in ("{{", "}}", "[[", "]]", "<ref>", "<!--", "\n"))
