"""Shares, locations and extraction by hand, and rankings kept in the workspace."""

from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.datasets.pir_tasks import PirTask, pir_task
from berdseye.data.errors import BadInputError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import Completion
from berdseye.data.records import Ids
from berdseye.data.workspace import Workspace
from berdseye.evaluation.pir.measures import (
    ELSEWHERE,
    extractions,
    location_matrix,
    perspective_shares,
    root_places,
    shares_over_roots,
    with_perspectives,
)
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.retrieval.pipeline_registry import parse_pipeline


def task(**changed: Any) -> PirTask:
    """Two roots: a has passages 0 and 1 for and 2 against, b has 3 for and 4 against; 5 is nobody's."""
    held = {
        "corpus": ["p0", "p1", "p2", "p3", "p4", "p5"],
        "source_queries": ["a", "a", "a", "b", "b"],
        "queries": ["for a", "against a", "about a", "for b", "against b"],
        "perspectives": ["for", "against", "about", "for", "against"],
        "query_labels": ["SUPPORT", "undermine", "general", "support", "undermine"],
        "key_ref": {"0": [0, 1], "1": [2], "2": [0, 1, 2], "3": [3], "4": [4]},
    }
    return pir_task({**held, **changed}, Path("two.json"))


def test_shares_by_hand() -> None:
    """Root a finds 0, 1 and 2, root b finds 4 (passage 0 is no answer to b): support 2 of 4, undermine 2 of 4.

    In the corpus 3 of 5 relevant passages support: 0, 1 and 3. 'general' is no side.
    """
    support, undermine = perspective_shares(task(), ["a", "b"], np.array([[0, 1, 2, 5], [4, 0, 5, -1]]))
    assert (support.label, undermine.label) == ("support", "undermine")
    assert (support.retrieved.value, undermine.retrieved.value) == (0.5, 0.5)
    assert (support.corpus, undermine.corpus) == (pytest.approx(3 / 5), pytest.approx(2 / 5))
    assert support.retrieved.n == 2
    assert isnan(support.retrieved.low), "two roots give no interval"


def test_shares_over_many_roots_have_the_interval_of_a_ratio() -> None:
    """Of 400 roots with one passage each, half support: the ratio is a mean of 0s and 1s, half the interval 1.96 * .5 / 20."""
    share = shares_over_roots(np.array([[1.0, 0.0], [0.0, 1.0]] * 200))[0]
    assert (share.value, share.n) == (0.5, 400)
    assert share.high - share.value == pytest.approx(0.049, abs=0.005)
    assert share.value - share.low == pytest.approx(0.049, abs=0.005)


def test_shares_of_nothing_found_have_no_value() -> None:
    shares = perspective_shares(task(), ["a", "b"], np.array([[5, 3], [0, 5]]))
    assert all(isnan(s.retrieved.value) and isnan(s.retrieved.low) and s.retrieved.n == 0 for s in shares)


@given(st.lists(st.lists(st.integers(-1, 5), min_size=3, max_size=3, unique=True), min_size=2, max_size=2))
def test_shares_sum_to_one_and_lie_in_their_intervals(rows: list[list[int]]) -> None:
    shares = perspective_shares(task(), ["a", "b"], np.array(rows))
    if shares[0].retrieved.n:
        assert sum(s.retrieved.value for s in shares) == pytest.approx(1)
        assert all(
            isnan(s.retrieved.low) or s.retrieved.low - 1e-9 <= s.retrieved.value <= s.retrieved.high + 1e-9
            for s in shares
        )


def news() -> PirTask:
    """Passage 0 is the one to find for Niger, 1 for Nigeria; 2 names Nigeria, 3 no place, 4 both, Nigeria first."""
    return task(
        corpus=["From the Sahel.", "From Lagos.", "In Nigeria today.", "Somewhere.", "Nigeria and Niger.", "x"],
        perspectives=[
            "happened in Niger and similar to the following news",
            "relates to Sports",
            "happened in Nigeria",
            "happened in Niger",
            "relates to Sports",
        ],
        key_ref={"0": [0], "1": [3], "2": [1], "3": [0], "4": [5]},
    )


