"""Untrusted text in Markdown: whatever stands in it is shown to the letter."""

import re
import string
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from berdseye.app.components.plain_text import (
    JOINER,
    Mark,
    annotated,
    escaped,
    highlighted,
    web_address,
    without_pictures,
)


def shown(markdown: str) -> str:
    """What CommonMark shows of text whose every special character is escaped (section 2.4 of its specification)."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(JOINER, "")


def words(text: str) -> list[str]:
    """The text up to white space, and to the invisible joiners that may stand in it already."""
    return text.replace(JOINER, "").split()


def bare_specials(markdown: str) -> list[str]:
    """Special characters that no backslash precedes."""
    found, place = [], 0
    while place < len(markdown):
        if markdown[place] == "\\":
            assert place + 1 < len(markdown), "a backslash at the end escapes what comes after the text"
            assert markdown[place + 1] in string.punctuation
            place += 2
            continue
        if markdown[place] in string.punctuation:
            found.append(markdown[place])
        place += 1
    return found


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "**bold** _it_ ~~gone~~ `code`",
        "[click](javascript:alert(1)) ![x](http://example.com/x.png)",
        "$x^2$ and \\(y\\) and \\\\[z\\\\]",
        ":smile: :material/home: :red[red] :blue-badge[b]",
        "# heading",
        "- item\n\n1. item\n> quote\n\n    code",
        "https://example.com www.example.com me@example.com",
        "&lt;b&gt; &amp; &#60;",
        "| a | b |\n|---|---|",
        "\\",
        "ends with a backslash \\",
        "=1+1",
    ],
)
def test_hostile_text_is_escaped_whole(hostile: str) -> None:
    markdown = escaped(hostile)
    assert bare_specials(markdown) == []
    assert shown(markdown) == re.sub(r"\s+", " ", hostile)


@given(st.text())
def test_any_text_comes_back_up_to_white_space(text: str) -> None:
    markdown = escaped(text)
    assert bare_specials(markdown) == []
    assert words(shown(markdown)) == words(text)
    assert "\n" not in markdown


@given(st.text(alphabet=string.punctuation + " ab\n"))
def test_any_punctuation_comes_back(text: str) -> None:
    markdown = escaped(text)
    assert bare_specials(markdown) == []
    assert words(shown(markdown)) == words(text)


@pytest.mark.parametrize("address", ["https://example.com/a?b=c#d", "http://example.com", "https://example.com:8080/ä"])
def test_web_addresses_are_kept(address: str) -> None:
    assert web_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " https://example.com",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//example.com",
        "https://example.com/) [x](javascript:alert(1)",
        'https://example.com/" onclick="alert(1)',
        "https://example.com/<b>",
        "https://example.com\njavascript:alert(1)",
        "https://example.com\n",
        "https://",
        "vbscript:x https://example.com",
    ],
)
def test_anything_else_is_no_address(address: str) -> None:
    assert web_address(address) == ""


def test_highlighted_spans_are_coloured_and_the_rest_is_unchanged() -> None:
    text = "Cars *and* buses [x]."
    assert highlighted(text, [(0, 4), (11, 16)]) == (
        r":yellow-background[Cars] \*and\* :yellow-background[buses] \[x\]\."
    )


def test_a_span_with_brackets_does_not_end_the_colour_early() -> None:
    assert highlighted("a]b", [(0, 3)]) == r":yellow-background[a\]b]"


def test_marks_have_their_colour_and_note_and_the_rest_is_unchanged() -> None:
    text = "Cars *and* [buses]."
    assert annotated(text, [Mark(11, 18, "#12345633", "P1 P2")]) == (
        r'Cars \*and\* :color[\[buses\]]{background="#12345633"} :small[**P1 P2**]\.'
    )
    assert annotated(text, []) == escaped(text)


def test_without_spans_it_is_the_escaped_text() -> None:
    assert highlighted("5 * 4 < 3", []) == escaped("5 * 4 < 3")


@given(st.text(min_size=1), st.data())
def test_highlighting_loses_nothing(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    markdown = highlighted(text, [(start, stop)])
    before, coloured, after = escaped(text[:start]), escaped(text[start:stop]), escaped(text[stop:])
    assert markdown == f"{before}:yellow-background[{coloured}]{after}"
    assert words(shown(before + coloured + after)) == words(text)


@pytest.mark.parametrize("sign", ["->", "<-", "<->", "--", ">=", "<=", "~=", ":streamlit:"])
@pytest.mark.parametrize("around", ["{}", "a {} b", "a\n{}\tb", "\ufeff{}\ufeff"])
def test_signs_that_would_be_drawn_as_others_are_parted(sign: str, around: str) -> None:
    text = around.format(sign)
    assert sign not in escaped(text).replace("\\", "")
    assert words(shown(escaped(text))) == words(text)


@pytest.mark.parametrize("text", ["well-known", "a->b", "x=1", "--flag", "3 < 4", "- item", ":stream:"])
def test_other_signs_hold_nothing_invisible(text: str) -> None:
    assert JOINER not in escaped(text)


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/a?b=c", "HTTP://evil.example", "www.evil.example", "(Www.e.org)", "a.b+c_d@evil.org"],
)
def test_addresses_are_parted_where_a_link_would_be_seen(address: str) -> None:
    """Front ends look for them in the text that is left once backslashes are gone (GitHub's extension of Markdown)."""
    text = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escaped(f"see {address}, please"))
    assert not re.search(r"https?://|www\.|[-.\w+]@[-\w]+\.", text, re.IGNORECASE)
    assert text.replace(JOINER, "") == f"see {address}, please"


def test_of_markdown_no_picture_is_left() -> None:
    read = without_pictures("**Read** ![p](http://evil.example/p) ![q][r]")
    assert read == f"**Read** !{JOINER}[p](http://evil.example/p) !{JOINER}[q][r]"


@pytest.mark.parametrize("backslashes", range(5))
@pytest.mark.parametrize("form", ["![p](http://evil.example/p)", "![p][r]", "![r]", "[![p](http://evil.example/p)](x)"])
def test_backslashes_before_a_picture_bring_none_back(backslashes: int, form: str) -> None:
    """A backslash put before one that stands there already would free the exclamation mark behind both."""
    markdown = without_pictures("\\" * backslashes + f"{form} *a*\n\n[r]: http://evil.example/r")
    tokens = [t for block in MarkdownIt("commonmark").parse(markdown) for t in block.children or []]
    assert {t.type for t in tokens} >= {"em_open"}
    assert not [t for t in tokens if t.type == "image"]


@pytest.mark.parametrize("name", ["mermaid", " mermaid", "Mermaid", "mer&#109;aid", "mermaid title", "&#x6d;ermaid"])
@pytest.mark.parametrize("mark", ["```", "~~~", "`````", "> ```", "- ~~~", "1. ```", "> - ```"])
def test_no_block_of_code_is_a_diagram(mark: str, name: str) -> None:
    markdown = without_pictures(f"{mark}{name}\n{'  ' * len(mark)}graph TD\n")
    (fence,) = [token for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence"]
    assert unescape(fence.info).split()[0].casefold() != "mermaid"


def test_other_code_stays_as_it_is() -> None:
    text = "`a` and ``b ` c`` and ~~gone~~\n\n```\nplain\n```\n"
    assert without_pictures(text) == text
