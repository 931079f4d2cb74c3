"""What people's labels of a batch that draws with known probabilities say of a run: the sample behind `corrected(DETECTOR)`.

A measure's mean over questions is a sum of parts, and a part needs some labels at once: Precision@k one passage with all
perspectives, every other measure (MRecall@k among them) one question. A batch corrects a measure without bias if what it draws
as a whole holds each part whole. If a batch draws single pairs, a passage with several perspectives is judged only in part,
and the share of judged pairs says nothing unbiased of "any perspective" or "every perspective"; there is no estimate then.

The estimate is of these questions and this batch's pairs: the value that the run would have if people judged everything. Its
interval says nothing about other questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from berdseye.annotation.batches.draws import Unit, places
from berdseye.annotation.batches.stored import Batch, Item, list_batches
from berdseye.annotation.judgments.log import Judgments, by_keys
from berdseye.annotation.judgments.schema import batch_items, present
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.statistics.anytime import interval_at_all_times
from berdseye.evaluation.statistics.drawn_sample import HEAVIEST, DrawnSample, Total, total
from berdseye.evaluation.statistics.intervals import Estimate

Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_PARTS: Mapping[str, Unit] = {"Precision": "passage"}
_MONOTONE = ("Precision", "MRecall", "Coverage", "ToCover")


@dataclass(frozen=True)
class Draws:
    """The draws so far. `units`: the unit of each pair (-1: in the batch, and never drawn); `numbers` int64[n_units]: the number
    of each unit's draw (0: not drawn); `chances` and `weights` float64[n_units]."""

    units: Mapping[str, int]
    numbers: npt.NDArray[np.int64]
    chances: Doubles
    weights: Doubles


@dataclass(frozen=True)
class BatchDraws(Draws):
    """The draws of a batch so far."""

    batch: Batch

    @property
    def fixed_weights(self) -> Doubles | None:
        """The weights, if they were equal in all draws."""
        return None if self.batch.order == "decision" else self.weights


def batch_draws(judgments: Judgments, batch: Batch) -> BatchDraws:
    """Read the draws of a batch."""
    columns = ("pair", "unit", "weight", "drawn", "propensity")
    query = select(*(batch_items.c[name] for name in columns)).where(batch_items.c.batch_id == batch.id)
    with judgments.reading() as connection:
        rows = connection.execute(query).all()
    count = 1 + max((row.unit for row in rows if row.unit is not None), default=-1)
    numbers, chances, weights = np.zeros(count, dtype=np.int64), np.full(count, np.nan), np.zeros(count)
    for row in rows:
        if row.unit is None:
            continue
        if row.weight is not None:
            weights[row.unit] = row.weight
        if row.drawn is not None:
            numbers[row.unit] = row.drawn
            chances[row.unit] = np.nan if row.propensity is None else row.propensity
    units = {row.pair: -1 if row.unit is None else row.unit for row in rows}
    return BatchDraws(units, numbers, chances, weights, batch)


def planned_draws(items: Sequence[Item], drawn_by: Unit, seed: int) -> Draws:
    """Return the draws of a batch in the order by decision before anything is drawn."""
    records = [item.record for item in items]
    found = places(records, [item.value for item in items], drawn_by, seed)
    weights = np.zeros(1 + max((place.unit for place in found), default=-1))
    for place in found:
        if place.weight is not None:
            weights[place.unit] = place.weight
    units = {record.key: place.unit for record, place in zip(records, found, strict=True)}
    return Draws(units, np.zeros(len(weights), dtype=np.int64), np.full(len(weights), np.nan), weights)


def sampled_batches(judgments: Judgments) -> list[BatchDraws]:
    """Return the draws of all batches that have drawn something, the newest first."""
    found = (batch_draws(judgments, batch) for batch in list_batches(judgments) if batch.drawn_by is not None)
    return [draws for draws in found if (~np.isnan(draws.chances)).any()]


@dataclass(frozen=True)
class Parts:
    """The parts of a measure of a run: their questions int64[n_parts], units int64[n_parts] (-1: none, all labels are fixed)
    and values by the detector and by people's labels (unknown pairs: not supporting; the least; the largest),
    float64[n_parts]."""

    questions: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]
    detector: Doubles
    people: Doubles
    low: Doubles
    high: Doubles
    bounds: tuple[float, float]


