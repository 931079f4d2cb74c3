"""The chips of a passage whose labels come from a label source, on the pages that have one: the label of each perspective, with
the person's own judgment beside it where they have one. A press records the opposite. The label of a detector that does not tell
sides is shown as what it tells, the topic, and one that the detector is unsure about as "unsure"."""

from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np
import streamlit as st

from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Source, Verdict
from berdseye.annotation.judgments.recent import own_judgments
from berdseye.app.access.session import annotator, judgments, workspace
from berdseye.app.components.judging import correct, may_judge, why_not
from berdseye.app.components.perspective_mark import chip_key
from berdseye.app.components.plain_text import escaped
from berdseye.data.records import Pair, Passage, Question, pair_keys
from berdseye.evaluation.labels.sources import detector_labels, parse_label_source

SHORT = {"supports": "yes", "does not support": "no", "unsure": "unsure"}


class Standing(NamedTuple):
    """What is known about pairs, by their keys: the person's own verdicts, the adjudicated ones, which labels come from a
    detector that tells topics and not sides, and which from a detector that is unsure about them."""

    own: dict[str, str]
    adjudicated: dict[str, Verdict]
    by_topic: Set[str] = frozenset()
    unsure: Set[str] = frozenset()


class LabelledPassage(NamedTuple):
    """A passage of a corpus with its labels of a question's perspectives (1, 0, or NaN for none) from a label source."""

    question: Question
    corpus: str
    passage: Passage
    labels: Sequence[float]
    source: str

    @property
    def keys(self) -> list[str]:
        """The keys of the passage's pairs, in the order of the perspectives."""
        return pair_keys(self.passage.text, [p.text for p in self.question.perspectives])

    @property
    def pairs(self) -> list[Pair]:
        """The passage's pairs, in the order of the perspectives."""
        return [Pair(self.passage.text, p.text, self.passage.title) for p in self.question.perspectives]


def standing_of(passages: Sequence[LabelledPassage]) -> Standing:
    """Return what is known about all pairs of these passages."""
    keys = list(dict.fromkeys(key for each in passages for key in each.keys))
    person = annotator()
    own = own_judgments(judgments(), person, keys) if person is not None else {}
    by_topic: set[str] = set()
    unsure: set[str] = set()
    for source in dict.fromkeys(each.source for each in passages):
        pairs = list(dict.fromkeys(pair for each in passages if each.source == source for pair in each.pairs))
        found = detector_labels(workspace(), judgments(), parse_label_source(source), pairs)
        by_topic |= found.topic_only
        unsure |= found.unsure
    verdicts = {key: one.verdict for key, one in own.items()}
    return Standing(verdicts, adjudicated_labels(judgments(), keys), by_topic, unsure)


def label_chips(shown: LabelledPassage, number: int, standing: Standing, page: Source) -> None:
    """Draw the chips of card `number` of a page, which becomes the source of the judgments."""
    with st.container(horizontal=True, gap="small"):
        for place, (key, label) in enumerate(zip(shown.keys, shown.labels, strict=False)):
            own, decided = standing.own.get(key, ""), standing.adjudicated.get(key)
            by_topic, unsure = key in standing.by_topic, key in standing.unsure
            says = _said(label, by_topic=by_topic, unsure=unsure)
            yours = "" if not own else " · you" if SHORT[own] == says else f" · you: {SHORT[own]}"
            following = next_verdict(np.nan if by_topic or unsure else label, own)
            st.button(
                f"P{place + 1} {says}{yours}" + (" · adjudicated" if decided else ""),
                # The key contains the pair and what its chip says, so that a press meant for an earlier label finds no button.
                key=chip_key(place, f"{number}-{key}-{says}{yours}"),
                type="primary" if says == "yes" else "secondary",
                help=f"{escaped(shown.question.perspectives[place].text)} — {says}, by {escaped(shown.source)}. "
                + _next_step(following, decided),
                disabled=decided is not None or not may_judge(),
                on_click=correct,
                args=(shown.question, place + 1, shown.corpus, shown.passage, following, page),
            )


def _said(label: float, *, by_topic: bool, unsure: bool) -> str:
    if np.isnan(label):
        return "no label"
    if unsure:
        return SHORT["unsure"]
    yes, no = ("on topic", "off topic") if by_topic else ("yes", "no")
    return yes if label else no


def next_verdict(label: float, own: str) -> Verdict:
    """Return what a press records: the opposite of the person's own verdict, otherwise of the label; `supports` if neither takes
    a side."""
    if own in ("supports", "does not support"):
        return "does not support" if own == "supports" else "supports"
    return "does not support" if label == 1 else "supports"


def _next_step(following: Verdict, decided: Verdict | None) -> str:
    if decided is not None:
        return f"Adjudicated: {decided}. Change it on the Adjudication page."
    return why_not() or f"Click to judge: {following}."
