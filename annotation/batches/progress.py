"""The progress of a batch, its judgments as a table, and the flags on its perspectives."""

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.checks import MARK
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

if TYPE_CHECKING:
    import pandas as pd


class Share(NamedTuple):
    """One person's share of a batch; `seconds` is the median per pair (None: no pair was timed)."""

    name: str
    judgments: int
    skipped: int
    flagged: int
    seconds: float | None


class Progress(NamedTuple):
    """Counts of a batch: its pairs, the judgments `wanted` and those made (`judgments`), and what they show.

    `extra` counts the judgments beyond those wanted, which come from lapsed reservations and from other pages; `finished`,
    `disputed`, `decided` and `reserved` count pairs.
    """

    pairs: int
    finished: int
    wanted: int
    judgments: int
    extra: int
    disputed: int
    decided: int
    reserved: int


def batch_progress(judgments: Judgments, batch: Batch, *, time: float) -> Progress:
    """Return the progress of a batch at `time` (in seconds), which decides which reservations have lapsed."""
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
    reserved = select(func.count()).where(reservations.c.batch_id == batch.id, reservations.c.until > time)
    with judgments.reading() as connection:
        row = connection.execute(counts).one()
        count, finished, wanted, judgment_count, extra, disputed = (int(n) for n in row)
        decided_count, reserved_count = (int(connection.execute(query).scalar_one()) for query in (decided, reserved))
    return Progress(count, finished, wanted, judgment_count, extra, disputed, decided_count, reserved_count)


def batch_frame(judgments: Judgments, batch: Batch) -> "pd.DataFrame":
    """Return a row for each judgment that counts, and one for each pair without any.

    A row also has the pair, the detector's label and the adjudicator's decision.
    """
    judge, adjudicator = annotators.alias(), annotators.alias()
    query = (
        select(
            batch_items.c.place,
            batch_items.c.pair,
            judge.c.name.label("annotator"),
            batch_words.c.verdict,
            events.c.comment,
            events.c.at,
            events.c.seconds,
            events.c.shown,
            events.c.evidence,
            events.c.guidelines,
            events.c.propensity,
            events.c.source,
            batch_items.c.wanted,
            batch_items.c.probability,
            batch_items.c.decision,
            adjudicated.c.verdict.label("adjudicated"),
            adjudicator.c.name.label("adjudicator"),
            *(c for c in pairs.columns if c.name != "key"),
        )
        .join_from(batch_items, pairs, pairs.c.key == batch_items.c.pair)
        .outerjoin(
            batch_words,
            (batch_words.c.batch_id == batch_items.c.batch_id) & (batch_words.c.pair == batch_items.c.pair),
        )
        .outerjoin(events, events.c.id == batch_words.c.event)
        .outerjoin(judge, judge.c.id == batch_words.c.annotator_id)
        .outerjoin(adjudicated, adjudicated.c.pair == batch_items.c.pair)
        .outerjoin(adjudicator, adjudicator.c.id == adjudicated.c.annotator_id)
        .where(batch_items.c.batch_id == batch.id)
        .order_by(batch_items.c.place, batch_words.c.event)
    )
    with judgments.reading() as connection:
        return frame_of(connection.execute(query))


def flags(judgments: Judgments, batch: Batch | None = None) -> "pd.DataFrame":
    """Return the flags on perspectives with a faulty text that were not taken back; of a batch of checks, the difficult items.

    Columns: perspective, question, dataset, pair, annotator, comment, at.
    """
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
    if batch is None:
        query = query.where(~events.c.pair.startswith(MARK))
    else:
        query = query.where(events.c.pair.in_(select(batch_items.c.pair).where(batch_items.c.batch_id == batch.id)))
    with judgments.reading() as connection:
        return frame_of(connection.execute(query))


def batch_shares(judgments: Judgments, batch: Batch) -> tuple[Share, ...]:
    """Return each person's share of a batch, ordered by name."""
    import pandas as pd  # takes long to load

    verdicts = (
        select(batch_words.c.annotator_id, events.c.seconds)
        .join_from(batch_words, events, events.c.id == batch_words.c.event)
        .where(batch_words.c.batch_id == batch.id)
    )
    skips = (
        select(annotators.c.name)
        .join_from(present, annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind == "skip", present.c.batch == batch.id)
    )
    names_by_id = select(annotators.c.id, annotators.c.name)
    with judgments.reading() as connection:
        frame = frame_of(connection.execute(verdicts))
        skipped = Counter(connection.execute(skips).scalars())
        people = {row.id: row.name for row in connection.execute(names_by_id)}
    flagged = Counter(flags(judgments, batch)["annotator"])
    by_person = pd.to_numeric(frame["seconds"]).groupby(frame["annotator_id"].map(people))
    counts, medians = by_person.size().to_dict(), by_person.median().dropna().to_dict()
    names = sorted({*counts, *skipped, *flagged, *(p.name for p in batch.people)}, key=str.casefold)
    return tuple(Share(name, counts.get(name, 0), skipped[name], flagged[name], medians.get(name)) for name in names)
