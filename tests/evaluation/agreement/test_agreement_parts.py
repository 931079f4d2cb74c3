"""Alignment, stored labels, slices, time, guideline versions and stances."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import events
from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.alignment import aligned
from berdseye.evaluation.agreement.coefficients import drawn, drawn_over_groups, patterns
from berdseye.evaluation.agreement.labels import stored_labels
from berdseye.evaluation.agreement.slices import item_slices, over_time, version_slices
from berdseye.evaluation.agreement.stance import EVERYONE, LENIENT, StanceDifference, stance_differences
from tests.annotation.made_pairs import long_form, record

SUPPORTS, AGAINST = "supports", "does not support"
VALUES = (AGAINST, SUPPORTS)

# Alignment ------------------------------------------------------------------------------------------------------------


def test_the_later_of_two_labels_counts_where_that_is_asked_for() -> None:
    frame = pd.concat([long_form("xy", "xy"), long_form("yy").iloc[[0]]], ignore_index=True)
    with pytest.raises(BadInputError, match="a labels item 'item 0000' twice"):
        aligned(frame)
    side = aligned(frame, duplicates="last")
    assert side.repeated == 1
    assert [side.values[code] for code in side.codes[0]] == ["y", "x"]
    dated = frame.assign(at=["2026-01-02", "2026-01-01", "2026-01-01", "2026-01-01", "2026-01-01"])
    assert [side.values[code] for code in aligned(dated, duplicates="last").codes[0]] == ["x", "x"]


def test_a_label_that_is_none_of_the_values_is_named() -> None:
    with pytest.raises(BadInputError, match="'z' is not one of the labels"):
        aligned(long_form("xz"), ("x", "y"))


def test_numbers_and_texts_of_one_spelling_are_one_rater() -> None:
    frame = pd.DataFrame({"item": [1, "1", 2], "annotator": ["a", "b", "a"], "label": [1, "1", "0"]})
    side = aligned(frame)
    assert (side.items, side.values) == (("1", "2"), ("0", "1"))
    assert side.codes.tolist() == [[1, 1], [0, -1]]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=40))
def test_patterns_and_their_resamples_keep_the_number_of_items(rows: list[list[int]]) -> None:
    counts = np.array(rows, dtype=np.int64)
    found = patterns(counts)
    assert (found.counts[found.of_item] == counts).all()
    assert len(np.unique(found.counts, axis=0)) == len(found.counts)
    assert (drawn(found.times, resamples=20).sum(axis=1) == len(rows)).all()
    assert (drawn(np.repeat(found.times, 1) * 50, resamples=20).sum(axis=1) == 50 * len(rows)).all()
    whole = drawn_over_groups(found.of_item, np.zeros(len(rows), dtype=np.int64), resamples=5)
    assert (whole == found.times).all()


# Stored labels --------------------------------------------------------------------------------------------------------

ACTS = ("supports", "unsure", "sent", "skip", "withdraw", "flag", "decide", "undo")
STEPS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from(ACTS)), max_size=14)


def act(judgments: Judgments, person: Annotator, pair: str, what: str) -> None:
    """What one person does with one pair."""
    if what == "undo":
        judgments.undo(person)
    elif what == "skip":
        judgments.skip(person, pair, source="annotate")
    elif what == "withdraw":
        judgments.withdraw(person, pair, source="annotate")
    elif what == "flag":
        judgments.flag(person, pair, source="annotate")
    elif what == "decide":
        adjudicate(judgments, person, pair, "does not support")
    elif what == "sent":
        judgments.judge(person, pair, "does not support", source="label-studio")
    else:
        judgments.judge(person, pair, "supports" if what == "supports" else "unsure", source="annotate")


def standing(log: list[dict[str, Any]]) -> dict[tuple[int, str], str]:
    """What each person says of each pair, read from the log from its first event to its last: of the words that were not undone
    the last stands, unless it takes back what was said."""
    undone = {event["target"] for event in log if event["kind"] == "undo"}
    said: dict[tuple[int, str], str] = {}
    for event in log:
        place = (event["annotator_id"], event["pair"])
        if event["id"] in undone:
            continue
        if event["kind"] == "withdraw":
            said.pop(place, None)
        elif event["kind"] in ("judge", "skip"):
            said[place] = event["verdict"] or "skipped"
    return said


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judgments]:
    """One log for all examples: each has people and pairs of its own."""
    held = Judgments.open(f"sqlite:///{tmp_path_factory.mktemp('log') / 'judgments.db'}")
    yield held
    held.engine.dispose()


NUMBERS = itertools.count()


@settings(deadline=None, max_examples=60)
@given(STEPS)
@example([(0, 0, "supports"), (0, 0, "unsure"), (0, 0, "undo")])
@example([(0, 0, "supports"), (0, 0, "withdraw"), (0, 0, "undo"), (1, 0, "skip"), (1, 0, "decide"), (1, 0, "undo")])
def test_stored_labels_are_what_the_log_holds_to_be_present(
    shared: Judgments, steps: list[tuple[int, int, str]]
) -> None:
    number = next(NUMBERS)
    people = [shared.sign_in(f"{name} {number}") for name in ("Ana", "Bo")]
    keys = shared.add_pairs([record(3 * number + n) for n in range(3)])
    for who, pair, what in steps:
        act(shared, people[who], keys[pair], what)
    with shared.reading() as connection:
        log = [dict(row) for row in connection.execute(select(events).order_by(events.c.id)).mappings()]
    name_of = {person.id: person.name for person in shared.annotators()}
    said = {(pair, name_of[who], word) for (who, pair), word in standing(log).items()}
    labels = stored_labels(shared)
    found = list(labels[["item", "annotator", "label"]].itertuples(index=False, name=None))
    assert len(found) == len(said)
    assert set(found) == said
    words = {word for word in said if word[2] != "skipped"}
    assert {(j.pair, j.annotator.name, j.verdict) for j in shared.present()} == words


def test_made_up_people_can_be_left_out(judgments: Judgments) -> None:
    keys = judgments.add_pairs([record(0)])
    for person in (judgments.sign_in("Ana"), judgments.sign_in("Noor", demo=True)):
        judgments.judge(person, keys[0], "supports", source="annotate")
    assert set(stored_labels(judgments)["annotator"]) == {"Ana", "Noor"}
    assert set(stored_labels(judgments, demo=False)["annotator"]) == {"Ana"}


# Slices ---------------------------------------------------------------------------------------------------------------


def value(table: pd.DataFrame, part: str, statistic: str = "raw agreement") -> float:
    [row] = table[(table["part"] == part) & (table["statistic"] == statistic)].to_dict("records")
    return float(row["value"])


def test_slices_are_of_the_items_of_their_value() -> None:
    labels = aligned(long_form("xxyy", "xyyy"))
    about = pd.Series(["one", "one", "two", None], index=labels.items)
    table = item_slices(labels, about, "dataset")
    assert (value(table, "one"), value(table, "two"), value(table, "(not given)")) == (0.5, 1, 1)
    assert dict(zip(table["part"], table["n_labels"], strict=True)) == {"one": 4, "two": 2, "(not given)": 2}
    assert set(table["slice"]) == {"dataset"}


def test_an_item_belongs_to_the_time_of_its_last_label() -> None:
    frame = long_form("xx", "xy")
    # Item 0 is labelled on a Sunday and the Monday after, item 1 on the Sunday by both.
    frame["at"] = [
        "2026-03-01T10:00:00+00:00", "2026-03-01T23:00:00+00:00", "2026-03-02T09:00:00+00:00", "2026-03-01T09:00:00+00:00",
    ]  # fmt: skip
    labels = aligned(frame)
    weeks = over_time(labels, frame, "week")
    assert (value(weeks, "2026-02-23"), value(weeks, "2026-03-02")) == (0, 1)
    assert set(over_time(labels, frame, "day")["part"]) == {"2026-03-01", "2026-03-02"}
    assert set(over_time(labels, frame, "month")["part"]) == {"2026-03"}
    assert over_time(labels, frame.assign(at=None), "week")["part"].unique().tolist() == ["(not given)"]


def test_a_version_of_the_guidelines_is_of_the_labels_given_under_it() -> None:
    frame = long_form("xxyy", "xyyx").assign(guidelines=["1", "1", "2", "2", "1", "1", "2", "1"])
    table = version_slices(frame, ("x", "y"))
    assert (value(table, "1"), value(table, "2")) == (0.5, 1)
    [row] = table[(table["part"] == "2") & (table["statistic"] == "raw agreement")].to_dict("records")
    assert (row["n"], row["n_dropped"], row["n_labels"]) == (1, 1, 3)
    assert version_slices(frame.drop(columns="guidelines"), ("x", "y")).empty


# Stances --------------------------------------------------------------------------------------------------------------


def stance_case(lenient_on: str | None) -> list[StanceDifference]:
    """60 pairs of each stance; three people agree but for noise; the detector says 'supports' to all of one stance."""
    rng = np.random.default_rng(1)
    stances = np.repeat(["supporting", "opposing"], 60)
    truth = rng.random(120) < 0.5
    said = {name: np.where(rng.random(120) < 0.05, ~truth, truth) for name in ("Ana", "Bo", "Cy")}
    said["detector d"] = truth | (stances == lenient_on)
    rows = [
        (f"i{n:03d}", name, SUPPORTS if yes else AGAINST)
        for name, labels in said.items()
        for n, yes in enumerate(labels)
    ]
    labels = aligned(pd.DataFrame(rows, columns=["item", "annotator", "label"]), VALUES)
    about = pd.Series(stances, index=[f"i{n:03d}" for n in range(120)])
    return stance_differences(labels, about, ("Ana", "Bo", "Cy"))


def test_a_detector_that_favours_a_stance_is_found_and_people_are_not() -> None:
    found = {(row.rater, row.figure): row for row in stance_case("opposing")}
    detector = found["detector d", "agrees with the other people"]
    assert detector.supporting > 0.9 > 0.7 > detector.opposing
    assert detector.low > 0
    assert detector.p_holm < 0.001
    assert found["detector d", LENIENT].opposing > 0.9
    assert all(row.p_holm > 0.05 for key, row in found.items() if key[0] in ("Ana", "Bo", "Cy") and row.p == row.p)
    assert found[EVERYONE, "Krippendorff's alpha"].p > 0.05
    assert found[EVERYONE, "Krippendorff's alpha"].n_supporting == 60
    fair = {(row.rater, row.figure): row for row in stance_case(None)}
    assert fair["detector d", "agrees with the other people"].p_holm > 0.05


def test_people_who_disagree_on_one_stance_are_found() -> None:
    same, apart = "xxyy" * 15, "xyxy" * 15
    text = {"x": SUPPORTS, "y": AGAINST}
    frame = long_form([text[c] for c in same * 2], [text[c] for c in same + apart])
    about = pd.Series(["supporting"] * 60 + ["opposing"] * 60, index=[f"item {n:04d}" for n in range(120)])
    found = {(r.rater, r.figure): r for r in stance_differences(aligned(frame, VALUES), about, ("a", "b"))}
    together = found[EVERYONE, "raw agreement"]
    assert (together.supporting, together.opposing, together.difference) == (1, 0.5, 0.5)
    assert together.p == pytest.approx(0.001)
    assert together.low > 0.3


def test_labels_that_are_no_verdicts_have_no_stance_test() -> None:
    assert stance_differences(aligned(long_form("xy", "xy")), pd.Series(dtype=object), ("a", "b")) == []