def test_the_location_matrix_by_hand() -> None:
    """Niger is asked for twice: found 0 (Niger), 2 (Nigeria), then 4 (Nigeria), 3 (elsewhere): a quarter, a half, a quarter.

    Nigeria is asked for once: 1 (Nigeria) and padding. The other queries ask for no place.
    """
    found = np.array([[0, 2], [0, 1], [1, -1], [4, 3], [0, 1]])
    matrix = location_matrix(news(), found).set_index(["asked", "retrieved"])
    assert matrix["share"].to_dict() == {
        ("Niger", "Niger"): 0.25,
        ("Niger", "Nigeria"): 0.5,
        ("Niger", ELSEWHERE): 0.25,
        ("Nigeria", "Niger"): 0.0,
        ("Nigeria", "Nigeria"): 1.0,
        ("Nigeria", ELSEWHERE): 0.0,
    }
    assert matrix.loc[("Niger", "Niger"), "queries"] == 2


def test_the_places_of_root_queries_by_hand() -> None:
    """Root a finds 0 (Niger) and 2 (Nigeria), root b 4 (Nigeria), 3 (elsewhere) and padding: a quarter, a half, a quarter.

    Of the six passages, 0 is from Niger, 1, 2 and 4 from Nigeria, 3 and 5 from elsewhere.
    """
    shares = root_places(news(), np.array([[0, 2, -1], [4, 3, -1]]))
    assert [(s.label, s.retrieved.value, s.retrieved.n, s.corpus) for s in shares] == [
        ("Niger", 0.25, 2, pytest.approx(1 / 6)),
        ("Nigeria", 0.5, 2, 0.5),
        (ELSEWHERE, 0.25, 2, pytest.approx(1 / 3)),
    ]
    assert root_places(task(), np.zeros((2, 2), dtype=np.int64)) == []


def test_a_task_without_places_has_no_matrix() -> None:
    assert location_matrix(task(), np.zeros((5, 2), dtype=np.int64)).empty


class Namer:
    """A language model that names the first word of a query, and nothing in those that begin with 'about'."""

    name, version = "api(namer)", "1"

    def complete(self, prompts: Any, *, ready: Any, **_: Any) -> list[Completion]:
        done = []
        for place, prompt in enumerate(prompts):
            query = prompt[-1].content.split("<query>\n")[1].split("\n</query>")[0]
            first = query.split()[0]
            named = "" if first == "about" else f"{first} it"
            done.append(Completion(f'{{"root": "r", "perspective": "{named}"}}', 1, 1, 0.0))
            ready(place, done[-1])
        return done


def test_extraction_by_hand(workspace: Workspace) -> None:
    """'for it' against 'for': one word of two in common, 1/2; where nothing is named, 0."""
    named = extractions(task(), Namer(), CompletionCache(workspace), 50)
    assert named.places.tolist() == [0, 1, 2, 3, 4]
    assert named.named == ["for it", "against it", "", "for it", "against it"]
    assert named.overlap.tolist() == [0.5, 0.5, 0.0, 0.5, 0.5]


def test_a_sample_is_seeded_and_without_repeats(workspace: Workspace) -> None:
    cache = CompletionCache(workspace)
    one, same, other = (extractions(task(), Namer(), cache, 3, seed=s).places.tolist() for s in (0, 0, 5))
    assert one == same == sorted(set(one))
    assert len(one) == 3
    assert one != other
    with pytest.raises(BadInputError, match="at least 1 query"):
        extractions(task(), Namer(), cache, 0)


def test_queries_are_asked_with_a_perspective_before_the_root() -> None:
    asked = with_perspectives(task().queries[:2], ["for it", "against"])
    assert [(q.text, q.root, q.perspective) for q in asked] == [
        ("for it a", "a", "for it"),
        ("against a", "a", "against"),
    ]


def test_rankings_are_kept(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was ranked once is not ranked again, by another process either, until something changes."""
    words = task(corpus=["for a", "a", "against a", "for b", "against b", "c"])
    search, pipeline = TaskSearch(words, workspace), parse_pipeline("bm25")
    first = search.ranked(pipeline, search.asked(), 2)
    calls = []

    def counted(*asked: object, **_: object) -> tuple[Ids, None]:
        calls.append(asked)
        return first, None

    monkeypatch.setattr("berdseye.evaluation.pir.task_search.search_passages", counted)
    again = TaskSearch(words, workspace)
    assert again.ranked(pipeline, again.asked(), 2).tolist() == first.tolist()
    assert calls == []
    again.ranked(pipeline, again.asked(), 3)
    again.ranked(pipeline, again.bare(), 2)
    again.ranked(parse_pipeline("bm25(k1=2)"), again.asked(), 2)
    assert len(calls) == 3
    assert TaskSearch(task(), workspace).digest != search.digest
