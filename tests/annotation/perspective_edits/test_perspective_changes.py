"""What edits do to the perspectives of a question, held against properties that must hold for any of them."""

import json
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.annotation.judgments.log import Annotator
from berdseye.annotation.perspective_edits.changes import Change, ConflictError, chosen_parts
from berdseye.annotation.perspective_edits.states import Decision, Edit, History, Replayed, overlaps, replay
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Perspective, Question

A, B, C = (Perspective(f"{letter} is right.") for letter in "ABC")
NEW, OTHER = Perspective("New.", "opposing"), Perspective("Other.", "supporting")


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (Change.of("propose", [], [NEW]), (A, B, C, NEW)),
        (Change.of("split", [B], [NEW, OTHER]), (A, NEW, OTHER, C)),
        (Change.of("merge", [C, A], [NEW]), (NEW, B)),
        (Change.of("reword", [B], [B._replace(stance="opposing")]), (A, B._replace(stance="opposing"), C)),
        (Change.of("drop", [A], []), (B, C)),
    ],
)
def test_each_edit_puts_its_perspectives_where_the_old_ones_stood(
    change: Change, after: tuple[Perspective, ...]
) -> None:
    assert change.apply((A, B, C)) == after
    assert Change.from_json(change.to_json()) == change


@pytest.mark.parametrize(
    ("action", "parts", "becomes", "why"),
    [
        ("propose", [A], [NEW], "`propose`.*1 and 1"),
        ("propose", [], [NEW, OTHER], "`propose`.*0 and 2"),
        ("propose", [], [Perspective(" \x00 ")], "`propose`"),
        ("split", [A], [NEW], "`split`.*1 and 1"),
        ("split", [A], [NEW, NEW], "`split`.*no text.*twice"),
        ("merge", [A], [NEW], "`merge`.*1 and 1"),
        ("merge", [A, A], [NEW], "`merge`.*no text.*twice"),
        ("reword", [A], [A], "change nothing"),
        ("reword", [A], [NEW, OTHER], "`reword`.*1 and 2"),
        ("drop", [A], [NEW], "`drop`.*1 and 1"),
        ("drop", [], [], "`drop`.*0 and 0"),
        ("propose", [], [Perspective("x" * 2001)], "2,000 characters"),
    ],
)
def test_an_impossible_edit_is_refused_with_its_rule(
    action: str, parts: list[Perspective], becomes: list[Perspective], why: str
) -> None:
    with pytest.raises(BadInputError, match=why):
        Change.of(action, parts, becomes)


def test_unknown_edits_and_parts_are_named() -> None:
    with pytest.raises(UnknownNameError, match="merge"):
        Change.of("merges", [A, B], [NEW])
    assert chosen_parts((A, B), ["2", A.text]) == (B, A)
    with pytest.raises(UnknownNameError, match="perspective '3'"):
        chosen_parts((A, B), ["3"])
    with pytest.raises(BadInputError, match="edit cannot be read"):
        Change.from_json({"action": "drop", "parts": ["A"], "becomes": []})


def test_what_does_not_fit_is_a_conflict() -> None:
    with pytest.raises(ConflictError, match="no longer among the perspectives"):
        Change.of("drop", [NEW], []).apply((A, B))
    with pytest.raises(ConflictError, match="or was changed"):
        Change.of("drop", [A._replace(stance="opposing")], []).apply((A, B))
    with pytest.raises(ConflictError, match="is a perspective already"):
        Change.of("propose", [], [B]).apply((A, B))
    with pytest.raises(ConflictError, match="is a perspective already"):
        Change.of("propose", [], [Perspective("Cafe\u0301.")]).apply((Perspective("Caf\u00e9."),))


# Any log -----------------------------------------------------------------------------------------------------------------

QUESTIONS = [Question("q1", "made", "Which?", (A, B, C)), Question("q2", "made", "Why?", (A,))]


class Row(NamedTuple):
    """A row of the log."""

    id: int
    kind: str
    change: str = "{}"
    target: int | None = None
    question_id: str = "q1"
    uid: str = ""
    at: str = "now"
    annotator_id: int = 1
    name: str = "Ana"
    demo: bool = False
    comment: str = ""


