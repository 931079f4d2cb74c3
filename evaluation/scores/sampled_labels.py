"""What people's labels of batches that draw with known probabilities say of a run: the sample behind `corrected(DETECTOR)`.

Several batches count together. A part of the measure (`evaluation.scores.measured_parts`) that several batches can draw is
divided between them in proportion to what their numbers of draws tell, whatever the labels are; each batch estimates the total of
its shares, and the estimates add. Given all draws before, of every batch, the probability of each draw is the stored one, so
that the sum is as unbiased as each estimate.

The estimate is of these questions and these batches' pairs: the value that the run would have if people judged everything. Its
interval says nothing about other questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from berdseye.annotation.judgments.log import Judgments, by_keys
from berdseye.annotation.judgments.schema import present
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.batch_draws import BatchDraws
from berdseye.evaluation.scores.measured_parts import OUTSIDE, Parts, part_of, parts_of
from berdseye.evaluation.statistics.anytime import interval_at_all_times
from berdseye.evaluation.statistics.drawn_sample import HEAVIEST, DrawnSample, Total, sum_of_totals
from berdseye.evaluation.statistics.intervals import Estimate
from berdseye.evaluation.statistics.proxies import DetectedSample

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SampledBatch:
    """What one batch says of a measure of a run. `shares` float64[n_parts]: how much of each part this batch estimates."""

    draws: BatchDraws
    parts: Parts
    shares: Doubles

    def sample(self, counted: Bools) -> DetectedSample:
        """Return the sample of all units of the batch, as sums over the shares of parts, divided by the number of questions."""
        parts, count = self.parts, max(int(counted.sum()), 1)
        kept = counted[parts.questions] & (self.shares > 0)
        drawn, size = self.draws.numbers, len(self.draws.numbers)
        inside, fixed = kept & (parts.units >= 0), kept & (parts.units < 0)

        def by_unit(values: Doubles) -> Doubles:
            shared = (values * self.shares)[inside]
            return np.bincount(parts.units[inside], weights=shared, minlength=size) / count

        at = tuple(
            float((values * self.shares)[fixed].sum()) / count for values in (parts.people, parts.low, parts.high)
        )
        readings = [by_unit(values) for values in (parts.people, parts.low, parts.high)]
        least, most = (by_unit(np.full(len(kept), bound)) for bound in parts.bounds)
        detectors = np.array([by_unit(values) for values in parts.detectors])
        questions = np.full(size, -1, dtype=np.int64)
        questions[parts.units[inside]] = parts.questions[inside]
        sequence = np.lexsort((~np.isnan(self.draws.chances), drawn))
        sequence = sequence[drawn[sequence] > 0]
        answered = self._answered(inside)
        steps = int(np.flatnonzero(answered[sequence]).max()) + 1 if answered[sequence].any() else 0
        sample = DrawnSample(
            detectors.mean(axis=0), readings[0], readings[1], readings[2], least, most,
            sequence.astype(np.int64), self.draws.chances[sequence], (at[0], at[1], at[2]),
        )  # fmt: skip
        return DetectedSample(sample, detectors, questions).first_steps(steps)

    def _answered(self, inside: Bools) -> Bools:
        """Return which units have a known value: bool[n_units]; units without a part of the run are left open."""
        units, size = self.parts.units[inside], len(self.draws.numbers)
        open_ones = np.bincount(units, weights=~self.parts.known[inside], minlength=size)
        return np.asarray((np.bincount(units, minlength=size) > 0) & (open_ones == 0), dtype=np.bool_)


@dataclass(frozen=True)
class SampledLabels:
    """The labels of batches of draws for one measure of one run.

    `counted` bool[n_questions] are the questions of the mean. `labels` counts the pairs with a label among the drawn ones,
    `unsure` those that people judged without a label as the result, and `waiting` those that nobody has judged; the interval
    covers both readings of these.
    """

    batches: tuple[SampledBatch, ...]
    counted: Bools
    labels: int
    unsure: int
    waiting: int

    @property
    def batch(self) -> str:
        """The names of the batches."""
        return ", ".join(one.draws.batch.name for one in self.batches)

    @property
    def draws(self) -> int:
        """The number of draws with a known probability."""
        return sum(sample.sample.draws for sample in self._samples)

    def without(self, left_out: Bools) -> "SampledLabels":
        """Return the labels without the questions bool[n_questions]."""
        return replace(self, counted=self.counted & ~left_out)

    @cached_property
    def estimated(self) -> Total:
        """The estimated mean over the questions."""
        return sum_of_totals([sample for sample, _ in self._combined])

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each detector: its part in the combination times lambda, the mean over the batches."""
        weights = np.mean([weights for _, weights in self._combined], axis=0)
        return tuple((self.estimated.weight * weights).tolist())

    def at_all_times(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the 95% interval of the mean that holds at every look, however often people look and whenever they stop.

        `bounds` are those of the measure. See `evaluation.statistics.anytime.interval_at_all_times`. Several detectors count as
        their mean there, because a bet must not depend on later labels. Of several batches, each one that holds every part
        alone gives an interval of a confidence that allows for their number; (nan, nan) if none does.
        """
        held = [(one.parts.drawable | one.parts.fixed) | ~self.counted[one.parts.questions] for one in self.batches]
        whole = [
            replace(one, shares=np.ones(len(one.shares)))
            for one, parts in zip(self.batches, held, strict=True)
            if parts.all()
        ]
        ends = [self._alone(one, bounds, 1 - 0.05 / len(whole)) for one in whole]
        if not ends:
            return float("nan"), float("nan")
        return max(low for low, _ in ends), min(high for _, high in ends)

    def _alone(self, one: SampledBatch, bounds: tuple[float, float], confidence: float) -> tuple[float, float]:
        sample, weights = one.sample(self.counted).sample, one.draws.fixed_weights
        if weights is None:
            weights = one.draws.weights
            return interval_at_all_times(sample, weights, changing=True, bounds=bounds, confidence=confidence)
        relevant = sample.span > 0
        kept = sample.only(relevant, weights)
        return interval_at_all_times(kept, weights[relevant], bounds=bounds, confidence=confidence)

    @property
    def note(self) -> str:
        """What to know of the sample beside the number, as a sentence without a full stop."""
        found = self.estimated
        units = dict.fromkeys(f"{one.draws.batch.drawn_by}s" for one in self.batches)
        named = " and ".join(f"'{one.draws.batch.name}'" for one in self.batches)
        texts = [
            f"{found.estimate.n} {' and '.join(units)} drawn by {'batch' if len(self.batches) == 1 else 'the batches'} {named}",
            f"effective sample size {found.effective:.1f}",
            f"the heaviest {HEAVIEST:.0%} of the draws have {found.heaviest:.0%} of the weight",
        ]
        if self.unsure or self.waiting:
            texts.append(
                f"{self.unsure} drawn pairs on which people are unsure and {self.waiting} that nobody has judged yet, which the "
                "interval counts both ways"
            )
        return "; ".join(texts)

    def minus(self, other: "SampledLabels") -> Total | None:
        """Estimate the difference of two runs, over the questions that count for both; None if the batches differ."""
        if self.batch != other.batch:
            return None
        both, differences = self.counted & other.counted, []
        for ours, theirs in zip(self.batches, other.batches, strict=True):
            samples = (ours.sample(both), theirs.sample(both))
            # Draws that both have answered: what one of the runs does not know yet is cut off for both.
            steps = min(len(one.sample.sequence) for one in samples)
            first, second = (one.first_steps(steps) for one in samples)
            differences.append(first.minus(second).relevant(ours.draws.fixed_weights).combined()[0])
        return sum_of_totals(differences)

    @cached_property
    def _samples(self) -> list[DetectedSample]:
        return [one.sample(self.counted) for one in self.batches]

    @cached_property
    def _combined(self) -> list[tuple[DrawnSample, Doubles]]:
        batches = zip(self._samples, self.batches, strict=True)
        return [sample.relevant(one.draws.fixed_weights).combined() for sample, one in batches]


def sampled_labels(
    judgments: Judgments, detectors: Sequence[LabelledRun], people: LabelledRun, measure: Measure, counted: Bools,
    batches: Sequence[BatchDraws],
) -> SampledLabels | str:  # fmt: skip
    """Return the labels of all batches that can correct a measure of a run together, or why there are none.

    `detectors` and `people` are the run with the labels of each. Batches whose draws are not independent do not count together;
    the one with the most draws does. The reason is a clause without a full stop.
    """
    tops, by_people = [one.top(measure.k) for one in detectors], people.top(measure.k)
    found, reasons = list[SampledBatch](), list[str]()
    for draws in batches:
        parts = parts_of(measure, tops, by_people, _units(tops[0], draws))
        here = counted[parts.questions] & (parts.units >= 0)
        if not here.any():
            continue
        if reason := _obstacle(measure, draws, parts, counted[parts.questions]):
            reasons.append(reason)
        found.append(SampledBatch(draws, parts, (parts.drawable & here).astype(np.float64)))
    found = sorted(found, key=lambda one: one.sample(counted).sample.draws, reverse=True)
    usable = _together([one for one in found if one.shares.any()], counted)
    if not usable:
        return _refused(reasons, found, counted)
    return _with_counts(judgments, usable, tops[0], by_people, counted)


def _units(run: LabelledRun, draws: BatchDraws) -> Ints:
    """Return the unit of each pair of a run, int64[n_questions, k, m_max]."""
    real = run.keys != b""
    units = np.full(run.keys.shape, OUTSIDE, dtype=np.int64)
    units[real] = [draws.units.get(key, OUTSIDE) for key in run.keys[real].astype(str).tolist()]
    return units


def _obstacle(measure: Measure, draws: BatchDraws, parts: Parts, counted: Bools) -> str:
    """Return why a batch cannot correct the measure alone, empty if it can."""
    name = draws.batch.name
    if outside := int(parts.outside[counted].sum()):
        return f"batch '{name}' does not hold {outside} pairs of this run that nobody has judged"
    if (parts.split & counted).any():
        return (
            f"batch '{name}' draws single {draws.batch.drawn_by}s, and {measure} depends on all labels of a "
            f"{part_of(measure)} at once, so that no estimate from them is unbiased"
        )
    return ""


def _together(found: Sequence[SampledBatch], counted: Bools) -> list[SampledBatch]:
    """Return batches that hold all parts together, with their shares; none if there are no such batches.

    Two draws are needed for an interval: batches with fewer count only where others do not suffice.
    """
    numbers = [one.sample(counted).sample.draws for one in found]
    for fewest in (2, 1, 0):
        chosen: list[SampledBatch] = []
        for one, draws in zip(found, numbers, strict=True):
            if draws >= fewest and all(one.draws.independent_of(other.draws) for other in chosen):
                chosen.append(one)
        if chosen and not _uncovered(chosen, counted).any():
            return _shared(chosen, counted)
    return []


def _uncovered(chosen: Sequence[SampledBatch], counted: Bools) -> Bools:
    """Return the parts that count, and that no batch can draw as a whole or has as fixed, bool[n_parts]."""
    held = np.any([one.parts.drawable | one.parts.fixed for one in chosen], axis=0)
    return np.asarray(counted[chosen[0].parts.questions] & ~held)


def _shared(chosen: Sequence[SampledBatch], counted: Bools) -> list[SampledBatch]:
    """Return the batches with the share of each part that they estimate; a fixed part is that of the first one."""
    told = []
    for one in chosen:
        draws, size = one.sample(counted).sample.draws, len(np.unique(one.parts.units[one.shares > 0]))
        # The precision of a mean of n of N units: n / (1 - n / N).
        told.append(one.shares * (max(draws, 1) * size / (max(size - draws, 0) + 1)))
    sums = np.sum(told, axis=0)
    shares = [part / np.where(sums > 0, sums, 1.0) for part in told]
    left = sums == 0
    for one, share in zip(chosen, shares, strict=True):
        share[left & one.parts.fixed] = 1.0
        left = left & ~one.parts.fixed
    return [replace(one, shares=share) for one, share in zip(chosen, shares, strict=True)]


def _refused(reasons: Sequence[str], found: Sequence[SampledBatch], counted: Bools) -> str:
    if not found:
        return "no pair of this run was drawn with a known probability"
    if len(found) == 1 or not reasons:
        return reasons[-1] if reasons else "no batch has drawn a part of this measure as a whole"
    names = " and ".join(f"'{one.draws.batch.name}'" for one in found)
    missing = int(_uncovered(found, counted).sum())
    return (
        f"{reasons[-1]}; the batches {names} together leave {missing} parts of the measure that none of them draws as a whole, "
        "so that the probability of their labels is unknown"
    )


def _with_counts(
    judgments: Judgments, usable: Sequence[SampledBatch], run: LabelledRun, people: LabelledRun, counted: Bools
) -> SampledLabels:
    keys, unknown = run.keys, np.isnan(people.labels)
    drawn = np.zeros(keys.shape, dtype=np.bool_)
    for one in usable:
        units = _units(run, one.draws)
        inside = (units >= 0) & counted[:, None, None]
        drawn[inside] |= one.draws.numbers[units[inside]] > 0
    open_keys = set(keys[drawn & unknown].astype(str).tolist())
    judged = _judged(judgments, open_keys)
    labels = len(set(keys[drawn & ~unknown].tolist()))
    return SampledLabels(tuple(usable), counted, labels, len(judged), len(open_keys - judged))


def _judged(judgments: Judgments, keys: set[str]) -> set[str]:
    """Return which of the pairs somebody has judged."""
    base = select(present.c.pair).where(present.c.kind == "judge").distinct()
    with judgments.reading() as connection:
        return {
            pair
            for query in by_keys(base, present.c.pair, sorted(keys))
            for pair in connection.execute(query).scalars()
        }


def estimate_of(found: Total, bounds: tuple[float, float]) -> Estimate:
    """Return the estimate with its interval within the bounds of the measure."""
    value, low, high, n = found.estimate
    return Estimate(value, min(max(low, bounds[0]), value), max(min(high, bounds[1]), value), n)
