"""Names of Lucene rankers."""

import pytest

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import parse
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lucene.ranker import Lucene, lucene_ranker


@pytest.mark.parametrize(
    ("text", "name", "ranker"),
    [
        ("lucene(wikipedia-dpr-100w)", None, Lucene("wikipedia-dpr-100w")),
        ("lucene(/indexes/wiki,k1=0.9,b=0.4)", "lucene(/indexes/wiki)", Lucene("/indexes/wiki")),
        ('lucene("/my indexes/wiki/", k1=1.2)', 'lucene("/my indexes/wiki",k1=1.2)', None),
        ("lucene(index=wiki,b=0)", "lucene(wiki,b=0)", Lucene("wiki", BM25(b=0))),
        ("lucene(wiki,scoring=qld,mu=1000)", "lucene(wiki,scoring=qld)", Lucene("wiki", QueryLikelihood())),
        ("lucene(wiki,scoring=qld,mu=500)", None, Lucene("wiki", QueryLikelihood(500))),
    ],
)
def test_names_are_canonical(text: str, name: str | None, ranker: Lucene | None) -> None:
    read = lucene_ranker(parse(text)[0])
    assert read.name == (name or text)
    assert ranker is None or read == ranker
    assert lucene_ranker(parse(read.name)[0]) == read
    assert read.indexers == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lucene", "index"),
        ("lucene()", "index"),
        ("lucene(wiki,b=2)", "b must be"),
        ("lucene(wiki,k1=high)", "must be a number"),
        ("lucene(wiki,scoring=qld,mu=0)", "mu must be"),
        ("lucene(wiki,1.2)", "too many arguments"),
    ],
)
def test_wrong_values_are_reported(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        lucene_ranker(parse(text)[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lucene(wiki,scoring=bm24)", "Did you mean bm25"),
        ("lucene(wiki,scoring=qld,k1=1)", "parameter of lucene 'k1'"),
        ("lucene(wiki,mu=1000)", "parameter of lucene 'mu'"),
    ],
)
def test_parameters_that_belong_elsewhere_are_reported(text: str, said: str) -> None:
    with pytest.raises(UnknownNameError, match=said):
        lucene_ranker(parse(text)[0])
