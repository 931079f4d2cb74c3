"""What the D-MERIT tables have in common: cutoffs, provenance of a cell, and when a published figure may stand beside ours."""

from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.evaluation.partial.ranked_sets import RankedSet

CUTOFFS = (5, 20, 50, 100)
MAIN_CUTOFF = 20
HERE, PAPER = "here", "D-MERIT (published)"
PUBLISHED_SYSTEMS = frozenset(
    {
        "splade++", "spladev2", "tct-colbert-hybrid", "bm25", "retromae-hybrid", "retromae", "tct-colbert",
        "cocondenser-hybrid", "qld", "cocondenser", "unicoil", "dpr",
    }
)  # fmt: skip


def usable_cutoffs(ranked: RankedSet, wanted: Sequence[int]) -> tuple[list[int], list[str]]:
    """The cutoffs that the lists are deep enough for, and a note on the others."""
    depth = ranked.matrices.depth
    within = [k for k in wanted if k <= depth]
    beyond = [str(k) for k in wanted if k > depth]
    notes = [f"k = {', '.join(beyond)} is left out: the lists hold {depth} passages."] if beyond else []
    return within, notes


def cell(ranked: RankedSet, **fields: Any) -> dict[str, Any]:
    """A cell of a table with what made its number."""
    return {
        "n": len(ranked.matrices.queries),
        "judged": ranked.judged,
        "labels": ranked.labels,
        "detector_version": ranked.detector_version,
        **fields,
    }


def same_systems(ranked: RankedSet) -> bool:
    """Whether data and all systems are the paper's, so that a published figure of a ranking of systems may stand beside ours."""
    return ranked.released and {s.lower() for s in ranked.matrices.systems} == PUBLISHED_SYSTEMS


def placed(
    ranked: RankedSet,
    ours: Sequence[tuple[Mapping[str, Any], float]],
    published: Mapping[tuple[Any, ...], float],
    keys: Sequence[str],
) -> list[dict[str, Any]]:
    """Cells from figures by their place; the paper's stand in the same cells where the setting is the same, else in rows apart.

    `published` maps the values of `keys` to figures; only those whose place we have a figure for are shown.
    """
    same = same_systems(ranked)
    rows: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
    for place, value in ours:
        paper = published.get(tuple(place[k] for k in keys))
        rows.append(cell(ranked, set=HERE, **place, value=value, published=paper if same else None))
        if paper is not None and not same:
            given = {k: v for k, v in place.items() if k not in ("low", "high", "spread")}
            apart.append({"set": PAPER, **given, "n": None, "value": None, "published": paper})
    return rows + apart
