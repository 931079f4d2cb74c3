"""Assignments that are fixed in advance: who judges which pairs of a batch, and who sees the detector's label of which pair.

The former serve places where no queue can hand out pairs one by one (Label Studio), the latter experiments on anchoring.
"""

from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from random import Random
from typing import Any, Literal, get_args

from sqlalchemy import Select, select

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import batch_items, batch_words

Arm = Literal["blind", "shown"]
ARMS: tuple[Arm, ...] = get_args(Arm)


def arm(batch: Batch, pair: str, person: Annotator) -> Arm:
    """Return whether this person judges the pair blind or with the detector's label visible.

    In an experiment, each pair and person is drawn independently by the batch's seed, as `shown` with probability
    `shown_share`; every call on every machine gives the same result. Otherwise it is the setting of the batch for all pairs.
    """
    if batch.shown_share is None:
        return "blind" if batch.blind else "shown"
    drawn = blake2b(f"{batch.seed}\0{pair}\0{person.name.casefold()}".encode(), digest_size=8).digest()
    return "shown" if int.from_bytes(drawn, "big") / 2**64 < batch.shown_share else "blind"


def ordered_pairs(judgments: Judgments, batch: Batch) -> list[str]:
    """Return the pairs of a batch in the order of its queue."""
    with judgments.reading() as connection:
        return list(connection.execute(_items(batch)).scalars())


def deal(judgments: Judgments, batch: Batch, dealt: Mapping[str, frozenset[int]]) -> dict[int, list[str]]:
    """Assign the pairs of a batch to its people (by annotator id), in the order of its queue, each to as many as it wants.

    A pair goes first to those who judged it or to whom it was assigned before (`dealt`), so that assigning again moves
    nothing; then to those with the fewest pairs, with ties broken by the batch's seed.
    """
    people = [person.id for person in batch.people]
    with judgments.reading() as connection:
        items = connection.execute(_items(batch).add_columns(batch_items.c.wanted)).all()
        judges: dict[str, set[int]] = {}
        words = select(batch_words.c.pair, batch_words.c.annotator_id).where(batch_words.c.batch_id == batch.id)
        for pair, person in connection.execute(words):
            judges.setdefault(pair, set()).add(person)
    random = Random(batch.seed)
    load: Counter[int] = Counter()
    shares: dict[int, list[str]] = {person: [] for person in people}
    for pair, number_wanted in items:
        order = random.sample(people, len(people))
        before = judges.get(pair, set()) | dealt.get(pair, frozenset())
        kept = [person for person in order if person in before]
        fresh = sorted((person for person in order if person not in before), key=lambda person: load[person])
        for person in [*kept, *fresh[: max(0, number_wanted - len(kept))]]:
            shares[person].append(pair)
            load[person] += 1
    return shares


def _items(batch: Batch) -> Select[Any]:
    order = (batch_items.c.priority, batch_items.c.place)
    return select(batch_items.c.pair).where(batch_items.c.batch_id == batch.id).order_by(*order)
