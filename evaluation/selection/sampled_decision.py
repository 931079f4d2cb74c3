"""When a decision batch is settled: the evidence of people's judgments alone, which may be looked at after each of them.

The difference of two runs is a sum over what the batch draws as a whole: passages for Precision, questions for every other
measure. The draws have known probabilities, so that each is a fair bet against a wrong order
(`evaluation.statistics.anytime`). The detector's labels serve as a control that makes the evidence stronger if they are good;
whether they are right does not matter.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.batch_draws import Draws
from berdseye.evaluation.statistics.anytime import Evidence, evidence
from berdseye.evaluation.statistics.drawn_sample import DrawnSample
from berdseye.evaluation.trust.decision import AnsweredQuestion, compared_questions, system_values
from berdseye.evaluation.trust.judging_plan import RISK, Needed, Outcome
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_DIGITS = 9


@dataclass(frozen=True)
class SampledDecision:
    """The difference of two runs by the draws of a batch.

    `sample` is that of the difference of the means over questions; `weights` float64[n_units] are the present ones, and
    `costs` int64[n_units] the judgments that a unit still needs. `changing`: earlier draws had other weights.
    """

    sample: DrawnSample
    weights: Doubles
    costs: Ints
    changing: bool = True

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence for either order after each draw."""
        return evidence(self.sample, self.weights, changing=self.changing)

    @property
    def order(self) -> int:
        """The order that the judgments show: 1 if the first run is ahead, -1 if the second is, 0 if neither."""
        if self._complete:
            low, high = (float(v.sum()) + at for v, at in zip(self._ends, self.sample.fixed[1:], strict=True))
            return 1 if low > 0 else -1 if high < 0 else 0
        return self.evidence.sign

    @property
    def error(self) -> float:
        """The largest probability with which the judgments show this order, at any time, if it is wrong; 1: they show none."""
        if self._complete:
            return 0.0 if self.order else 1.0
        return self.evidence.error(self.order) if self.order else 1.0

    @property
    def _complete(self) -> bool:
        return len(self.sample.sequence) == len(self.sample.detector)

    @property
    def _ends(self) -> tuple[Doubles, Doubles]:
        return self.sample.low, self.sample.high

    def needed(self, outcomes: Doubles, *, risk: float = RISK, seed: int = 0) -> Needed:
        """Predict how many more judgments settle the order, by simulation of the draws to come.

        `outcomes` float64[n_outcomes, n_units] are values of the units under labels drawn by their probabilities.
        """
        random = np.random.default_rng(seed)
        total = int(self.costs[self._left].sum())
        if self.error <= risk or not len(self._left):
            return Needed(0.0, 0.0, 0.0, total, float(self.error <= risk))
        counts = [self.followed(values, random, risk=risk).judgments for values in outcomes]
        low_end, median, high_end = np.quantile(counts, [0.1, 0.5, 0.9], method="nearest")
        settled = float(np.mean([count < total for count in counts]))
        return Needed(float(median), float(low_end), float(high_end), total, settled)

    def followed(self, values: Doubles, random: np.random.Generator, *, risk: float = RISK) -> Outcome:
        """Simulate the draws to come, with the values of the units float64[n_units], until the order is settled or known."""
        left, drawn = self._left, self.sample.sequence
        order = left[np.argsort(random.exponential(size=len(left)) / self.weights[left])]
        chances = self.weights[order] / np.cumsum(self.weights[order][::-1])[::-1]
        known = np.isin(np.arange(len(values)), drawn)
        low, high = (np.where(known, ends, values) for ends in self._ends)
        followed = replace(
            self.sample, low=low, high=high, sequence=np.concatenate([drawn, order[:-1]]),
            chances=np.concatenate([self.sample.chances, chances[:-1]]),
        )  # fmt: skip
        found = evidence(followed, self.weights, changing=self.changing)
        above, below = (wealth[self.sample.draws :] for wealth in found)
        crossed = np.flatnonzero(np.maximum(above, below) >= np.log(2 / risk))
        if len(crossed):
            stop = int(crossed[0])
            return Outcome(int(self.costs[order[: stop + 1]].sum()), 1 if above[stop] > below[stop] else -1)
        least, most = (float(ends.sum()) + at for ends, at in zip((low, high), self.sample.fixed[1:], strict=True))
        shown = 1 if round(least, _DIGITS) > 0 else -1 if round(most, _DIGITS) < 0 else 0
        return Outcome(int(self.costs[order].sum()), shown)

    @cached_property
    def _left(self) -> Ints:
        return np.setdiff1d(np.arange(len(self.weights)), self.sample.sequence)


