"""D-MERIT, appendix E, figures 5 and 6: the coverage of a pool of systems, extrapolated to more systems and to deeper pools."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from berdseye.evaluation.partial.pool_coverage import (
    LogarithmicFit,
    coverage_by_depth,
    coverage_by_systems,
    found_by_depth,
    logarithmic_fit,
)
from berdseye.evaluation.partial.rank_matrices import RankMatrices
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.dmerit.systems import HERE, PAPER, cell, same_systems
from berdseye.evaluation.studies.result import StudyResult, Table

POOL_DEPTH, FAR = 10, 100
_PERCENT = 100.0


def coverage_study(ranked: RankedSet, *, known: Mapping[str, tuple[str, ...]] | None = None) -> StudyResult:
    """Compute coverage in percent, for t systems at depth 10 and for all systems by depth, each with a logarithmic fit up to 100.

    `known` holds the relevant passages by query that were known before the pool was judged; figure 6 then counts the passages
    that the pool adds. Without `known`, all relevant passages of the pool are counted (the paper's figure 7).
    """
    matrices = ranked.matrices
    depth = min(POOL_DEPTH, matrices.depth)
    by_systems = _PERCENT * coverage_by_systems(matrices, depth)
    sizes = np.arange(1, len(by_systems) + 1)
    depths = np.arange(1, matrices.depth + 1)
    by_depth = _PERCENT * coverage_by_depth(matrices, depths.tolist())
    systems_fit, depth_fit = logarithmic_fit(sizes, by_systems), logarithmic_fit(depths, by_depth)
    added = matrices if known is None else _without(matrices, known)
    counts = found_by_depth(added, depths.tolist())
    count_fit = logarithmic_fit(depths, counts)
    what = "relevant passages in the pool" if known is None else "relevant passages the pool adds"
    notes = [
        f"The pool of all {len(sizes)} systems is fitted over depths 1 to {matrices.depth}; the curve is drawn to {FAR}.",
        "Coverage counts the relevant passages that the set knows; a passage without a label counts for no pool.",
    ]
    if known is None:
        notes.append(
            "Figure 6 counts all relevant passages of the pool; to count only new ones, give those known before with --known."
        )
    if float(systems_fit.at(FAR)) > _PERCENT or float(depth_fit.at(FAR)) > _PERCENT:
        notes.append(
            "A logarithm has no upper bound: an extrapolation above 100% means only that the pool would be complete."
        )
    ours = [
        ("pool coverage", f"{len(sizes)} systems, depth {depth}", by_systems[-1], "measured"),
        ("pool coverage", f"{FAR} systems, depth {depth}", float(systems_fit.at(FAR)), "extrapolated"),
        ("logarithmic fit rmse", "over systems", systems_fit.rmse, "measured"),
        ("logarithmic fit maximum error", "over systems", systems_fit.largest_error, "measured"),
        ("pool coverage", f"{len(sizes)} systems, depth {matrices.depth}", by_depth[-1], "measured"),
        ("pool coverage", f"{len(sizes)} systems, depth {FAR}", float(depth_fit.at(FAR)), "extrapolated"),
        ("logarithmic fit rmse", "over depth", depth_fit.rmse, "measured"),
        ("logarithmic fit maximum error", "over depth", depth_fit.largest_error, "measured"),
        (what, f"{len(sizes)} systems, depth {matrices.depth}", float(counts[-1]), "measured"),
        (what, f"{len(sizes)} systems, depth {FAR}", float(count_fit.at(FAR)), "extrapolated"),
        (f"logarithmic fit rmse, {what}", "over depth", count_fit.rmse, "measured"),
    ]
    if matrices.depth >= FAR:
        ours = [row for row in ours if not (row[3] == "extrapolated" and row[1].endswith(f"depth {FAR}"))]
    table = Table(
        "dmerit-coverage",
        f"Coverage of relevant passages by pools (D-MERIT, appendix E), in percent per query: {ranked.name}",
        pd.DataFrame(_cells(ranked, ours)),
        ("set", "figure", "setting"),
        ("basis",),
        2,
    )
    charts = {
        "dmerit-figure-5": _chart(
            sizes, by_systems, systems_fit, "systems", f"relevant passages in their top {depth} (%)"
        ),
        "dmerit-figure-6": _chart(depths, counts.astype(np.float64), count_fit, "pool depth", what),
        "dmerit-coverage-by-depth": _chart(
            depths, by_depth, depth_fit, "pool depth", "relevant passages in the pool (%)"
        ),
    }
    return StudyResult("dmerit-coverage", {}, [table], charts, tuple(notes))


def _cells(ranked: RankedSet, ours: list[tuple[str, str, float, str]]) -> list[dict[str, Any]]:
    paper: dict[tuple[str, str, str], float] = {}
    for row in published("dmerit_coverage").to_dict("records"):
        fact = str(row["fact"])
        if fact == "pool coverage":
            paper[fact, f"{int(row['systems'])} systems, depth {int(row['pool_depth'])}", str(row["basis"])] = float(
                row["value"]
            )
        elif fact.startswith("logarithmic fit"):
            paper[fact, "over systems", str(row["basis"])] = float(row["value"])
    same = same_systems(ranked)
    rows: list[dict[str, Any]] = [
        cell(ranked, set=HERE, figure=figure, setting=setting, basis=basis, value=float(value),
             published=paper.get((figure, setting, basis)) if same else None)
        for figure, setting, value, basis in ours
    ]  # fmt: skip
    if not same:
        rows += [
            {"set": PAPER, "figure": figure, "setting": setting, "basis": basis, "value": None, "published": value}
            for (figure, setting, basis), value in paper.items()
        ]
    return rows


def _without(matrices: RankMatrices, known: Mapping[str, tuple[str, ...]]) -> RankMatrices:
    """Return the matrices restricted to the relevant passages that were not known before."""
    new = matrices.exists.copy()
    for row, (query, ids) in enumerate(zip(matrices.queries, matrices.relevant, strict=True)):
        before = set(known.get(query, ()))
        new[row, : len(ids)] = [i not in before for i in ids]
    return replace(matrices, exists=new)


def _chart(
    x: np.ndarray[Any, Any], y: np.ndarray[Any, np.dtype[np.float64]], fit: LogarithmicFit, across: str, up: str
) -> alt.LayerChart:
    far = np.arange(1, max(FAR, int(x[-1])) + 1)
    measured = alt.Chart(pd.DataFrame({"x": x, "y": y})).mark_point(filled=True)
    fitted = alt.Chart(pd.DataFrame({"x": far, "y": fit.at(far)})).mark_line(strokeDash=[4, 3], color="gray")
    return alt.layer(fitted, measured).encode(
        x=alt.X("x:Q", title=across), y=alt.Y("y:Q", title=up), tooltip=["x:Q", alt.Tooltip("y:Q", format=".2f")]
    )
