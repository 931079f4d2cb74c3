"""The draws of batches: which units a batch draws, in what order, with what probabilities and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from berdseye.annotation.batches.draws import Unit, places
from berdseye.annotation.batches.stored import Batch, Item, list_batches
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batch_items

Doubles = npt.NDArray[np.float64]
_SAME_CLOCK = 1e-9


@dataclass(frozen=True)
class Draws:
    """The draws so far. `units`: the unit of each pair (-1: in the batch, and never drawn); `numbers` int64[n_units]: the number
    of each unit's draw (0: not drawn); `chances` and `weights` float64[n_units]."""

    units: Mapping[str, int]
    numbers: npt.NDArray[np.int64]
    chances: Doubles
    weights: Doubles

    @property
    def changing(self) -> bool:
        """Whether earlier draws can have had other weights than the present ones."""
        return False


@dataclass(frozen=True)
class BatchDraws(Draws):
    """The draws of a batch so far; `clocks` by pair is the random number that its unit's time of arrival was made of."""

    batch: Batch
    clocks: Mapping[str, float] = field(default_factory=dict)

    @property
    def fixed_weights(self) -> Doubles | None:
        """The weights, if they were equal in all draws."""
        return None if self.changing else self.weights

    @property
    def changing(self) -> bool:
        """Whether earlier draws can have had other weights: a decision of an earlier version renewed them."""
        return not self.batch.keeps_weights

    def independent_of(self, other: "BatchDraws") -> bool:
        """Whether the draws of two batches are independent given what either has drawn before.

        Batches of one seed in earlier versions drew by the same random numbers. Changed weights hide these numbers.
        """
        if self.batch.id == other.batch.id:
            return False
        if self.batch.seed != other.batch.seed:
            return True
        if self.fixed_weights is None or other.fixed_weights is None:
            return False
        shared = self.clocks.keys() & other.clocks.keys()
        return not any(isclose(self.clocks[key], other.clocks[key], rel_tol=_SAME_CLOCK) for key in shared)


def batch_draws(judgments: Judgments, batch: Batch) -> BatchDraws:
    """Read the draws of a batch."""
    columns = ("pair", "unit", "weight", "drawn", "propensity", "priority")
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
    clocks = {row.pair: float(row.priority * weights[row.unit]) for row in rows if row.unit is not None}
    return BatchDraws(units, numbers, chances, weights, batch, clocks)


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
