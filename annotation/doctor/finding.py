"""A fault that the doctor found in the judgments database, with its fix."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Connection

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Judgments

Fix = Callable[[Judgments], object]


@dataclass(frozen=True)
class Finding:
    """A fault: the check that found it, what is wrong, and what the fix does (or, without `fix`, what a person can do)."""

    check: str
    text: str
    remedy: str
    fix: Fix | None = field(default=None, compare=False, repr=False)

    def as_json(self) -> dict[str, object]:
        """Return the texts of the finding, and whether Berdseye can fix it."""
        return {"check": self.check, "text": self.text, "remedy": self.remedy, "fixable": self.fix is not None}

    def __str__(self) -> str:
        how = "Fix" if self.fix is not None else "By hand"
        return f"{self.check}: {self.text} {how}: {self.remedy}"


def first_few(names: list[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def in_transaction(work: Callable[[Connection], object]) -> Fix:
    """Return a fix that does this work in one transaction on the judgments database."""

    def fix(judgments: Judgments) -> None:
        with writing(judgments.engine) as connection:
            work(connection)

    return fix
