"""Whether what is remembered of the exchange with Label Studio fits the log.

Whether the database is whole: its pages and indexes, and that what a row names is there.

Whether the log of events makes sense: undos that take back what they may, words recorded once.

Whether what is kept beside the log for batches follows it: counters, reservations, and the batch that words name.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Table, delete, exists, func, select, text, update

from berdseye.annotation.batches.stored import word_counts
from berdseye.annotation.doctor.finding import Finding, some, within
from berdseye.annotation.judgments.log import VERDICTS, WORD_KINDS, now
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

_RESTORE = "restore the last backup beside it (`berdseye restore`), and compare."
_REMADE_ANYWAY = (batch_people.name, reservations.name, sync_annotations.name, sync_projects.name, sync_tasks.name)
"""Tables without anybody's word: a row there that leads nowhere can go."""


def integrity(connection: Connection) -> Iterator[Finding]:
    """SQLite's own check of its file; a PostgreSQL server checks its pages by itself."""
    if connection.dialect.name != "sqlite":
        return
    said = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check(100)"))]
    if said == ["ok"]:
        return
    if all("index" in line for line in said):
        yield Finding(
            "integrity",
            f"{len(said)} entries of indexes are wrong: {some(said)}.",
            "makes all indexes anew from the rows, which are whole.",
            within(lambda writing: writing.execute(text("REINDEX"))),
        )
        return
    yield Finding("integrity", f"The file is damaged: {some(said)}.", _RESTORE)


