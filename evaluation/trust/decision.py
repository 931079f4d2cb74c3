"""Which of two systems is better, label by label: what each judgment is expected to change, and when the answer is settled.

Labels that nobody settled are drawn by their chances, and the difference of the two systems with them. A judgment's value is how
much it is expected to narrow that difference: the variance p (1 - p) (E[difference | 1] - E[difference | 0])^2 that it takes
away. It depends on what is known of its question, so it is worked out anew for a question with each word on it. The answer is
settled when the chance that the other system is better is at most `RISK`. The assumption: open labels are independent, each 1
with its chance.
"""

from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.trust.judging_plan import RISK, Followed, Needed
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists
from berdseye.evaluation.trust.wrong_order import chance_against

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
DRAWS, OUTCOMES = 500, 40
_FORETELLING = 200
_DIGITS = 9
_WHOLE = 1e-3


class AnsweredQuestion(NamedTuple):
    """A question as the two systems answer it: its `labels`, int64[n], and the place among them of each that makes a pair in
    either top k, int64[2, k, m] (n where there is none); `asked` bool[n]: those that can sway the difference."""

    labels: Ints
    places: Ints
    depths: Ints
    perspectives: int
    asked: Bools


class Decision:
    """What is known of the difference of two systems, `first` minus `second`, summed over questions.

    `draws` sets of labels are drawn by the chances of `lists`; a label that is told is that label in all of them. `closed`
    bool[n_labels] are labels that nobody can settle any more.
    """

    def __init__(
        self,
        lists: LabelledLists,
        measure: Measure,
        first: int,
        second: int,
        *,
        closed: Bools | None = None,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> None:
        self.measure = measure
        self.chance: Doubles = lists.chance.astype(np.float64)
        self._drawn: Bools = np.random.default_rng(seed).random((draws, len(self.chance))) < self.chance
        self._parts = [_part(lists, measure, (first, second), q) for q in range(len(lists.questions))]
        self._question_of: Ints = np.full(len(self.chance), -1, dtype=np.int64)
        self.open: Bools = np.zeros(len(self.chance), dtype=np.bool_)
        for question, part in enumerate(self._parts):
            self._question_of[part.labels] = question
            self.open[part.labels[part.asked]] = True
        self.open &= ~lists.settled & (np.ones_like(self.open) if closed is None else ~closed)
        self.values: Doubles = np.zeros(len(self.chance))
        """How much a judgment of each label is expected to narrow the difference, float64[n_labels]; 0: not at all."""
        self._deltas: Doubles = np.zeros((draws, len(self._parts)))
        self._sums: Doubles = np.zeros(draws)
        for question in range(len(self._parts)):
            self._look_at(question)

    @property
    def difference(self) -> float:
        """The expected difference of the two means over questions."""
        return float(self._sums.mean()) / max(len(self._parts), 1)

    @property
    def order(self) -> int:
        """1: the first system is ahead as things stand, -1: the second, 0: neither."""
        return int(np.sign(round(float(self._sums.mean()), _DIGITS)))

    @property
    def chance_of_other(self) -> float:
        """The chance that the order is the other one, a tie counting half; 0.5 where neither is ahead."""
        return chance_against(self.order, self._sums) if self.order else 0.5

    @property
    def settled(self) -> bool:
        """Whether the chance of the other order is small enough."""
        return self.order != 0 and self.chance_of_other <= RISK

    def drawn_differences(self) -> Doubles:
        """The difference on each question under the labels drawn, float64[n_draws, n_questions]."""
        return self._deltas.copy()

    def most_telling(self) -> int | None:
        """The open label whose judgment is expected to narrow the difference the most; None where none can."""
        best = int(np.argmax(self.values)) if len(self.values) else 0
        return best if len(self.values) and self.values[best] > 0 else None

    def ranked(self) -> Ints:
        """The open labels, the most telling first, and last those that can change nothing: int64[n_open]."""
        held = np.flatnonzero(self.open)
        return held[np.argsort(-self.values[held], kind="stable")]

    def tell(self, label: int, supports: bool) -> None:
        """A word on a label."""
        self._drawn[:, label] = supports
        self.chance[label] = float(supports)
        self.open[label] = False
        self._look_at(int(self._question_of[label]))

    def followed(self, truth: Bools, *, every: int = 1) -> Followed:
        """Judging the most telling labels until it is settled or nothing more can be told, where labels are `truth`
        bool[n_labels]; the order is made anew after `every` judgments."""
        state, judgments = self.copied(), 0
        while not state.settled and state.most_telling() is not None:
            for label in state.ranked()[:every].tolist():
                state.tell(label, bool(truth[label]))
                judgments += 1
                if state.settled:
                    break
        return Followed(judgments, state.order)

    def needed(self, outcomes: int = OUTCOMES) -> Needed:
        """How many more judgments that takes: over outcomes drawn by the chances of the labels."""
        every = int((self.values > 0).sum())
        if self.settled or not every:
            return Needed(0.0, 0.0, 0.0, every, float(self.settled))
        start = self.copied(_FORETELLING)
        made = [start.followed(drawn).judgments for drawn in self._drawn[-outcomes:]]
        low, median, high = np.quantile(made, [0.1, 0.5, 0.9], method="nearest")
        return Needed(float(median), float(low), float(high), every, float(np.mean([n < every for n in made])))

    def copied(self, draws: int | None = None) -> "Decision":
        """The same, to be told other things; with the first `draws` of the draws alone."""
        found = copy(self)
        for name in ("chance", "open", "values"):
            setattr(found, name, getattr(self, name).copy())
        for name in ("_drawn", "_deltas", "_sums"):
            setattr(found, name, getattr(self, name)[:draws].copy())
        return found

    def _look_at(self, question: int) -> None:
        part = self._parts[question]
        drawn: Bools = self._drawn[:, part.labels]
        delta = _delta(self.measure, part, drawn)
        self._sums += delta - self._deltas[:, question]
        self._deltas[:, question] = delta
        self.values[part.labels] = 0.0
        open_ones = np.flatnonzero(part.asked & self.open[part.labels])
        spread = float(delta.var())
        if not len(open_ones) or spread == 0:
            return
        p = self.chance[part.labels[open_ones]]
        taken = p * (1 - p) * _pulls(self.measure, part, drawn, open_ones) ** 2
        # Where no single label narrows anything, though several together do, the question is judged all the same.
        self.values[part.labels[open_ones]] = np.maximum(taken, _WHOLE * spread / len(open_ones))


def _part(lists: LabelledLists, measure: Measure, systems: tuple[int, int], question: int) -> AnsweredQuestion:
    ids, places = (array[list(systems), question, : measure.k] for array in (lists.ids, lists.places))
    labels = np.unique(places[places >= 0])
    asked: Bools = np.ones(len(labels), dtype=np.bool_)
    if measure.name == "Precision":  # passages that both rank add the same to both
        alone = np.stack([~np.isin(ids[0], ids[1]), ~np.isin(ids[1], ids[0])])
        asked = np.isin(labels, places[alone])
    within = np.where(places >= 0, np.searchsorted(labels, places), len(labels))
    depths = (lists.ids[list(systems), question] >= 0).sum(axis=1)
    return AnsweredQuestion(labels, within, depths, int(lists.counts[question]), asked)


def _delta(measure: Measure, part: AnsweredQuestion, labels: Bools) -> Doubles:
    """The difference on a question under labels bool[n, n_labels of it]: float64[n]."""
    n = len(labels)
    if part.perspectives == 0:
        return np.zeros(n)
    known = np.concatenate([labels, np.zeros((n, 1), dtype=np.bool_)], axis=1)
    counts = np.full(n, part.perspectives)
    first, second = (
        measure.values(
            Support(
                known[:, places],
                counts,
                np.full(n, depth),
                np.broadcast_to(places < labels.shape[1], (n, *places.shape)),
            )
        )
        for places, depth in zip(part.places, part.depths, strict=True)
    )
    return np.asarray(first - second)


def _pulls(measure: Measure, part: AnsweredQuestion, drawn: Bools, open_ones: Ints) -> Doubles:
    """E[difference | 1] - E[difference | 0] of labels of a question, the others drawn."""
    forced = np.broadcast_to(drawn, (len(open_ones), 2, *drawn.shape)).copy()
    rows = np.arange(len(open_ones))
    forced[rows, 0, :, open_ones] = False
    forced[rows, 1, :, open_ones] = True
    deltas = _delta(measure, part, forced.reshape(-1, drawn.shape[1])).reshape(len(open_ones), 2, -1).mean(axis=2)
    return np.asarray(deltas[:, 1] - deltas[:, 0])
