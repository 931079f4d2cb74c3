"""What became of the pages that a search found on one day: kept, so that an answer can be repeated and explained.

Why a web page is not used.
"""

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
"""What became of a page; everything but 'read' says why it is not used."""


class PageError(Exception):
    """Why one page cannot be had; it never ends the fetching of the others."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class Outcome(NamedTuple):
    """What became of one page that was found; `page` is its id where it was read."""

    url: str
    reason: Reason
    detail: str = ""
    page: int | None = None


@dataclass(frozen=True)
class WebReport:
    """A search and its outcomes, best hit first; `unusable` counts hits without an address, `asked` is a time in UTC."""

    query: str
    provider: str
    asked: str
    unusable: int
    outcomes: tuple[Outcome, ...]

    @property
    def ids(self) -> list[int]:
        """The pages read, each once, best hit first."""
        return list(dict.fromkeys(outcome.page for outcome in self.outcomes if outcome.page is not None))

    @property
    def counts(self) -> dict[Reason, int]:
        """How many pages came to which end, the most frequent first."""
        return dict(Counter(outcome.reason for outcome in self.outcomes).most_common())

    def __str__(self) -> str:
        told = [f"{count} {reason}" for reason, count in self.counts.items()]
        return ", ".join([*told, *([f"{self.unusable} without an address"] if self.unusable else [])])

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The report in a file, None where there is no such file; raises `StaleError` for one that cannot be read."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**values, "outcomes": tuple(Outcome(**outcome) for outcome in values["outcomes"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StaleError(
                "What was found on the web cannot be read.", where=path, hint="Delete the file and ask again."
            ) from error

    def write(self, path: Path) -> None:
        """Keep the report."""
        write_json(path, {**asdict(self), "outcomes": [outcome._asdict() for outcome in self.outcomes]})
