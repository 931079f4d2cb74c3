"""Verdicts counted: how many people gave each verdict on a pair, what people say of a passage under any perspective, and how
people's labels changed over time."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from sqlalchemy import func, select

from berdseye.annotation.checks import MARK
from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import (
    JUDGMENT_KINDS,
    VERDICT_KINDS,
    Annotator,
    Judgment,
    Judgments,
    PairRecord,
    by_keys,
)
from berdseye.annotation.judgments.recorded import is_verdict, quotes
from berdseye.annotation.judgments.schema import annotators, events, pairs, present

if TYPE_CHECKING:
    import pandas as pd

PairStatus = Literal["supports", "does not support", "disputed", "unsure"]
PAIR_STATUSES: tuple[PairStatus, ...] = get_args(PairStatus)
"""What people say of a pair; `disputed`: their verdicts differ, and no adjudicator has decided."""


def verdict_counts(judgments: Judgments) -> "pd.DataFrame":
    """Count the present verdicts: a row for each judged pair, by pair key, with columns supports, does_not_support, unsure."""
    import pandas as pd  # takes long to load

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


def count_judgments(judgments: Judgments) -> tuple[int, int]:
    """Return the number of present judgments and of the people who made them, without the demo's simulated annotators."""
    query = (
        select(func.count(), func.count(present.c.annotator_id.distinct()))
        .join(annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind.in_(VERDICT_KINDS), annotators.c.demo.is_(False))
    )
    with judgments.reading() as connection:
        made, people = connection.execute(query).one()
        return int(made), int(people)


def shared_pairs(judgments: Judgments, person: Annotator) -> int:
    """Return how many pairs this person and someone else have both judged. Simulated annotators count as someone."""
    mine, others = present.alias("mine"), present.alias("others")
    query = (
        select(func.count(mine.c.pair.distinct()))
        .join(others, others.c.pair == mine.c.pair)
        .where(mine.c.kind == "judge", others.c.kind == "judge")
        .where(mine.c.annotator_id == person.id, others.c.annotator_id != person.id)
    )
    with judgments.reading() as connection:
        return int(connection.execute(query).scalar_one())


def pairs_of_others(judgments: Judgments, person: Annotator, number: int) -> list[PairRecord]:
    """Return up to `number` pairs that others have judged and this person has not, in the order of their keys."""
    mine = select(present.c.pair).where(present.c.annotator_id == person.id)
    query = (
        select(present.c.pair)
        .where(present.c.kind == "judge", present.c.annotator_id != person.id, present.c.pair.not_in(mine))
        .distinct()
        .order_by(present.c.pair)
        .limit(number)
    )
    with judgments.reading() as connection:
        keys = list(connection.execute(query).scalars())
    return list(judgments.pair_records(keys).values())


def pairs_of_passages(judgments: Judgments, texts: Sequence[str]) -> dict[str, PairRecord]:
    """Return the pairs in the database whose passage has one of these texts, by key; checks are no pairs of a passage."""
    with judgments.reading() as connection:
        keys = [
            key
            for query in by_keys(select(pairs.c.key).where(~pairs.c.key.startswith(MARK)), pairs.c.passage, texts)
            for key in connection.execute(query).scalars()
        ]
    return judgments.pair_records(keys)


def passage_statuses(judgments: Judgments, texts: Sequence[str]) -> dict[str, frozenset[PairStatus]]:
    """Return what people say of the pairs of each passage, by the passage's text; unjudged passages are omitted."""
    records = pairs_of_passages(judgments, texts)
    verdicts_by_pair: dict[str, set[str]] = {}
    for judgment in judgments.present(list(records)):
        verdicts_by_pair.setdefault(judgment.pair, set()).add(judgment.verdict)
    verdicts_by_pair |= {pair: {verdict} for pair, verdict in adjudicated_labels(judgments, list(records)).items()}
    standings: dict[str, set[PairStatus]] = {}
    for pair, verdicts in verdicts_by_pair.items():
        standings.setdefault(records[pair].passage, set()).add(_standing(verdicts))
    return {text: frozenset(words) for text, words in standings.items()}


def passage_history(judgments: Judgments, text: str) -> "pd.DataFrame":
    """Return every event on the pairs of a passage, oldest first, as a table.

    Columns: pair, at, annotator, kind (of an event of the log, undos excepted), verdict, comment, evidence (quoted from the
    passage), seconds, source, dataset, question, perspective, undone.
    """
    import pandas as pd  # takes long to load

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


def _standing(verdicts: set[str]) -> PairStatus:
    yes, no = "supports" in verdicts, "does not support" in verdicts
    if yes and no:
        return "disputed"
    return "supports" if yes else "does not support" if no else "unsure"


class Change(NamedTuple):
    """From `at` on, people's label of a pair is supports (True), does not support (False) or none (None); `by` changed it."""

    at: "pd.Timestamp"
    pair: str
    label: bool | None
    by: str


def label_changes(judgments: Judgments, keys: Sequence[str]) -> Iterator[Change]:
    """Yield every change of people's labels of these pairs, oldest first; the last one of each pair is its present label.

    Labels are those of `majority_labels`: the adjudicated label, otherwise the majority of those who are sure.
    """
    import pandas as pd  # takes long to load

    query = select(events, annotators.c.name, annotators.c.demo).join(
        annotators, annotators.c.id == events.c.annotator_id
    )
    with judgments.reading() as connection:
        rows = [row for part in by_keys(query, events.c.pair, keys) for row in connection.execute(part)]
    times = pd.to_datetime(pd.Series([row.at for row in rows], dtype=object), format="ISO8601", utc=True)
    undone: set[int] = set()
    log: dict[str, list[Any]] = {}
    labels: dict[str, bool | None] = {}
    # Imported judgments may be older than the events before them.
    for at, row in sorted(zip(times, rows, strict=True), key=lambda each: (each[0], each[1].id)):
        if row.kind == "undo":
            undone.add(row.target)
        else:
            log.setdefault(row.pair, []).append(row)
        now = _label_after(row.pair, [e for e in log.get(row.pair, []) if e.id not in undone])
        if now != labels.get(row.pair):
            labels[row.pair] = now
            yield Change(at, row.pair, now, row.name)


def _label_after(pair: str, standing: list[Any]) -> bool | None:
    """Return the label that results from the events of a pair that were not undone."""
    latest: dict[int, Any] = {}
    decision: Any = None
    for event in sorted(standing, key=lambda e: e.id):
        if event.kind in JUDGMENT_KINDS:
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
