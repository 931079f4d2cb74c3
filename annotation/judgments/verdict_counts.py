"""What people say of pairs, event by event.

How many people say what of each pair, counted by the database.

What people have said of passages, whatever the perspective: words by the text of the passage.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd
from sqlalchemy import func, select

from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import WORD_KINDS, Annotator, Judgment, Judgments, PairRecord, by_keys
from berdseye.annotation.judgments.recorded import is_verdict, quotes
from berdseye.annotation.judgments.schema import annotators, events, pairs, present


def pair_words(judgments: Judgments) -> pd.DataFrame:
    """A row for each pair that has a word: how many say that it supports, that it does not, and are unsure; by pair key."""
    verdict = present.c.verdict
    query = (
        select(
            present.c.pair,
            func.count().filter(verdict == "supports").label("supports"),
            func.count().filter(verdict == "does not support").label("does_not_support"),
            func.count().filter(verdict == "unsure").label("unsure"),
        )
        .where(present.c.kind == "judge")
        .group_by(present.c.pair)
    )
    with judgments.reading() as connection:
        result = connection.execute(query)
        return pd.DataFrame(map(tuple, result), columns=list(result.keys())).set_index("pair")


Standing = Literal["supports", "does not support", "disputed", "unsure"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
"""What people say of a pair; `disputed`: they differ, and no adjudicator has decided."""


def pairs_of_passages(judgments: Judgments, texts: Sequence[str]) -> dict[str, PairRecord]:
    """The pairs that are known of passages of these texts, by key."""
    with judgments.reading() as connection:
        keys = [
            key
            for query in by_keys(select(pairs.c.key), pairs.c.passage, texts)
            for key in connection.execute(query).scalars()
        ]
    return judgments.pair_records(keys)


def passage_words(judgments: Judgments, texts: Sequence[str]) -> dict[str, frozenset[Standing]]:
    """What people say of some pair of each passage, by its text; passages of which nobody said anything are left out."""
    known = pairs_of_passages(judgments, texts)
    said: dict[str, set[str]] = {}
    for judgment in judgments.present(list(known)):
        said.setdefault(judgment.pair, set()).add(judgment.verdict)
    said |= {pair: {verdict} for pair, verdict in adjudicated_labels(judgments, list(known)).items()}
    found: dict[str, set[Standing]] = {}
    for pair, verdicts in said.items():
        found.setdefault(known[pair].passage, set()).add(_standing(verdicts))
    return {text: frozenset(words) for text, words in found.items()}


def passage_history(judgments: Judgments, text: str) -> pd.DataFrame:
    """Everything that was ever said of a passage's pairs, oldest first: pair, at, annotator, kind (an event of the log, undoing
    aside), verdict, comment, evidence (the words of the passage), seconds, source, dataset, question, perspective, undone."""
    rows = []
    for key, record in pairs_of_passages(judgments, [text]).items():
        log = judgments.history(key)
        undone = {event["target"] for event in log if event["kind"] == "undo"}
        rows += [
            {
                "pair": key,
                "id": event["id"],
                **{name: event[name] for name in ("at", "annotator", "kind")},
                "verdict": event["verdict"] or "",
                "comment": event["comment"],
                "evidence": " … ".join(quotes(text, event["evidence"])),
                **{name: event[name] for name in ("seconds", "source")},
                **{name: getattr(record, name) for name in ("dataset", "question", "perspective")},
                "undone": event["id"] in undone,
            }
            for event in log
            if event["kind"] != "undo"
        ]
    columns = ["pair", "id", "at", "annotator", "kind", "verdict", "comment", "evidence", "seconds", "source"]
    frame = pd.DataFrame(rows, columns=[*columns, "dataset", "question", "perspective", "undone"])
    return frame.sort_values("id").drop(columns="id").reset_index(drop=True)


def _standing(verdicts: set[str]) -> Standing:
    yes, no = "supports" in verdicts, "does not support" in verdicts
    if yes and no:
        return "disputed"
    return "supports" if yes else "does not support" if no else "unsure"


class Change(NamedTuple):
    """From `at` on, people say that a pair supports (True), that it does not (False), or nothing (None); `by` changed it."""

    at: pd.Timestamp
    pair: str
    said: bool | None
    by: str


def people_over_time(judgments: Judgments, keys: Sequence[str]) -> Iterator[Change]:
    """Every change of what people say of these pairs, oldest first; the last of each pair is what they say now.

    Words are weighed as in `majority_labels`: an adjudicator's decides, else the majority of those who are sure.
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
    return majority_labels(words, gold=gold).get(pair)