@st.composite
def changes(draw: st.DrawFn, perspectives: tuple[Perspective, ...]) -> Change:
    """Some edit that fits these perspectives."""
    fresh = st.integers(0, 10_000).map(lambda n: Perspective(f"Perspective {n}."))
    unused = fresh.filter(lambda p: p not in perspectives)
    kinds = ["propose"] + ["split", "reword", "drop"] * bool(perspectives) + ["merge"] * (len(perspectives) > 1)
    kind = draw(st.sampled_from(kinds))
    wanted = {"propose": (0, 1), "split": (1, 2), "merge": (2, 1), "reword": (1, 1), "drop": (1, 0)}[kind]
    parts = draw(st.permutations(perspectives))[: wanted[0]] if wanted[0] else []
    new = draw(st.lists(unused, min_size=wanted[1], max_size=wanted[1], unique=True))
    return Change.of(kind, parts, new)


@st.composite
def histories(draw: st.DrawFn) -> list[Edit]:
    """Edits that were each proposed on the perspectives as they were, some accepted, some rejected."""
    edits: list[Edit] = []
    ana = Annotator(1, "Ana", False)
    for number in range(draw(st.integers(0, 6))):
        at = replay(QUESTIONS, edits).questions[0].perspectives
        edit = Edit(number, str(number), "now", ana, "q1", draw(changes(at)), "")
        decision = Decision(100 + number, "now", ana, "")
        edits.append(replace(edit, status=draw(st.sampled_from(["accepted", "rejected"])), decision=decision))
    return edits


def perspectives(found: Replayed) -> tuple[Perspective, ...]:
    return found.questions[0].perspectives


@settings(max_examples=40, deadline=None)
@given(histories(), st.randoms())
def test_accepted_edits_come_to_the_same_however_they_are_listed(edits: list[Edit], random: Random) -> None:
    found = replay(QUESTIONS, edits)
    assert found.conflicts == {}
    shuffled = sorted(edits, key=lambda _: random.random())
    assert replay(QUESTIONS, shuffled) == found
    assert found.questions[1] == QUESTIONS[1]
    assert QUESTIONS[0].perspectives == (A, B, C)


@settings(max_examples=40, deadline=None)
@given(histories())
def test_rejecting_all_gives_the_original(edits: list[Edit]) -> None:
    assert replay(QUESTIONS, [replace(e, status="rejected") for e in edits]).questions == QUESTIONS


@settings(max_examples=40, deadline=None)
@given(histories())
def test_each_accepted_edit_taken_back_from_the_last_gives_the_state_before(edits: list[Edit]) -> None:
    states = [perspectives(replay(QUESTIONS, edits[:n])) for n in range(len(edits) + 1)]
    for edit, (before, after) in zip(edits, pairwise(states), strict=True):
        assert after == (edit.change.apply(before) if edit.status == "accepted" else before)
    assert states[0] == QUESTIONS[0].perspectives


@given(st.integers(0, 2), st.integers(2, 5))
def test_a_split_and_the_merging_of_its_parts_give_the_original(which: int, into: int) -> None:
    held = QUESTIONS[0].perspectives
    parts = [Perspective(f"Part {n}.") for n in range(into)]
    split = Change.of("split", [held[which]], parts).apply(held)
    assert len(split) == len(held) + into - 1
    assert Change.of("merge", parts[::-1], [held[which]]).apply(split) == held


def edits_of(rows: list[Row]) -> list[Edit]:
    return list(History(rows).edits.values())


def test_the_log_is_folded_with_its_undos() -> None:
    drop = json.dumps(Change.of("drop", [A], []).to_json())
    rows = [Row(1, "propose", drop), Row(2, "accept", target=1), Row(3, "propose", drop)]
    [first, second] = edits_of(rows)
    assert (first.status, second.status) == ("accepted", "open")
    assert edits_of([*rows, Row(4, "undo", target=2)])[0].status == "open"
    assert edits_of([*rows, Row(4, "undo", target=2), Row(5, "reject", target=1)])[0].status == "rejected"
    assert edits_of([*rows, Row(4, "undo", target=3)])[1].status == "withdrawn"
    both_open = edits_of([*rows, Row(4, "undo", target=2)])
    assert overlaps(both_open) == {1: [3], 3: [1]}
    assert overlaps(edits_of(rows)) == {3: []}


def test_edits_of_a_data_set_that_was_replaced_are_reported() -> None:
    rows = [
        Row(1, "propose", json.dumps(Change.of("drop", [A], []).to_json())),
        Row(2, "propose", json.dumps(Change.of("drop", [B], []).to_json())),
        Row(3, "accept", target=2),
        Row(4, "accept", target=1),
    ]
    found = replay([Question("q1", "made", "Which?", (B, C))], edits_of(rows))
    assert found.questions[0].perspectives == (C,)
    assert [e.id for e in found.applied] == [2]
    assert "A is right." in found.conflicts[1]
