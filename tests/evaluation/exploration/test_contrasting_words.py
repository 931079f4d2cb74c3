"""Words that set two groups of texts apart, held against figures worked out by hand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.evaluation.exploration.contrasting_words import contrasting_words, most_typical, words_chart
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS

WORDS = TOKENIZERS["words"]


def test_a_case_worked_out_by_hand() -> None:
    """Ten words in all, so that a prior of 10 words gives each word as many as it has."""
    found = contrasting_words(["cat cat cat dog"], ["dog dog cat cow cow cow"], tokenizer=WORDS, prior_words=10)
    cat = found.set_index("word").loc["cat"]
    # cat: 3 of 4 and 1 of 6, prior 4 of 10: log(7 / 7) - log(5 / 11), with variance 1/7 + 1/5
    assert cat["log_odds"] == pytest.approx(math.log(11 / 5))
    assert cat["z"] == pytest.approx(math.log(11 / 5) / math.sqrt(1 / 7 + 1 / 5))
    cow = found.set_index("word").loc["cow"]
    # cow: 0 of 4 and 3 of 6, prior 3 of 10: log(3 / 11) - log(6 / 10), with variance 1/3 + 1/6
    assert cow["z"] == pytest.approx((math.log(3 / 11) - math.log(6 / 10)) / math.sqrt(1 / 3 + 1 / 6))
    assert found["word"].tolist() == ["cat", "dog", "cow"], "from the first group's to the second's"
    assert found[["first", "second"]].to_numpy().tolist() == [[3, 1], [1, 2], [0, 3]]


def test_the_background_weighs_in_the_prior_alone() -> None:
    found = contrasting_words(["cat dog"], ["cow dog"], ["cat cat cat bird"], tokenizer=WORDS, prior_words=8)
    assert set(found["word"]) == {"cat", "cow", "dog"}, "bird is in neither group"
    cat = found.set_index("word").loc["cat"]
    # 8 words in all, 4 of them cat: log(5 / 5) - log(4 / 6), with variance 1/5 + 1/4
    assert cat["z"] == pytest.approx(math.log(6 / 4) / math.sqrt(1 / 5 + 1 / 4))


def test_words_of_one_stem_are_one_under_their_commonest_form() -> None:
    found = contrasting_words(["taxes taxes tax taxing"], ["roads"])
    assert found.iloc[0][["word", "first"]].tolist() == ["taxes", 4]


def test_nothing_and_stop_words_alone_give_no_rows() -> None:
    assert contrasting_words([], []).empty
    assert contrasting_words(["the of and"], []).empty
    assert most_typical(contrasting_words([], []), 5).empty


def test_a_prior_without_weight_is_refused() -> None:
    with pytest.raises(BadInputError, match="above 0"):
        contrasting_words(["a cat"], ["a dog"], prior_words=0)


texts = st.lists(st.text(alphabet="ab c", max_size=12).map(lambda t: t.replace("a", "ox ").replace("b", "yak ")))


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_changing_sides_changes_signs_and_nothing_else(first: list[str], second: list[str]) -> None:
    there = contrasting_words(first, second, tokenizer=WORDS).set_index("word")["z"]
    back = contrasting_words(second, first, tokenizer=WORDS).set_index("word")["z"]
    assert there.sort_index().tolist() == pytest.approx((-back).sort_index().tolist())
    same = contrasting_words(first, first, tokenizer=WORDS)["z"]
    assert same.abs().max() < 1e-9 if len(same) else True


def test_the_most_telling_words_lean_to_their_group() -> None:
    telling = most_typical(contrasting_words(["cat cat cow both"], ["dog dog pig both"], tokenizer=WORDS), 1)
    assert telling[["word", "group"]].to_numpy().tolist() == [["cat", "first"], ["dog", "second"]]
    drawn = words_chart(telling, ("For", "Against")).to_dict()
    assert drawn["encoding"]["color"]["scale"]["domain"] == ["For", "Against"]
