"""How far a batch is, and what was said in it."""

from collections import Counter
from typing import NamedTuple

import pandas as pd
from sqlalchemy import func, select

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.database import frame_of
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import (
    adjudicated,
    annotators,
    batch_items,
    batch_words,
    events,
    pairs,
    present,
    reservations,
)


class Share(NamedTuple):
    """What one person did of a batch; `seconds` is the median a pair, None where no time was taken."""

    name: str
    words: int
    skipped: int
    flagged: int
    seconds: float | None


class Progress(NamedTuple):
    """Words wanted and given (`extra`: more than asked for, which only latecomers and other pages give), and what came of it."""

    pairs: int
    finished: int
    wanted: int
    given: int
    extra: int
    disputed: int
    decided: int
    reserved: int


def batch_progress(judgments: Judgments, batch: Batch, *, time: float) -> Progress:
    """How far it is at `time` (seconds), which tells what reservations have lapsed."""
    items = batch_items.c
    here = items.batch_id == batch.id
    counts = select(
        func.count(),
        func.count().filter(items.judged >= items.wanted),
        func.coalesce(func.sum(items.wanted), 0),
        func.coalesce(func.sum(items.judged), 0),
        func.coalesce(func.sum(items.judged - items.wanted).filter(items.judged > items.wanted), 0),
        func.count().filter(items.split < 0),
    ).where(here)
    decided = select(func.count()).join_from(batch_items, adjudicated, adjudicated.c.pair == items.pair).where(here)
    held = select(func.count()).where(reservations.c.batch_id == batch.id, reservations.c.until > time)
    with judgments.reading() as connection:
        found = connection.execute(counts).one()
        count, finished, wanted, given, extra, disputed = (int(n) for n in found)
        gold, out = (int(connection.execute(query).scalar_one()) for query in (decided, held))
    return Progress(count, finished, wanted, given, extra, disputed, gold, out)


def batch_frame(judgments: Judgments, batch: Batch) -> pd.DataFrame:
    """A row a word that counts, and one for each pair without any, beside the pair, the detector's label and the decision."""
    said, decider = annotators.alias(), annotators.alias()
    query = (
        select(
            batch_items.c.place,
            batch_items.c.pair,
            said.c.name.label("annotator"),
            batch_words.c.verdict,
            events.c.comment,
            events.c.at,
            events.c.seconds,
            events.c.shown,
            events.c.evidence,
            events.c.guidelines,
            events.c.source,
            batch_items.c.wanted,
            batch_items.c.probability,
            batch_items.c.decision,
            adjudicated.c.verdict.label("adjudicated"),
            decider.c.name.label("adjudicator"),
            *(c for c in pairs.columns if c.name != "key"),
        )
        .join_from(batch_items, pairs, pairs.c.key == batch_items.c.pair)
        .outerjoin(
            batch_words,
            (batch_words.c.batch_id == batch_items.c.batch_id) & (batch_words.c.pair == batch_items.c.pair),
        )
        .outerjoin(events, events.c.id == batch_words.c.event)
        .outerjoin(said, said.c.id == batch_words.c.annotator_id)
        .outerjoin(adjudicated, adjudicated.c.pair == batch_items.c.pair)
        .outerjoin(decider, decider.c.id == adjudicated.c.annotator_id)
        .where(batch_items.c.batch_id == batch.id)
        .order_by(batch_items.c.place, batch_words.c.event)
    )
    with judgments.reading() as connection:
        return frame_of(connection.execute(query))


def flags(judgments: Judgments, batch: Batch | None = None) -> pd.DataFrame:
    """Perspectives whose text people found no good and still do: perspective, question, pair, annotator, comment, at."""
    undone = select(events.c.target).where(events.c.kind == "undo", events.c.target.is_not(None))
    query = (
        select(
            pairs.c.perspective,
            pairs.c.question,
            pairs.c.dataset,
            events.c.pair,
            annotators.c.name.label("annotator"),
            events.c.comment,
            events.c.at,
        )
        .join_from(events, pairs, pairs.c.key == events.c.pair)
        .join(annotators, annotators.c.id == events.c.annotator_id)
        .where(events.c.kind == "flag", events.c.id.not_in(undone))
        .order_by(events.c.id)
    )
    if batch is not None:
        query = query.where(events.c.pair.in_(select(batch_items.c.pair).where(batch_items.c.batch_id == batch.id)))
    with judgments.reading() as connection:
        return frame_of(connection.execute(query))


def batch_shares(judgments: Judgments, batch: Batch) -> tuple[Share, ...]:
    """What each person did of a batch, by name."""
    words = (
        select(batch_words.c.annotator_id, events.c.seconds)
        .join_from(batch_words, events, events.c.id == batch_words.c.event)
        .where(batch_words.c.batch_id == batch.id)
    )
    skips = (
        select(annotators.c.name)
        .join_from(present, annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind == "skip", present.c.batch == batch.id)
    )
    known = select(annotators.c.id, annotators.c.name)
    with judgments.reading() as connection:
        frame = frame_of(connection.execute(words))
        skipped = Counter(connection.execute(skips).scalars())
        people = {row.id: row.name for row in connection.execute(known)}
    flagged = Counter(flags(judgments, batch)["annotator"])
    by_person = pd.to_numeric(frame["seconds"]).groupby(frame["annotator_id"].map(people))
    given, medians = by_person.size().to_dict(), by_person.median().dropna().to_dict()
    names = sorted({*given, *skipped, *flagged, *(p.name for p in batch.people)}, key=str.casefold)
    return tuple(Share(name, given.get(name, 0), skipped[name], flagged[name], medians.get(name)) for name in names)
