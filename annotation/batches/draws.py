"""Draws with known probabilities: an order by uncertainty, by decision or at random is a sampling without replacement.

What a batch draws as a whole is a unit: a pair, a passage with all of its perspectives, or a question. The next unit is i with
probability weight(i) / sum of the weights of the units not drawn yet. Weights are between `FLOOR` and 1, so that every unit can
be drawn next with at least `FLOOR` times the probability of a draw at random. Each unit has a time of arrival, exponential with
its weight as the rate (Efraimidis and Spirakis, 2006, in logarithms), and the next unit is the next to arrive: the queue reads
its order from an index. When weights change, the time that is left is stretched, which leaves the probabilities exact, because
exponential times have no memory.

A unit is drawn when the queue first needs it. Its number and its probability are stored with its pairs, and the probability
with every judgment of them. If the person who asks cannot judge the drawn unit, it waits for others, and the next one is drawn.
A unit that is filled by judgments from elsewhere before it is drawn leaves without a probability.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import log
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import BindParameter, Connection, and_, bindparam, exists, func, select, update

from berdseye.annotation.judgments.log import PairRecord
from berdseye.annotation.judgments.schema import batch_items

Unit = Literal["pair", "passage", "question"]
UNITS: tuple[Unit, ...] = get_args(Unit)
"""What is drawn as a whole."""
FLOOR = 0.2
"""The smallest weight of a unit; the largest is 1."""

_BATCH: BindParameter[Any] = bindparam("of_batch")
_here = batch_items.c.batch_id == _BATCH
_undrawn = and_(_here, batch_items.c.drawn.is_(None), batch_items.c.unit.is_not(None))
_other = batch_items.alias()
_NUMBER = select(func.coalesce(func.max(batch_items.c.drawn), 0) + 1).where(_here)
_LEFT_FILLED = (
    update(batch_items)
    .where(
        _undrawn,
        batch_items.c.judged >= batch_items.c.wanted,
        ~exists().where(
            _other.c.batch_id == _BATCH,
            _other.c.drawn.is_(None),
            _other.c.unit == batch_items.c.unit,
            _other.c.judged < _other.c.wanted,
        ),
    )
    .values(drawn=bindparam("number"))
)
_ARRIVES = (
    select(batch_items.c.unit, batch_items.c.weight)
    .where(_undrawn, batch_items.c.weight.is_not(None))
    .order_by(batch_items.c.priority)
    .limit(1)
)
_WEIGHTS = select(func.sum(batch_items.c.weight)).where(_undrawn)
_DRAW = (
    update(batch_items)
    .where(_undrawn, batch_items.c.unit == bindparam("of_unit"))
    .values(drawn=bindparam("number"), propensity=bindparam("chance"))
)


class Place(NamedTuple):
    """How an item takes part in the draws: its unit, the unit's weight (on its first item alone) and the time it arrives."""

    unit: int
    weight: float | None
    priority: float


def places(
    records: Sequence[PairRecord], values: Sequence[float], unit: Unit, seed: int, batch: str = ""
) -> list[Place]:
    """Return the place of each pair; `values` float[n_pairs] say how much a judgment of each is expected to tell (variance).

    The times of arrival follow from the seed and the name of the batch, so that batches of one seed draw independently.
    """
    names = [_name(record, unit) for record in records]
    weights = unit_weights(names, values)
    numbers = {name: number for number, name in enumerate(weights)}
    found, seen = [], set[str]()
    for name in names:
        arrives = -log(_uniform(seed, batch, name)) / weights[name]
        found.append(Place(numbers[name], None if name in seen else weights[name], arrives))
        seen.add(name)
    return found


def unit_weights(names: Sequence[Any], values: Sequence[float]) -> dict[Any, float]:
    """Return the weight of each unit from the values of its pairs: between `FLOOR` and 1, with the root of their mean.

    The variance of an estimate for a given number of judgments is least if units are drawn in proportion to the root of their
    variance over their cost (Neyman, 1934).
    """
    sums: dict[Any, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        total = sums.setdefault(name, [0.0, 0.0])
        total[0] += max(value, 0.0)
        total[1] += 1
    roots = {name: (total / count) ** 0.5 for name, (total, count) in sums.items()}
    largest = max(roots.values(), default=0.0)
    return {name: FLOOR + (1 - FLOOR) * (root / largest if largest > 0 else 1.0) for name, root in roots.items()}


def draw(connection: Connection, batch: int) -> bool:
    """Draw the next unit of a batch, in the caller's transaction; returns whether there was one."""
    here = {"of_batch": batch}
    number = connection.execute(_NUMBER, here).scalar_one()
    connection.execute(_LEFT_FILLED, here | {"number": number})
    arrives = connection.execute(_ARRIVES, here).one_or_none()
    if arrives is None:
        return False
    chance = min(1.0, arrives.weight / float(connection.execute(_WEIGHTS, here).scalar_one()))
    connection.execute(_DRAW, here | {"of_unit": arrives.unit, "number": number, "chance": chance})
    return True


def reweigh(connection: Connection, batch: int, values: Mapping[str, float]) -> None:
    """Give the units that are not drawn yet new weights, by the values of their pairs (by key; a pair without one has 0)."""
    here = {"of_batch": batch}
    items = connection.execute(
        select(batch_items.c.pair, batch_items.c.unit, batch_items.c.weight, batch_items.c.priority).where(_undrawn),
        here,
    ).all()
    before = {item.unit: item for item in items if item.weight is not None}
    weights = unit_weights([item.unit for item in items], [values.get(item.pair, 0.0) for item in items])
    now = connection.execute(
        select(func.coalesce(func.max(batch_items.c.priority), 0.0)).where(
            _here, batch_items.c.propensity.is_not(None)
        ),
        here,
    ).scalar_one()
    rows = [
        {
            "of_unit": unit,
            "arrives": now + (before[unit].priority - now) * before[unit].weight / weight,
            "weighs": weight,
        }
        for unit, weight in weights.items()
        if unit in before
    ]
    if not rows:
        return
    of_unit = and_(_undrawn, batch_items.c.unit == bindparam("of_unit"))
    rows = [row | here for row in rows]
    connection.execute(update(batch_items).where(of_unit).values(priority=bindparam("arrives")), rows)
    first = batch_items.c.weight.is_not(None)
    connection.execute(update(batch_items).where(of_unit, first).values(weight=bindparam("weighs")), rows)


def _name(record: PairRecord, unit: Unit) -> str:
    question = [record.dataset, record.question_id, record.question]
    if unit == "question":
        return json.dumps(question)
    return record.key if unit == "pair" else json.dumps([*question, record.passage])


def _uniform(seed: int, batch: str, name: str) -> float:
    """Return a number in (0, 1), drawn by the seed and the names alone."""
    drawn = blake2b(f"{seed}\0{batch}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(drawn, "big") + 0.5) / 2**64
