"""The days of the web: search results are kept by the day, in UTC, on which they were asked for."""

from datetime import UTC, date, datetime

from berdseye.data.errors import BadInputError

_begun: set[date] = set()


def today() -> date:
    """The present day in UTC."""
    return datetime.now(UTC).date()


def as_day(text: str) -> date:
    """Return the day that a text like 2025-06-01 names; raises `BadInputError`."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise BadInputError(f"'{text}' is not a valid date.", hint="Write it like 2025-06-01.") from error


def begin_day() -> str:
    """The day under which work that starts now keeps all its searches, like 2025-06-01, also those after midnight."""
    day = today()
    _begun.add(day)
    return day.isoformat()


def may_search(day: date) -> bool:
    """Whether new searches may be kept under a day: today, or a day on which work began in this process."""
    return day == today() or day in _begun
