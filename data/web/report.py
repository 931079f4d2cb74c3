"""Stored reports on web searches: the outcome of every page found, so that a search can be repeated and explained."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json

Reason = Literal[
    "read",
    "robots.txt",
    "private address",
    "untrusted",
    "too large",
    "timed out",
    "not HTML",
    "no text",
    "failed",
    "out of time",
]
"""The outcome of a page; every value but 'read' is the reason why the page is not used."""


class PageError(Exception):
    """The reason why a page cannot be used; it does not affect other pages."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class Outcome(NamedTuple):
    """The outcome of a page that a search found; `page` is its id if it was read."""

    url: str
    reason: Reason
    detail: str = ""
    page: int | None = None


@dataclass(frozen=True)
class WebReport:
    """A search and its outcomes, best hit first; `unusable` counts hits without an address, `asked` is the time in UTC."""

    query: str
    provider: str
    asked: str
    unusable: int
    outcomes: tuple[Outcome, ...]

    @property
    def ids(self) -> list[int]:
        """The ids of all pages read, without repetition, best hit first."""
        return list(dict.fromkeys(outcome.page for outcome in self.outcomes if outcome.page is not None))

    @property
    def counts(self) -> dict[Reason, int]:
        """The number of pages per outcome, most frequent first."""
        return dict(Counter(outcome.reason for outcome in self.outcomes).most_common())

    def __str__(self) -> str:
        parts = [f"{count} {reason}" for reason, count in self.counts.items()]
        return ", ".join([*parts, *([f"{self.unusable} without an address"] if self.unusable else [])])

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read a report; None if the file does not exist; raises `StaleError` if it cannot be read."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**values, "outcomes": tuple(Outcome(**outcome) for outcome in values["outcomes"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StaleError(
                "The stored report on a web search cannot be read.",
                where=path,
                hint="Delete the file and search again.",
            ) from error

    def write(self, path: Path) -> None:
        """Write the report to a file."""
        write_json(path, {**asdict(self), "outcomes": [outcome._asdict() for outcome in self.outcomes]})
