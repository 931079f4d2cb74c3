"""What still has to be sent to Label Studio.

The tables of the exchange: what we hold, and what both sides agreed on last.

The three-way rule: what both sides agreed on last, what we hold, what Label Studio holds.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    union_all,
)
from sqlalchemy import func as sql
from sqlalchemy.dialects import postgresql, sqlite

from berdseye.annotation.judgments.log import Judgments, PairRecord, Verdict, batched_rows
from berdseye.annotation.judgments.recorded import Preference
from berdseye.annotation.judgments.schema import events, pairs, present, sync_annotations, sync_projects, sync_tasks
from berdseye.annotation.label_studio.form import Word
from berdseye.annotation.label_studio.purpose import Purpose, batch_purposes, purpose_of

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


class Step(Enum):
    """What brings one annotator's word on one pair into agreement."""

    NOTHING = "both sides hold what they agreed on"
    AGREED = "both sides changed to the same: only remember it"
    RECEIVE = "only Label Studio changed"
    SEND = "only we changed"
    OURS_STANDS = "both changed differently, and ours is the later word"
    THEIRS_STANDS = "both changed differently, and theirs is the later word"


def step(base: Word | None, local: Word | None, remote: Word | None, *, ours_at: str, theirs_at: str | None) -> Step:
    """The step for one annotator and pair; moments are ISO texts in UTC.

    `theirs_at` is None for an annotation deleted there, whose moment nobody knows: then a word of ours
    stands.
    """
    if local == remote:
        return Step.NOTHING if base == local else Step.AGREED
    if base == local:
        return Step.RECEIVE
    if base == remote:
        return Step.SEND
    return Step.OURS_STANDS if theirs_at is None or ours_at > theirs_at else Step.THEIRS_STANDS


def waiting(judgments: Judgments, project: str | None = None) -> int:
    """How many judgments and withdrawals Label Studio has not confirmed; `project` is `Project.key`.

    Without one it is the project of the workspace at the last exchange that made tasks (before the first, everything
    waits), and every project of a batch.
    """
    if project is not None:
        purposes = [purpose_of(judgments, project)]
    else:
        with judgments.reading() as connection:
            latest = str(connection.execute(_latest_project()).scalar() or "")
        purposes = [Purpose(latest), *batch_purposes(judgments)]
    with judgments.reading() as connection:
        counts = (select(sql.count()).select_from(_waiting(one).subquery()) for one in purposes)
        return sum(int(connection.execute(count).scalar_one()) for count in counts)


def waiting_pairs(judgments: Judgments, project: str) -> list[str]:
    """The pairs on which something waits."""
    purpose = purpose_of(judgments, project)
    with judgments.reading() as connection:
        rows = connection.execute(_waiting(purpose)).all()
    return list(dict.fromkeys(row.pair for row in rows))


def _waiting(purpose: Purpose) -> Select[tuple[str, int]]:
    base = (
        select(sync_annotations)
        .where(sync_annotations.c.project == purpose.project, sync_annotations.c.verdict.is_not(None))
        .subquery()
    )
    kind = "prefer" if purpose.task == "prefer" else "judge"
    said = select(present).where(present.c.kind == kind, belongs(purpose)).subquery()
    same_place = and_(base.c.pair == said.c.pair, base.c.annotator_id == said.c.annotator_id)
    changed = (
        select(said.c.pair, said.c.annotator_id)
        .outerjoin(base, same_place)
        .where(
            or_(
                base.c.pair.is_(None),
                base.c.verdict != said.c.verdict,
                base.c.comment != sql.trim(said.c.comment),
            )
        )
    )
    withdrawn = select(base.c.pair, base.c.annotator_id).outerjoin(said, same_place).where(said.c.pair.is_(None))
    both = union_all(changed, withdrawn).subquery()
    return select(both.c.pair, both.c.annotator_id)


def belongs(purpose: Purpose) -> ColumnElement[bool]:
    """Whether a present word has its place in the project: on a pair that it has a task for, or (the workspace's) may get."""
    here = exists().where(sync_tasks.c.project == purpose.project, sync_tasks.c.pair == present.c.pair)
    if purpose.batch is None:
        # A batch that was sent out has its own projects: a task here would show its pairs with predictions and others' words.
        elsewhere = exists().where(
            sync_projects.c.batch_id.is_not(None),
            sync_projects.c.project == sync_tasks.c.project,
            sync_tasks.c.pair == present.c.pair,
        )
        return or_(here, ~elsewhere)
    if purpose.person is None:
        return here
    known = exists().where(
        sync_annotations.c.project == purpose.project,
        sync_annotations.c.pair == present.c.pair,
        sync_annotations.c.annotator_id == present.c.annotator_id,
        sync_annotations.c.verdict.is_not(None),
    )
    return and_(here, or_(present.c.annotator_id == purpose.person, known))


def _latest_project() -> Select[tuple[str]]:
    of_batches = select(sync_projects.c.project).where(sync_projects.c.batch_id.is_not(None))
    query = select(sync_tasks.c.project).where(sync_tasks.c.project.not_in(of_batches))
    return query.order_by(sync_tasks.c.id.desc()).limit(1)