@dataclass(frozen=True)
class SampledLabels:
    """The labels of a batch of draws for one measure of one run.

    `counted` bool[n_questions] are the questions of the mean. `labels` counts the pairs with a label among the drawn ones,
    `unsure` those that people judged without a label as the result, and `waiting` those that nobody has judged; the interval
    covers both readings of these.
    """

    draws: BatchDraws
    parts: Parts
    counted: Bools
    labels: int
    unsure: int
    waiting: int

    @property
    def batch(self) -> str:
        return self.draws.batch.name

    @cached_property
    def sample(self) -> DrawnSample:
        """The sample of all units of the batch, as sums over the parts of each, divided by the number of questions."""
        return self._sample(self.counted)

    def without(self, left_out: Bools) -> "SampledLabels":
        """Return the labels without the questions bool[n_questions]."""
        return SampledLabels(self.draws, self.parts, self.counted & ~left_out, self.labels, self.unsure, self.waiting)

    @cached_property
    def estimated(self) -> Total:
        """The estimated mean over the questions."""
        return total(_among_relevant(self.sample, self.draws))

    def at_all_times(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the 95% interval of the mean that holds at every look, however often people look and whenever they stop.

        `bounds` are those of the measure. See `evaluation.statistics.anytime.interval_at_all_times`.
        """
        weights = self.draws.fixed_weights
        if weights is None:
            return interval_at_all_times(self.sample, self.draws.weights, changing=True, bounds=bounds)
        relevant = self.sample.span > 0
        return interval_at_all_times(self.sample.only(relevant, weights), weights[relevant], bounds=bounds)

    @property
    def note(self) -> str:
        """What to know of the sample beside the number, as a sentence without a full stop."""
        found, unit = self.estimated, self.draws.batch.drawn_by
        texts = [
            f"{found.estimate.n} {unit}s drawn by batch '{self.batch}'",
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
        both = self.counted & other.counted
        ours, theirs = (one._sample(both) for one in (self, other))
        # Draws that both have answered: what one of the runs does not know yet is cut off for both.
        steps = min(len(ours.sequence), len(theirs.sequence))
        cut = [_first_steps(sample, steps) for sample in (ours, theirs)]
        return total(_among_relevant(cut[0].minus(cut[1]), self.draws))

    def _sample(self, counted: Bools) -> DrawnSample:
        parts, count = self.parts, max(int(counted.sum()), 1)
        kept = counted[parts.questions]
        drawn = self.draws.numbers
        size = len(drawn)
        inside = kept & (parts.units >= 0)

        def by_unit(values: Doubles) -> Doubles:
            return np.bincount(parts.units[inside], weights=values[inside], minlength=size) / count

        fixed = kept & (parts.units < 0)
        at = tuple(float(values[fixed].sum()) / count for values in (parts.people, parts.low, parts.high))
        readings = [by_unit(values) for values in (parts.people, parts.low, parts.high)]
        number = np.bincount(parts.units[inside], minlength=size).astype(np.float64)
        sequence = np.lexsort((~np.isnan(self.draws.chances), drawn))
        sequence = sequence[drawn[sequence] > 0]
        answered = self._answered(inside)
        steps = int(np.flatnonzero(answered[sequence]).max()) + 1 if answered[sequence].any() else 0
        sample = DrawnSample(
            by_unit(parts.detector), readings[0], readings[1], readings[2], number * parts.bounds[0] / count,
            number * parts.bounds[1] / count,
            sequence.astype(np.int64), self.draws.chances[sequence], (at[0], at[1], at[2]),
        )  # fmt: skip
        return _first_steps(sample, steps)

    def _answered(self, inside: Bools) -> Bools:
        """Return which units have a known value: bool[n_units]; units without a part of the run are left open."""
        parts, size = self.parts, len(self.draws.numbers)
        open_ones = np.bincount(parts.units[inside], weights=(parts.low != parts.high)[inside], minlength=size)
        return np.asarray((np.bincount(parts.units[inside], minlength=size) > 0) & (open_ones == 0), dtype=np.bool_)


def _first_steps(sample: DrawnSample, steps: int) -> DrawnSample:
    return replace(sample, sequence=sample.sequence[:steps], chances=sample.chances[:steps])


def _among_relevant(sample: DrawnSample, draws: BatchDraws) -> DrawnSample:
    return sample.only(sample.span > 0, draws.fixed_weights)


def sampled_labels(
    judgments: Judgments, detector: LabelledRun, people: LabelledRun, measure: Measure, counted: Bools,
    batches: Sequence[BatchDraws],
) -> SampledLabels | str:  # fmt: skip
    """Return the labels of the batch with the most draws that can correct a measure of a run, or why there is none.

    `detector` and `people` are the run with the labels of either. The reason is a clause without a full stop.
    """
    found: list[SampledLabels] = []
    reason = "no pair of this run was drawn with a known probability"
    for draws in batches:
        known = _with_draws(judgments, detector.top(measure.k), people.top(measure.k), measure, counted, draws)
        if isinstance(known, SampledLabels):
            found.append(known)
        elif known:
            reason = known
    return max(found, key=lambda one: one.sample.draws) if found else reason


def _with_draws(
    judgments: Judgments, detector: LabelledRun, people: LabelledRun, measure: Measure, counted: Bools, draws: BatchDraws
) -> SampledLabels | str:  # fmt: skip
    keys = detector.keys
    real = keys != b""
    units = np.full(keys.shape, -2, dtype=np.int64)
    units[real] = [draws.units.get(key, -2) for key in keys[real].astype(str).tolist()]
    needed = real & counted[:, None, None]
    if not (units[needed] >= 0).any():
        return ""
    unknown = np.isnan(people.labels)
    if outside := int((needed & (units == -2) & unknown).sum()):
        return f"batch '{draws.batch.name}' does not hold {outside} pairs of this run that nobody has judged"
    parts = _parts(measure, detector, people, units)
    if parts is None:
        part = _PARTS.get(measure.name, "question")
        return (
            f"batch '{draws.batch.name}' draws single {draws.batch.drawn_by}s, and {measure} depends on all labels of a {part} "
            f"at once, so that no estimate from them is unbiased"
        )
    drawn = needed & (units >= 0)
    drawn[drawn] = draws.numbers[units[drawn]] > 0
    open_keys = set(keys[drawn & unknown].astype(str).tolist())
    judged = _judged(judgments, open_keys)
    return SampledLabels(
        draws, parts, counted, len(set(keys[drawn & ~unknown].tolist())), len(judged), len(open_keys - judged)
    )


def _judged(judgments: Judgments, keys: set[str]) -> set[str]:
    """Return which of the pairs somebody has judged."""
    base = select(present.c.pair).where(present.c.kind == "judge").distinct()
    with judgments.reading() as connection:
        return {
            pair
            for query in by_keys(base, present.c.pair, sorted(keys))
            for pair in connection.execute(query).scalars()
        }


def _parts(measure: Measure, detector: LabelledRun, people: LabelledRun, units: npt.NDArray[np.int64]) -> Parts | None:
    """Return the parts of a measure; None if a part needs pairs that were not drawn together."""
    real = detector.keys != b""
    unknown = real & np.isnan(people.labels)
    yes = people.labels == 1
    # What the batch does not draw is known by people's labels, and is no matter of the detector.
    said = np.where((units < 0) & ~unknown, yes, detector.labels == 1) & real
    arrays = (said, yes, yes & real, yes | unknown)
    if _PARTS.get(measure.name) == "passage":
        values = [labels.any(axis=2) / measure.k for labels in arrays]
        questions, ranks = np.nonzero(real.any(axis=2))
        values = [array[questions, ranks] for array in values]
        of_part, bounds = units[questions, ranks], (0.0, 1 / measure.k)
    else:
        questions = np.arange(len(real))
        values = [_values(measure, detector, labels) for labels in arrays]
        of_part = units.reshape(len(questions), -1)
        bounds = measure.bounds
        if measure.name not in _MONOTONE:
            open_parts = unknown.any(axis=(1, 2))
            values[2], values[3] = (np.where(open_parts, end, values[1]) for end in measure.bounds)
    highest = of_part.max(axis=1, initial=-1)
    if ((of_part >= 0) & (of_part != highest[:, None])).any():
        return None
    low, high = np.minimum(values[2], values[3]), np.maximum(values[2], values[3])
    return Parts(questions, highest, values[0].astype(float), values[1].astype(float), low, high, bounds)


def _values(measure: Measure, run: LabelledRun, labels: Bools) -> Doubles:
    depths = (run.ids >= 0).sum(axis=1)
    return measure.values(Support(labels, run.counts, depths, np.ones_like(labels)))


def estimate_of(found: Total, bounds: tuple[float, float]) -> Estimate:
    """Return the estimate with its interval within the bounds of the measure."""
    value, low, high, n = found.estimate
    return Estimate(value, min(max(low, bounds[0]), value), max(min(high, bounds[1]), value), n)
