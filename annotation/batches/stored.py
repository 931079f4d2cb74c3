"""Batches in the judgments database: the pairs to judge, the annotators, the number of annotators per pair, and the order.

A batch never changes once it is created; closing and reopening it are events. Only its draws are recorded, and the weights of
its remaining pairs may be recomputed, in the order by decision, which depends on the judgments so far.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, and_, bindparam, func, select, text, update
from sqlalchemy.exc import IntegrityError

from berdseye.annotation.batches.draws import UNITS, Place, Unit, places, reweigh
from berdseye.annotation.checks import CHECK, CheckForm, check_form, is_check
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord, batched_rows, now
from berdseye.annotation.judgments.schema import (
    annotators,
    batch_events,
    batch_items,
    batch_people,
    batch_words,
    batches,
    pairs,
)
from berdseye.annotation.people import find_or_invite
from berdseye.data.datasets.stored import split_unit
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import DetectorVersion
from berdseye.data.workspace import checked_name

Task = Literal["judge", "verify", "prefer", "check"]
"""judge: does the passage support the perspective? verify: is the decision shown right? prefer: which answer is better? check:
is a text right that a construction wrote (annotation/checks.py)?"""
EVENT_KINDS: Mapping[Task, str] = {"judge": "judge", "verify": "judge", "prefer": "prefer", "check": "check"}
"""The kind of the events that a task's verdicts are recorded as."""
Order = Literal["batch", "uncertainty", "disagreement", "decision", "random"]
TASKS: tuple[Task, ...] = get_args(Task)
ORDERS: tuple[Order, ...] = get_args(Order)
UNDECIDED = ("unsure", "neither")
"""Verdicts that take no side, and so are in no minority."""
SAMPLED: tuple[Order, ...] = ("uncertainty", "decision", "random")
"""The orders that are draws with known probabilities (annotation/batches/draws.py)."""
RESERVATION_SECONDS = 1800
"""How long a pair stays reserved, in seconds, unless the plan says otherwise."""
_CALIBRATION_FIRST = -1.0
_MOST_PEOPLE = 1000


class Item(NamedTuple):
    """A pair to send out: P(supports) by a detector (None: unknown), the decision to show (None: none), the value of its
    judgment for the decision that the batch is to settle, and the probability with which it was drawn before the batch (None:
    unknown, or drawn by the queue)."""

    record: PairRecord
    probability: float | None = None
    decision: bool | None = None
    value: float = 0.0
    propensity: float | None = None


WEIGHTS, FIRST = "weights", "first"
"""Key and value of the recipe of a batch in the order by decision whose weights stay those that it was created with."""


@dataclass(frozen=True)
class BatchPlan:
    """The settings of a new batch. If `people` is empty, anyone may judge.

    `calibration` pairs, drawn by `seed`, come first and go to each of the people. `hold` is the reservation in seconds: how
    long a pair stays reserved for someone who left. The order by uncertainty draws pairs with probabilities near `threshold`
    more often, the order by decision those with the largest values; these orders and `random` draw `drawn_by` as a whole, and
    the queue knows each probability (annotation/batches/draws.py). `shown_share` makes the batch an experiment: it is the
    share of pairs that a person judges with the detector's label visible (annotation/batches/dealing.py). `recipe` says how
    the pairs were chosen; `guidelines` is the version of the batch's own guidelines (annotation/guidelines/versions.py).
    """

    name: str
    task: Task = "judge"
    per_pair: int = 1
    people: tuple[str, ...] = ()
    calibration: int = 0
    order: Order = "batch"
    blind: bool = True
    seed: int = 0
    hold: int = RESERVATION_SECONDS
    threshold: float = 0.5
    shown_share: float | None = None
    made_by: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    guidelines: str | None = None
    drawn_by: Unit = "pair"


