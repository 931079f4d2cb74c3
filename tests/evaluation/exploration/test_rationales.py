"""What a label rests on: people's evidence, otherwise the sentence that a quick detector scores highest alone."""

from collections.abc import Sequence

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord, Verdict
from berdseye.annotation.judgments.recorded import JudgmentDetails, judgment_fields
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Floats
from berdseye.evaluation.exploration.rationales import Rationale, rationales

FIRST, SECOND, THIRD = "Zoos sell tickets.", "Zoos save rare animals.", "Nobody knows why."
TEXT = f"{FIRST} {SECOND} {THIRD}"
PAIR = Pair(TEXT, "Zoos save animals.", "On zoos")
SPAN = (len(FIRST) + 1, len(FIRST) + 1 + len(SECOND))


class Words:
    """A detector that counts the words which a text shares with the perspective."""

    name, version, threshold, threshold_source, measured, pairs_at_once, quick = "words", "1", 0.35, "", "", 8, True

    def __init__(self) -> None:
        self.read: list[Pair] = []

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        self.read += pairs
        shared = [len({*p.passage.split()} & {*p.perspective.split()}) for p in pairs]
        return np.array(shared, dtype=np.float32) / 10


class Slow(Words):
    quick = False


def judge(judgments: Judgments, person: Annotator, verdict: Verdict, spans: Sequence[tuple[int, int]]) -> None:
    record = PairRecord("made", "zoos", "Zoos?", PAIR.perspective, None, "web", PAIR.title, TEXT)
    [key] = judgments.add_pairs([record])
    fields = judgment_fields("judge", verdict, TEXT, JudgmentDetails(evidence=spans))
    judgments.append(person, key, **fields)


def test_the_sentence_that_scores_highest_alone_is_known_once_all_are_labelled(
    small: Workspace, judgments: Judgments
) -> None:
    detector = Words()
    before = rationales(small, judgments, detector, [PAIR])
    assert before.known == {}
    assert before.unlabelled == [Pair(text, PAIR.perspective, PAIR.title) for text in (FIRST, SECOND, THIRD)]
    assert detector.read == [], "nothing is labelled while the page is drawn"
    label(LabelStore(small), detector, before.unlabelled[:2])
    assert rationales(small, judgments, detector, [PAIR]).unlabelled == before.unlabelled[2:]
    label(LabelStore(small), detector, before.unlabelled)
    after = rationales(small, judgments, detector, [PAIR])
    assert after.known == {PAIR.key: Rationale((SPAN,), "detector")}
    assert after.unlabelled == []
    assert TEXT[slice(*SPAN)] == SECOND


@pytest.mark.parametrize(("threshold", "known"), [(0.4, True), (0.5, False)])
def test_a_sentence_far_below_the_threshold_is_no_rationale(
    small: Workspace, judgments: Judgments, threshold: float, known: bool
) -> None:
    detector = Words()
    detector.threshold = threshold  # the best sentence has .3, and the unsure band .15 on either side
    label(LabelStore(small), detector, rationales(small, judgments, detector, [PAIR]).unlabelled)
    assert (PAIR.key in rationales(small, judgments, detector, [PAIR]).known) == known


def test_evidence_comes_first_and_only_that_of_supporting_verdicts(small: Workspace, judgments: Judgments) -> None:
    ana, bo, cy = (judgments.sign_in(name) for name in ("Ana", "Bo", "Cy"))
    judge(judgments, ana, "supports", [(0, 4)])
    judge(judgments, bo, "supports", [(2, 8), (40, 42)])
    judge(judgments, cy, "does not support", [(10, 12)])
    found = rationales(small, judgments, Words(), [PAIR])
    assert found.known == {PAIR.key: Rationale(((0, 8), (40, 42)), "evidence")}
    assert found.unlabelled == []
    judgments.undo(bo)
    assert rationales(small, judgments, Words(), [PAIR]).known == {PAIR.key: Rationale(((0, 4),), "evidence")}


@pytest.mark.parametrize(
    ("detector", "pair"), [(Slow(), PAIR), (Words(), Pair("Zoos save animals.", PAIR.perspective, ""))]
)
def test_slow_detectors_and_passages_of_one_sentence_have_none(
    small: Workspace, judgments: Judgments, detector: Words, pair: Pair
) -> None:
    assert rationales(small, judgments, detector, [pair]) == ({}, [])
