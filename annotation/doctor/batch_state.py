"""Whether what is kept beside the log for batches follows it: counters, reservations, and the batch that words name."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, delete, exists, func, select, update

from berdseye.annotation.batches import word_counts
from berdseye.annotation.doctor.finding import Finding, some, within
from berdseye.annotation.schema import batch_events, batch_items, batch_people, batches, events, reservations


def counters(connection: Connection) -> Iterator[Finding]:
    """`judged` and `split` against the words in the log."""
    wrong = _wrong_counters(connection)
    if wrong:
        names = [f"pair {pair} of batch {batch}" for batch, pair in wrong]
        yield Finding(
            "batch counters",
            f"{len(wrong)} pairs have other counts of words than the log: {some(names)}.",
            "counts the words in the log again.",
            within(_recount),
        )


def lost_reservations(connection: Connection) -> Iterator[Finding]:
    """Reservations that nobody can use: of a pair that is not in the batch, by a person it is not for, of a closed batch."""
    query = select(func.count()).select_from(reservations).where(_useless())
    if count := connection.execute(query).scalar_one():
        yield Finding(
            "reservations",
            f"{count} reservations belong to no pair, person or open batch.",
            "drops them; no word hangs on them.",
            within(lambda writing: writing.execute(delete(reservations).where(_useless()))),
        )


def unknown_batches(connection: Connection) -> Iterator[Finding]:
    """Events that name a batch which is not there."""
    query = (
        select(events.c.batch, func.count())
        .where(events.c.batch.is_not(None), ~exists().where(batches.c.id == events.c.batch))
        .group_by(events.c.batch)
    )
    for batch, count in connection.execute(query):
        yield Finding(
            "unknown batch",
            f"{count} events were given in batch {batch}, which is not there.",
            "the words stand and count; restore a backup that holds the batch to see it again.",
        )


def _wrong_counters(connection: Connection) -> dict[tuple[int, str], tuple[int, int]]:
    """The counts that pairs should have and have not, by batch and pair."""
    counted = word_counts(connection)
    query = select(batch_items.c.batch_id, batch_items.c.pair, batch_items.c.judged, batch_items.c.split)
    wrong = {}
    for row in connection.execute(query):
        place = (row.batch_id, row.pair)
        right = counted.get(place, (0, 0))
        if right != (row.judged, row.split):
            wrong[place] = right
    return wrong


def _recount(connection: Connection) -> None:
    # Locked before they are counted: on PostgreSQL a word that comes meanwhile waits, and is counted by itself.
    connection.execute(select(batch_items.c.id).order_by(batch_items.c.id).with_for_update())
    for (batch, pair), (judged, split) in _wrong_counters(connection).items():
        connection.execute(
            update(batch_items)
            .where(batch_items.c.batch_id == batch, batch_items.c.pair == pair)
            .values(judged=judged, split=split)
        )


def _useless() -> ColumnElement[bool]:
    own, one = reservations.c, batch_events.alias()
    latest = select(func.max(one.c.id)).where(one.c.batch_id == own.batch_id).correlate(reservations).scalar_subquery()
    named = exists().where(batch_people.c.batch_id == own.batch_id)
    admitted = exists().where(batch_people.c.batch_id == own.batch_id, batch_people.c.annotator_id == own.annotator_id)
    return (
        ~exists().where(batch_items.c.batch_id == own.batch_id, batch_items.c.pair == own.pair)
        | (named & ~admitted)
        | exists().where(batch_events.c.id == latest, batch_events.c.kind == "close")
    )
