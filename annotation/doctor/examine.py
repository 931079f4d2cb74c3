"""The whole look at a judgments database, and its mending."""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from berdseye.annotation.doctor.checks import (
    agreements,
    counters,
    doubled_words,
    integrity,
    lost_reservations,
    references,
    unconfirmed,
    undos,
    unknown_batches,
    unreadable_words,
)
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments.log import Judgments

_LOOKS = 3
Check = Callable[[Connection], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    integrity,
    references,
    undos,
    doubled_words,
    unreadable_words,
    counters,
    lost_reservations,
    unknown_batches,
    agreements,
    unconfirmed,
)
"""In the order of mending: what later checks read is mended before."""


def examine(judgments: Judgments) -> list[Finding]:
    """Everything that is wrong; nothing is changed."""
    found: list[Finding] = []
    for check in CHECKS:
        try:
            with judgments.reading() as connection:
                found += check(connection)
        except DatabaseError as error:
            found.append(
                Finding(check.__name__, f"The database cannot be read: {error.orig}.", "restore the last backup.")
            )
    return found


def mend(judgments: Judgments, look: Callable[[], list[Finding]]) -> tuple[list[Finding], list[Finding]]:
    """Mend what `look` finds, and look again, since one fault may hide another; returns what was mended and what is left.

    No event is changed or deleted.
    """
    mended: list[Finding] = []
    for _ in range(_LOOKS):
        found = look()
        mendable = [finding for finding in found if finding.mend is not None]
        for finding in mendable:
            if finding.mend is not None:
                finding.mend(judgments)
        mended += mendable
        if not mendable:
            return mended, found
    return mended, look()
