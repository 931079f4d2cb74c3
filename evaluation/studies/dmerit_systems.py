"""D-MERIT table 5: every system under recall, nDCG and MAP at four cutoffs, and R-precision, with all relevant passages."""

from typing import Any

import pandas as pd

from berdseye.evaluation.intervals import mean_with_interval
from berdseye.evaluation.partial.classic_measures import CUT_MEASURES, measured, r_precision
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.dmerit_settings import CUTOFFS, HERE, MAIN_CUTOFF, PAPER, cell, usable_cutoffs
from berdseye.evaluation.studies.result import StudyResult, Table

_PERCENT = 100.0
_NAMES = {"recall": "Recall@k", "ndcg": "NDCG@k", "map": "MAP@k"}


def systems_study(ranked: RankedSet) -> StudyResult:
    """Table 5, in percent with 95% intervals over queries.

    Published figures stand beside those of the same system on the released set; on any other set they form rows apart.
    """
    matrices = ranked.matrices
    cutoffs, notes = usable_cutoffs(ranked, CUTOFFS)
    figures = {(name, str(k)): measured(name, matrices, k) for name in CUT_MEASURES for k in cutoffs}
    figures["r-precision", "r"] = r_precision(matrices)
    if int(matrices.counts.max()) > matrices.depth:
        short = int((matrices.counts > matrices.depth).sum())
        notes.append(
            f"{short} queries have more relevant passages than the lists are deep: their R-precision is a lower bound."
        )
    paper = {
        (r["system"], r["measure"], str(r["k"])): float(r["value"])
        for r in published("dmerit_systems").to_dict("records")
    }
    rows: list[dict[str, Any]] = []
    for (measure, k), values in figures.items():
        for system, found in zip(matrices.systems, values, strict=True):
            held = mean_with_interval(found)
            rows.append(
                cell(
                    ranked,
                    set=HERE,
                    system=system,
                    measure=_NAMES.get(measure, "R-precision"),
                    k=k,
                    value=_PERCENT * held.value,
                    low=_PERCENT * held.low,
                    high=_PERCENT * held.high,
                    published=paper.get((system.lower(), measure, k)) if ranked.released else None,
                )
            )
    if ranked.released:
        notes.append(
            "Published figures beside ours are of the system of the same name, as the paper ran it with Pyserini."
        )
    else:
        rows += [
            {"set": PAPER, "system": s, "measure": _NAMES.get(m, "R-precision"), "k": k, "value": None, "published": v}
            for (s, m, k), v in paper.items()
            if (m, k) in figures
        ]
    table = Table(
        "dmerit-table-5",
        f"All systems with all relevant passages, percent (D-MERIT, table 5): {ranked.name}",
        pd.DataFrame(rows),
        ("set", "system"),
        ("measure", "k"),
        2,
    )
    shown = MAIN_CUTOFF if MAIN_CUTOFF in cutoffs else max(cutoffs, default=0)
    drawn = table.cells[(table.cells["set"] == HERE) & table.cells["k"].isin([str(shown), "r"])]
    chart = dots(drawn, f"percent, k = {shown}", row="system", colour="measure")
    return StudyResult("dmerit-systems", {}, [table], {"dmerit-table-5": chart}, tuple(notes))
