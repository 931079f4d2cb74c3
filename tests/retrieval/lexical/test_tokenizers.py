"""From texts to terms."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.retrieval.lexical.tokenizers import TOKENIZERS, Tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "text", "terms"),
    [
        ("english", "The Cars are a banned BANNING x!", ["car", "ban", "ban"]),
        ("porter", "The Cars are a banned BANNING x!", ["car", "ban", "ban"]),
        ("words", "The Cars are a banned BANNING x!", ["the", "cars", "are", "banned", "banning"]),
        ("spaces", "The Cars are a banned!", ["The", "Cars", "are", "a", "banned!"]),
        # The two stemmers differ: Snowball's English one ("Porter 2") knows more exceptions and endings.
        ("english", "generously skies news", ["generous", "sky", "news"]),
        ("porter", "generously skies news", ["gener", "ski", "new"]),
        ("english", "state-of-the-art e-mail 3d covid19 3.5", ["state", "art", "mail", "3d", "covid19"]),
        ("english", "it's the dog's", ["dog"]),
        (
            "english",
            "ÉCOLE naïve Straße ΣΊΣΥΦΟΣ 东京都 Ünïcödé",
            ["école", "naïv", "straße", "σίσυφοσ", "东京都", "ünïcödé"],
        ),
        ("english", "and or not", []),
        ("words", "a b c", []),
        ("english", "", []),
        ("english", "\ud800cars\udfff \x00trams\u202e", ["car", "tram"]),
        ("spaces", "", [""]),
        ("spaces", " two  spaces", ["", "two", "", "spaces"]),
        ("spaces", "one\ntoken\tstays whole\u00a0here", ["one\ntoken\tstays", "whole\u00a0here"]),
        ("spaces", "a\ud800b c", ["a?b", "c"]),
    ],
)
def test_terms(tokenizer: str, text: str, terms: list[str]) -> None:
    assert TOKENIZERS[tokenizer].terms(text) == terms


def test_lucene_s_stop_words_are_left_out_and_no_others() -> None:
    """The 33 of Lucene's EnglishAnalyzer."""
    lucene = (
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
        "to was will with"
    )
    for name in ("english", "porter"):
        assert TOKENIZERS[name].terms(lucene) == []
        assert (
            len(TOKENIZERS[name].terms("he she we you have has had from which who what were been do does did can"))
            == 17
        )


def test_names_are_the_keys() -> None:
    assert {name: t.name for name, t in TOKENIZERS.items()} == {name: name for name in TOKENIZERS}


ASSIGNED = st.characters(exclude_categories=["Cn"])


def terms_of(tokenizer: Tokenizer, tokens: list[str]) -> list[str]:
    return [term for term in map(tokenizer.term, tokens) if term is not None]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(ASSIGNED, max_size=60), max_size=5), st.sampled_from(sorted(TOKENIZERS)))
def test_texts_of_an_index_and_queries_are_taken_apart_alike(texts: list[str], name: str) -> None:
    """Those of an index all at once by Arrow, a query by itself in Python."""
    tokenizer = TOKENIZERS[name]
    found = tokenizer.tokens(texts).to_pylist()
    assert [terms_of(tokenizer, tokens) for tokens in found] == [tokenizer.terms(text) for text in texts]


def test_every_character_is_taken_alike() -> None:
    """But for those that Python's Unicode does not know yet."""
    characters = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Cs")]
    tokenizer = TOKENIZERS["words"]
    lines = [
        "".join(f"xx{c}yy {c}{c} " for c in characters[start : start + 500]) for start in range(0, len(characters), 500)
    ]
    for line, tokens in zip(lines, tokenizer.tokens(lines).to_pylist(), strict=True):
        assert terms_of(tokenizer, tokens) == tokenizer.terms(line)
