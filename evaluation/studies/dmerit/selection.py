"""D-MERIT, tables 3 and 9, figures 2 and 8: rankings of systems if only one relevant passage of each query is annotated."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.partial.selection import (
    LONGEST,
    POPULAR,
    RANDOM,
    SHORTEST,
    SYSTEM,
    Agreement,
    choice_agreement,
    extreme_choice,
    random_agreement,
    system_agreement,
    system_scores,
)
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.dmerit.systems import CUTOFFS, MAIN_CUTOFF, placed, usable_cutoffs
from berdseye.evaluation.studies.result import StudyResult, Table

_TAU, _ERROR, _SPREAD = "tau-similarity", "error rate (%)", "std of tau"


def selection_study(ranked: RankedSet, *, trials: int = 1000, seed: int = 0) -> StudyResult:
    """Compute tables 3 (k = 20) and 9 (every k), and each system's recall if each system chooses the annotated passage (figures 2
    and 8).

    Tau is tau-b, as in the paper's table (see `kendall_tau`). Selections for which the set has no data are left out.
    """
    matrices = ranked.matrices
    cutoffs, notes = usable_cutoffs(ranked, CUTOFFS)
    agreements: dict[str, list[Agreement]] = {RANDOM: random_agreement(matrices, cutoffs, trials, seed)}
    if ranked.popularity is not None:
        popular = np.nan_to_num(ranked.popularity, nan=-np.inf)
        agreements[POPULAR] = choice_agreement(matrices, extreme_choice(matrices, popular, highest=True), cutoffs)
    else:
        notes.append("'Most popular' is left out: the set does not contain the number of links to each passage's page.")
    if ranked.words is not None:
        for name, highest in ((LONGEST, True), (SHORTEST, False)):
            words = np.nan_to_num(ranked.words, nan=-np.inf if highest else np.inf)
            agreements[name] = choice_agreement(matrices, extreme_choice(matrices, words, highest=highest), cutoffs)
    else:
        notes.append("'Longest' and 'shortest' are left out: the set does not contain the texts of passages.")
    agreements[SYSTEM] = system_agreement(matrices, cutoffs)
    nothing = (matrices.ranks.min(axis=2) > matrices.depth).sum(axis=1)
    if nothing.any():
        notes.append(
            "System-based: a query for which the choosing system ranks no relevant passage is left out of that system's set "
            f"({int(nothing.min())} to {int(nothing.max())} of {len(matrices.queries)} queries, depending on the system)."
        )
    paper = published("dmerit_single_relevant")
    by_place = {
        (int(r["k"]), str(r["selection"]), figure): float(value)
        for r in paper.to_dict("records")
        for figure, value in ((_TAU, r["tau"]), (_ERROR, r["error_rate"]))
    }
    rows = placed(ranked, _figures(agreements, cutoffs), by_place, ("k", "selection", "figure"))
    notes.append(
        "Published figures: for k = 5, system-based, the paper has an error rate of 80.65 for a tau of .587, where the formula "
        "gives 20.65; table 3 differs from table 9 in the last digits (.696 / 15.10 instead of .697 / 15.15)."
    )
    cells = pd.DataFrame(rows)
    columns = ("figure",)
    tables = [
        Table("dmerit-table-9", f"One annotated passage per query (D-MERIT, table 9): {ranked.name}", cells,
              ("set", "k", "selection"), columns, 3),
    ]  # fmt: skip
    if MAIN_CUTOFF in cutoffs:
        main = cells[cells["k"] == MAIN_CUTOFF].drop(columns="k").reset_index(drop=True)
        caption = f"One annotated passage per query, recall@{MAIN_CUTOFF} (D-MERIT, table 3): {ranked.name}"
        tables.insert(0, Table("dmerit-table-3", caption, main, ("set", "selection"), columns, 3))
    charts = {
        ("dmerit-figure-2" if k == MAIN_CUTOFF else f"dmerit-figure-8-k{k}"): _chart(ranked, scores, k)
        for k, scores in zip(cutoffs, system_scores(matrices, cutoffs), strict=True)
    }
    return StudyResult("dmerit-selection", {"trials": trials, "seed": seed}, tables, charts, tuple(notes))


def _figures(agreements: dict[str, list[Agreement]], cutoffs: Sequence[int]) -> list[tuple[dict[str, Any], float]]:
    figures: list[tuple[dict[str, Any], float]] = []
    for place, k in enumerate(cutoffs):
        for selection, by_cutoff in agreements.items():
            one = by_cutoff[place]
            figures += [
                ({"k": k, "selection": selection, "figure": _TAU}, one.tau),
                ({"k": k, "selection": selection, "figure": _ERROR}, one.error_rate),
                ({"k": k, "selection": selection, "figure": _SPREAD}, one.spread),
            ]
    return figures


def _chart(ranked: RankedSet, scores: np.ndarray[Any, np.dtype[np.float64]], k: int) -> alt.Chart:
    names = list(ranked.matrices.systems)
    points = pd.DataFrame(
        [
            {"chosen by": names[chooser], "system": names[system], "recall": 100 * float(scores[chooser, system])}
            for chooser in range(len(names))
            for system in range(len(names))
        ]
    )
    chart: alt.Chart = (
        alt.Chart(points, title=f"One annotated passage per query, recall@{k}", width=520)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "chosen by:N",
                sort=names,
                title="system that chose the annotated passage",
                axis=alt.Axis(labelLimit=240),
            ),
            y=alt.Y("recall:Q", title=f"recall@{k} (%)", scale=alt.Scale(zero=False)),
            color=alt.Color("system:N", sort=names, scale=alt.Scale(scheme="tableau20"), legend=legend_below(names)),
            tooltip=["chosen by:N", "system:N", alt.Tooltip("recall:Q", format=".1f")],
        )
    )
    return chart
