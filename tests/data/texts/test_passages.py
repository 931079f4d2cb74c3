"""Cutting documents into passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.texts.passages import clean, cut

LINES = st.lists(st.lists(st.text("abé.,!😀\u202e", min_size=1, max_size=6), max_size=40).map(" ".join), max_size=12)


@given(LINES.map("\n".join), st.integers(1, 30))
def test_no_word_is_lost_repeated_or_moved(text: str, words: int) -> None:
    assert " ".join(cut(text, words)).split() == clean(text).split()


@given(st.text(), st.integers(1, 30))
def test_any_text_can_be_cut(text: str, words: int) -> None:
    assert " ".join(cut(text, words)).split() == clean(text).split()


@given(LINES.map("\n".join), st.integers(1, 30))
def test_passages_keep_to_the_limit_and_are_never_empty(text: str, words: int) -> None:
    lengths = [len(passage.split()) for passage in cut(text, words)]
    assert all(1 <= length <= words + 10 for length in lengths)


def test_a_heading_stays_with_what_it_heads() -> None:
    first, second = "one " * 60 + "end.", "two " * 60 + "end."
    passages = list(cut(f"{first}\nWhat the critics say\n{second}"))
    assert passages == [first, f"What the critics say {second}"]


def test_short_paragraphs_share_a_passage() -> None:
    assert list(cut("First words here.\n\nMore words here.")) == ["First words here. More words here."]


def test_a_long_paragraph_is_cut_every_hundred_words() -> None:
    lengths = [len(p.split()) for p in cut("word " * 349 + "end.")]
    assert lengths == [100, 100, 100, 50]


@pytest.mark.parametrize("text", ["", " \n\t ", "\0\x01\n\x7f"])
def test_a_text_without_words_gives_no_passage(text: str) -> None:
    assert list(cut(text)) == []


def test_control_characters_and_lone_surrogates_go() -> None:
    assert clean("a\0b\x1b[31m\ud800c") == "a b [31m?c"


def test_marks_that_only_show_differently_stay() -> None:
    assert clean("\u202eright to left\u202c 😀 <b>bold</b>") == "\u202eright to left\u202c 😀 <b>bold</b>"
