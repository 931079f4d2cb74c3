"""Features: finite for any text, the same in any company, and pointing the right way."""

import time

import numpy as np
import pytest

from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import Pair
from berdseye.detectors.features import FEATURE_NAMES, features, sentences

PASSAGE = (
    "Zoos breed rare animals. Their keepers have brought back the Arabian oryx! Few visitors know this. "
    "However, cages do not give an elephant the room it needs; many fall ill."
)
STATEMENT = "Zoos protect rare animals."
ODD_TEXTS = [
    "",
    " \n\t",
    "...!?",
    "حدائق الحيوان تحمي الأنواع النادرة. هذا رأي شائع.",
    "🦁🐘 zoos 👩‍👩‍👧 are \U0001f600",
    "a\x00b\x1b[31m zoo",
    "broken \ud800 surrogate",
]


def value(pair: Pair, name: str) -> float:
    return float(features([pair])[0, FEATURE_NAMES.index(name)])


@pytest.mark.parametrize("odd", ODD_TEXTS)
def test_any_text_gives_finite_features(odd: str) -> None:
    found = features([Pair(odd, STATEMENT), Pair(PASSAGE, odd), Pair(odd, odd)])
    assert found.dtype == np.float32
    assert found.shape == (3, len(FEATURE_NAMES))
    assert np.isfinite(found).all()


def test_no_pairs_give_no_rows() -> None:
    assert features([]).shape == (0, len(FEATURE_NAMES))


def test_a_pair_has_the_same_features_in_any_company() -> None:
    pairs = [Pair(p, q) for p in [PASSAGE, *ODD_TEXTS[:-1], PASSAGE * 30] for q in [STATEMENT, "No.", PASSAGE]]
    together = features(pairs)
    alone = np.concatenate([features([p]) for p in pairs])
    np.testing.assert_allclose(together, alone, atol=2e-5)
    np.testing.assert_allclose(features(pairs[::-1])[::-1], together, atol=2e-5)


def test_more_passages_than_one_block_holds_keep_their_rows() -> None:
    pairs = [Pair(f"Zoo number {i} keeps {i % 7} bears. It rains.", STATEMENT) for i in range(1200)]
    found = features(pairs)
    for i in (0, 511, 512, 1023, 1024, 1199):
        np.testing.assert_allclose(found[i], features([pairs[i]])[0], atol=2e-5)


def test_cosine_is_that_of_the_embedding() -> None:
    one_sentence = "zoos breed rare animals and study them"
    vectors = static_embedding().encode([one_sentence, STATEMENT.lower()])
    assert value(Pair(one_sentence, STATEMENT), "cosine") == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-5)


def test_the_best_sentence_counts_not_the_first() -> None:
    buried = f"It rained in Oslo. The tram was late. {STATEMENT} Nobody had an umbrella."
    assert value(Pair(buried, STATEMENT), "sentence_max") == pytest.approx(1.0, abs=1e-4)
    assert value(Pair(buried, STATEMENT), "cosine") < 0.95


def test_a_passage_that_holds_the_perspective_matches_every_token() -> None:
    pair = Pair(f"It rained. {STATEMENT} It stopped.", STATEMENT)
    for name in ("overlap", "overlap_weighted", "token_match", "token_match_least"):
        assert value(pair, name) == pytest.approx(1.0, abs=1e-4), name
    assert value(Pair("It rained in Oslo", "Trade unions strike"), "overlap") == 0.0


def test_negation_is_counted_in_its_short_form_and_near_the_perspective() -> None:
    assert value(Pair(PASSAGE, "Zoos don't protect animals"), "negation_perspective") == 1.0
    assert value(Pair(PASSAGE, "Zoos do not protect animals"), "negation_perspective") == 1.0
    assert value(Pair(PASSAGE, STATEMENT), "negation_perspective") == 0.0
    on_elephants = value(Pair(PASSAGE, "Cages are too small for an elephant"), "negation_near")
    on_oryx = value(Pair(PASSAGE, "Keepers brought back the Arabian oryx"), "negation_near")
    assert on_elephants > on_oryx


def test_valence_distinguishes_praise_from_blame() -> None:
    praise, blame = "a useful and healthy success", "a harmful and dangerous failure"
    assert value(Pair(praise, STATEMENT), "valence_passage") > 0 > value(Pair(blame, STATEMENT), "valence_passage")
    agreement = "valence_passage*valence_perspective"
    assert value(Pair(praise, praise), agreement) > 0 > value(Pair(praise, blame), agreement)


def test_sentences_end_at_punctuation_and_an_empty_text_is_one() -> None:
    assert sentences('He said "no." She left; why? 3.5 km') == ['He said "no.', "She left;", "why?", "3.5 km"]
    assert sentences("") == [""]
    assert len(sentences("Go. " * 500)) == 64


def test_a_passage_of_100000_characters_is_read_fast() -> None:
    features([Pair(PASSAGE, STATEMENT)])
    long = (PASSAGE + " ") * (100_000 // len(PASSAGE) + 1)
    start = time.perf_counter()
    found = features([Pair(long, STATEMENT), Pair("x" * 100_000, STATEMENT), Pair(PASSAGE, long)])
    assert time.perf_counter() - start < 2.0
    assert np.isfinite(found).all()