@dataclass(frozen=True)
class Batch:
    """A stored batch; its fields are those of `BatchPlan` (`hold`: the reservation in seconds), with its present state.

    `drawn_by` is None if its order is no sampling, as in all batches of earlier versions.
    """

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
    drawn_by: Unit | None
    people: tuple[Annotator, ...]
    is_open: bool

    @property
    def keeps_weights(self) -> bool:
        """Whether all draws have the weights that the batch was created with. Decisions of earlier versions renewed them."""
        return self.order != "decision" or self.recipe.get(WEIGHTS) == FIRST

    def admits(self, person: Annotator) -> bool:
        """Return whether this person may judge pairs of the batch."""
        return not self.people or any(person.id == p.id for p in self.people)

    @property
    def detector(self) -> DetectorVersion:
        """The detector whose labels the batch stores. Without a record in the recipe, its grade is `topic` and it is never
        unsure: batches of earlier versions show the same words as before."""
        recipe = self.recipe
        return DetectorVersion(
            str(recipe.get("detector", "detector")),
            str(recipe.get("version", "")),
            float(recipe.get("threshold", 0.5)),
            "stance" if recipe.get("grade") == "stance" else "topic",
            float(recipe.get("unsure", 0.0)),
        )

    @property
    def check(self) -> CheckForm | None:
        """The form of the checks of the batch; None for another task. Raises `UnknownNameError` for one unknown here."""
        return check_form(str(self.recipe.get(CHECK))) if self.task == "check" else None


def create_batch(judgments: Judgments, plan: BatchPlan, items: Sequence[Item]) -> Batch:
    """Store a batch; repeated pairs count once, and judgments that are in the log already count towards it.

    Raises `BadInputError` for a plan that cannot be met or a name that is taken.
    """
    unique = list({item.record.key: item for item in items}.values())
    _check(plan, unique)
    people = list({person.id: person for person in (find_or_invite(judgments, who) for who in plan.people)}.values())
    if people and plan.per_pair > len(people):
        raise BadInputError(
            f"The batch wants {plan.per_pair} annotators per pair, but names only {len(people)}.",
            hint="Name more people, or set fewer annotators per pair.",
        )
    keys = judgments.add_pairs(item.record for item in unique)
    shared = set(Random(plan.seed).sample(keys, plan.calibration))
    ordered = sorted(zip(keys, unique, strict=True), key=lambda one: one[0] not in shared)
    drawn = _places(plan, [item for key, item in ordered if key not in shared])
    with writing(judgments.engine) as connection:
        batch = _insert(connection, plan)
        if people:
            rows = [{"batch_id": batch, "annotator_id": person.id} for person in people]
            connection.execute(batch_people.insert(), rows)
        if judgments.engine.dialect.name == "postgresql":
            # Judgments that others are just writing are committed before they are counted below.
            connection.execute(text("LOCK TABLE events IN SHARE MODE"))
        for chunk in batched_rows(
            [
                {
                    "batch_id": batch,
                    "pair": key,
                    "place": place,
                    "wanted": len(people) if key in shared else plan.per_pair,
                    "priority": _CALIBRATION_FIRST if key in shared else drawn[key].priority if key in drawn else 0.0,
                    "unit": drawn[key].unit if key in drawn else None,
                    "weight": drawn[key].weight if key in drawn else None,
                    "propensity": item.propensity,
                    "probability": item.probability,
                    "decision": item.decision,
                    "judged": 0,
                    "split": 0,
                }
                for place, (key, item) in enumerate(ordered)
            ]
        ):
            connection.execute(batch_items.insert(), chunk)
        _count_judgments(connection, batch)
    return load_batch(judgments, plan.name)


def list_batches(judgments: Judgments) -> list[Batch]:
    """Return all batches, the newest first."""
    with judgments.reading() as connection:
        rows = [dict(row) for row in connection.execute(select(batches).order_by(batches.c.id.desc())).mappings()]
        people_by_batch: dict[int, list[Annotator]] = {}
        query = select(batch_people.c.batch_id, annotators).join(
            annotators, annotators.c.id == batch_people.c.annotator_id
        )
        for one in connection.execute(query.order_by(batch_people.c.id)):
            people_by_batch.setdefault(one.batch_id, []).append(Annotator(one.id, one.name, one.demo))
        latest = select(func.max(batch_events.c.id)).group_by(batch_events.c.batch_id)
        closed = set(
            connection.execute(
                select(batch_events.c.batch_id).where(batch_events.c.id.in_(latest), batch_events.c.kind == "close")
            ).scalars()
        )
    for row in rows:
        row["order"], row["recipe"] = row.pop("ordering"), json.loads(row["recipe"])
    return [
        Batch(**row, people=tuple(people_by_batch.get(row["id"], ())), is_open=row["id"] not in closed) for row in rows
    ]


