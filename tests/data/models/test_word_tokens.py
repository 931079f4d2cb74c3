"""Token ids by words are those of the tokenizer, text by text."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.models.word_tokens import SPACE, WordTokens

WORDS = [
    "bans",
    "cars.",
    "the",
    "The",
    "naïve",
    "日本語",
    "a\nb",
    "x\ty",
    "",
    " ",
    "  ",
    SPACE,
    "<s>",
    "</s>",
    "<unk>",
    "🙂",
    "don't",
]
TEXTS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.text(st.characters(exclude_categories=["Cs"]))
    ),
    max_size=40,
)


def separate(words: WordTokens, texts: list[str]) -> list[list[int]]:
    flat, ends = words.encode(texts)
    assert (ends[0], ends[-1], len(ends)) == (0, len(flat), len(texts) + 1)
    return [flat[a:b].tolist() for a, b in pairwise(ends)]


@given(TEXTS)
def test_they_are_the_tokenizers_own(texts: list[str]) -> None:
    embedding = static_embedding()
    assert separate(WordTokens(embedding.tokenizer, most=5), texts) == embedding.token_ids(texts)
    assert separate(WordTokens(embedding.tokenizer), texts * 3) == embedding.token_ids(texts * 3)


def test_no_token_reaches_from_one_word_into_the_next() -> None:
    assert not [token for token in static_embedding().tokenizer.get_vocab() if SPACE in token.lstrip(SPACE)]


def test_threads_share_what_is_known() -> None:
    embedding = static_embedding()
    words = WordTokens(embedding.tokenizer, most=50)
    batches = [[f"word{n} of {n + m} and {m}" for m in range(30)] for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda batch: separate(words, batch), batches))
    assert found == [embedding.token_ids(batch) for batch in batches]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17])
def test_any_number_of_texts(count: int) -> None:
    embedding = static_embedding()
    texts = ["Cars are loud."] * count
    assert separate(WordTokens(embedding.tokenizer), texts) == embedding.token_ids(texts)
    assert embedding.encode(texts).shape == (count, embedding.dimension)
    assert np.isfinite(embedding.encode(["", *texts])).all()
