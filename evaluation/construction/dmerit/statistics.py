"""What a construction of D-MERIT has come to, beside the paper's figures (section 2.6, table 2)."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple

from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.published import published

BUCKETS = (("1-10", 1, 10), ("11-20", 11, 20), ("21-50", 21, 50), ("51-100", 51, 100), ("100+", 101, None))
"""Numbers of members of table 2, whose last two buckets both contain 100; here 100 belongs to the first of them."""


class Figure(NamedTuple):
    """A figure: ours, None where there is nothing to count, beside the paper's at `place`."""

    name: str
    ours: float | None
    printed: float | None
    place: str


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Return the statistics of finished queries: rows of the step `queries` or a later one."""
    paper = dict(zip(*(published("dmerit_coverage")[column] for column in ("fact", "value")), strict=True))
    sizes = [len(row.fields["evidence"]) for row in rows]
    pairs = [
        passage["passage"] == str(member["page"])
        for row in rows
        for passage in row.fields["evidence"]
        for member in passage["members"]
    ]
    members = [int(row.fields["members"]) for row in rows]
    elsewhere = 100 * (1 - fmean(pairs)) if pairs else None
    section = "D-MERIT, section 2.6"
    ours: list[tuple[str, float | None, str]] = [
        ("queries", len(rows), "queries"),
        ("passages of evidence", sum(sizes), "evidence"),
        ("evidence of a query, mean", fmean(sizes) if sizes else None, "evidence per query mean"),
        ("evidence of a query, median", median(sizes) if sizes else None, "evidence per query median"),
        ("evidence of a query, fewest", min(sizes, default=None), "evidence per query minimum"),
        ("evidence of a query, most", max(sizes, default=None), "evidence per query maximum"),
        ("members of a list, mean", fmean(members) if members else None, "members per query mean"),
        (
            "evidence from other articles than the member's (%)",
            elsewhere,
            "evidence from articles other than the member",
        ),
    ]
    per_member = len(pairs) / sum(members) if members else None
    return [
        *(Figure(name, value, float(paper[fact]), section) for name, value, fact in ours),
        Figure("evidence of a member, mean", per_member, 2.0, f"{section} (about)"),
        *_by_members(sizes, members),
    ]


def line(figure: Figure) -> str:
    """Return a figure as a line of columns separated by tabs: its name, ours, and the paper's with its place."""
    ours = "none" if figure.ours is None else f"{figure.ours:,.4g}" if figure.ours % 1 else f"{figure.ours:,.0f}"
    printed = "" if figure.printed is None else f"{figure.printed:,.10g}"
    return f"{figure.name}\t{ours}\t{figure.place}: {printed}"


def _by_members(sizes: Sequence[int], members: Sequence[int]) -> list[Figure]:
    printed = {str(row["members"]): row for row in published("dmerit_distribution").to_dict("records")}
    rows = []
    for name, low, high in BUCKETS:
        inside = [n for n, m in zip(sizes, members, strict=True) if m >= low and (high is None or m <= high)]
        mean = fmean(inside) if inside else None
        paper = printed[name]
        rows.append(Figure(f"queries with {name} members", len(inside), float(paper["queries"]), "D-MERIT, table 2"))
        rows.append(Figure(f"their evidence, mean ({name})", mean, float(paper["avg_evidence"]), "D-MERIT, table 2"))
    return rows