def load_batch(judgments: Judgments, name: str) -> Batch:
    """Return the batch of this name; raises `UnknownNameError`."""
    batches_by_name = {batch.name: batch for batch in list_batches(judgments)}
    if name not in batches_by_name:
        raise UnknownNameError("batch", name, batches_by_name)
    return batches_by_name[name]


def batch_pairs(judgments: Judgments, batch: Batch) -> list[str]:
    """Return the keys of the pairs of a batch, in its order."""
    query = select(batch_items.c.pair).where(batch_items.c.batch_id == batch.id).order_by(batch_items.c.place)
    with judgments.reading() as connection:
        return list(connection.execute(query).scalars())


def batch_questions(judgments: Judgments, names: Iterable[str]) -> frozenset[str]:
    """Return the questions of all pairs of these batches, as `split_unit` writes them; raises `UnknownNameError`."""
    ids = [load_batch(judgments, name).id for name in names]
    query = select(pairs.c.question, pairs.c.perspective).join(batch_items, batch_items.c.pair == pairs.c.key)
    with judgments.reading() as connection:
        rows = connection.execute(query.where(batch_items.c.batch_id.in_(ids)).distinct()).all()
    return frozenset(split_unit(row.question, row.perspective) for row in rows)


def judgment_counts(connection: Connection, batch: int | None = None) -> dict[tuple[int, str], tuple[int, int]]:
    """Compute `judged` and `split` from the log, by (batch, pair), for the judged pairs of one batch or of all."""
    place = batch_words.c.batch_id, batch_words.c.pair
    query = select(*place, batch_words.c.verdict, func.count().label("n")).group_by(*place, batch_words.c.verdict)
    if batch is not None:
        query = query.where(batch_words.c.batch_id == batch)
    judged: Counter[tuple[int, str]] = Counter()
    sure: dict[tuple[int, str], list[int]] = {}
    for row in connection.execute(query):
        judged[row.batch_id, row.pair] += row.n
        if row.verdict not in UNDECIDED:
            sure.setdefault((row.batch_id, row.pair), []).append(row.n)
    return {key: (n, max(counts) - sum(counts) if (counts := sure.get(key)) else 0) for key, n in judged.items()}


def reorder_batch(judgments: Judgments, batch: Batch, values: Mapping[str, float]) -> None:
    """Give a batch in the order by decision the new values of its pairs (by pair key): they are the weights of the next draws.

    A batch of an earlier version draws nothing, and serves the largest values first.
    """
    if batch.drawn_by is not None:
        with writing(judgments.engine) as connection:
            reweigh(connection, batch.id, values)
        return
    here = batch_items.c.batch_id == batch.id
    changed = and_(here, batch_items.c.pair == bindparam("of_pair"), batch_items.c.priority != _CALIBRATION_FIRST)
    rows = [{"of_pair": key, "now": -value} for key, value in values.items()]
    with writing(judgments.engine) as connection:
        if rows:
            connection.execute(update(batch_items).where(changed).values(priority=bindparam("now")), rows)


