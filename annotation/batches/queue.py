"""The queue of a batch, which decides who judges what next.

A pair is reserved for a person when it is shown, so that it is never out to more people than the batch wants. A reservation
that its person does not use lapses after the batch's `hold`, in seconds. In an order that is a sampling, the queue draws the next
pairs when it needs them (annotation/batches/draws.py). Every step is one transaction, for which other people on the batch wait.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
)

from berdseye.annotation.batches.dealing import arm
from berdseye.annotation.batches.draws import draw
from berdseye.annotation.batches.stored import EVENT_KINDS, Batch
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import JUDGMENT_KINDS, Annotator, Judgments, PairRecord, event_row
from berdseye.annotation.judgments.recorded import (
    NO_DETAILS,
    JudgmentDetails,
    RecordedJudgment,
    judgment_fields,
    skip_fields,
)
from berdseye.annotation.judgments.schema import batch_events, batch_items, batches, events, reservations
from berdseye.data.errors import BadInputError

_PERSON: BindParameter[Any] = bindparam("person")
_NOW: BindParameter[Any] = bindparam("now")
_PAIR: BindParameter[Any] = bindparam("pair_asked")
_LATER, _UNDO, _UNDONE = events.alias(), events.alias(), events.alias()

# Statements are built once, here and in the queue: building one takes longer than running it, and others wait meanwhile.
_BATCH: BindParameter[Any] = bindparam("batch")
_TURN = select(batches.c.id).where(batches.c.id == _BATCH).with_for_update()
_LAST_BATCH_EVENT = (
    select(batch_events.c.kind).where(batch_events.c.batch_id == _BATCH).order_by(batch_events.c.id.desc()).limit(1)
)
_KNOWN = select(events.c.id).where(events.c.uid == bindparam("known"))
_ADD_EVENT = events.insert().returning(events.c.id)
_DRAWN_WITH = select(batch_items.c.propensity).where(batch_items.c.batch_id == _BATCH, batch_items.c.pair == _PAIR)
_LAPSED = and_(reservations.c.batch_id == _BATCH, reservations.c.until <= _NOW)
_MINE = and_(reservations.c.batch_id == _BATCH, reservations.c.annotator_id == _PERSON)
_RELEASE = reservations.delete().where(or_(_MINE, _LAPSED))
_RELEASE_PAIR = reservations.delete().where(or_(and_(_MINE, reservations.c.pair == _PAIR), _LAPSED))


class DetectorLabel(NamedTuple):
    """The detector's label of a pair with its probability, fixed when the batch was created."""

    probability: float | None
    decision: bool | None


