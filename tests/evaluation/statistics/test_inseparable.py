"""Groups of systems that cannot be told apart: worked by hand, and as properties of any comparisons."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from berdseye.evaluation.statistics.significance import Comparison, inseparable, letters


def compared(a: str, b: str, p: float) -> Comparison:
    return Comparison(a, b, 0.1, 0.0, 0.2, 9, 0, "t", p, p)


def test_groups_overlap_and_need_not_be_neighbours() -> None:
    # a differs from d and from b; b from d. Between a and b stands nobody: a-c, b-c and c-d are the groups.
    comparisons = [compared("a", "d", 0.01), compared("b", "d", 0.04), compared("a", "b", 0.001),
                   compared("a", "c", 0.2), compared("b", "c", 0.9), compared("c", "d", 0.3)]  # fmt: skip
    assert inseparable(["a", "b", "c", "d"], comparisons) == [["a", "c"], ["b", "c"], ["c", "d"]]
    assert letters(["a", "b", "c", "d"], comparisons) == {"a": "a", "b": "b", "c": "abc", "d": "c"}


def test_one_alone_and_none_at_all() -> None:
    assert letters(["a"], []) == {"a": "a"}
    assert letters([], []) == {}
    assert letters(["b", "a"], [compared("a", "b", 0.01), compared("a", "gone", 0.01)]) == {"b": "a", "a": "b"}


def test_past_z_letters_are_kept_apart() -> None:
    names = [f"s{n}" for n in range(28)]
    told = letters(names, [compared(a, b, 0.01) for a, b in combinations(names, 2)])
    assert [told["s0"], told["s25"], told["s26"], told["s27"]] == ["a", "z", "aa", "ab"]


@given(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.sampled_from([*combinations(range(8), 2)]))))
)
def test_two_share_a_letter_exactly_where_they_were_not_found_to_differ(
    drawn: tuple[int, set[tuple[int, int]]],
) -> None:
    size, apart = drawn
    names = [f"s{n}" for n in range(size)]
    told = letters(names, [compared(f"s{a}", f"s{b}", 0.01) for a, b in apart])
    assert all(told.values())
    for a, b in combinations(range(size), 2):
        assert bool(set(told[names[a]]) & set(told[names[b]])) == ((a, b) not in apart)
