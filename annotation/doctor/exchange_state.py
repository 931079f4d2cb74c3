"""Whether what is remembered of the exchange with Label Studio fits the log."""

import time
from collections.abc import Iterator

from sqlalchemy import Connection, delete, select

from berdseye.annotation.doctor.finding import Finding, some, within
from berdseye.annotation.label_studio.sync_state import ARRIVES_WITHIN, SENT
from berdseye.annotation.schema import events, sync_annotations


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
