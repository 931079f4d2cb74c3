"""One question in several rankings: whose word counts, and what a correction changes."""

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Passage, Question, Ranking
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import Graded, write_grade
from berdseye.evaluation.exploration.inspection import (
    Chip,
    Listing,
    Shown,
    detector_against_gold,
    inspect_question,
    unlabelled,
)
from tests.evaluation.small_workspace import QUESTIONS, TEXTS, judge, key, passages

Found = Mapping[tuple[str, str], tuple[Ranking, Sequence[Passage]]]


def ranking(workspace: Workspace, *words: str) -> tuple[Ranking, list[Passage]]:
    """A ranking of the passages that begin with these words."""
    held = [passages(workspace)[word] for word in words]
    scores = np.arange(len(held), 0, -1, dtype=np.float32)
    return Ranking(np.array([p.id for p in held], dtype=np.int64), scores), held


@pytest.fixture
def found(small: Workspace) -> Found:
    return {("web", "bm25"): ranking(small, "Zoos", "Cages", "Cars"), ("web", "mmr"): ranking(small, "Cars", "Cages")}


def inspect(
    workspace: Workspace,
    judgments: Judgments,
    found: Found,
    annotator: Annotator | None = None,
    question: Question = QUESTIONS[0],
    k: int = 3,
) -> list[Listing]:
    return inspect_question(workspace, judgments, parse_detector("random"), question, found, k, annotator)


def judge_all(judgments: Judgments, person: Annotator, supports: dict[tuple[int, int], bool]) -> None:
    """The person's word on (perspective, text) of the first question."""
    for (perspective, text), yes in supports.items():
        judge(judgments, person, 0, perspective, text, "supports" if yes else "does not support")


def test_the_detector_decides_where_nobody_has(small: Workspace, judgments: Judgments, found: Found) -> None:
    first, second = inspect(small, judgments, found)
    assert [(listing.corpus, listing.pipeline) for listing in (first, second)] == list(found)
    assert [h.rank for h in first.hits] == [1, 2, 3]
    assert [h.score for h in first.hits] == [3, 2, 1]
    for hit in (*first.hits, *second.hits):
        assert [c.pair for c in hit.chips] == [
            Pair(hit.passage.text, perspective.text, hit.passage.title) for perspective in QUESTIONS[0].perspectives
        ]
        for chip in hit.chips:
            assert chip.by == "detector"
            assert chip.supports == chip.detected.label.supports == (chip.detected.label.probability >= 1 - 0.168)


def test_ones_own_word_comes_before_peoples_and_theirs_before_the_detectors(
    small: Workspace, judgments: Judgments, found: Found
) -> None:
    ana, bo, cy = (judgments.sign_in(name) for name in ("Ana", "Bo", "Cy"))
    judge_all(judgments, bo, {(0, 0): True, (1, 0): True})
    judge_all(judgments, cy, {(0, 0): True})
    judge_all(judgments, ana, {(0, 0): False})
    judge(judgments, ana, 0, 1, 0, "unsure")

    def top(annotator: Annotator | None) -> list[tuple[str, bool]]:
        return [(c.by, c.supports) for c in inspect(small, judgments, found, annotator)[0].hits[0].chips]

    assert top(ana) == [("you", False), ("people", True)]  # an unsure word of one's own leaves it to the others
    assert top(bo) == [("you", True), ("you", True)]
    assert top(None) == [("people", True), ("people", True)]
    judge_all(judgments, ana, {(1, 0): False})  # now a tie
    chips = inspect(small, judgments, found)[0].hits[0].chips
    assert (chips[1].by, chips[1].supports) == ("detector", chips[1].detected.label.supports)


def test_measures_move_when_a_correction_is_made(small: Workspace, judgments: Judgments, found: Found) -> None:
    ana = judgments.sign_in("Ana")
    judge_all(judgments, ana, {(perspective, text): False for perspective in (0, 1) for text in (0, 1, 2)})
    for listing in inspect(small, judgments, found, ana):
        assert (listing.mrecall, listing.precision, listing.first_ranks) == (0, 0, (None, None))

    judge_all(judgments, ana, {(0, 0): True, (1, 1): True})
    first, second = inspect(small, judgments, found, ana)
    assert (first.mrecall, first.precision, first.first_ranks) == (1, pytest.approx(2 / 3), (1, 2))
    # The other ranking shows passages 2 and 1 only; k is 3 all the same.
    assert (second.mrecall, second.precision, second.first_ranks) == (0, pytest.approx(1 / 3), (None, 2))

    assert judgments.undo(ana) == key(0, 1, 1)
    first, second = inspect(small, judgments, found, ana)
    assert (first.mrecall, first.precision, first.first_ranks) == (0, pytest.approx(1 / 3), (1, None))
    assert second.precision == 0


def test_measures_are_those_of_the_top_k(small: Workspace, judgments: Judgments, found: Found) -> None:
    ana = judgments.sign_in("Ana")
    judge_all(judgments, ana, {(p, t): (p, t) in {(0, 0), (1, 1)} for p in (0, 1) for t in (0, 1, 2)})
    [listing, _] = inspect(small, judgments, found, ana, k=1)
    assert (listing.mrecall, listing.precision) == (1, 1)  # m = 2 > k = 1


def test_a_question_without_perspectives_has_hits_and_no_measures(
    small: Workspace, judgments: Judgments, found: Found
) -> None:
    for listing in inspect(small, judgments, found, question=QUESTIONS[2]):
        assert [h.chips for h in listing.hits] == [()] * len(listing.hits)
        assert listing.hits
        assert listing.first_ranks == ()
        assert isnan(listing.mrecall)
        assert isnan(listing.precision)


