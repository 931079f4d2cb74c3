"""D-MERIT, table 5: every system by recall, nDCG and MAP at four cutoffs, and by R-precision, with all relevant passages. The
module also holds what the D-MERIT tables share: cutoffs, the provenance of a cell, and when a published figure is comparable.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from berdseye.evaluation.partial.rank_matrices import CUT_MEASURES, measured, r_precision
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.result import StudyResult, Table

CUTOFFS = (5, 20, 50, 100)
MAIN_CUTOFF = 20
HERE, PAPER = "here", "D-MERIT (published)"
PUBLISHED_SYSTEMS = frozenset(
    {
        "splade++", "spladev2", "tct-colbert-hybrid", "bm25", "retromae-hybrid", "retromae", "tct-colbert",
        "cocondenser-hybrid", "qld", "cocondenser", "unicoil", "dpr",
    }
)  # fmt: skip
_PERCENT = 100.0
_NAMES = {"recall": "Recall@k", "ndcg": "NDCG@k", "map": "MAP@k"}


def usable_cutoffs(ranked: RankedSet, wanted: Sequence[int]) -> tuple[list[int], list[str]]:
    """Return the cutoffs within the depth of the lists, and a note on the others."""
    depth = ranked.matrices.depth
    within = [k for k in wanted if k <= depth]
    beyond = [str(k) for k in wanted if k > depth]
    notes = [f"k = {', '.join(beyond)} is left out: the lists hold {depth} passages."] if beyond else []
    return within, notes


def cell(ranked: RankedSet, **fields: Any) -> dict[str, Any]:
    """Return a cell of a table: `fields`, and the number of queries and the labels behind its value."""
    return {
        "n": len(ranked.matrices.queries),
        "judged": ranked.judged,
        "labels": ranked.labels,
        "detector_version": ranked.detector_version,
        **fields,
    }


def same_systems(ranked: RankedSet) -> bool:
    """Whether the data and all systems are the paper's, so that published figures about rankings of systems are comparable."""
    return ranked.released and {s.lower() for s in ranked.matrices.systems} == PUBLISHED_SYSTEMS


def placed(
    ranked: RankedSet,
    ours: Sequence[tuple[Mapping[str, Any], float]],
    published: Mapping[tuple[Any, ...], float],
    keys: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the cells of measured figures with published figures: in the same cells if they are comparable, and
    otherwise in separate
    rows.

    `published` maps the values of `keys` to figures; those without a measured figure at the same place are omitted.
    """
    same = same_systems(ranked)
    rows: list[dict[str, Any]] = []
    separate: list[dict[str, Any]] = []
    for place, value in ours:
        paper = published.get(tuple(place[k] for k in keys))
        rows.append(cell(ranked, set=HERE, **place, value=value, published=paper if same else None))
        if paper is not None and not same:
            key = {k: v for k, v in place.items() if k not in ("low", "high", "spread")}
            separate.append({"set": PAPER, **key, "n": None, "value": None, "published": paper})
    return rows + separate


def systems_study(ranked: RankedSet) -> StudyResult:
    """Compute table 5, in percent with 95% intervals over queries.

    On the released set, published figures are shown with those of the same system; on any other set they are in separate rows.
    """
    matrices = ranked.matrices
    cutoffs, notes = usable_cutoffs(ranked, CUTOFFS)
    figures = {(name, str(k)): measured(name, matrices, k) for name in CUT_MEASURES for k in cutoffs}
    figures["r-precision", "r"] = r_precision(matrices)
    if int(matrices.counts.max()) > matrices.depth:
        short = int((matrices.counts > matrices.depth).sum())
        notes.append(
            f"{short} queries have more relevant passages than the lists have ranks; their R-precision is a lower bound."
        )
    paper = {
        (r["system"], r["measure"], str(r["k"])): float(r["value"])
        for r in published("dmerit_systems").to_dict("records")
    }
    rows: list[dict[str, Any]] = []
    for (measure, k), values in figures.items():
        for system, by_query in zip(matrices.systems, values, strict=True):
            estimate = mean_with_interval(by_query)
            rows.append(
                cell(
                    ranked,
                    set=HERE,
                    system=system,
                    measure=_NAMES.get(measure, "R-precision"),
                    k=k,
                    value=_PERCENT * estimate.value,
                    low=_PERCENT * estimate.low,
                    high=_PERCENT * estimate.high,
                    published=paper.get((system.lower(), measure, k)) if ranked.released else None,
                )
            )
    if ranked.released:
        notes.append("Published figures are those of the system of the same name, as the paper ran it with Pyserini.")
    else:
        rows += [
            {"set": PAPER, "system": s, "measure": _NAMES.get(m, "R-precision"), "k": k, "value": None, "published": v}
            for (s, m, k), v in paper.items()
            if (m, k) in figures
        ]
    table = Table(
        "dmerit-table-5",
        f"All systems with all relevant passages, in percent (D-MERIT, table 5): {ranked.name}",
        pd.DataFrame(rows),
        ("set", "system"),
        ("measure", "k"),
        2,
    )
    shown = MAIN_CUTOFF if MAIN_CUTOFF in cutoffs else max(cutoffs, default=0)
    drawn = table.cells[(table.cells["set"] == HERE) & table.cells["k"].isin([str(shown), "r"])]
    chart = dots(drawn, f"percent, k = {shown}", row="system", colour="measure")
    return StudyResult("dmerit-systems", {}, [table], {"dmerit-table-5": chart}, tuple(notes))
