"""Chunkers by name: nothing is lost or repeated, limits are kept, and no passage is empty."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.corpora import add_corpus, cut_page, open_corpus
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Passage
from berdseye.data.texts.chunkers import parse_chunker, split_sentences
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace

WORD = st.text("abé,.!?😀\u202e\"'", min_size=1, max_size=9)
TEXTS = st.lists(st.lists(WORD, max_size=40).map(" ".join), max_size=12).map("\n".join) | st.text(max_size=300)
NAMES = ("words(100)", "blocks(100)", "characters(2000)", "sentences(100)", "whole")


@given(TEXTS, st.sampled_from(["words(7)", "blocks(7)", "sentences(7)", "sentences(100)", "characters(2000)", "whole"]))
def test_no_word_is_lost_repeated_or_moved(text: str, name: str) -> None:
    assert " ".join(parse_chunker(name)(text)).split() == clean(text).split()


@given(TEXTS, st.integers(1, 40))
def test_characters_are_cut_inside_words_only_where_a_word_is_too_long(text: str, limit: int) -> None:
    passages = parse_chunker(f"characters({limit})")(text)
    assert "".join("".join(passages).split()) == "".join(clean(text).split())
    if all(len(word) <= limit for word in text.split()):
        assert " ".join(passages).split() == clean(text).split()


@given(TEXTS, st.integers(1, 40))
def test_limits_are_kept_and_no_passage_is_empty(text: str, limit: int) -> None:
    assert all(0 < len(p) <= limit for p in parse_chunker(f"characters({limit})")(text))
    assert all(0 < len(p.split()) <= limit for p in parse_chunker(f"sentences({limit})")(text))
    assert all(0 < len(p.split()) <= limit + 10 for p in parse_chunker(f"words({limit})")(text))
    assert all(p.strip() for p in parse_chunker("whole")(text))


@given(TEXTS, st.integers(5, 60))
def test_no_two_neighbours_fit_into_one_passage(text: str, limit: int) -> None:
    passages = parse_chunker(f"sentences({limit})")(text)
    if all(len(s.split()) <= limit for line in clean(text).splitlines() for s in split_sentences(line)):
        assert all(len(a.split()) + len(b.split()) > limit for a, b in pairwise(passages))


def test_characters_keep_paragraphs_then_sentences_then_words() -> None:
    cut = parse_chunker("characters(40)")
    assert cut("Short one.\nShort two.") == ["Short one.\nShort two."]
    assert cut("A first paragraph of some words.\nA second one of more.") == [
        "A first paragraph of some words.",
        "A second one of more.",
    ]
    assert cut("The first sentence is here. The second sentence is there. The third.") == [
        "The first sentence is here.",
        "The second sentence is there. The third.",
    ]
    assert cut("a sentence without an end that goes on for longer than there is room") == [
        "a sentence without an end that goes on",
        "for longer than there is room",
    ]
    assert cut("x" * 100) == ["x" * 40, "x" * 40, "x" * 20]


def test_blocks_have_exactly_the_words_that_they_are_to_have_whatever_the_paragraphs() -> None:
    words = [f"w{n}" for n in range(250)]
    text = "\n\n".join([" ".join(words[:30]), "A Heading", " ".join(words[30:])])
    tokens = text.split()
    assert parse_chunker("blocks")(text) == [" ".join(tokens[:100]), " ".join(tokens[100:200]), " ".join(tokens[200:])]
    assert [len(p.split()) for p in parse_chunker("words")(text)] != [100, 100, 52]
    assert parse_chunker("blocks(2)")(" \n ") == []


def test_sentences_stay_whole_where_they_fit() -> None:
    cut = parse_chunker("sentences(8)")
    assert cut("One two three. Four five six. Seven eight nine.") == [
        "One two three. Four five six.",
        "Seven eight nine.",
    ]
    assert cut("Dr. Smith paid $3.50 at 5 p.m. Then he left.") == ["Dr. Smith paid $3.50 at 5 p.m.", "Then he left."]
    assert cut("a " * 19 + "b.") == ["a a a a a a a a", "a a a a a a a a", "a a a b."]


@pytest.mark.parametrize("name", [*NAMES, "words( 50 )", "words"])
def test_a_name_is_canonical(name: str) -> None:
    canonical = str(parse_chunker(name))
    assert str(parse_chunker(canonical)) == canonical
    assert parse_chunker(canonical) == parse_chunker(name)
    assert canonical == {"words( 50 )": "words(50)", "words": "words(100)"}.get(name, name)


@pytest.mark.parametrize(
    "name",
    ["words(0)", "words(-3)", "words(1.5)", "words(a)", "words(1,2)", "whole(3)", "words(100) >> whole", "words(n=3)"],
)
def test_an_unknown_chunker_is_named(name: str) -> None:
    with pytest.raises(BadInputError, match="is not a chunker"):
        parse_chunker(name)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean sentences"):
        parse_chunker("sentence(100)")


@pytest.mark.parametrize(
    ("name", "count"), [("words(100)", 3), ("sentences(50)", 6), ("characters(500)", 4), ("whole", 1)]
)
def test_a_corpus_is_cut_by_the_chunker_that_is_named(workspace: Workspace, name: str, count: int) -> None:
    path = workspace.folder / "c.txt"
    path.write_text(" ".join(f"Sentence number {n:03d} is here." for n in range(60)))
    manifest = add_corpus(workspace, "c", path, chunker=name)
    assert (manifest.count, manifest.chunker) == (count, name)


def test_pages_are_cut_by_it_when_they_are_asked_for(workspace: Workspace) -> None:
    path = workspace.folder / "c.txt"
    path.write_text(" ".join(f"Sentence number {n:03d} is here." for n in range(60)))
    add_corpus(workspace, "c", path, kind="pages", chunker="sentences(50)")
    corpus = open_corpus(workspace, "c")
    (page,) = next(corpus.batches())
    assert len(page.text.split()) == 300
    assert corpus.passages(range(6)) == cut_page(page, corpus.chunker)
    assert len(cut_page(page)) == 3


def test_a_page_of_too_many_passages_is_reported(workspace: Workspace) -> None:
    path = workspace.folder / "c.txt"
    path.write_text("word " * 10_001)
    with pytest.raises(BadInputError, match="a page of more than 10,000 passages"):
        add_corpus(workspace, "c", path, kind="pages", chunker="sentences(1)")


def test_cutting_a_page_by_default_is_as_it_was() -> None:
    page = Passage(7, "p", "T", "word " * 250, "u")
    assert [(p.id, p.source_id, len(p.text.split())) for p in cut_page(page)] == [
        (70_000, "p#0", 100),
        (70_001, "p#1", 100),
        (70_002, "p#2", 50),
    ]
