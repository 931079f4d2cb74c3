"""The checks of a judgments database.

They check that the database is intact (its pages and indexes, and that rows refer to rows that exist); that the log is
consistent (undos take back what they may, judgments are recorded once); that the tables of batches follow the log (counters,
reservations, the batches that events name); and that the records of the exchange with Label Studio agree with the log.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Table,
    delete,
    exists,
    func,
    or_,
    select,
    text,
    update,
)

from berdseye.annotation.batches.stored import judgment_counts
from berdseye.annotation.checks import FORMS, MARK
from berdseye.annotation.doctor.finding import Finding, first_few, in_transaction
from berdseye.annotation.judgments.log import JUDGMENT_KINDS, VERDICT_KINDS, VERDICTS, now
from berdseye.annotation.judgments.recorded import PREFERENCES
from berdseye.annotation.judgments.schema import (
    annotators,
    batch_events,
    batch_items,
    batch_people,
    batches,
    events,
    metadata,
    reservations,
    sync_annotations,
    sync_projects,
    sync_tasks,
)
from berdseye.annotation.label_studio.exchange_state import ARRIVES_WITHIN, SENT

_RESTORE = "restore the last backup into another folder (`berdseye restore`), and compare."
_REMADE_ANYWAY = (batch_people.name, reservations.name, sync_annotations.name, sync_projects.name, sync_tasks.name)
"""Tables without judgments: a row there that refers to nothing can be deleted."""
_ROOT = uuid5(NAMESPACE_URL, "https://berdseye.local/doctor")
_SOURCE = "doctor"
Row = Mapping[str, Any]


def integrity(connection: Connection) -> Iterator[Finding]:
    """Run SQLite's own check of its file; a PostgreSQL server checks its pages by itself."""
    if connection.dialect.name != "sqlite":
        return
    messages = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check(100)"))]
    if messages == ["ok"]:
        return
    if all("index" in line for line in messages):
        yield Finding(
            "integrity",
            f"{len(messages)} index entries are wrong: {first_few(messages)}.",
            "rebuilds all indexes from the rows, which are intact.",
            in_transaction(lambda writing: writing.execute(text("REINDEX"))),
        )
        return
    yield Finding("integrity", f"The file is damaged: {first_few(messages)}.", _RESTORE)


def references(connection: Connection) -> Iterator[Finding]:
    """Find rows that refer to a pair, person or batch that does not exist."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            for key in column.foreign_keys:
                yield from _dangling(connection, table, column, key)


def _dangling(connection: Connection, table: Table, column: Column[object], key: ForeignKey) -> Iterator[Finding]:
    parent = key.column
    is_dangling = column.is_not(None) & ~exists().where(parent == column)
    query = select(column, func.count()).where(is_dangling).group_by(column)
    counts: dict[Any, int] = {row[0]: int(row[1]) for row in connection.execute(query)}
    if not counts:
        return
    values = first_few([str(value) for value in counts])
    message = f"{sum(counts.values())} rows of {table.name} refer to {values}, which {parent.table} does not contain."
    if table.name in _REMADE_ANYWAY:
        remedy = "deletes these rows, which contain no judgment."
        yield Finding(
            "references",
            message,
            remedy,
            in_transaction(lambda writing: writing.execute(delete(table).where(is_dangling))),
        )
    elif parent.table is annotators:
        remedy = "gives each of these people a name again, so that their judgments are visible."
        yield Finding("references", message, remedy, in_transaction(partial(_name_people, numbers=list(counts))))
    else:
        yield Finding("references", message, _RESTORE)


def _name_people(connection: Connection, numbers: list[int]) -> None:
    rows = [
        {"id": n, "name": f"Unknown person {n}", "folded": f"unknown person {n}", "demo": False, "at": now()}
        for n in dict.fromkeys(numbers)
    ]
    existing = set(connection.execute(select(annotators.c.id)).scalars())
    if new := [row for row in rows if row["id"] not in existing]:
        connection.execute(annotators.insert(), new)


def undos(connection: Connection) -> Iterator[Finding]:
    """Find undos that name no event, another undo, or somebody else's judgment."""
    undo, target = events.alias(), events.alias()
    query = select(undo, target.c.kind.label("of_kind"), target.c.annotator_id.label("of_person")).outerjoin(
        target, target.c.id == undo.c.target
    )
    missing: list[str] = []
    of_undos: list[Row] = []
    foreign: list[Row] = []
    for row in connection.execute(query.where(undo.c.kind == "undo")).mappings():
        if row["of_kind"] is None:
            missing.append(f"event {row['id']}")
        elif row["of_kind"] == "undo":
            of_undos.append(dict(row))
        elif row["of_kind"] in JUDGMENT_KINDS and row["of_person"] != row["annotator_id"]:
            foreign.append(dict(row))
    if missing:
        yield Finding(
            "undo",
            f"{len(missing)} undos take back events that are not in the log: {first_few(missing)}.",
            "an event is missing; compare with the last backup.",
        )
    for rows, what in (
        (of_undos, "take back another undo, which has no effect"),
        (foreign, "take back somebody else's judgment"),
    ):
        lost = _to_repeat(connection, rows)
        if lost:
            names = [f"on pair {row['pair']}" for row in lost]
            yield Finding(
                "undo",
                f"{len(lost)} undos {what}: {first_few(names)}.",
                "records again the judgments that should be in force; every event stays.",
                in_transaction(partial(_repeat, rows=rows)),
            )


