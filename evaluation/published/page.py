"""The tables of docs/papers.md, written from the list of printed tables and figures.

`python -m berdseye.evaluation.published.page docs/papers.md` replaces everything from the heading `START` on.
"""

import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

from berdseye.evaluation.published.listing import LISTING, NOTHING, PAPERS, Counts, Printed

START = "## Tables and figures\n"
_HEAD = (
    "| printed as | what it shows | shown here by | numbers | hit, from other digits | hit, from data | for the rest |",
    "|---|---|---|---|---|---|---|",
)


def tables() -> str:
    """Return the part of the page from `START` on."""
    printed, released = (_total(getattr(entry, name) for entry in LISTING) for name in ("printed", "released"))
    lines = [
        START,
        f"{sum(entry.figures() for entry in LISTING):,} printed numbers are transcribed. Other printed digits determine "
        f"{_sentence(printed, 'the rounding of those digits allows')}. Released data determine "
        f"{_sentence(released, 'the order of equal scores allows')}. The remaining ones are explained below the table of each "
        "paper. A dash means that nothing public determines a number, or that nothing here shows the table.",
    ]
    for paper in PAPERS:
        entries = [entry for entry in LISTING if entry.paper == paper]
        lines += ["", f"### {paper}", "", *_HEAD, *map(_row, entries)]
        lines += ["", *(line for entry in entries for line in _faults(entry))]
    return "\n".join(lines) + "\n"


def write(page: Path) -> None:
    """Write the tables into the page, in place of the ones that it has; what is above `START` stays."""
    before, _, _ = page.read_text(encoding="utf-8").partition(START)
    page.write_text(before + tables(), encoding="utf-8")


def _total(counts: Iterator[Counts]) -> Counts:
    return reduce(Counts.plus, counts, NOTHING)


def _sentence(counts: Counts, reason: str) -> str:
    text = f"{counts.determined} of them: {counts.equal} are hit to the last digit, {counts.allowed} as far as {reason}"
    return f"{text}, and {counts.missed} are not hit"


def _row(entry: Printed) -> str:
    cells = (
        entry.number,
        entry.shows,
        ", ".join(map(_shown, entry.made_by)) or "–",
        str(entry.figures() or "–"),
        _hits(entry.printed),
        _hits(entry.released),
        entry.lacking or "–",
    )
    return f"| {' | '.join(cells)} |"


def _shown(way: str) -> str:
    page = way.removeprefix("page ")
    return f"`berdseye {way}`" if page == way else f"page {page.capitalize()}"


def _hits(counts: Counts) -> str:
    if not counts.determined:
        return "–"
    allowed = f" ({counts.allowed} within rounding or ties)" if counts.allowed else ""
    return f"{counts.equal + counts.allowed} of {counts.determined}{allowed}"


def _faults(entry: Printed) -> Iterator[str]:
    for fault in entry.faults:
        yield f"- {entry.number.capitalize()}: {fault}"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
