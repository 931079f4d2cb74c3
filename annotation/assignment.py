"""Who judges which pairs of a batch, dealt out beforehand: for places where no queue can hand them out one by one."""

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

from sqlalchemy import Select, select

from berdseye.annotation.batches import Batch
from berdseye.annotation.judgments import Judgments
from berdseye.annotation.schema import batch_items, batch_words


def ordered_pairs(judgments: Judgments, batch: Batch) -> list[str]:
    """The pairs of a batch in the order of its queue."""
    with judgments.reading() as connection:
        return list(connection.execute(_items(batch)).scalars())


def deal(judgments: Judgments, batch: Batch, dealt: Mapping[str, frozenset[int]]) -> dict[int, list[str]]:
    """Pairs for each of the batch's people (by annotator id), in the order of its queue; each goes to as many as it wants.

    First to those who judged it or were `dealt` it before, so that dealing again moves nothing; then to those with the
    fewest, ties broken by the batch's seed.
    """
    people = [person.id for person in batch.people]
    with judgments.reading() as connection:
        items = connection.execute(_items(batch).add_columns(batch_items.c.wanted)).all()
        said: dict[str, set[int]] = {}
        words = select(batch_words.c.pair, batch_words.c.annotator_id).where(batch_words.c.batch_id == batch.id)
        for pair, person in connection.execute(words):
            said.setdefault(pair, set()).add(person)
    luck = Random(batch.seed)
    load: Counter[int] = Counter()
    shares: dict[int, list[str]] = {person: [] for person in people}
    for pair, wanted in items:
        order = luck.sample(people, len(people))
        before = said.get(pair, set()) | dealt.get(pair, frozenset())
        kept = [person for person in order if person in before]
        fresh = sorted((person for person in order if person not in before), key=lambda person: load[person])
        for person in [*kept, *fresh[: max(0, wanted - len(kept))]]:
            shares[person].append(pair)
            load[person] += 1
    return shares


def _items(batch: Batch) -> Select[Any]:
    order = (batch_items.c.priority, batch_items.c.place)
    return select(batch_items.c.pair).where(batch_items.c.batch_id == batch.id).order_by(*order)
