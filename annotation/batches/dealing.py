"""Who judges which pairs of a batch, dealt out beforehand: for places where no queue can hand them out one by one.

Experiments on anchoring: which person sees the detector's label of which pair before judging it, drawn once and for all.
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
    """Whether this person judges the pair blind or with the detector's label in sight.

    In an experiment it is drawn by the batch's seed for each pair and person alone, `shown` with the chance `shown_share`: the
    same at every call, on every machine. Without one it is what the batch says of all pairs.
    """
    if batch.shown_share is None:
        return "blind" if batch.blind else "shown"
    drawn = blake2b(f"{batch.seed}\0{pair}\0{person.name.casefold()}".encode(), digest_size=8).digest()
    return "shown" if int.from_bytes(drawn, "big") / 2**64 < batch.shown_share else "blind"


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
