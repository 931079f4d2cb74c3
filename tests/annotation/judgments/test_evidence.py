"""Evidence: spans in code points, merged, refused where they are none of the passage."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.annotation.judgments.recorded import evidence_json, evidence_spans, merged, quotes
from berdseye.data.errors import BadInputError

PASSAGE = "𝒳 one. 😀 two. Three."


def test_spans_are_characters_of_the_passage() -> None:
    stored = evidence_json([(7, 13)], PASSAGE)
    assert stored == "[[7, 13]]"
    assert quotes(PASSAGE, stored) == ("😀 two.",)
    assert evidence_json([], PASSAGE) is None
    assert quotes(PASSAGE, None) == evidence_spans(None) == ()


@pytest.mark.parametrize("span", [(3, 3), (5, 4), (-1, 2), (0, len(PASSAGE) + 1)])
def test_what_is_not_within_the_passage_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(BadInputError, match="not within the passage"):
        evidence_json([span], PASSAGE)


def test_a_thousand_spans_are_refused() -> None:
    with pytest.raises(BadInputError, match="spans of evidence"):
        evidence_json([(2 * n, 2 * n + 1) for n in range(1000)], "x" * 2000)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)).map(lambda t: (t[0], t[0] + t[1])), max_size=12))
def test_merged_spans_cover_the_same_characters_once(spans: list[tuple[int, int]]) -> None:
    found = merged(spans)
    assert {n for start, end in found for n in range(start, end)} == {
        n for start, end in spans for n in range(start, end)
    }
    assert all(before[1] < after[0] for before, after in pairwise(found))
    assert evidence_spans(evidence_json(spans, "x" * 60)) == found
    assert json.loads(evidence_json(spans, "x" * 60) or "[]") == [list(span) for span in found]
