"""Deciding which of two systems is better: the expected value of each judgment, and when the order is settled.

Labels that are not settled are drawn by their probabilities, which gives a distribution of the difference of the two systems. The
value of a judgment is the variance of this difference that it is expected to remove: p (1 - p) (E[difference | 1] - E[difference
| 0])^2. It depends on the other labels of the question, so all values of a question are recomputed after each judgment of it. The
order is settled when the probability that the other system is better is at most `RISK`. Open labels are assumed to be
independent, each 1 with its probability.
"""

from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.trust.judging_plan import RISK, Needed, Outcome
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists
from berdseye.evaluation.trust.wrong_order import chance_against

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
DRAWS, OUTCOMES = 500, 40
_PREDICTION_DRAWS = 200
_DIGITS = 9
_WHOLE = 1e-3


class AnsweredQuestion(NamedTuple):
    """A question with the rankings of two systems.

    `labels` int64[n]: the labels of its pairs; `places` int64[2, k, m]: the place among them of each pair of either top k (n if
    there is no such pair); `asked` bool[n]: the labels that can change the difference.
    """

    labels: Ints
    places: Ints
    depths: Ints
    perspectives: int
    asked: Bools


class Decision:
    """The difference of two systems, `first` minus `second`, summed over questions, given the labels so far.

    `draws` sets of labels are drawn by the probabilities of `lists`; a judged label has its value in all of them. `closed`
    bool[n_labels] marks the labels that can no longer be judged.
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
        self._parts = compared_questions(lists, measure, first, second)
        self._question_of: Ints = np.full(len(self.chance), -1, dtype=np.int64)
        self.open: Bools = np.zeros(len(self.chance), dtype=np.bool_)
        for question, part in enumerate(self._parts):
            self._question_of[part.labels] = question
            self.open[part.labels[part.asked]] = True
        self.open &= ~lists.settled & (np.ones_like(self.open) if closed is None else ~closed)
        self.values: Doubles = np.zeros(len(self.chance))
        """The value of a judgment of each label, float64[n_labels]; 0: it changes nothing."""
        self._deltas: Doubles = np.zeros((draws, len(self._parts)))
        self._sums: Doubles = np.zeros(draws)
        for question in range(len(self._parts)):
            self._update(question)

    @property
    def difference(self) -> float:
        """The expected difference of the means of the two systems over questions."""
        return float(self._sums.mean()) / max(len(self._parts), 1)

    @property
    def order(self) -> int:
        """The current order: 1 if the first system is ahead, -1 if the second is, 0 if neither is."""
        return int(np.sign(round(float(self._sums.mean()), _DIGITS)))

    @property
    def chance_of_other(self) -> float:
        """The probability of the opposite order, with ties counting half; 0.5 if neither system is ahead."""
        return chance_against(self.order, self._sums) if self.order else 0.5

    @property
    def settled(self) -> bool:
        """Whether the probability of the opposite order is at most `RISK`."""
        return self.order != 0 and self.chance_of_other <= RISK

    def drawn_labels(self, most: int) -> Bools:
        """Return the last `most` sets of drawn labels, bool[n, n_labels]; a judged label has its value in all of them."""
        return self._drawn[-most:].copy()

    def most_telling(self) -> int | None:
        """Return the open label whose judgment has the highest value; None if no judgment changes anything."""
        best = int(np.argmax(self.values)) if len(self.values) else 0
        return best if len(self.values) and self.values[best] > 0 else None

    def ranked(self) -> Ints:
        """Return the open labels by the value of their judgments, the highest first, int64[n_open]."""
        labels = np.flatnonzero(self.open)
        return labels[np.argsort(-self.values[labels], kind="stable")]

    def set_label(self, label: int, supports: bool) -> None:
        """Set a label to the result of a judgment."""
        self._drawn[:, label] = supports
        self.chance[label] = float(supports)
        self.open[label] = False
        self._update(int(self._question_of[label]))

    def followed(self, truth: Bools, *, every: int = 1) -> Outcome:
        """Simulate judging by value, with the labels `truth` bool[n_labels], until the order is settled or no judgment changes
        anything.

        The labels are sorted again after `every` judgments.
        """
        state, judgments = self.copied(), 0
        while not state.settled and state.most_telling() is not None:
            for label in state.ranked()[:every].tolist():
                state.set_label(label, bool(truth[label]))
                judgments += 1
                if state.settled:
                    break
        return Outcome(judgments, state.order)

    def needed(self, outcomes: int = OUTCOMES) -> Needed:
        """Predict how many more judgments settle the order, by simulation of outcomes drawn by the probabilities of the
        labels."""
        total = int((self.values > 0).sum())
        if self.settled or not total:
            return Needed(0.0, 0.0, 0.0, total, float(self.settled))
        start = self.copied(_PREDICTION_DRAWS)
        judgments = [start.followed(drawn).judgments for drawn in self._drawn[-outcomes:]]
        low, median, high = np.quantile(judgments, [0.1, 0.5, 0.9], method="nearest")
        return Needed(float(median), float(low), float(high), total, float(np.mean([n < total for n in judgments])))

    def copied(self, draws: int | None = None) -> "Decision":
        """Return an independent copy, with only the first `draws` draws."""
        duplicate = copy(self)
        for name in ("chance", "open", "values"):
            setattr(duplicate, name, getattr(self, name).copy())
        for name in ("_drawn", "_deltas", "_sums"):
            setattr(duplicate, name, getattr(self, name)[:draws].copy())
        return duplicate

    def _update(self, question: int) -> None:
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
        # Even if no single label removes variance, several together can: every open label keeps a small value.
        self.values[part.labels[open_ones]] = np.maximum(taken, _WHOLE * spread / len(open_ones))


def compared_questions(
    lists: LabelledLists, measure: Measure, first: int = 0, second: int = 1
) -> list[AnsweredQuestion]:
    """Return every question with the rankings of two systems."""
    return [_part(lists, measure, (first, second), question) for question in range(len(lists.questions))]


def system_values(measure: Measure, part: AnsweredQuestion, place: int, labels: Bools) -> Doubles:
    """Return the value of one of the two systems (0 or 1) on a question, float64[n], under bool[n, n_labels] of its labels."""
    n, places = len(labels), part.places[place]
    known = np.concatenate([labels, np.zeros((n, 1), dtype=np.bool_)], axis=1)
    judged = np.broadcast_to(places < labels.shape[1], (n, *places.shape))
    return measure.values(
        Support(known[:, places], np.full(n, part.perspectives), np.full(n, part.depths[place]), judged)
    )


def _part(lists: LabelledLists, measure: Measure, systems: tuple[int, int], question: int) -> AnsweredQuestion:
    ids, places = (array[list(systems), question, : measure.k] for array in (lists.ids, lists.places))
    labels = np.unique(places[places >= 0])
    asked: Bools = np.ones(len(labels), dtype=np.bool_)
    if measure.name == "Precision":  # passages that both systems rank contribute equally to both
        alone = np.stack([~np.isin(ids[0], ids[1]), ~np.isin(ids[1], ids[0])])
        asked = np.isin(labels, places[alone])
    within = np.where(places >= 0, np.searchsorted(labels, places), len(labels))
    depths = (lists.ids[list(systems), question] >= 0).sum(axis=1)
    return AnsweredQuestion(labels, within, depths, int(lists.counts[question]), asked)


def _delta(measure: Measure, part: AnsweredQuestion, labels: Bools) -> Doubles:
    """Return the difference on a question, float64[n], under n sets of its labels, bool[n, n_labels]."""
    if part.perspectives == 0:
        return np.zeros(len(labels))
    return np.asarray(system_values(measure, part, 0, labels) - system_values(measure, part, 1, labels))


def _pulls(measure: Measure, part: AnsweredQuestion, drawn: Bools, open_ones: Ints) -> Doubles:
    """Return E[difference | 1] - E[difference | 0] for labels of a question, with the other labels drawn."""
    forced = np.broadcast_to(drawn, (len(open_ones), 2, *drawn.shape)).copy()
    rows = np.arange(len(open_ones))
    forced[rows, 0, :, open_ones] = False
    forced[rows, 1, :, open_ones] = True
    deltas = _delta(measure, part, forced.reshape(-1, drawn.shape[1])).reshape(len(open_ones), 2, -1).mean(axis=2)
    return np.asarray(deltas[:, 1] - deltas[:, 0])
