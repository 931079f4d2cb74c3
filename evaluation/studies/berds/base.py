"""Retrievers as they are: MRecall and Precision by corpus, retriever and data set (BERDS, tables 3 and 17).

Our cells and the published ones side by side.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.gathering import Scores, Selection, cells_of
from berdseye.evaluation.studies.result import StudyResult, Table

_RETRIEVERS = ("dpr", "contriever", "tart", "nv-embed-v2")
NOTE = (
    "Figures in brackets are BERDS's own, on its test splits, its corpora and labels of its fine-tuned detector; compare them "
    "only with ours on the same."
)


def paper_name(name: str) -> str:
    """A name as the published tables write it: `berds-kialo-test` is kialo, `dense(facebook/contriever-msmarco)` is contriever.

    A pipeline of several stages or with settings of its own, and whatever the paper has no name for, stays as it is.
    """
    plain = name.removeprefix("berds-").removesuffix("-test")
    dense = re.fullmatch(r"dense\(([^,()]+)\)", plain)
    if dense is None:
        return plain
    return next((r for r in _RETRIEVERS if r in dense[1].lower()), plain)


def beside(ours: pd.DataFrame, theirs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Ours with the column `published` where `theirs` (columns `keys` and `value`) has a figure for the same keys under the
    names of the paper; below them the published cells that we have no number for."""
    found = ours.copy()
    names = [tuple(paper_name(str(row[k])) for k in keys) for row in ours.to_dict("records")]
    held = {tuple(str(row[k]) for k in keys): float(row["value"]) for row in theirs.to_dict("records")}
    found["published"] = [held.get(name, np.nan) for name in names]
    rest = [
        {**dict(zip(keys, name, strict=True)), "value": np.nan, "published": value}
        for name, value in held.items()
        if name not in set(names)
    ]
    return pd.concat([found, pd.DataFrame(rest)], ignore_index=True) if rest else found


KS = (5, 10)
_PUBLISHED = {5: "berds_base_k5", 10: "berds_base_k10"}
_KEYS = ("corpus", "pipeline", "dataset", "measure")


def base(gatherer: Scores, selection: Selection, ks: Sequence[int] = KS) -> StudyResult:
    """A table for each k, with the macro-average and, as in the paper, Precision@1 of the average alone."""
    names = [f"{m}@{k}" for k in ks for m in ("Precision", "MRecall")]
    scores = gatherer.scores(selection, parse_measures(" ".join([*names, "Precision@1"])))
    cells = cells_of(scores)
    last = "average" if len(selection.datasets) > 1 else selection.datasets[0]
    tables = []
    for k in ks:
        wanted = cells["measure"].isin([f"Precision@{k}", f"MRecall@{k}"])
        alone = (cells["measure"] == "Precision@1") & (cells["dataset"] == last)
        tables.append(
            Table(
                f"berds-base-k{k}",
                f"Precision and MRecall at {k} by corpus, retriever and data set, in percent",
                beside(cells[wanted | alone], _theirs(k), _KEYS),
                ("corpus", "pipeline"),
                ("dataset", "measure"),
                notes=(NOTE,),
            )
        )
    averages = cells[(cells["dataset"] == last) & (cells["measure"] == f"MRecall@{ks[0]}")]
    chart = dots(averages, f"MRecall@{ks[0]} ({last}), percent", row="corpus", colour="pipeline")
    settings = {**selection.settings(), "k": list(ks), "labels": str(gatherer.source)}
    return StudyResult("berds-base", settings, tables, {"mrecall": chart})


def _theirs(k: int) -> pd.DataFrame:
    if k not in _PUBLISHED:
        return pd.DataFrame(columns=[*_KEYS, "value"])
    return published(_PUBLISHED[k]).rename(columns={"retriever": "pipeline"})
