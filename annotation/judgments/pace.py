"""How much one person has judged today and how fast, how long people took for each pair, and how much everyone has judged."""

from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from berdseye.annotation.judgments.log import IN_THE_APP, VERDICT_KINDS, Annotator, Judgments
from berdseye.annotation.judgments.schema import events, present

_MINE = events.c.annotator_id == bindparam("person")
_RECENT = events.c.id >= bindparam("first_event")
_UNDONE = select(events.c.target).where(events.c.kind == "undo", _MINE, _RECENT)
# Built once: building a statement takes longer than running this one.
_TODAY = select(events.c.pair, events.c.seconds).where(
    _RECENT,
    _MINE,
    events.c.kind.in_((*VERDICT_KINDS, "skip")),
    events.c.source.in_(IN_THE_APP),
    events.c.at >= bindparam("since"),
    events.c.id.not_in(_UNDONE),
)


def seconds_by_pair(judgments: Judgments) -> dict[str, float]:
    """Return the total seconds of all timed judgments and skips of each pair, by pair key.

    Judgments that were changed or undone later count too, since they took time. Pairs without a timed judgment, such as those
    judged outside the Annotate page, are omitted.
    """
    query = (
        select(events.c.pair, func.sum(events.c.seconds)).where(events.c.seconds.is_not(None)).group_by(events.c.pair)
    )
    with judgments.reading() as connection:
        return {pair: float(seconds) for pair, seconds in connection.execute(query)}


def seconds_a_judgment(judgments: Judgments, kind: str = "judge") -> float | None:
    """Return the mean seconds of all timed judgments of a kind on the Annotate page, or None if there are none."""
    query = select(func.avg(events.c.seconds)).where(
        events.c.kind == kind, events.c.source == "annotate", events.c.seconds.is_not(None)
    )
    with judgments.reading() as connection:
        mean = connection.execute(query).scalar()
    return None if mean is None else float(mean)


class Activity(NamedTuple):
    """How many judgments of a person are in force, and the time of the last one, as the log writes it."""

    judgments: int
    last: str


def activity_by_person(judgments: Judgments) -> dict[int, Activity]:
    """Return the activity of everyone who has a judgment in force, by the id of the annotator."""
    query = (
        select(present.c.annotator_id, func.count().label("judgments"), func.max(present.c.at).label("last"))
        .where(present.c.kind.in_(VERDICT_KINDS))
        .group_by(present.c.annotator_id)
    )
    with judgments.reading() as connection:
        return {row.annotator_id: Activity(int(row.judgments), row.last) for row in connection.execute(query)}


class Pace(NamedTuple):
    """The pairs that a person judged or skipped on a day on any page, the median seconds of the timed judgments, and pairs per
    hour at that rate.

    What was undone does not count, and a pair judged twice is one pair. Annotate times judgments; pages for reading do not. It is
    an hour of judging: the seconds do not include breaks.
    """

    pairs: int
    median_seconds: float | None
    an_hour: float | None


def midnight(now: datetime | None = None) -> str:
    """Return the last midnight by this machine's clock, as the log writes times."""
    local = (now or datetime.now(UTC)).astimezone()
    began = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return began.astimezone(UTC).isoformat(timespec="microseconds")


def first_event_since(judgments: Judgments, at: str) -> int:
    """Return an id that is not above the id of any event since `at`; it keeps `pace` from reading the whole log."""
    # Clocks of several machines differ a little, and ids follow commits: it reads one more hour than necessary.
    before = (datetime.fromisoformat(at) - timedelta(hours=1)).isoformat(timespec="microseconds")
    first = select(func.min(events.c.id)).where(events.c.at >= before)
    newest = select(func.coalesce(func.max(events.c.id), 0))
    with judgments.reading() as connection:
        event = connection.execute(first).scalar()
        return int(connection.execute(newest).scalar_one()) if event is None else int(event)


def pace(judgments: Judgments, person: Annotator, since: str, first_event: int = 0) -> Pace:
    """Return the pace of a person since a time; `first_event` comes from `first_event_since`."""
    parameters = {"person": person.id, "since": since, "first_event": first_event}
    with judgments.reading() as connection:
        rows = connection.execute(_TODAY, parameters).all()
    pairs = len({row.pair for row in rows})
    timed = [float(row.seconds) for row in rows if row.seconds is not None]
    if not timed:
        return Pace(pairs, None, None)
    spent = sum(timed)
    return Pace(pairs, median(timed), 3600 * len(timed) / spent if spent > 0 else None)
