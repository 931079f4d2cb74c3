"""Inspection of one question in several rankings: the labels of each pair with their sources, and the missing perspectives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, NamedTuple, get_args

import numpy as np

from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Passage, Question, Ranking
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import OpinedPair, opined
from berdseye.detectors.opinions import Opinion
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import mrecall, precision

Decider = Literal["adjudicator", "you", "people", "gold", "detector"]
Shown = Literal["first available", "people", "gold", "detector"]
SHOWN: tuple[Shown, ...] = get_args(Shown)
"""Which labels count: the first source that has one, or one source alone, with the detector's where it has none."""


@dataclass(frozen=True)
class Chip:
    """The labels of a pair: the label that counts (`supports`), its source (`by`), and what the detector says (`detected`).

    `gold` is the gold label of the data set's authors, None if there is none.
    """

    pair: Pair
    key: str
    supports: bool
    by: Decider
    detected: OpinedPair
    gold: bool | None = None

    @property
    def opinion(self) -> Opinion:
        """The detector's opinion."""
        return self.detected.opinion

    @property
    def gold_mark(self) -> str:
        """What is said of a gold label that differs from the label that counts: that they contradict each other, or, beside what
        a detector says of the topic, the gold label itself; empty if there is nothing to say.

        A passage on the topic that does not support a perspective is no contradiction, and the opinion `unsure` contradicts
        nothing.
        """
        if self.gold is None or self.supports == self.gold:
            return ""
        if self.by == "detector" and self.opinion in ("unsure", "not yet"):
            return ""
        if self.by == "detector" and self.opinion in ("on topic", "off topic"):
            return "gold: yes" if self.gold else "gold: no"
        return "≠ gold"

    @property
    def is_support(self) -> bool:
        """Whether the pair counts as supporting by a label that somebody stands for: not by that of a detector which is unsure,
        so that there is no sentence that its label rests on."""
        return self.supports and not (self.by == "detector" and self.opinion in ("unsure", "not yet"))

    @property
    def takes_side(self) -> bool:
        """Whether the label that counts says which side the passage takes: everybody's does, except the opinion of a detector
        that is unsure or tells the topic alone."""
        return self.by != "detector" or self.opinion not in ("on topic", "off topic", "unsure", "not yet")


@dataclass(frozen=True)
class Hit:
    """A ranked passage with a chip for each perspective."""

    rank: int
    score: float
    passage: Passage
    chips: tuple[Chip, ...]


@dataclass(frozen=True)
class Listing:
    """The top k of one pipeline on one corpus; `first_ranks` holds the first rank that covers each perspective (None:
    missing)."""

    corpus: str
    pipeline: str
    hits: tuple[Hit, ...]
    first_ranks: tuple[int | None, ...]
    mrecall: float
    precision: float


def inspect_question(
    workspace: Workspace,
    judgments: Judgments,
    detector: Detector,
    question: Question,
    rankings: Mapping[tuple[str, str], tuple[Ranking, Sequence[Passage]]],
    k: int,
    annotator: Annotator | None,
    shown: Shown = "first available",
    *,
    at_most: int | None = None,
) -> list[Listing]:
    """Return the listings of rankings `rankings`, given by (corpus, pipeline).

    The label that counts is the adjudicated label, otherwise the annotator's own judgment, otherwise other people's majority,
    otherwise the authors' gold label, otherwise the detector's label; `shown` leaves out all but one of people (adjudicators and
    annotators), gold labels and the detector, which stays the last resort. The detector labels at most `at_most` new pairs, from
    the top of all lists; the others have the opinion `not yet`.
    """
    by_rank = zip_longest(*(passages for _, passages in rankings.values()))
    pairs = list(
        dict.fromkeys(
            Pair(p.text, v.text, p.title)
            for passages in by_rank
            for p in passages
            if p is not None
            for v in question.perspectives
        )
    )
    store = LabelStore(workspace)
    opined_by_pair = dict(zip(pairs, opined(workspace, detector, pairs, at_most=at_most), strict=True))
    keys = {pair: pair.key for pair in pairs}
    gold_labels = dict(zip(keys.values(), store.get(GOLD, list(keys.values())).tolist(), strict=True))
    current = judgments.present(list(keys.values()))
    own = {
        j.pair for j in current if annotator is not None and j.annotator.id == annotator.id and j.verdict != "unsure"
    }
    adjudicated = adjudicated_labels(judgments, list(keys.values()))
    human = majority_labels(current, first=annotator.id if annotator is not None else None, gold=adjudicated)

    def chip(pair: Pair) -> Chip:
        key, detected = keys[pair], opined_by_pair[pair]
        gold = None if np.isnan(gold_labels[key]) else gold_labels[key] >= 0.5
        by: Decider = "detector"
        supports = detected.label.supports
        if gold is not None and shown in ("first available", "gold"):
            by, supports = "gold", gold
        if key in human and shown in ("first available", "people"):
            by = "adjudicator" if key in adjudicated else "you" if key in own else "people"
            supports = human[key]
        return Chip(pair, key, supports, by, detected, gold)

    chips = {pair: chip(pair) for pair in pairs}
    return [
        _listing(corpus, pipeline, question, ranking, passages, chips, k)
        for (corpus, pipeline), (ranking, passages) in rankings.items()
    ]


class Agreement(NamedTuple):
    """The detector's opinions on the pairs of listings: how many pairs there are, on how many it is unsure, how many have a gold
    label and a sure opinion, and on how many of those both agree."""

    pairs: int
    unsure: int
    compared: int
    agreed: int


def detector_against_gold(listings: Sequence[Listing]) -> Agreement:
    """Compare the detector's opinions with the gold labels of all pairs of the listings."""
    chips = {c.key: c for entry in listings for h in entry.hits for c in h.chips}.values()
    unsure = sum(c.opinion == "unsure" for c in chips)
    compared = [c for c in chips if c.opinion not in ("unsure", "not yet") and c.gold is not None]
    return Agreement(len(chips), unsure, len(compared), sum(c.detected.label.supports == c.gold for c in compared))


def unlabelled(listings: Sequence[Listing]) -> list[Pair]:
    """Return the pairs of the listings that the detector has not labelled yet."""
    return list(
        {c.key: c.pair for entry in listings for h in entry.hits for c in h.chips if c.opinion == "not yet"}.values()
    )


def _listing(
    corpus: str,
    pipeline: str,
    question: Question,
    ranking: Ranking,
    passages: Sequence[Passage],
    chips: Mapping[Pair, Chip],
    k: int,
) -> Listing:
    hits = tuple(
        Hit(
            rank,
            float(score),
            passage,
            tuple(chips[Pair(passage.text, v.text, passage.title)] for v in question.perspectives),
        )
        for rank, (score, passage) in enumerate(zip(ranking.scores, passages, strict=True), start=1)
    )
    firsts = tuple(
        next((h.rank for h in hits if h.chips[place].supports), None) for place in range(len(question.perspectives))
    )
    if not question.perspectives:
        return Listing(corpus, pipeline, hits, (), np.nan, np.nan)
    support = Support.of([np.array([[c.supports for c in h.chips] for h in hits], dtype=float)]) if hits else None
    values = (float(m(support, k)[0]) if support else 0.0 for m in (mrecall, precision))
    return Listing(corpus, pipeline, hits, firsts, *values)
