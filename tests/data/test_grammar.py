"""The grammar of names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Call, parse, show, show_name

WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.+:/-]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_characters='"', exclude_categories=("Cs", "Cc")), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.none() | st.integers(0, 10_000)


def calls(arguments: st.SearchStrategy[object]) -> st.SearchStrategy[Call]:
    return st.builds(
        Call,
        WORDS,
        st.lists(arguments, max_size=3).map(tuple),
        st.dictionaries(WORDS, arguments, max_size=2),
        COUNTS,
        COUNTS,
    )


CALLS = calls(st.recursive(WORDS | TEXTS | NUMBERS, calls, max_leaves=6))


@settings(max_examples=50, deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=3))
def test_a_canonical_name_reads_back_as_itself(chain: list[Call]) -> None:
    text = " >> ".join(map(str, chain))
    assert " >> ".join(map(str, parse(text))) == text


@settings(deadline=None)
@given(st.text('abf(),=@%>1.-/" ', max_size=15))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        canonical = " >> ".join(map(str, parse(text)))
    except BadInputError:
        return
    assert " >> ".join(map(str, parse(canonical))) == canonical


@settings(deadline=None)
@given(NUMBERS)
def test_a_number_keeps_its_value(number: float) -> None:
    assert parse(f"f({show(number)})")[0].args == (number,)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("bm25", "bm25"),
        ("bm25( k1 = 0.90 , b=.4 )", "bm25(k1=0.9,b=0.4)"),
        ("dense(facebook/contriever-msmarco)%100", "dense(facebook/contriever-msmarco)%100"),
        ("MRecall@5", "MRecall@5"),
        ("mmr(1)", "mmr(1)"),
        ("mmr(0.12345678)", "mmr(0.12345678)"),
        ('lora("my models/one")', 'lora("my models/one")'),
        ('lora("3b-model")', 'lora("3b-model")'),
        ("hybrid(bm25(k1=1),dense(static),alpha=0.1)", "hybrid(bm25(k1=1),dense(static),alpha=0.1)"),
    ],
)
def test_names_of_the_design(text: str, canonical: str) -> None:
    assert [str(call) for call in parse(text)] == [canonical]


def test_calls_follow_one_another() -> None:
    assert [call.name for call in parse("human>embedded")] == ["human", "embedded"]
    assert [call.name for call in parse("bm25%50 >> mmr(0.95)")] == ["bm25", "mmr"]
    assert parse("bm25%50 >> mmr(0.95)")[0].keep == 50


@pytest.mark.parametrize("text", ["", " ", "bm25(", "bm25)", "a b", "a >>", "@5", "f(1,)", "f(%)", "naïve", "f(1;2)"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        parse(text)


def test_the_error_points_at_the_place() -> None:
    with pytest.raises(BadInputError, match=r"after 'dense\(static '"):
        parse("dense(static again)")


@pytest.mark.parametrize("text", ["f(a=1,a=2)", "f(a=1,b=2,a=1)", "g(f(a=1,a=1))", "a >> f(a=x,a=y)"])
def test_an_argument_given_twice_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="'a' of f is given twice") as error:
        parse(text)
    assert "\n" not in str(error.value)
    assert [str(c) for c in parse("f(g(a=1),h(a=2),a=3)")] == ["f(g(a=1),h(a=2),a=3)"]


def test_calls_inside_one_another() -> None:
    assert str(parse("f(" * 20 + ")" * 20)[0]) == "f(" * 19 + "f" + ")" * 19
    with pytest.raises(BadInputError, match="too many nested parentheses"):
        parse("f(" * 5_000 + ")" * 5_000)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("static", "static"),
        ("facebook/contriever-msmarco", "facebook/contriever-msmarco"),
        ("./models/one", "./models/one"),
        ("api(NAME)", "api(NAME)"),
        ('api("3b")', 'api("3b")'),
        ("my models/one", '"my models/one"'),
        ("3b-model", '"3b-model"'),
        ("a%5", '"a%5"'),
        ("a@5", '"a@5"'),
        ("a>b", '"a>b"'),
        ("api( NAME )", '"api( NAME )"'),
        ("", '""'),
    ],
)
def test_a_name_as_an_argument(name: str, shown: str) -> None:
    assert show_name(name) == shown
    (value,) = parse(f"f({shown})")[0].args
    assert str(value) == name


@settings(deadline=None)
@given(TEXTS | WORDS)
def test_any_name_can_be_an_argument(name: str) -> None:
    (value,) = parse(f"f({show_name(name)})")[0].args
    assert str(value) == name
