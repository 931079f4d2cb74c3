"""Whose word counts: sources in order of trust."""

import re
from math import nan

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label
from berdseye.detectors.opinions import Graded, write_grade
from berdseye.evaluation.labels.sources import (
    default_sources,
    detector_labels,
    detector_version,
    labels_of,
    parse_label_source,
    source_grade,
)
from tests.evaluation.small_workspace import QUESTIONS, TEXTS, judge, put_gold

SOURCES = ("human>embedded", "embedded", "human", "gold")
PAIRS = [Pair(text, QUESTIONS[0].perspectives[0].text) for text in TEXTS]


def labels(workspace: Workspace, judgments: Judgments, source: str, first: int | None = None) -> list[float]:
    return labels_of(workspace, judgments, parse_label_source(source), PAIRS, first=first).tolist()


def detected(workspace: Workspace, name: str) -> list[float]:
    detector = parse_detector(name)
    return (label(LabelStore(workspace), detector, PAIRS) >= detector.threshold).astype(float).tolist()


@pytest.mark.parametrize("text", [*SOURCES, "human>gold>similarity(static)", "gold>human"])
def test_names_are_canonical(text: str) -> None:
    assert str(parse_label_source(text)) == text
    assert parse_label_source(text.replace(">", " > ")) == parse_label_source(text)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("humans", UnknownNameError, "Did you mean human"),
        ("human>embeded", UnknownNameError, "Did you mean embedded"),
        ("embedded>human", BadInputError, "no source can follow embedded"),
        ("human(3)", UnknownNameError, "Unknown label source"),
        ("human>", BadInputError, "cannot be read after"),
        ("", BadInputError, "cannot be read after"),
    ],
)
def test_names_that_are_none_are_refused(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        parse_label_source(text)


def test_the_detector_of_a_source(small: Workspace) -> None:
    named = {text: parse_label_source(text).detector(small) for text in ("human>embedded", "random", "human", "gold")}
    assert [d.name if d is not None else None for d in named.values()] == ["embedded", "random", None, None]


def test_people_come_before_the_detector(small: Workspace, judgments: Judgments) -> None:
    machine = detected(small, "random")
    ana = judgments.sign_in("Ana")
    for n in (0, 1):
        judge(judgments, ana, 0, 0, n, "does not support" if machine[n] else "supports")
    people = [1 - machine[0], 1 - machine[1]]
    np.testing.assert_equal(labels(small, judgments, "human"), [*people, nan, nan])
    assert labels(small, judgments, "human>random") == [*people, *machine[2:]]
    assert labels(small, judgments, "random") == machine


def test_a_tie_and_an_unsure_word_are_left_to_the_detector(small: Workspace, judgments: Judgments) -> None:
    machine = detected(small, "random")
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    judge(judgments, ana, 0, 0, 0, "supports")
    judge(judgments, bo, 0, 0, 0, "does not support")
    judge(judgments, ana, 0, 0, 1, "unsure")
    assert labels(small, judgments, "human>random") == machine
    np.testing.assert_equal(labels(small, judgments, "human"), [nan] * 4)
    # With `first`, Ana's own word decides the tie; Bo's would decide it the other way.
    assert labels(small, judgments, "human>random", ana.id) == [1.0, *machine[1:]]
    assert labels(small, judgments, "human>random", bo.id) == [0.0, *machine[1:]]


def test_gold_counts_by_its_place_in_the_source(small: Workspace, judgments: Judgments) -> None:
    np.testing.assert_equal(labels(small, judgments, "gold"), [nan] * 4)
    put_gold(small, {(0, 0, 0): True, (0, 0, 1): False})
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 0, "does not support")
    np.testing.assert_equal(labels(small, judgments, "gold"), [1, 0, nan, nan])
    np.testing.assert_equal(labels(small, judgments, "gold>human"), [1, 0, nan, nan])
    np.testing.assert_equal(labels(small, judgments, "human>gold"), [0, 0, nan, nan])


def test_no_pairs_have_no_labels(small: Workspace, judgments: Judgments) -> None:
    offered = [parse_label_source(text) for text in [*SOURCES, *default_sources(small)]]
    assert any(source.corrected for source in offered)
    for source in offered:
        assert labels_of(small, judgments, source.plain, []).shape == (0,)


def test_many_pairs_are_answered_in_order(small: Workspace, judgments: Judgments) -> None:
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 1, "supports")
    many = [PAIRS[0], PAIRS[1]] * 1500
    found = labels_of(small, judgments, parse_label_source("human"), many)
    np.testing.assert_equal(found, [nan, 1.0] * 1500)


def test_corrected_sources_name_one_or_several_detectors(small: Workspace) -> None:
    one, two = parse_label_source("corrected(random)"), parse_label_source("corrected(random, random(0.3))")
    assert (one.parts, one.further, str(one.plain)) == (("random",), (), "random")
    assert (str(two.plain), [str(source) for source in two.further]) == ("random", [two.parts[1]])
    assert str(two) == f"corrected({two.parts[0]},{two.parts[1]})"
    assert parse_label_source(str(two)) == two
    assert detector_version(small, two).split(", ")[0] == detector_version(small, one)
    assert len(detector_version(small, two).split(", ")) == 2
    assert source_grade(small, two) == "topic"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("corrected()", "does not name the detectors"),
        ("corrected(random)>human", "does not name the detectors"),
        ("corrected(random,human)", "'human' is not a detector"),
        ("corrected(random,corrected(random))", "is not a detector"),
        ("corrected(random,random)", "names random twice"),
    ],
)
def test_corrected_sources_that_mean_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(said)):
        parse_label_source(text)


def test_the_labels_that_tell_the_topic_alone(small: Workspace, judgments: Judgments) -> None:
    def told(source: str, pairs: list[Pair] = PAIRS) -> set[str]:
        return detector_labels(small, judgments, parse_label_source(source), pairs).topic_only

    keys = {pair.key for pair in PAIRS}
    assert told("embedded") == keys
    assert told("corrected(embedded)") == keys
    assert told("human>embedded") == keys
    LabelStore(small).put(GOLD, "made", [PAIRS[0].key], [0.0])
    assert told("human>gold>embedded") == keys - {PAIRS[0].key}
    assert told("gold") == set()
    assert told("embedded", []) == set()
    detector = parse_detector("embedded")
    write_grade(small, Graded(detector.name, detector.version, "stance", 0.9, 0.8, 1.0, 87))
    assert told("human>embedded") == set()


def test_the_labels_that_the_detector_is_unsure_about(small: Workspace, judgments: Judgments) -> None:
    def unsure(source: str) -> set[str]:
        return detector_labels(small, judgments, parse_label_source(source), PAIRS).unsure

    assert unsure("embedded") == set()  # the detector has not labelled the pairs, and is not run
    detector, keys = parse_detector("embedded"), [pair.key for pair in PAIRS]
    far, near = detector.threshold + 0.2, detector.threshold - 0.05
    LabelStore(small).put(detector.name, detector.version, keys, [near, *[far] * (len(keys) - 1)])
    assert unsure("embedded") == unsure("human>gold>embedded") == {keys[0]}
    LabelStore(small).put(GOLD, "made", keys[:1], [1.0])
    assert unsure("human>gold>embedded") == set()
    assert unsure("gold") == set()
