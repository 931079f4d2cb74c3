"""Keys of pairs."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.records import Pair, pair_key


def test_composed_and_decomposed_text_have_one_key() -> None:
    composed, decomposed = "café", unicodedata.normalize("NFD", "café")
    assert composed != decomposed
    assert pair_key(composed, "é") == pair_key(decomposed, "e\u0301")


def test_it_matters_where_one_text_ends() -> None:
    assert pair_key("ab", "c") != pair_key("a", "bc")
    assert pair_key("abc", "") != pair_key("", "abc")


@given(st.text(), st.text())
def test_the_order_of_the_texts_matters(one: str, other: str) -> None:
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert (pair_key(one, other) == pair_key(other, one)) is same


def test_keys_never_change() -> None:
    """Stored labels and judgments hang on it: blake2b-128 of each NFC text after its length in eight bytes."""
    assert Pair("A passage.", "A view.").key == pair_key("A passage.", "A view.")
    assert pair_key("A passage.", "A view.") == "64463aedf25c5d6c1066696b9a6705b8"


def test_a_lone_surrogate_has_a_key() -> None:
    assert len(pair_key("\ud800", "x")) == 32
