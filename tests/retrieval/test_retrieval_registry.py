"""Names of pipelines."""

import pytest

from data.errors import BadInputError, UnknownNameError
from retrieval.registry import DEFAULT_PIPELINES, parse_pipeline


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("bm25", "bm25"),
        ("bm25()", "bm25"),
        ("bm25(k1=0.9, b=0.40)", "bm25"),
        ("bm25(b=0.75,k1=1.2)", "bm25(k1=1.2,b=0.75)"),
        ("dense", "dense(static)"),
        ("dense( static )", "dense(static)"),
        ("bm25>>mmr(.95)", "bm25 >> mmr(0.95)"),
        ("bm25%100 >> mmr(0.5)", "bm25 >> mmr(0.5)"),
        ("dense(static)%50 >> mmr(1) >> mmr(0)", "dense(static)%50 >> mmr(1) >> mmr(0)"),
        ("bm25 >> mmr(0.123456789)", "bm25 >> mmr(0.123456789)"),
    ],
)
def test_canonical_names(text: str, canonical: str) -> None:
    assert str(parse_pipeline(text)) == canonical
    assert str(parse_pipeline(canonical)) == canonical
    assert parse_pipeline(canonical) == parse_pipeline(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bm52", "Unknown retriever 'bm52'. Did you mean bm25?"),
        ("xyz", "Unknown retriever 'xyz'. Known: bm25, dense."),
        ("bm25 >> mrm(0.5)", "Unknown stage 'mrm'. Did you mean mmr?"),
        ("mmr(0.5)", "Unknown retriever 'mmr'"),
        ("dense(statik)", "Unknown encoder 'statik'. Did you mean static?"),
        ("bm25(k2=1)", "Unknown parameter of bm25 'k2'. Did you mean k1?"),
    ],
)
def test_wrong_names_are_answered_with_the_nearest(text: str, said: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        parse_pipeline(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bm25(1)", "too many arguments"),
        ("dense(static,static)", "too many arguments"),
        ("bm25(k1=high)", "'k1' of bm25 must be a number, not 'high'"),
        ("bm25(k1=-1)", "out of range"),
        ("bm25(b=1.5)", "out of range"),
        ("bm25 >> mmr", "needs a weight between 0 and 1"),
        ("bm25 >> mmr(2)", "needs a weight between 0 and 1"),
        ("bm25 >> mmr(static)", "needs a weight between 0 and 1"),
        ("bm25%10", "needs a stage after it"),
        ("bm25%0 >> mmr(1)", "k is 0"),
        ("bm25%1000000 >> mmr(1)", "k is 1000000"),
        ("bm25 >>", "cannot be read"),
    ],
)
def test_wrong_arguments_are_refused(text: str, said: str) -> None:
    with pytest.raises(BadInputError) as error:
        parse_pipeline(text)
    assert said in str(error.value)


def test_the_default_pipelines_are_canonical() -> None:
    assert tuple(str(parse_pipeline(name)) for name in DEFAULT_PIPELINES) == DEFAULT_PIPELINES