def references(connection: Connection) -> Iterator[Finding]:
    """Rows that name a pair, person or batch which is not there."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            for key in column.foreign_keys:
                yield from _dangling(connection, table, column, key)


def _dangling(connection: Connection, table: Table, column: Column[object], key: ForeignKey) -> Iterator[Finding]:
    parent = key.column
    leads_nowhere = column.is_not(None) & ~exists().where(parent == column)
    query = select(column, func.count()).where(leads_nowhere).group_by(column)
    found: dict[Any, int] = {row[0]: int(row[1]) for row in connection.execute(query)}
    if not found:
        return
    said = (
        f"{sum(found.values())} rows of {table.name} name {some([str(one) for one in found])}, not in {parent.table}."
    )
    if table.name in _REMADE_ANYWAY:
        cure = "drops these rows, which hold nobody's word."
        yield Finding(
            "references", said, cure, within(lambda writing: writing.execute(delete(table).where(leads_nowhere)))
        )
    elif parent.table is annotators:
        cure = "gives each of these people a name again, so that their words are seen."
        yield Finding("references", said, cure, within(partial(_name_people, numbers=list(found))))
    else:
        yield Finding("references", said, _RESTORE)


def _name_people(connection: Connection, numbers: list[int]) -> None:
    rows = [
        {"id": n, "name": f"Unknown person {n}", "folded": f"unknown person {n}", "demo": False, "at": now()}
        for n in dict.fromkeys(numbers)
    ]
    known = set(connection.execute(select(annotators.c.id)).scalars())
    if new := [row for row in rows if row["id"] not in known]:
        connection.execute(annotators.insert(), new)


_ROOT = uuid5(NAMESPACE_URL, "https://berdseye.local/doctor")
_SOURCE = "doctor"
Row = Mapping[str, Any]


def undos(connection: Connection) -> Iterator[Finding]:
    """Undos that name no event, another undo, or a word of somebody else."""
    undo, target = events.alias(), events.alias()
    query = select(undo, target.c.kind.label("of_kind"), target.c.annotator_id.label("of_person")).outerjoin(
        target, target.c.id == undo.c.target
    )
    nowhere: list[str] = []
    twice: list[Row] = []
    foreign: list[Row] = []
    for row in connection.execute(query.where(undo.c.kind == "undo")).mappings():
        if row["of_kind"] is None:
            nowhere.append(f"event {row['id']}")
        elif row["of_kind"] == "undo":
            twice.append(dict(row))
        elif row["of_kind"] in WORD_KINDS and row["of_person"] != row["annotator_id"]:
            foreign.append(dict(row))
    if nowhere:
        yield Finding(
            "undo",
            f"{len(nowhere)} undos take back events that are not in the log: {some(nowhere)}.",
            "an event is missing: compare with the last backup.",
        )
    for rows, what in (
        (twice, "take back another undo, which has no effect"),
        (foreign, "take back somebody else's word"),
    ):
        lost = _to_repeat(connection, rows)
        if lost:
            names = [f"on pair {row['pair']}" for row in lost]
            yield Finding(
                "undo",
                f"{len(lost)} undos {what}: {some(names)}.",
                "says the word again that was meant to stand; every event stays.",
                within(partial(_repeat, rows=rows)),
            )


def doubled_words(connection: Connection) -> Iterator[Finding]:
    """A word recorded twice: the same person, pair, verdict, comment and moment, one after the other."""
    doubles = _doubles(connection)
    if doubles:
        names = [f"event {row['id']}" for row in doubles]
        yield Finding(
            "doubled word",
            f"{len(doubles)} words stand in the log twice: {some(names)}.",
            "takes the repeat back by an undo; the first stands, and every event stays.",
            within(lambda writing: _append(writing, [_undo(row) for row in _doubles(writing)])),
        )


def unreadable_words(connection: Connection) -> Iterator[Finding]:
    """Judgments without a verdict that we know, and events of a kind that we do not know."""
    kinds = (*WORD_KINDS, "flag", "adjudicate", "undo")
    judged = events.c.kind.in_(("judge", "adjudicate"))
    odd = (judged & events.c.verdict.is_(None)) | (judged & events.c.verdict.not_in(VERDICTS))
    query = select(events.c.id).where(odd | events.c.kind.not_in(kinds)).order_by(events.c.id)
    if found := [f"event {number}" for number in connection.execute(query).scalars()]:
        yield Finding(
            "unreadable word",
            f"{len(found)} events have a kind or verdict that is not ours: {some(found)}.",
            "a newer version may have written them: use that one, or compare with the last backup.",
        )


def _repeat(connection: Connection, rows: Sequence[Row]) -> None:
    _append(connection, _to_repeat(connection, rows))


def _to_repeat(connection: Connection, undos: Sequence[Row]) -> list[dict[str, Any]]:
    """New events for the words that these undos took away wrongly, where no later word of the person stands."""
    rows: dict[str, dict[str, Any]] = {}
    for undo in undos:
        word = _word_behind(connection, undo)
        if word is None:
            continue
        uid = str(uuid5(_ROOT, f"repeat {undo['uid']}"))
        later = select(events.c.id).where(
            events.c.annotator_id == word["annotator_id"], events.c.pair == word["pair"], events.c.id > word["id"],
            events.c.kind.in_(WORD_KINDS),
        )  # fmt: skip
        if connection.execute(later.limit(1)).first() is None:
            rows[uid] = {name: value for name, value in word.items() if name != "id"} | {"uid": uid}
    return list(rows.values())


def _word_behind(connection: Connection, undo: Row) -> dict[str, Any] | None:
    """The word that an undo concerns: what it takes back, or what the undo takes back that it takes back."""
    found = connection.execute(select(events).where(events.c.id == undo["target"])).mappings().one_or_none()
    if found is not None and found["kind"] == "undo":
        found = connection.execute(select(events).where(events.c.id == found["target"])).mappings().one_or_none()
    return dict(found) if found is not None and found["kind"] in WORD_KINDS else None


def _doubles(connection: Connection) -> list[dict[str, Any]]:
    undo = events.alias()
    undone = select(undo.c.target).where(undo.c.kind == "undo", undo.c.target.is_not(None))
    query = select(events).where(events.c.kind.in_(WORD_KINDS), events.c.id.not_in(undone)).order_by(events.c.id)
    before: dict[tuple[int, str], tuple[Any, ...]] = {}
    found = []
    for row in connection.execute(query).mappings():
        place = row["annotator_id"], row["pair"]
        said = tuple(row[name] for name in ("kind", "verdict", "comment", "at", "source"))
        if before.get(place) == said:
            found.append(dict(row))
        before[place] = said
    return found


def _undo(row: Row) -> dict[str, Any]:
    # Of the same moment as the repeat: the word's own moment decides between two places.
    return {
        "uid": str(uuid5(_ROOT, f"undo {row['uid']}")), "at": row["at"], "annotator_id": row["annotator_id"],
        "pair": row["pair"], "kind": "undo", "comment": "", "source": _SOURCE, "target": row["id"],
    }  # fmt: skip


def _append(connection: Connection, rows: Sequence[Row]) -> None:
    known = set(
        connection.execute(select(events.c.uid).where(events.c.uid.in_([row["uid"] for row in rows]))).scalars()
    )
    for row in rows:
        if row["uid"] not in known:
            connection.execute(events.insert().values(**row))


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


def agreements(connection: Connection) -> Iterator[Finding]:
    """Words that both sides are said to have agreed on, and that the log never held."""
    wrong = _never_said(connection)
    if wrong:
        names = [f"pair {pair}" for _, pair in wrong.values()]
        yield Finding(
            "exchange",
            f"{len(wrong)} words are noted as exchanged that nobody gave here: {some(names)}.",
            "forgets the note; the next exchange compares both sides anew, and keeps both words where they differ.",
            within(lambda writing: _forget(writing, list(_never_said(writing)))),
        )


def unconfirmed(connection: Connection) -> Iterator[Finding]:
    """What was being sent when a program was killed, too long ago to arrive any more."""
    lost = _long_sent(connection)
    if lost:
        yield Finding(
            "exchange",
            f"{len(lost)} notes of words on their way to Label Studio are out of date.",
            "drops the notes; the next exchange looks what arrived.",
            within(lambda writing: _forget(writing, _long_sent(writing))),
        )


def _never_said(connection: Connection) -> dict[int, tuple[str, str]]:
    """Rows of agreed words (by id: project, pair) without an event that says the same."""
    said = {
        (row.annotator_id, row.pair, row.verdict, row.comment.strip())
        for row in connection.execute(
            select(events.c.annotator_id, events.c.pair, events.c.verdict, events.c.comment).where(
                events.c.kind.in_(("judge", "prefer")), events.c.pair.in_(select(sync_annotations.c.pair))
            )
        )
    }
    rows = connection.execute(select(sync_annotations).where(sync_annotations.c.verdict.is_not(None)))
    return {
        row.id: (row.project, row.pair)
        for row in rows
        if not row.project.endswith(SENT) and (row.annotator_id, row.pair, row.verdict, row.comment) not in said
    }


def _long_sent(connection: Connection) -> list[int]:
    oldest = int(time.time()) - ARRIVES_WITHIN
    query = select(sync_annotations.c.id).where(
        sync_annotations.c.project.endswith(SENT, autoescape=True), sync_annotations.c.annotation < oldest
    )
    return list(connection.execute(query).scalars())


def _forget(connection: Connection, rows: list[int]) -> None:
    connection.execute(delete(sync_annotations).where(sync_annotations.c.id.in_(rows)))
