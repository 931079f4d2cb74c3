"""What people say of pairs, event by event."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd
from sqlalchemy import select

from berdseye.annotation.judgments import WORD_KINDS, Annotator, Judgment, Judgments, by_keys
from berdseye.annotation.schema import annotators, events
from berdseye.annotation.votes import people_say
from berdseye.annotation.words import is_verdict


class Change(NamedTuple):
    """From `at` on, people say that a pair supports (True), that it does not (False), or nothing (None); `by` changed it."""

    at: pd.Timestamp
    pair: str
    said: bool | None
    by: str


def people_over_time(judgments: Judgments, keys: Sequence[str]) -> Iterator[Change]:
    """Every change of what people say of these pairs, oldest first; the last of each pair is what they say now.

    Words are weighed as in `people_say`: an adjudicator's decides, else the majority of those who are sure.
    """
    query = select(events, annotators.c.name, annotators.c.demo).join(
        annotators, annotators.c.id == events.c.annotator_id
    )
    with judgments.reading() as connection:
        rows = [row for part in by_keys(query, events.c.pair, keys) for row in connection.execute(part)]
    times = pd.to_datetime(pd.Series([row.at for row in rows], dtype=object), format="ISO8601", utc=True)
    undone: set[int] = set()
    log: dict[str, list[Any]] = {}
    said: dict[str, bool | None] = {}
    # Imported words may be older than the events before them.
    for at, row in sorted(zip(times, rows, strict=True), key=lambda each: (each[0], each[1].id)):
        if row.kind == "undo":
            undone.add(row.target)
        else:
            log.setdefault(row.pair, []).append(row)
        now = _said(row.pair, [e for e in log.get(row.pair, []) if e.id not in undone])
        if now != said.get(row.pair):
            said[row.pair] = now
            yield Change(at, row.pair, now, row.name)


def _said(pair: str, standing: list[Any]) -> bool | None:
    """What comes of the events of a pair that were not undone."""
    latest: dict[int, Any] = {}
    decision: Any = None
    for event in sorted(standing, key=lambda e: e.id):
        if event.kind in WORD_KINDS:
            latest[event.annotator_id] = event
        elif event.kind == "adjudicate":
            decision = event
    words = [
        Judgment(
            e.id,
            e.uid,
            e.at,
            Annotator(e.annotator_id, e.name, e.demo),
            pair,
            e.verdict,
            e.comment,
            e.source,
            e.seconds,
        )
        for e in latest.values()
        if e.kind == "judge"
    ]
    gold = {pair: decision.verdict} if decision is not None and is_verdict(decision.verdict) else None
    return people_say(words, gold=gold).get(pair)
