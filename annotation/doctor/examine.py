"""Run all checks of a judgments database, and fix what they find."""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from berdseye.annotation.doctor.checks import (
    agreements,
    counters,
    integrity,
    lost_reservations,
    references,
    repeated_judgments,
    unconfirmed,
    undos,
    unknown_batches,
    unreadable_judgments,
)
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments.log import Judgments

_LOOKS = 3
Check = Callable[[Connection], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    integrity,
    references,
    undos,
    repeated_judgments,
    unreadable_judgments,
    counters,
    lost_reservations,
    unknown_batches,
    agreements,
    unconfirmed,
)
"""In the order of fixing: what later checks read is fixed before they run."""


def examine(judgments: Judgments) -> list[Finding]:
    """Return all faults of a judgments database, without changing it."""
    findings: list[Finding] = []
    for check in CHECKS:
        try:
            with judgments.reading() as connection:
                findings += check(connection)
        except DatabaseError as error:
            findings.append(
                Finding(check.__name__, f"The database cannot be read: {error.orig}.", "restore the last backup.")
            )
    return findings


def fix_all(judgments: Judgments, look: Callable[[], list[Finding]]) -> tuple[list[Finding], list[Finding]]:
    """Fix what `look` finds, and look again, since one fault may hide another; returns the fixed and the remaining findings.

    No event is changed or deleted.
    """
    fixed: list[Finding] = []
    for _ in range(_LOOKS):
        findings = look()
        fixable = [finding for finding in findings if finding.fix is not None]
        for finding in fixable:
            if finding.fix is not None:
                finding.fix(judgments)
        fixed += fixable
        if not fixable:
            return fixed, findings
    return fixed, look()
