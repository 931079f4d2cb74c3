"""Batches: pairs sent out to be judged, by whom, how many people a pair, and in which order.

What a batch is never changes once it is made; that it was closed or opened again is an event. Only the order of what is left may
be made anew, where it follows from the words so far.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, and_, bindparam, func, select, text, update
from sqlalchemy.exc import IntegrityError

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord, batched_rows, now
from berdseye.annotation.judgments.schema import (
    annotators,
    batch_events,
    batch_items,
    batch_people,
    batch_words,
    batches,
)
from berdseye.annotation.people import known_or_invited
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import checked_name

Task = Literal["judge", "verify", "prefer"]
"""judge: does the passage support it? verify: is the decision shown right? prefer: which of two answers is better?"""
Order = Literal["batch", "uncertainty", "disagreement", "decision"]
TASKS: tuple[Task, ...] = get_args(Task)
ORDERS: tuple[Order, ...] = get_args(Order)
HOLD_SECONDS = 1800
_CALIBRATION_FIRST = -1.0
_MOST_PEOPLE = 1000


class Item(NamedTuple):
    """A pair to send out; P(supports) by a detector where it is known, the decision to show where one is, and how much its
    judgment is worth for the question that the batch is to settle."""

    record: PairRecord
    probability: float | None = None
    decision: bool | None = None
    value: float = 0.0


@dataclass(frozen=True)
class BatchPlan:
    """What a batch asks for. Nobody named in `people`: anyone may judge.

    `calibration` pairs, drawn by `seed`, come first and go to each of the people. `hold` is how many seconds a pair stays
    reserved for someone who left. `threshold` is the probability that the order by uncertainty starts at; the order by
    decision that of the items' values. `shown_share` makes it an experiment: the share of pairs that a person judges with the
    detector's label in sight (annotation/batches/dealing.py). `recipe` says how the pairs were chosen; `guidelines`
    is the version of a text of its own (annotation/guidelines/versions.py).
    """

    name: str
    task: Task = "judge"
    per_pair: int = 1
    people: tuple[str, ...] = ()
    calibration: int = 0
    order: Order = "batch"
    blind: bool = True
    seed: int = 0
    hold: int = HOLD_SECONDS
    threshold: float = 0.5
    shown_share: float | None = None
    made_by: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    guidelines: str | None = None


@dataclass(frozen=True)
class Batch:
    """A batch as it stands."""

    id: int
    name: str
    at: str
    made_by: str
    task: Task
    per_pair: int
    calibration: int
    order: Order
    blind: bool
    seed: int
    hold: int
    recipe: Mapping[str, Any]
    shown_share: float | None
    guidelines: str | None
    people: tuple[Annotator, ...]
    is_open: bool

    def admits(self, person: Annotator) -> bool:
        """Whether this person may judge here."""
        return not self.people or any(person.id == p.id for p in self.people)


def create_batch(judgments: Judgments, plan: BatchPlan, items: Sequence[Item]) -> Batch:
    """Store a batch; pairs that come twice count once. Words that stand already count towards it.

    Raises `BadInputError` for a plan that cannot be met or a name that is taken.
    """
    unique = list({item.record.key: item for item in items}.values())
    _check(plan, unique)
    people = list({person.id: person for person in (known_or_invited(judgments, who) for who in plan.people)}.values())
    if people and plan.per_pair > len(people):
        raise BadInputError(
            f"{plan.per_pair} people a pair are asked for, and {len(people)} are named.",
            hint="Name more, or ask for fewer.",
        )
    keys = judgments.add_pairs(item.record for item in unique)
    shared = set(Random(plan.seed).sample(keys, plan.calibration))
    ordered = sorted(zip(keys, unique, strict=True), key=lambda one: one[0] not in shared)
    with writing(judgments.engine) as connection:
        batch = _insert(connection, plan)
        if people:
            rows = [{"batch_id": batch, "annotator_id": person.id} for person in people]
            connection.execute(batch_people.insert(), rows)
        if judgments.engine.dialect.name == "postgresql":
            # Words that others are just writing are committed before they are counted below.
            connection.execute(text("LOCK TABLE events IN SHARE MODE"))
        for chunk in batched_rows(
            [
                {
                    "batch_id": batch,
                    "pair": key,
                    "place": place,
                    "wanted": len(people) if key in shared else plan.per_pair,
                    "priority": _CALIBRATION_FIRST if key in shared else _priority(plan, item),
                    "probability": item.probability,
                    "decision": item.decision,
                    "judged": 0,
                    "split": 0,
                }
                for place, (key, item) in enumerate(ordered)
            ]
        ):
            connection.execute(batch_items.insert(), chunk)
        _count_words(connection, batch)
    return load_batch(judgments, plan.name)


def list_batches(judgments: Judgments) -> list[Batch]:
    """All batches, the newest first."""
    with judgments.reading() as connection:
        found = [dict(row) for row in connection.execute(select(batches).order_by(batches.c.id.desc())).mappings()]
        who: dict[int, list[Annotator]] = {}
        query = select(batch_people.c.batch_id, annotators).join(
            annotators, annotators.c.id == batch_people.c.annotator_id
        )
        for one in connection.execute(query.order_by(batch_people.c.id)):
            who.setdefault(one.batch_id, []).append(Annotator(one.id, one.name, one.demo))
        latest = select(func.max(batch_events.c.id)).group_by(batch_events.c.batch_id)
        closed = set(
            connection.execute(
                select(batch_events.c.batch_id).where(batch_events.c.id.in_(latest), batch_events.c.kind == "close")
            ).scalars()
        )
    for row in found:
        row["order"], row["recipe"] = row.pop("ordering"), json.loads(row["recipe"])
    return [Batch(**row, people=tuple(who.get(row["id"], ())), is_open=row["id"] not in closed) for row in found]


def load_batch(judgments: Judgments, name: str) -> Batch:
    """The batch of this name; raises `UnknownNameError`."""
    known = {batch.name: batch for batch in list_batches(judgments)}
    if name not in known:
        raise UnknownNameError("batch", name, known)
    return known[name]


def word_counts(connection: Connection, batch: int | None = None) -> dict[tuple[int, str], tuple[int, int]]:
    """`judged` and `split` as the log has them, by batch and pair, where there is a word; of one batch or of all."""
    yes = func.count().filter(batch_words.c.verdict.in_(("supports", "first")))
    no = func.count().filter(batch_words.c.verdict.in_(("does not support", "second")))
    place = batch_words.c.batch_id, batch_words.c.pair
    query = select(*place, func.count().label("n"), yes.label("yes"), no.label("no")).group_by(*place)
    if batch is not None:
        query = query.where(batch_words.c.batch_id == batch)
    return {(r.batch_id, r.pair): (r.n, -min(r.yes, r.no)) for r in connection.execute(query)}


def reorder_batch(judgments: Judgments, batch: Batch, values: Mapping[str, float]) -> None:
    """Put pairs of an order by decision in the order of their new values (by pair key), the largest first."""
    here = batch_items.c.batch_id == batch.id
    changed = and_(here, batch_items.c.pair == bindparam("of_pair"), batch_items.c.priority != _CALIBRATION_FIRST)
    rows = [{"of_pair": key, "now": -value} for key, value in values.items()]
    with writing(judgments.engine) as connection:
        if rows:
            connection.execute(update(batch_items).where(changed).values(priority=bindparam("now")), rows)


def close_batch(judgments: Judgments, batch: Batch, *, made_by: str = "", reopen: bool = False) -> Batch:
    """Hand out no more of its pairs, or (`reopen`) do so again. What people said stays."""
    with writing(judgments.engine) as connection:
        kind = "open" if reopen else "close"
        connection.execute(batch_events.insert().values(batch_id=batch.id, at=now(), made_by=made_by, kind=kind))
    return load_batch(judgments, batch.name)


def _check(plan: BatchPlan, items: Sequence[Item]) -> None:
    checked_name("batch", plan.name)
    if plan.task not in TASKS:
        raise UnknownNameError("task", plan.task, TASKS)
    if plan.order not in ORDERS:
        raise UnknownNameError("order", plan.order, ORDERS)
    if not items:
        raise BadInputError("The batch has no pair.", hint="Choose others, or more of them.")
    if not 1 <= plan.per_pair <= _MOST_PEOPLE:
        raise BadInputError(f"{plan.per_pair} people a pair are asked for.", hint=f"Ask for 1 to {_MOST_PEOPLE}.")
    if not 0 <= plan.calibration <= len(items):
        raise BadInputError(
            f"{plan.calibration} of {len(items)} pairs cannot be shared by all.", hint="Choose a number in between."
        )
    if plan.calibration and not plan.people:
        raise BadInputError("Pairs shared by all need to know who all are.", hint="Name the people.")
    if plan.hold < 1:
        raise BadInputError(f"A reservation of {plan.hold} seconds holds nothing.", hint="Give it a minute or more.")
    if plan.order == "uncertainty" and any(item.probability is None for item in items):
        raise BadInputError("The order by uncertainty needs a detector's probabilities.", hint="Name a detector.")
    if plan.shown_share is not None:
        _check_experiment(plan, items)
    if plan.task == "verify" and any(item.decision is None for item in items):
        raise BadInputError("Nobody can verify a decision that is not there.", hint="Name a detector.")
    if plan.task == "verify" and plan.blind:
        raise BadInputError("A decision that is to be verified has to be shown.", hint="Make the batch not blind.")


def _check_experiment(plan: BatchPlan, items: Sequence[Item]) -> None:
    if plan.shown_share is None or not 0 < plan.shown_share < 1:
        raise BadInputError(
            f"A share of {plan.shown_share} leaves nothing to compare.", hint="Choose one between 0 and 1, such as 0.5."
        )
    if plan.task != "judge" or plan.blind:
        raise BadInputError(
            "An experiment shows labels to some, and asks for a judgment.",
            hint="Take the task judge, and no blind batch.",
        )
    if any(item.decision is None for item in items):
        raise BadInputError("An experiment needs a detector's labels to show.", hint="Name a detector.")


def _insert(connection: Connection, plan: BatchPlan) -> int:
    row = {
        "name": plan.name,
        "at": now(),
        "made_by": plan.made_by,
        "task": plan.task,
        "per_pair": plan.per_pair,
        "calibration": plan.calibration,
        "ordering": plan.order,
        "blind": plan.blind,
        "seed": plan.seed,
        "hold": plan.hold,
        "shown_share": plan.shown_share,
        "recipe": json.dumps(dict(plan.recipe), ensure_ascii=False),
        "guidelines": plan.guidelines,
    }
    try:
        return int(connection.execute(batches.insert().values(row).returning(batches.c.id)).scalar_one())
    except IntegrityError as error:
        raise BadInputError(f"There is a batch '{plan.name}' already.", hint="Give this one another name.") from error


def _priority(plan: BatchPlan, item: Item) -> float:
    if plan.order == "uncertainty" and item.probability is not None:
        return abs(item.probability - plan.threshold)
    return -item.value if plan.order == "decision" else 0.0


def _count_words(connection: Connection, batch: int) -> None:
    """Count what was said before the batch was made, by the rule that the trigger follows from here on."""
    for (_, pair), (judged, split) in word_counts(connection, batch).items():
        connection.execute(
            update(batch_items)
            .where(batch_items.c.batch_id == batch, batch_items.c.pair == pair)
            .values(judged=judged, split=split)
        )