def repeated_judgments(connection: Connection) -> Iterator[Finding]:
    """Find judgments recorded twice in a row: with equal person, pair, verdict, comment and time."""
    doubles = _doubles(connection)
    if doubles:
        names = [f"event {row['id']}" for row in doubles]
        yield Finding(
            "doubled judgment",
            f"{len(doubles)} judgments are in the log twice: {first_few(names)}.",
            "takes the repetition back by an undo; the first one stays in force, and every event stays.",
            in_transaction(lambda writing: _append(writing, [_undo(row) for row in _doubles(writing)])),
        )


def unreadable_judgments(connection: Connection) -> Iterator[Finding]:
    """Find judgments without a known verdict, and events of an unknown kind."""
    kinds = (*JUDGMENT_KINDS, "flag", "adjudicate", "undo")
    check, decided = events.c.pair.startswith(MARK), events.c.kind == "adjudicate"
    allowed: list[tuple[ColumnElement[bool], Iterable[str]]] = [
        (events.c.kind == "judge", VERDICTS),
        (events.c.kind == "prefer", PREFERENCES),
        ((events.c.kind == "check") | (decided & check), {value for form in FORMS.values() for value in form.values}),
        (decided & ~check, (*VERDICTS, *PREFERENCES)),
    ]
    odd = or_(*(kind & (events.c.verdict.is_(None) | events.c.verdict.not_in(tuple(of))) for kind, of in allowed))
    query = select(events.c.id).where(odd | events.c.kind.not_in(kinds)).order_by(events.c.id)
    if names := [f"event {number}" for number in connection.execute(query).scalars()]:
        yield Finding(
            "unreadable judgment",
            f"{len(names)} events have a kind or verdict that this version of Berdseye does not know: {first_few(names)}.",
            "a newer version may have written them; use that version, or compare with the last backup.",
        )


def _repeat(connection: Connection, rows: Sequence[Row]) -> None:
    _append(connection, _to_repeat(connection, rows))


def _to_repeat(connection: Connection, undos: Sequence[Row]) -> list[dict[str, Any]]:
    """Build new events for the judgments that these undos took back wrongly, unless the person judged the pair again later."""
    rows: dict[str, dict[str, Any]] = {}
    for undo in undos:
        judgment = _judgment_behind(connection, undo)
        if judgment is None:
            continue
        uid = str(uuid5(_ROOT, f"repeat {undo['uid']}"))
        later = select(events.c.id).where(
            events.c.annotator_id == judgment["annotator_id"], events.c.pair == judgment["pair"], events.c.id > judgment["id"],
            events.c.kind.in_(JUDGMENT_KINDS),
        )  # fmt: skip
        if connection.execute(later.limit(1)).first() is None:
            rows[uid] = {name: value for name, value in judgment.items() if name != "id"} | {"uid": uid}
    return list(rows.values())


def _judgment_behind(connection: Connection, undo: Row) -> dict[str, Any] | None:
    """Return the judgment that an undo concerns: its target, or the target of the undo that it takes back."""
    event = connection.execute(select(events).where(events.c.id == undo["target"])).mappings().one_or_none()
    if event is not None and event["kind"] == "undo":
        event = connection.execute(select(events).where(events.c.id == event["target"])).mappings().one_or_none()
    return dict(event) if event is not None and event["kind"] in JUDGMENT_KINDS else None


def _doubles(connection: Connection) -> list[dict[str, Any]]:
    undo = events.alias()
    undone = select(undo.c.target).where(undo.c.kind == "undo", undo.c.target.is_not(None))
    query = select(events).where(events.c.kind.in_(JUDGMENT_KINDS), events.c.id.not_in(undone)).order_by(events.c.id)
    previous: dict[tuple[int, str], tuple[Any, ...]] = {}
    doubles = []
    for row in connection.execute(query).mappings():
        place = row["annotator_id"], row["pair"]
        content = tuple(row[name] for name in ("kind", "verdict", "comment", "at", "source"))
        if previous.get(place) == content:
            doubles.append(dict(row))
        previous[place] = content
    return doubles


def _undo(row: Row) -> dict[str, Any]:
    # At the time of the repetition: between Berdseye and Label Studio, the time of a judgment decides which one counts.
    return {
        "uid": str(uuid5(_ROOT, f"undo {row['uid']}")), "at": row["at"], "annotator_id": row["annotator_id"],
        "pair": row["pair"], "kind": "undo", "comment": "", "source": _SOURCE, "target": row["id"],
    }  # fmt: skip