def sampled_decision(
    lists: LabelledLists, measure: Measure, keys: list[str], said: Bools, draws: Draws, labels: Doubles
) -> SampledDecision | None:
    """Return the difference of the two systems of `lists` by the draws of a batch; None if they do not fit the measure.

    `keys` are the pair keys of the labels; `said` bool[n_labels] are the detector's labels, `labels` float64[n_labels]
    people's (NaN: none).
    """
    units = np.array([draws.units.get(key, -1) for key in keys], dtype=np.int64)
    size = len(draws.numbers)
    unknown = np.isnan(labels)
    yes = labels == 1
    # A pair that the batch never draws has people's label, or (a question that was left out) the detector's.
    yes = np.where((units < 0) & unknown, said, yes)
    unknown &= units >= 0
    said = np.where(units < 0, yes, said)
    parts = compared_questions(lists, measure)
    if not _fits(parts, measure, units):
        return None
    readings = [
        unit_values(parts, measure, units, size, first[None], second[None])[0]
        for first, second in ((said, said), (yes, yes), (yes, yes | unknown), (yes | unknown, yes))
    ]
    none, every = np.zeros(len(yes), dtype=np.bool_), np.ones(len(yes), dtype=np.bool_)
    bounds = [
        unit_values(parts, measure, units, size, first[None], second[None])[0][:size]
        for first, second in ((none, every), (every, none))
    ]
    order = np.lexsort((~np.isnan(draws.chances), draws.numbers))
    order = order[draws.numbers[order] > 0]
    waits = np.zeros(size, dtype=np.int64)
    np.add.at(waits, units[(units >= 0) & unknown], 1)
    answered = np.flatnonzero(waits[order] == 0)
    order = order[: int(answered.max()) + 1 if len(answered) else 0]
    by_detector, people, low, high = (values[:size] for values in readings)
    sample = DrawnSample(
        by_detector, people, low, high, bounds[0], bounds[1], order.astype(np.int64), draws.chances[order],
        (float(readings[1][size]), float(readings[2][size]), float(readings[3][size])),
    )  # fmt: skip
    return SampledDecision(sample, draws.weights, waits, draws.changing)


def unit_values(
    parts: list[AnsweredQuestion], measure: Measure, units: Ints, size: int, first: Bools, second: Bools
) -> Doubles:
    """Return the difference of the means as a sum over units, float64[n, n_units + 1]; the last column is what no unit holds.

    `first` and `second` bool[n, n_labels] are the labels by which either system is measured.
    """
    values = np.zeros((len(first), size + 1))
    for part in parts:
        if part.perspectives == 0:
            continue
        if measure.name == "Precision":
            for place, labels, sign in ((0, first, 1.0), (1, second, -1.0)):
                for row in part.places[place]:
                    numbers = part.labels[row[row < len(part.labels)]]
                    if len(numbers) and part.asked[np.searchsorted(part.labels, numbers[0])]:
                        values[:, units[numbers].max()] += sign * labels[:, numbers].any(axis=1) / measure.k
            continue
        asked = units[part.labels]
        ours, theirs = (
            system_values(measure, part, place, labels[:, part.labels]) for place, labels in ((0, first), (1, second))
        )
        values[:, asked.max(initial=-1)] += ours - theirs
    return values / max(len(parts), 1)


def _fits(parts: list[AnsweredQuestion], measure: Measure, units: Ints) -> bool:
    """Return whether each part of the difference is in one unit."""
    for part in parts:
        if measure.name == "Precision":
            groups = [units[part.labels[row[row < len(part.labels)]]] for rows in part.places for row in rows]
        else:
            groups = [units[part.labels]]
        if any(len(set(group[group >= 0].tolist())) > 1 for group in groups):
            return False
    return True
