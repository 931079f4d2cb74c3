"""Reading depth and union of retrievers: passages until all perspectives are covered, and what all retrievers cover together
(BERDS, tables 5 and 6)."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.evaluation.labels.support import Support, judged_together
from berdseye.evaluation.published import published
from berdseye.evaluation.scores.counted import under_rule
from berdseye.evaluation.scores.cover import documents_to_cover, union_coverage
from berdseye.evaluation.scores.enough_judged import enough_judged, withheld
from berdseye.evaluation.statistics.intervals import Estimate, mean_of_means, mean_with_interval
from berdseye.evaluation.studies.berds.base import NOTE, with_published
from berdseye.evaluation.studies.charts import curves, dots
from berdseye.evaluation.studies.gathering import Gatherer, Selection
from berdseye.evaluation.studies.result import StudyResult, Table

DEPTH = 100
_SIZE, _WITHIN = "average size", "% of questions"


def coverage(gatherer: Gatherer, selection: Selection, *, depth: int = DEPTH) -> StudyResult:
    """Compute the mean number of passages until all perspectives are covered, and the share of questions covered within `depth`.

    The mean is over the questions, of all data sets, that are covered within `depth`. The chart shows the share by depth.
    """
    rows, points = [], []
    gatherer.runs(selection, depth)
    for corpus, pipeline in product(selection.corpora, selection.pipelines):
        by_dataset = [_support(gatherer, dataset, corpus, pipeline, depth) for dataset in selection.datasets]
        sizes = np.concatenate([_sizes(support, depth, counted) for support, counted in by_dataset])
        within = np.where(sizes == np.inf, 0.0, np.where(np.isnan(sizes), np.nan, 1.0))
        judged = judged_together(by_dataset, depth)
        covered, share = (
            withheld(estimate, judged, gatherer.floor)
            for estimate in (
                mean_with_interval(np.where(np.isfinite(sizes), sizes, np.nan), bounds=(1.0, float(depth))),
                mean_with_interval(within),
            )
        )
        for figure, estimate, factor in ((_SIZE, covered, 1), (_WITHIN, share, 100)):
            rows.append({"corpus": corpus, "pipeline": pipeline, "figure": figure, **_scaled(estimate, factor),
                         **gatherer.provenance(judged)})  # fmt: skip
        known = sizes[~np.isnan(sizes)]
        points += [
            {"system": f"{pipeline}, {corpus}", "depth": d, "value": 100 * float((known <= d).mean())}
            for d in (_steps(depth) if len(known) and enough_judged(judged, gatherer.floor) else ())
        ]
    theirs = published("berds_coverage").rename(
        columns={"retriever": "pipeline", "avg_size": _SIZE, "pct_within_100": _WITHIN}
    )
    theirs = theirs.melt(["corpus", "pipeline"], var_name="figure")
    table = Table(
        "berds-coverage",
        f"Passages until all perspectives are covered, and questions covered within {depth} passages",
        with_published(
            pd.DataFrame(rows),
            theirs if depth == DEPTH else theirs.iloc[:0],
            ("corpus", "pipeline", "figure"),
            gatherer.sizes(selection),
        ),
        ("corpus", "pipeline"),
        ("figure",),
        notes=(NOTE,),
    )
    chart = curves(
        pd.DataFrame(points, columns=["system", "depth", "value"]),
        x="depth",
        x_title="passages read",
        y_title="questions covered, percent",
        colour="system",
    )
    settings = {**selection.settings(), "depth": depth, "labels": str(gatherer.source)}
    return StudyResult("berds-coverage", settings, [table], {"depth": chart})


def union(gatherer: Gatherer, selection: Selection, *, depth: int = DEPTH) -> StudyResult:
    """Compute the share of questions whose perspectives are all covered by the union of the top `depth` passages of all
    pipelines, by corpus and data set.

    The union is one ranking for the rule on unjudged questions: a question is left out if no pipeline's top `depth` has a label.
    """
    rows = []
    gatherer.runs(selection, depth)
    for corpus in selection.corpora:
        estimates: list[Estimate] = []
        shares: list[float] = []
        for dataset in selection.datasets:
            by_pipeline = [_support(gatherer, dataset, corpus, p, depth) for p in selection.pipelines]
            supports = [support for support, _ in by_pipeline]
            counted = np.logical_or.reduce([counted for _, counted in by_pipeline])
            judged = judged_together([(support, counted) for support in supports], depth)
            estimate = mean_with_interval(np.where(counted, union_coverage(supports, depth), np.nan))
            estimates.append(withheld(estimate, judged, gatherer.floor))
            shares.append(judged)
        by_name = list(zip(selection.datasets, estimates, shares, strict=True))
        if len(estimates) > 1:
            by_name.append(("average", mean_of_means(estimates), float(np.mean(shares))))
        rows += [
            {"corpus": corpus, "dataset": dataset, **_scaled(estimate, 100), **gatherer.provenance(judged)}
            for dataset, estimate, judged in by_name
        ]
    theirs = published("berds_union").rename(columns={"mrecall": "value"})
    theirs = theirs if depth == DEPTH else theirs.iloc[:0]
    cells = with_published(pd.DataFrame(rows), theirs, ("corpus", "dataset"), gatherer.sizes(selection))
    caption = f"MRecall of the top {depth} of {len(selection.pipelines)} pipelines together, in percent"
    table = Table("berds-union", caption, cells, ("corpus",), ("dataset",), notes=(NOTE,))
    chart = dots(cells, "MRecall of the union, percent", row="corpus", colour="dataset")
    settings = {**selection.settings(), "depth": depth, "labels": str(gatherer.source)}
    return StudyResult("berds-union", settings, [table], {"union": chart})


def _support(
    gatherer: Gatherer, dataset: str, corpus: str, pipeline: str, depth: int
) -> tuple[Support, npt.NDArray[np.bool_]]:
    """Return the support of a run, and which of its questions count."""
    run = gatherer.run(dataset, corpus, pipeline, depth)
    support = gatherer.support(run, depth)[1]
    return support, under_rule(gatherer.counted(run), support, depth, gatherer.rule)


def _sizes(support: Support, depth: int, counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the passages to cover each question, infinite if `depth` is not enough, NaN for questions that do not count."""
    sizes = documents_to_cover(support, depth)
    return np.where(counted, np.where(np.isnan(sizes), np.inf, sizes), np.nan)


def _scaled(estimate: Estimate, factor: float) -> dict[str, float]:
    value, low, high = (factor * x for x in estimate[:3])
    return {"value": value, "low": low, "high": high, "n": estimate.n}


def _steps(depth: int) -> list[int]:
    """Return the depths to draw: 1 to 20, then every fifth."""
    return [*range(1, min(depth, 20) + 1), *range(25, depth + 1, 5)]