def _append(connection: Connection, rows: Sequence[Row]) -> None:
    existing = set(
        connection.execute(select(events.c.uid).where(events.c.uid.in_([row["uid"] for row in rows]))).scalars()
    )
    for row in rows:
        if row["uid"] not in existing:
            connection.execute(events.insert().values(**row))


def counters(connection: Connection) -> Iterator[Finding]:
    """Compare `judged` and `split` with the judgments in the log."""
    wrong = _wrong_counters(connection)
    if wrong:
        names = [f"pair {pair} of batch {batch}" for batch, pair in wrong]
        yield Finding(
            "batch counters",
            f"{len(wrong)} pairs have counts of judgments that differ from the log: {first_few(names)}.",
            "counts the judgments in the log again.",
            in_transaction(_recount),
        )


def lost_reservations(connection: Connection) -> Iterator[Finding]:
    """Find reservations that nobody can use: of a pair not in the batch, by a person not in it, or of a closed batch."""
    query = select(func.count()).select_from(reservations).where(_useless())
    if count := connection.execute(query).scalar_one():
        yield Finding(
            "reservations",
            f"{count} reservations belong to no pair, person or open batch.",
            "deletes them; no judgment depends on them.",
            in_transaction(lambda writing: writing.execute(delete(reservations).where(_useless()))),
        )


def unknown_batches(connection: Connection) -> Iterator[Finding]:
    """Find events that name a batch that does not exist."""
    query = (
        select(events.c.batch, func.count())
        .where(events.c.batch.is_not(None), ~exists().where(batches.c.id == events.c.batch))
        .group_by(events.c.batch)
    )
    for batch, count in connection.execute(query):
        yield Finding(
            "unknown batch",
            f"{count} events name batch {batch}, which does not exist.",
            "the judgments still count; to see the batch again, restore a backup that contains it.",
        )


def _wrong_counters(connection: Connection) -> dict[tuple[int, str], tuple[int, int]]:
    """Return the right counts of the pairs whose stored counts are wrong, by batch and pair."""
    counted = judgment_counts(connection)
    query = select(batch_items.c.batch_id, batch_items.c.pair, batch_items.c.judged, batch_items.c.split)
    wrong = {}
    for row in connection.execute(query):
        place = (row.batch_id, row.pair)
        right = counted.get(place, (0, 0))
        if right != (row.judged, row.split):
            wrong[place] = right
    return wrong


def _recount(connection: Connection) -> None:
    # Locked before they are counted: on PostgreSQL a judgment that comes meanwhile waits, and the trigger counts it.
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


def agreements(connection: Connection) -> Iterator[Finding]:
    """Find judgments that are noted as agreed with Label Studio, but that the log never contained."""
    wrong = _never_recorded(connection)
    if wrong:
        names = [f"pair {pair}" for _, pair in wrong.values()]
        yield Finding(
            "exchange",
            f"{len(wrong)} judgments are noted as exchanged with Label Studio but are not in the log: {first_few(names)}.",
            "deletes the notes; the next exchange compares both sides again, and keeps both judgments if they differ.",
            in_transaction(lambda writing: _forget(writing, list(_never_recorded(writing)))),
        )


def unconfirmed(connection: Connection) -> Iterator[Finding]:
    """Find judgments that were being pushed when a program was killed, too long ago to arrive any more."""
    lost = _long_sent(connection)
    if lost:
        yield Finding(
            "exchange",
            f"{len(lost)} notes of judgments on their way to Label Studio are out of date.",
            "deletes the notes; the next exchange checks what arrived.",
            in_transaction(lambda writing: _forget(writing, _long_sent(writing))),
        )


def _never_recorded(connection: Connection) -> dict[int, tuple[str, str]]:
    """Return the rows of agreed judgments (by id: project, pair) without an event of equal verdict and comment."""
    recorded = {
        (row.annotator_id, row.pair, row.verdict, row.comment.strip())
        for row in connection.execute(
            select(events.c.annotator_id, events.c.pair, events.c.verdict, events.c.comment).where(
                events.c.kind.in_(VERDICT_KINDS), events.c.pair.in_(select(sync_annotations.c.pair))
            )
        )
    }
    rows = connection.execute(select(sync_annotations).where(sync_annotations.c.verdict.is_not(None)))
    return {
        row.id: (row.project, row.pair)
        for row in rows
        if not row.project.endswith(SENT) and (row.annotator_id, row.pair, row.verdict, row.comment) not in recorded
    }


def _long_sent(connection: Connection) -> list[int]:
    oldest = int(time.time()) - ARRIVES_WITHIN
    query = select(sync_annotations.c.id).where(
        sync_annotations.c.project.endswith(SENT, autoescape=True), sync_annotations.c.annotation < oldest
    )
    return list(connection.execute(query).scalars())


def _forget(connection: Connection, rows: list[int]) -> None:
    connection.execute(delete(sync_annotations).where(sync_annotations.c.id.in_(rows)))
