"""What DebateQA prints of the sources of its questions (tables 6 and 7), by the names of a user's sources."""

import math
import re
from typing import NamedTuple

from berdseye.evaluation.published import published

_BETWEEN = re.compile(r"[\s_-]+")


class PrintedSource(NamedTuple):
    """A source of DebateQA's questions, with the number that was collected, and the number that was left without duplicates:
    table 6 prints no such number of websites."""

    source: str
    collected: int
    kept: int | None
    table: int


def printed_sources() -> dict[str, PrintedSource]:
    """Return the origins (table 7) and the websites (table 6) by the name that `source_name` gives them; `total` is all origins
    together."""
    tables = {"origin": 7, "website": 6}
    return {
        str(row["source"]): PrintedSource(
            str(row["source"]),
            int(row["initial"]),
            None if math.isnan(row["after_dedupe"]) else int(row["after_dedupe"]),
            tables[str(row["level"])],
        )
        for row in published("debateqa_sources").to_dict("records")
    }


def source_name(name: str) -> str:
    """Return the paper's spelling of a name: in lower case, with spaces for hyphens and underscores."""
    return _BETWEEN.sub(" ", name.strip()).casefold()