class BatchQueue:
    """The queue of one batch; `clock` returns the time in seconds."""

    def __init__(self, judgments: Judgments, batch: Batch, clock: Callable[[], float] = time.time) -> None:
        self.judgments, self.batch, self._clock = judgments, batch, clock

    def next(self, person: Annotator) -> str | None:
        """Return the pair that this person judges now, and reserve it: their reserved pair, otherwise the first that needs them.

        None: no pair is left for them (at the moment), or the batch is closed. Repeating the call returns the same pair.
        Raises `BadInputError` if the batch is not for this person.
        """
        self._admit(person)
        with self._turn() as connection:
            if self._is_closed(connection):
                return None
            reserved = self._reserved_pair(connection, person)
            key = reserved if reserved is not None else self._first(connection, person)
            if key is not None:
                self._reserve(connection, person, key)
            return key

    def after(self, person: Annotator, pair: str) -> str | None:
        """Return the pair that would come next if this person judged or skipped `pair` now. It is not reserved, so that someone
        else may get it first."""
        with self.judgments.reading() as connection:
            found = connection.execute(self._after_query, self._parameters(person, pair)).one_or_none()
            return None if found is None else str(found.pair)

    def give(
        self,
        person: Annotator,
        pair: str,
        verdict: str,
        details: JudgmentDetails = NO_DETAILS,
        *,
        uid: str | None = None,
    ) -> RecordedJudgment:
        """Record a judgment of a pair of the batch, and release its reservation. One `uid` is recorded once.

        A judgment that comes after its reservation lapsed is recorded too.
        """
        passage = self.record(pair).passage if details.evidence else ""
        fields = judgment_fields(self.batch.task, verdict, passage, details, self.batch.check)
        return self._record(person, pair, fields | {"shown": arm(self.batch, pair, person) == "shown", "uid": uid})

    def skip(self, person: Annotator, pair: str, details: JudgmentDetails = NO_DETAILS) -> RecordedJudgment:
        """Skip a pair for good: it goes to someone else."""
        return self._record(person, pair, skip_fields(details))

    def undo(self, person: Annotator) -> str | None:
        """Take back this person's last action; its pair is next if it is in this batch and still needs a judgment."""
        self._admit(person)
        with self._turn() as connection:
            pair = self.judgments.undo(person, within=connection)
            if pair is not None and self._seats(connection, person, pair) > 0 and not self._is_closed(connection):
                self._release(connection, person)
                self._reserve(connection, person, pair)
            return pair

    def leave(self, person: Annotator) -> None:
        """Release this person's reservations at once."""
        with self._turn() as connection:
            self._release(connection, person)

    def record(self, pair: str) -> PairRecord:
        """Return the pair with its texts."""
        return self.judgments.pair_records([pair])[pair]

    def item(self, pair: str) -> DetectorLabel:
        """Return the detector's label of a pair of the batch; its fields are None if the batch has no detector."""
        query = select(batch_items.c.probability, batch_items.c.decision).where(
            batch_items.c.batch_id == self.batch.id, batch_items.c.pair == pair
        )
        with self.judgments.reading() as connection:
            return DetectorLabel(*connection.execute(query).one())

    def done(self, person: Annotator) -> tuple[int, int]:
        """Return how many pairs of the batch this person has judged or skipped, and how many there are."""
        with self.judgments.reading() as connection:
            touched, total = connection.execute(self._done_query, self._parameters(person)).one()
        return int(touched), int(total)

    def left(self, person: Annotator) -> int:
        """Return how many pairs of the batch still need a judgment that this person could give, with those that are reserved for
        other people now."""
        with self.judgments.reading() as connection:
            return int(connection.execute(self._left_query, self._parameters(person)).scalar_one())

    def _record(self, person: Annotator, pair: str, fields: dict[str, Any]) -> RecordedJudgment:
        self._admit(person)
        row = event_row(person, pair, **fields, batch=self.batch.id)
        with self._turn() as connection:
            known = connection.execute(_KNOWN, {"known": row["uid"]}).scalar_one_or_none()
            if known is not None:
                return RecordedJudgment(known, late=False)
            late = self._seats(connection, person, pair) < 1 and not self._has_judged(connection, person, pair)
            chance = connection.execute(_DRAWN_WITH, {"batch": self.batch.id, "pair_asked": pair}).scalar_one_or_none()
            row |= {} if chance is None else {"propensity": chance}
            event = connection.execute(_ADD_EVENT, row).scalar_one()
            self._release(connection, person, pair)
            return RecordedJudgment(event, late and row["kind"] != "skip")

    @contextmanager
    def _turn(self) -> Iterator[Connection]:
        """Admit one transaction at a time: SQLite locks at the beginning of every write, PostgreSQL on the batch's row."""
        with writing(self.judgments.engine) as connection:
            if connection.dialect.name != "sqlite":
                connection.execute(_TURN, {"batch": self.batch.id})
            yield connection

    def _admit(self, person: Annotator) -> None:
        if not self.batch.admits(person):
            raise BadInputError(
                f"{person.name} is not among the annotators of batch '{self.batch.name}'.",
                hint=f"The batch is for {', '.join(p.name for p in self.batch.people)}. Choose another batch.",
            )

    def _is_closed(self, connection: Connection) -> bool:
        return connection.execute(_LAST_BATCH_EVENT, {"batch": self.batch.id}).scalar() == "close"

    def _reserved_pair(self, connection: Connection, person: Annotator) -> str | None:
        """Return the pair reserved for this person if it still needs them: they may have judged it on another page."""
        pair: str | None = connection.execute(self._reserved_query, self._parameters(person)).scalar_one_or_none()
        return pair

    def _first(self, connection: Connection, person: Annotator) -> str | None:
        """Return the first pair that needs this person. What the queue has not drawn yet is drawn before anybody gets it."""
        while True:
            first = connection.execute(self._first_query, self._parameters(person)).one_or_none()
            if first is None or first.unit is None or first.drawn is not None:
                return None if first is None else str(first.pair)
            if not draw(connection, self.batch.id):
                return str(first.pair)

    def _seats(self, connection: Connection, person: Annotator, pair: str) -> int:
        """Return how many more people the pair can take, not counting this person's own reservation."""
        seats = connection.execute(self._seats_query, self._parameters(person, pair)).scalar_one_or_none()
        return 0 if seats is None else int(seats)

    def _has_judged(self, connection: Connection, person: Annotator, pair: str) -> bool:
        """Return whether this person has a judgment of the pair that counts, so that a new one changes it."""
        return connection.execute(self._judged_query, self._parameters(person, pair)).scalar_one_or_none() is not None

    def _parameters(self, person: Annotator, pair: str | None = None) -> dict[str, object]:
        parameters: dict[str, object] = {"person": person.id, "now": self._clock()}
        return parameters if pair is None else parameters | {"pair_asked": pair}

    @cached_property
    def _reserved_query(self) -> Select[Any]:
        return (
            select(reservations.c.pair)
            .join(batch_items, and_(batch_items.c.batch_id == reservations.c.batch_id, _same_pair()))
            .where(
                reservations.c.batch_id == self.batch.id,
                reservations.c.annotator_id == _PERSON,
                reservations.c.until > _NOW,
                ~self._touched(),
                _unfilled(),
            )
            .order_by(reservations.c.id.desc())
            .limit(1)
        )

    @cached_property
    def _left_query(self) -> Select[Any]:
        here = batch_items.c.batch_id == self.batch.id
        return select(func.count()).select_from(batch_items).where(here, _unfilled(), ~self._touched())

    @cached_property
    def _first_query(self) -> Select[Any]:
        order = [batch_items.c.priority, batch_items.c.place]
        if self.batch.order == "disagreement":
            order.insert(0, batch_items.c.split)
        return (
            select(batch_items.c.pair, batch_items.c.unit, batch_items.c.drawn)
            .where(
                batch_items.c.batch_id == self.batch.id,
                _unfilled(),
                batch_items.c.judged + self._reserved() < batch_items.c.wanted,
                ~self._touched(),
            )
            .order_by(*order)
            .limit(1)
        )

    @cached_property
    def _after_query(self) -> Select[Any]:
        return self._first_query.where(batch_items.c.pair != _PAIR)

    @cached_property
    def _done_query(self) -> Select[Any]:
        here = batch_items.c.batch_id == self.batch.id
        total = select(func.count()).select_from(batch_items).where(here).scalar_subquery()
        touched = select(func.count()).select_from(batch_items).where(here, self._touched()).scalar_subquery()
        return select(touched, total)

    @cached_property
    def _seats_query(self) -> Select[Any]:
        return select(batch_items.c.wanted - batch_items.c.judged - self._reserved()).where(
            batch_items.c.batch_id == self.batch.id, batch_items.c.pair == _PAIR
        )

    @cached_property
    def _judged_query(self) -> Select[Any]:
        return select(batch_items.c.pair).where(
            batch_items.c.batch_id == self.batch.id, batch_items.c.pair == _PAIR, self._touched()
        )

    def _reserve(self, connection: Connection, person: Annotator, pair: str) -> None:
        self._release(connection, person, pair)
        until = self._clock() + self.batch.hold
        row = {"batch_id": self.batch.id, "pair": pair, "annotator_id": person.id, "until": until}
        connection.execute(reservations.insert(), row)

    def _release(self, connection: Connection, person: Annotator, pair: str | None = None) -> None:
        """Delete this person's reservations (of one pair), and all that have lapsed."""
        parameters = self._parameters(person, pair) | {"batch": self.batch.id}
        connection.execute(_RELEASE if pair is None else _RELEASE_PAIR, parameters)

    def _reserved(self) -> ColumnElement[int]:
        """Count the reservations of the pair by other people."""
        return (
            select(func.count())
            .where(
                reservations.c.batch_id == self.batch.id,
                _same_pair(),
                reservations.c.annotator_id != _PERSON,
                reservations.c.until > _NOW,
            )
            .correlate(batch_items)
            .scalar_subquery()
        )

    def _touched(self) -> ColumnElement[bool]:
        """Select whether the person's present event on the pair is a judgment that counts here, or a skip."""
        counts = events.c.kind == EVENT_KINDS[self.batch.task]
        if self.batch.blind:
            counts = and_(counts, func.coalesce(events.c.shown, false()).is_(false()))
        newer = exists().where(
            _LATER.c.annotator_id == _PERSON,
            _LATER.c.pair == events.c.pair,
            _LATER.c.id > events.c.id,
            _LATER.c.kind.in_(JUDGMENT_KINDS),
            ~exists().where(_UNDONE.c.kind == "undo", _UNDONE.c.target == _LATER.c.id),
        )
        return exists().where(
            events.c.annotator_id == _PERSON,
            events.c.pair == batch_items.c.pair,
            or_(counts, events.c.kind == "skip"),
            ~exists().where(_UNDO.c.kind == "undo", _UNDO.c.target == events.c.id),
            ~newer,
        )


def _same_pair() -> ColumnElement[bool]:
    return reservations.c.pair == batch_items.c.pair


def _unfilled() -> ColumnElement[bool]:
    return batch_items.c.judged < batch_items.c.wanted
