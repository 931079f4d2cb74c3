"""The tables of the exchange: what we hold, and what both sides agreed on last."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from berdseye.annotation.judgments import PairRecord, Verdict, batched_rows
from berdseye.annotation.label_studio.config import Word
from berdseye.annotation.schema import events, pairs, present, sync_annotations, sync_tasks
from berdseye.annotation.words import Preference

ARRIVES_WITHIN = 900
"""Seconds: an import whose sender was killed goes on in the server; after this long it has ended, one way or the other."""
SENT = "!sent"
"""What the name of a project ends with in rows of words on their way there; their `annotation` is the moment, in seconds."""


class Place(NamedTuple):
    """An annotator's word on a pair has one place."""

    pair: str
    annotator: int


@dataclass(frozen=True)
class Local:
    """What we hold at a place: the word, the moment of its last event, and the present event."""

    word: Word | None
    at: str
    source: str
    uid: str
    event: dict[str, Any] | None


class Agreed(NamedTuple):
    """What both sides hold at a place after an exchange: the word, and the annotation it stands in."""

    word: Word | None
    annotation: int | None


def read_pairs(connection: Connection, keys: Sequence[str]) -> dict[str, PairRecord]:
    """The pairs known here among those asked for, by key."""
    names = list(PairRecord.__dataclass_fields__)
    found: dict[str, PairRecord] = {}
    for chunk in batched_rows(list(keys)):
        for row in connection.execute(select(pairs).where(pairs.c.key.in_(chunk))).mappings():
            found[row["key"]] = PairRecord(**{name: row[name] for name in names})
    return found


def read_local(connection: Connection, keys: Sequence[str]) -> dict[Place, Local]:
    """All that we hold on these pairs, places where it was taken back included."""
    found: dict[Place, Local] = {}
    for chunk in batched_rows(list(keys)):
        newest = (
            select(func.max(events.c.id)).where(events.c.pair.in_(chunk)).group_by(events.c.annotator_id, events.c.pair)
        )
        standing = {
            Place(row["pair"], row["annotator_id"]): dict(row)
            for row in connection.execute(select(present).where(present.c.pair.in_(chunk))).mappings()
        }
        for last in connection.execute(select(events).where(events.c.id.in_(newest))):
            place = Place(last.pair, last.annotator_id)
            event = standing.get(place)
            word = None
            if event is not None and event["kind"] in ("judge", "prefer"):
                word = Word(cast(Verdict | Preference, event["verdict"]), event["comment"].strip())
            found[place] = Local(word, last.at, last.source, event["uid"] if event else last.uid, event)
    return found


def read_base(connection: Connection, project: str, keys: Sequence[str]) -> dict[Place, Word | None]:
    """What both sides agreed on last on these pairs."""
    return {place: word for place, (word, _) in _read_words(connection, project, keys).items()}


def read_authors(connection: Connection, project: str, keys: Sequence[str]) -> dict[tuple[str, int], int]:
    """The annotator under whom an annotation is known here, by its pair and its number in Label Studio."""
    rows = _read_words(connection, project, keys)
    return {(place.pair, number): place.annotator for place, (_, number) in rows.items() if number is not None}


def read_sent(connection: Connection, project: str, keys: Sequence[str]) -> dict[Place, Word | None]:
    """What was sent lately and not confirmed: it may have arrived, or may arrive yet."""
    oldest = int(time.time()) - ARRIVES_WITHIN
    rows = _read_words(connection, _sent(project), keys)
    return {place: word for place, (word, moment) in rows.items() if (moment or 0) >= oldest}


def write_sent(connection: Connection, project: str, words: Mapping[Place, Word | None]) -> None:
    """Remember, before sending, what is about to be sent: a crash may come between its arrival and our knowing.

    Without this, our own word found in Label Studio would pass for a change that someone made there.
    """
    moment = int(time.time())
    _write_words(connection, _sent(project), {place: Agreed(word, moment) for place, word in words.items()})


def _sent(project: str) -> str:
    return f"{project}{SENT}"


def _read_words(
    connection: Connection, project: str, keys: Sequence[str]
) -> dict[Place, tuple[Word | None, int | None]]:
    table = sync_annotations
    found: dict[Place, tuple[Word | None, int | None]] = {}
    for chunk in batched_rows(list(keys)):
        query = select(table).where(table.c.project == project, table.c.pair.in_(chunk))
        for row in connection.execute(query):
            word = None if row.verdict is None else Word(row.verdict, row.comment)
            found[Place(row.pair, row.annotator_id)] = (word, row.annotation)
    return found


def append_events(connection: Connection, rows: Iterable[dict[str, Any]]) -> None:
    """Append events; those whose uid is known already are left as they are."""
    for chunk in batched_rows(list(rows)):
        connection.execute(_insert(connection, events).values(chunk).on_conflict_do_nothing(index_elements=["uid"]))


def write_base(connection: Connection, project: str, agreed: Mapping[Place, Agreed]) -> None:
    """Remember what both sides agree on now; nothing is in flight there any more."""
    _write_words(connection, project, agreed)
    if agreed:
        table = sync_annotations
        arrived = delete(table).where(
            table.c.project == _sent(project),
            table.c.pair == bindparam("of_pair"),
            table.c.annotator_id == bindparam("of_annotator"),
        )
        connection.execute(arrived, [{"of_pair": p.pair, "of_annotator": p.annotator} for p in agreed])


def _write_words(connection: Connection, project: str, agreed: Mapping[Place, Agreed]) -> None:
    rows = [
        {
            "project": project, "pair": place.pair, "annotator_id": place.annotator, "annotation": a.annotation,
            "verdict": a.word.verdict if a.word else None, "comment": a.word.comment if a.word else "",
        }
        for place, a in agreed.items()
    ]  # fmt: skip
    _upsert(
        connection,
        sync_annotations,
        rows,
        ("project", "pair", "annotator_id"),
        ("annotation", "verdict", "comment"),
    )


def write_tasks(connection: Connection, project: str, tasks: Mapping[str, int]) -> None:
    """Remember which task holds a pair: a hint for people. Look-ups go by pair, as task ids are reused."""
    rows = [{"project": project, "pair": pair, "task": task} for pair, task in tasks.items()]
    _upsert(connection, sync_tasks, rows, ("project", "pair"), ("task",))


def forget_tasks(connection: Connection, project: str, keys: Sequence[str]) -> None:
    """Forget that these pairs had a task."""
    for chunk in batched_rows(list(keys)):
        here = sync_tasks.c.project == project
        connection.execute(delete(sync_tasks).where(here, sync_tasks.c.pair.in_(chunk)))


def _upsert(
    connection: Connection,
    table: Table,
    rows: list[dict[str, Any]],
    key: Sequence[str],
    columns: Sequence[str],
) -> None:
    for chunk in batched_rows(rows):
        insert = _insert(connection, table).values(chunk)
        newer = {name: insert.excluded[name] for name in columns}
        connection.execute(insert.on_conflict_do_update(index_elements=list(key), set_=newer))


def _insert(connection: Connection, table: Table) -> Any:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)
