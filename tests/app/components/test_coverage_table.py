"""The line and the table of covered perspectives: what labels that tell the topic alone can and cannot say."""

import math
from dataclasses import replace

from berdseye.app.components.coverage_table import first_ranks_shown, missing_line, without_labels
from berdseye.data.records import Label, Pair, Passage, Perspective, Question
from berdseye.detectors.labelling import OpinedPair
from berdseye.detectors.opinions import Opinion
from berdseye.evaluation.exploration.inspection import Chip, Decider, Hit, Listing

TEXT = "Trams are quiet."
QUESTION = Question("0", "made", "Trams?", (Perspective("Trams are good."), Perspective("Trams are bad.")))


def listing(*chips: tuple[bool, Decider, Opinion]) -> Listing:
    drawn = tuple(
        Chip(Pair(TEXT, p.text, ""), f"{place}", supports, by, OpinedPair(Label(0.9, supports), math.nan, opinion))
        for place, (p, (supports, by, opinion)) in enumerate(zip(QUESTION.perspectives, chips, strict=True))
    )
    ranks = tuple(1 if chip.supports else None for chip in drawn)
    return Listing("web", "bm25", (Hit(1, 1.0, Passage(0, "0", "", TEXT, ""), drawn),), ranks, 1.0, 1.0)


def test_perspectives_that_a_detector_of_topics_found_are_not_called_covered() -> None:
    by_gold = listing((True, "gold", "on topic"), (True, "gold", "off topic"))
    assert missing_line(QUESTION, [by_gold]) == ":green[Every perspective is covered by at least one ranking.]"
    mixed = listing((True, "gold", "on topic"), (True, "detector", "on topic"))
    assert "for 1 of 2 the labels say only that a passage is on the topic" in missing_line(QUESTION, [mixed])
    assert ":green[" in missing_line(QUESTION, [mixed, by_gold])
    doubtful = listing((True, "gold", "on topic"), (True, "detector", "unsure"))
    assert "for 1 of 2 the detector is unsure about every passage that may support them.]" in missing_line(
        QUESTION, [doubtful]
    )
    both = listing((True, "detector", "unsure"), (True, "detector", "on topic"))
    assert "for 2 of 2 the labels say only that a passage is on the topic, or are unsure.]" in missing_line(
        QUESTION, [both]
    )
    sided = listing((True, "detector", "supports"), (True, "detector", "supports"))
    assert ":green[" in missing_line(QUESTION, [sided])
    absent = listing((True, "gold", "on topic"), (False, "detector", "off topic"))
    assert missing_line(QUESTION, [absent]).startswith(":red[Missing everywhere:]")


def test_a_rank_that_is_in_doubt_is_followed_by_the_first_sure_one() -> None:
    unsure = listing((True, "detector", "unsure"), (True, "detector", "on topic"))
    sure = listing((True, "detector", "supports"), (False, "detector", "neither"))
    [first], [second] = unsure.hits, sure.hits
    both = replace(unsure, hits=(first, replace(second, rank=4)))
    assert first_ranks_shown(both, 0) == "rank 1 :gray-badge[unsure] · sure at rank 4"
    assert first_ranks_shown(both, 1) == "rank 1 :gray-badge[topic]"
    assert first_ranks_shown(sure, 0) == "rank 1"
    assert first_ranks_shown(sure, 1) == ":red-badge[missing]"


def test_labels_that_nobody_gave_are_said_to_be_missing() -> None:
    detected = listing((True, "detector", "on topic"), (False, "detector", "off topic"))
    judged = listing((True, "people", "on topic"), (False, "detector", "off topic"))
    assert without_labels([detected], "people").startswith("Nobody has judged these pairs")
    assert without_labels([detected], "gold").startswith("These pairs have no gold label")
    assert without_labels([detected], "first available") == without_labels([detected, judged], "people") == ""
    assert without_labels([replace(detected, hits=())], "people") != ""
