"""How long people have sat over each pair."""

from sqlalchemy import func, select

from berdseye.annotation.judgments import Judgments
from berdseye.annotation.schema import events


def seconds_by_pair(judgments: Judgments) -> dict[str, float]:
    """The seconds of all timed words and skips on each pair, by its key; also of those that were changed or undone later, since
    they took their time. Pairs that nobody was timed on, as outside of the Annotate page, are not there."""
    query = (
        select(events.c.pair, func.sum(events.c.seconds)).where(events.c.seconds.is_not(None)).group_by(events.c.pair)
    )
    with judgments.reading() as connection:
        return {pair: float(seconds) for pair, seconds in connection.execute(query)}