def close_batch(judgments: Judgments, batch: Batch, *, made_by: str = "", reopen: bool = False) -> Batch:
    """Close a batch, so that its queue hands out no pairs, or reopen it. All judgments stay."""
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
    if plan.drawn_by not in UNITS:
        raise UnknownNameError("unit of the draws", plan.drawn_by, UNITS)
    if not items:
        raise BadInputError("The batch has no pairs.", hint="Choose other pairs, or more of them.")
    if not 1 <= plan.per_pair <= _MOST_PEOPLE:
        raise BadInputError(
            f"The number of annotators per pair must be between 1 and {_MOST_PEOPLE}, got {plan.per_pair}."
        )
    if not 0 <= plan.calibration <= len(items):
        raise BadInputError(
            f"The number of calibration pairs must be between 0 and {len(items)} (the pairs of the batch), "
            f"got {plan.calibration}."
        )
    if plan.calibration and not plan.people:
        raise BadInputError("Calibration pairs go to everyone, but the batch names nobody.", hint="Name the people.")
    if plan.hold < 1:
        raise BadInputError(f"A reservation lasts at least 1 second, got {plan.hold}.", hint="Use a minute or more.")
    if plan.order == "uncertainty" and any(item.probability is None for item in items):
        raise BadInputError("The order by uncertainty requires a detector's probabilities.", hint="Name a detector.")
    if plan.shown_share is not None:
        _check_experiment(plan, items)
    if any(
        item.record.corpus != _check_corpus(plan)
        for item in items
        if plan.task == "check" or is_check(item.record.corpus)
    ):
        raise BadInputError(
            "The pairs of a check belong in a batch of the task `check` with the form that they were made for.",
            hint="Create the batch from items (`berdseye batch create NAME --task check --check FORM --file FILE`).",
        )
    if plan.task == "verify" and any(item.decision is None for item in items):
        raise BadInputError("The task `verify` requires a detector's decisions to show.", hint="Name a detector.")
    if plan.task == "verify" and plan.blind:
        raise BadInputError(
            "The task `verify` shows the detector's decision, so the batch cannot be blind.",
            hint="Create a batch that is not blind.",
        )


def _check_corpus(plan: BatchPlan) -> str | None:
    return check_form(str(plan.recipe.get(CHECK))).corpus if plan.task == "check" else None


def _check_experiment(plan: BatchPlan, items: Sequence[Item]) -> None:
    if plan.shown_share is None or not 0 < plan.shown_share < 1:
        raise BadInputError(
            f"The share of pairs judged with a visible label must be above 0 and below 1, got {plan.shown_share}.",
            hint="Choose a share such as 0.5.",
        )
    if plan.task != "judge" or plan.blind:
        raise BadInputError(
            f"An experiment requires the task `judge` and a batch that is not blind, got the task `{plan.task}`"
            f"{' and a blind batch' if plan.blind else ''}.",
            hint="An experiment shows the detector's labels for a share of the pairs and asks for judgments.",
        )
    if any(item.decision is None for item in items):
        raise BadInputError("An experiment requires a detector's labels to show.", hint="Name a detector.")


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
        "drawn_by": plan.drawn_by if plan.order in SAMPLED else None,
    }
    try:
        return int(connection.execute(batches.insert().values(row).returning(batches.c.id)).scalar_one())
    except IntegrityError as error:
        raise BadInputError(f"A batch '{plan.name}' already exists.", hint="Choose another name.") from error


def _places(plan: BatchPlan, items: Sequence[Item]) -> dict[str, Place]:
    """Return how the items take part in the draws, by pair key; none if the order is no sampling."""
    if plan.order not in SAMPLED:
        return {}
    records = [item.record for item in items]
    found = places(records, [_expected_error(plan, item) for item in items], plan.drawn_by, plan.seed, plan.name)
    return {record.key: place for record, place in zip(records, found, strict=True)}


def _expected_error(plan: BatchPlan, item: Item) -> float:
    """Return what a judgment is expected to tell: twice the probability that the detector is wrong, if it is calibrated."""
    if plan.order == "uncertainty" and item.probability is not None:
        reach = plan.threshold if item.probability < plan.threshold else 1 - plan.threshold
        return 1 - abs(item.probability - plan.threshold) / reach if reach > 0 else 1.0
    return item.value if plan.order == "decision" else 1.0


def _count_judgments(connection: Connection, batch: int) -> None:
    """Count the judgments from before the batch was created, by the rule that the database trigger follows from now on."""
    for (_, pair), (judged, split) in judgment_counts(connection, batch).items():
        connection.execute(
            update(batch_items)
            .where(batch_items.c.batch_id == batch, batch_items.c.pair == pair)
            .values(judged=judged, split=split)
        )
