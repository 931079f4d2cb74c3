"""Whether the log of events makes sense: undos that take back what they may, words recorded once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Connection, select

from berdseye.annotation.doctor.finding import Finding, some, within
from berdseye.annotation.judgments import VERDICTS, WORD_KINDS
from berdseye.annotation.schema import events

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
