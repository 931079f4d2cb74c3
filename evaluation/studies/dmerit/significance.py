"""D-MERIT, tables 4, 7 and 8, figures 3, 4 and 9: partial tau and concordance by the p-value of a pair of systems on the full
set."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from berdseye.data.progress import Progress, silent
from berdseye.evaluation.partial.rank_agreement import (
    BUCKETS,
    BucketFigures,
    annotated,
    annotation_order,
    bucket_figures,
    error_rate,
    signs,
)
from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, Bools, RankMatrices, recall, system_means
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.partial.selection import first_found, only
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.dmerit.systems import CUTOFFS, MAIN_CUTOFF, placed, usable_cutoffs
from berdseye.evaluation.studies.result import StudyResult, Table

SHARES = tuple(round(n / 10, 1) for n in range(1, 11))
_TAU, _ERROR, _CONCORDANCE, _PAIRS = "partial tau", "error rate (%)", "concordance", "pairs"


def significance_study(
    ranked: RankedSet, *, shares: Sequence[float] = SHARES, seed: int = 0, progress: Progress = silent
) -> StudyResult:
    """Compute tables 4 (k = 20), 8 and 7 with one annotated passage, chosen by each system, and curves over the annotated share.

    The curves add passages in the order of a system's list (passages that it did not retrieve come last, in a random order given
    by the seed); the paper does not say in which order it adds passages. A share of 0 means one passage per query.
    """
    matrices = ranked.matrices
    cutoffs, notes = usable_cutoffs(ranked, CUTOFFS)
    systems = range(len(matrices.systems))
    single = [only(matrices, first_found(matrices, s)) for s in systems]
    orders = [annotation_order(matrices, s, seed) for s in systems]
    points: list[dict[str, Any]] = []
    singles: dict[int, list[BucketFigures]] = {}
    steps: list[tuple[float, list[Bools]]] = [(0.0, single)]
    steps += [(share, [annotated(matrices, order, share) for order in orders]) for share in shares]
    for done, (share, counted) in enumerate(steps, start=1):
        for k in cutoffs:
            figures = bucket_figures(matrices, k, counted)
            points += [_point(k, share, one) for one in figures]
            if share == 0.0:
                singles[k] = figures
        progress(done, "shares", len(steps))
    empty = sorted({_interval(one.bucket) for figures in singles.values() for one in figures if one.pairs == 0})
    if empty:
        notes.append(f"At some k, no pair of systems has a p-value in {', '.join(empty)}; these cells are empty.")
    if tied := {k: n for k, n in ((k, _tied(matrices, k)) for k in cutoffs) if n}:
        counts = ", ".join(f"{n} at k = {k}" for k, n in tied.items())
        notes.append(f"Pairs of systems with equal recall on the full set are in no bucket: {counts}.")
    notes.append(_retrieved_share_note(matrices))
    cells = _cells(ranked, singles)
    tables = _tables(ranked, cells, MAIN_CUTOFF in cutoffs)
    curve = pd.DataFrame(points)
    charts: dict[str, Any] = {
        ("dmerit-figure-3" if k == MAIN_CUTOFF else f"dmerit-figure-9-k{k}"): _curve(curve, k, "tau", "partial tau")
        for k in cutoffs
    }
    charts["dmerit-figure-4"] = alt.hconcat(*(_curve(curve, k, "concordance", "concordance") for k in cutoffs))
    tables.append(
        Table("dmerit-annotation-curve", f"By annotated share of the relevant passages: {ranked.name}",
              _long(ranked, curve), ("k", "bucket", "figure"), ("share",), 3)
    )  # fmt: skip
    return StudyResult("dmerit-significance", {"shares": list(shares), "seed": seed}, tables, charts, tuple(notes))


def _cells(ranked: RankedSet, singles: dict[int, list[BucketFigures]]) -> pd.DataFrame:
    paper: dict[tuple[Any, ...], float] = {}
    for row in published("dmerit_partial_tau").to_dict("records"):
        bucket = _interval((float(row["p_min"]), float(row["p_max"])))
        paper[int(row["k"]), bucket, _TAU], paper[int(row["k"]), bucket, _ERROR] = (
            float(row["partial_tau"]),
            float(row["error_rate"]),
        )
    for row in published("dmerit_concordance").to_dict("records"):
        paper[int(row["k"]), _interval((float(row["p_min"]), float(row["p_max"]))), _CONCORDANCE] = float(
            row["concordance"]
        )
    ours: list[tuple[dict[str, Any], float]] = []
    for k, figures in singles.items():
        for one in figures:
            place = {"k": k, "bucket": _interval(one.bucket)}
            ours += [
                ({**place, "figure": _TAU}, one.tau),
                ({**place, "figure": _ERROR}, float(error_rate(one.tau))),
                ({**place, "figure": _CONCORDANCE}, one.concordance),
                ({**place, "figure": _PAIRS}, float(one.pairs)),
            ]
    return pd.DataFrame(placed(ranked, ours, paper, ("k", "bucket", "figure")))


def _tables(ranked: RankedSet, cells: pd.DataFrame, with_main: bool) -> list[Table]:
    of_tau, of_concordance = cells["figure"].isin([_TAU, _ERROR, _PAIRS]), cells["figure"].isin([_CONCORDANCE, _PAIRS])
    columns, rows = ("figure",), ("set", "k", "bucket")
    tables = []
    if with_main:
        main = cells[of_tau & (cells["k"] == MAIN_CUTOFF)].drop(columns="k").reset_index(drop=True)
        caption = f"Pairs of systems by p-value, recall@{MAIN_CUTOFF} (D-MERIT, table 4): {ranked.name}"
        tables.append(Table("dmerit-table-4", caption, main, ("set", "bucket"), columns, 3))
    tables.append(
        Table("dmerit-table-8", f"Pairs of systems by p-value (D-MERIT, table 8): {ranked.name}",
              cells[of_tau].reset_index(drop=True), rows, columns, 3)
    )  # fmt: skip
    tables.append(
        Table("dmerit-table-7", f"Concordance by p-value (D-MERIT, table 7): {ranked.name}",
              cells[of_concordance].reset_index(drop=True), rows, columns, 3)
    )  # fmt: skip
    return tables


def _point(k: int, share: float, one: BucketFigures) -> dict[str, Any]:
    return {"k": k, "share": share, "bucket": _interval(one.bucket), "tau": one.tau, "concordance": one.concordance}


def _long(ranked: RankedSet, curve: pd.DataFrame) -> pd.DataFrame:
    long = curve.melt(["k", "share", "bucket"], ["tau", "concordance"], "figure", "value")
    return long.assign(n=len(ranked.matrices.queries), labels=ranked.labels, detector_version=ranked.detector_version)


def _curve(curve: pd.DataFrame, k: int, figure: str, title: str) -> alt.Chart:
    points = curve[(curve["k"] == k) & curve[figure].notna()].assign(percent=lambda d: 100 * d["share"])
    chart: alt.Chart = (
        alt.Chart(points, title=f"recall@{k}")
        .mark_line(point=True)
        .encode(
            x=alt.X("percent:Q", title="annotated share of relevant passages (%; 0: one passage)"),
            y=alt.Y(f"{figure}:Q", title=title, scale=alt.Scale(domain=[-1 if figure == "tau" else 0, 1])),
            color=alt.Color("bucket:N", title="p-value", sort=[_interval(b) for b in BUCKETS]),
            tooltip=["percent:Q", "bucket:N", alt.Tooltip(f"{figure}:Q", format=".3f")],
        )
    )
    return chart


def _retrieved_share_note(matrices: RankMatrices) -> str:
    share = float(((matrices.ranks < NOT_FOUND) & matrices.exists).sum(axis=2).mean() / matrices.counts.mean())
    return f"On average, a system retrieves {100 * share:.0f}% of the relevant passages; the curves add the others at random."


def _tied(matrices: RankMatrices, k: int) -> int:
    return int((signs(system_means(recall(matrices, k))) == 0).sum())


def _interval(bucket: tuple[float, float]) -> str:
    return f"[{bucket[0]:g}, {bucket[1]:g})"