def test_nothing_found_covers_nothing(small: Workspace, judgments: Judgments) -> None:
    [listing] = inspect(small, judgments, {("web", "bm25"): ranking(small)})
    assert (listing.hits, listing.first_ranks) == ((), (None, None))
    assert (listing.mrecall, listing.precision) == (0, 0)


def test_a_gold_label_comes_before_the_detectors_and_after_peoples(
    small: Workspace, judgments: Judgments, found: Found
) -> None:
    pairs = [Pair(TEXTS[0], perspective.text) for perspective in QUESTIONS[0].perspectives]
    detected = [c.detected.label.supports for c in inspect(small, judgments, found)[0].hits[0].chips]
    LabelStore(small).put(GOLD, "made", [p.key for p in pairs], [float(not says) for says in detected])
    listings = inspect(small, judgments, found)
    assert [(c.by, c.gold, c.supports) for c in listings[0].hits[0].chips] == [
        ("gold", not says, not says) for says in detected
    ]
    against_gold = detector_against_gold(listings)
    others = {
        c.key: c.gold == c.detected.label.supports
        for e in listings
        for h in e.hits
        for c in h.chips
        if c.gold is not None and c.opinion != "unsure"
    }
    unsure = {c.key for e in listings for h in e.hits for c in h.chips if c.opinion == "unsure"}
    assert (against_gold.agreed, against_gold.compared) == (sum(others.values()), len(others))
    assert (against_gold.pairs, against_gold.unsure) == (6, len(unsure))
    assert not any(others.get(pair.key, False) for pair in pairs)

    ana = judgments.sign_in("Ana")
    judge_all(judgments, ana, {(0, 0): detected[0]})
    chips = inspect(small, judgments, found, ana)[0].hits[0].chips
    assert [(c.by, c.supports) for c in chips] == [("you", detected[0]), ("gold", not detected[1])]


def test_one_source_of_labels_can_be_shown_alone(small: Workspace, judgments: Judgments, found: Found) -> None:
    pair = Pair(TEXTS[0], QUESTIONS[0].perspectives[0].text)
    detector = parse_detector("random")
    LabelStore(small).put(GOLD, "made", [pair.key], [1.0])
    judge_all(judgments, judgments.sign_in("Bo"), {(0, 0): False})

    def first(shown: Shown) -> Chip:
        return inspect_question(small, judgments, detector, QUESTIONS[0], found, 3, None, shown)[0].hits[0].chips[0]

    assert [(first(shown).by, first(shown).supports) for shown in ("first available", "people", "gold")] == [
        ("people", False), ("people", False), ("gold", True)
    ]  # fmt: skip
    alone = first("detector")
    assert (alone.by, alone.supports) == ("detector", alone.detected.label.supports)
    assert first("people").gold_mark == "≠ gold"
    assert first("gold").gold_mark == ""
    # This detector has grade topic: "on topic" says nothing that a gold label could contradict.
    assert alone.gold_mark == ("" if alone.supports else "gold: yes")
    assert (alone.takes_side, first("people").takes_side) == (False, True)


def test_the_first_passages_of_all_lists_are_labelled_first(
    small: Workspace, judgments: Judgments, found: Found
) -> None:
    detector = parse_detector("random")

    def opinions(at_most: int | None) -> list[list[bool]]:
        listings = inspect_question(small, judgments, detector, QUESTIONS[0], found, 3, None, at_most=at_most)
        return [[h.chips[1].opinion != "not yet" for h in listing.hits] for listing in listings]

    # The lists rank Zoos, Cages, Cars and Cars, Cages; each passage has two perspectives.
    assert opinions(0) == [[False, False, False], [False, False]]
    assert opinions(4) == [[True, False, True], [True, False]]
    listings = inspect_question(small, judgments, detector, QUESTIONS[0], found, 3, None, at_most=0)
    assert [pair.passage for pair in unlabelled(listings)] == [TEXTS[1]] * 2  # four labels are stored by now
    assert opinions(None) == [[True, True, True], [True, True]]


def test_an_unsure_opinion_contradicts_no_gold_label(small: Workspace, judgments: Judgments, found: Found) -> None:
    pair = Pair(TEXTS[0], QUESTIONS[0].perspectives[0].text)
    LabelStore(small).put(GOLD, "made", [pair.key], [1.0])
    detector = parse_detector("random(seed=1)")
    write_grade(small, Graded(detector.name, detector.version, "stance", 0.9, 0.8, 1.0, 87))
    LabelStore(small).put(detector.name, detector.version, [pair.key], [detector.threshold - 0.01])
    listings = inspect_question(small, judgments, detector, QUESTIONS[0], found, 3, None)
    chip = listings[0].hits[0].chips[0]
    assert (chip.opinion, chip.detected.label.supports, chip.gold_mark) == ("unsure", False, "")
    assert detector_against_gold(listings).compared == 0


def test_no_sentence_is_the_reason_of_an_unsure_opinion(small: Workspace, judgments: Judgments, found: Found) -> None:
    pair, detector = Pair(TEXTS[0], QUESTIONS[0].perspectives[0].text), parse_detector("random(seed=1)")

    def first(probability: float) -> Chip:
        LabelStore(small).put(detector.name, detector.version, [pair.key], [probability])
        return inspect_question(small, judgments, detector, QUESTIONS[0], found, 3, None)[0].hits[0].chips[0]

    unsure, sure = first(detector.threshold + 0.01), first(detector.threshold + 0.2)
    assert (unsure.opinion, unsure.supports, unsure.is_support) == ("unsure", True, False)
    assert (sure.opinion, sure.is_support) == ("on topic", True)
    judge_all(judgments, judgments.sign_in("Bo"), {(0, 0): True})
    by_people = first(detector.threshold + 0.01)
    assert (by_people.opinion, by_people.by, by_people.is_support) == ("unsure", "people", True)
