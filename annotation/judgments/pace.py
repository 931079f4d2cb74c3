"""How much one person has judged today and how fast, and how long people took for each pair."""

from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import events

_MINE = events.c.annotator_id == bindparam("person")
_RECENT = events.c.id >= bindparam("first_event")
_UNDONE = select(events.c.target).where(events.c.kind == "undo", _MINE, _RECENT)
# Built once: building a statement takes longer than running this one.
_TODAY = select(events.c.seconds).where(
    _RECENT,
    _MINE,
    events.c.kind.in_(("judge", "prefer", "skip")),
    events.c.source == "annotate",
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


class Pace(NamedTuple):
    """The judgments and skips of a day that are in force, the median seconds of the timed ones, and pairs per hour at that rate.

    It is an hour of judging: the seconds do not include breaks.
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
        seconds = list(connection.execute(_TODAY, parameters).scalars())
    timed = [float(one) for one in seconds if one is not None]
    if not timed:
        return Pace(len(seconds), None, None)
    spent = sum(timed)
    return Pace(len(seconds), median(timed), 3600 * len(timed) / spent if spent > 0 else None)
