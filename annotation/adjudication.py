"""Adjudication: where people disagree, an adjudicator's word becomes the gold label. What led there stays in the log."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, select

from annotation.batches import Batch
from annotation.database import writing
from annotation.judgments import (
    VERDICTS,
    Annotator,
    Judgment,
    Judgments,
    PairRecord,
    Verdict,
    by_keys,
    event_row,
)
from annotation.schema import adjudicated, annotators, batch_items, batch_words, events, present
from data.errors import BadInputError, UnknownNameError
from data.passages import clean


class Decision(NamedTuple):
    """The standing word of an adjudicator on a pair."""

    event: int
    at: str
    by: str
    verdict: Verdict
    comment: str


class Dispute(NamedTuple):
    """A pair that people judge differently: everyone's present words, oldest first, and the decision where there is one."""

    key: str
    record: PairRecord
    votes: tuple[Judgment, ...]
    decision: Decision | None


def decisions(judgments: Judgments, keys: Sequence[str] | None = None) -> dict[str, Decision]:
    """The standing decision by pair: of all pairs, or of those given."""
    query = select(adjudicated, annotators.c.name).join(annotators, annotators.c.id == adjudicated.c.annotator_id)
    with judgments.reading() as connection:
        return {
            row.pair: Decision(row.id, row.at, row.name, row.verdict, row.comment)
            for part in by_keys(query, adjudicated.c.pair, keys)
            for row in connection.execute(part)
        }


def gold_words(judgments: Judgments, keys: Sequence[str] | None = None) -> dict[str, Verdict]:
    """What adjudicators decided, by pair: what `people_say` puts first."""
    return {key: decision.verdict for key, decision in decisions(judgments, keys).items()}


def disputes(
    judgments: Judgments, batch: Batch | None = None, *, unsure: bool = False, decided: bool = False
) -> list[Dispute]:
    """Pairs that people judge differently, of a batch in its order, or of all.

    `unsure`: someone unsure differs from someone sure. `decided`: with those that an adjudicator has decided.
    Of a batch the words that count there are compared; made-up people of the demo never count.
    """
    if batch is None:
        query = (
            select(present.c.pair, present.c.verdict, func.min(present.c.id).over(partition_by=present.c.pair))
            .join(annotators, annotators.c.id == present.c.annotator_id)
            .where(present.c.kind == "judge", annotators.c.demo.is_(False))
            .order_by(func.min(present.c.id).over(partition_by=present.c.pair), present.c.id)
        )
    else:
        query = (
            select(batch_words.c.pair, batch_words.c.verdict, batch_words.c.event)
            .join(
                batch_items,
                (batch_items.c.batch_id == batch_words.c.batch_id) & (batch_items.c.pair == batch_words.c.pair),
            )
            .where(batch_words.c.batch_id == batch.id, batch_words.c.verdict.in_(VERDICTS))
            .order_by(batch_items.c.place, batch_words.c.event)
        )
    said: dict[str, set[str]] = {}
    with judgments.reading() as connection:
        for pair, verdict, _ in connection.execute(query):
            if unsure or verdict != "unsure":
                said.setdefault(pair, set()).add(verdict)
    keys = [pair for pair, verdicts in said.items() if len(verdicts) > 1]
    known = decisions(judgments, keys)
    open_ones = keys if decided else [key for key in keys if key not in known]
    records = judgments.pair_records(open_ones)
    votes: dict[str, list[Judgment]] = {}
    for word in judgments.present(open_ones):
        if not word.annotator.demo and (batch is None or batch.admits(word.annotator)):
            votes.setdefault(word.pair, []).append(word)
    return [Dispute(key, records[key], tuple(votes.get(key, ())), known.get(key)) for key in open_ones]


def adjudicate(
    judgments: Judgments, person: Annotator, pair: str, verdict: Verdict, *, comment: str = "", uid: str | None = None
) -> int:
    """Decide a pair; returns the event. A later decision stands in place of an earlier one, whoever gave it."""
    if verdict not in VERDICTS:
        raise UnknownNameError("verdict", verdict, VERDICTS)
    if person.demo:
        raise BadInputError("A made-up person of the demo decides nothing.", hint="Sign in under another name.")
    return judgments.append(
        person,
        pair,
        kind="adjudicate",
        verdict=verdict,
        comment=clean(comment),
        source="adjudicate",
        uid=uid,
    )


def take_back(judgments: Judgments, person: Annotator, pair: str) -> bool:
    """Take back the standing decision on a pair; the one before it, if any, stands again. False: there is none."""
    with writing(judgments.engine) as connection:
        # Whoever takes back waits for whoever else does, so that one decision is not taken back twice.
        connection.execute(select(annotators.c.id).order_by(annotators.c.id).with_for_update())
        found = connection.execute(select(adjudicated.c.id).where(adjudicated.c.pair == pair)).scalar_one_or_none()
        if found is None:
            return False
        row: dict[str, Any] = event_row(person, pair, kind="undo", source="adjudicate", target=found)
        connection.execute(events.insert().values(row))
    return True
