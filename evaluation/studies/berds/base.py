"""Base retrievers: MRecall and Precision by corpus, retriever and data set (BERDS, tables 3 and 17), and the functions that place
published figures next to measured ones in every BERDS study.
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
    "Figures in brackets are published by BERDS, for its test splits, its corpora and the labels of its fine-tuned detector; "
    "compare them only with values for these data sets, corpora and labels."
)
KS = (5, 10)
_PUBLISHED = {5: "berds_base_k5", 10: "berds_base_k10"}
_KEYS = ("corpus", "pipeline", "dataset", "measure")


def paper_name(name: str) -> str:
    """Return a name as in the published tables: `berds-kialo-test` is kialo, `dense(facebook/contriever-msmarco)` is contriever.

    A pipeline with several stages or with settings, and any name that is not in the paper, is returned unchanged.
    """
    plain = name.removeprefix("berds-").removesuffix("-test")
    dense = re.fullmatch(r"dense\(([^,()]+)\)", plain)
    if dense is None:
        return plain
    return next((r for r in _RETRIEVERS if r in dense[1].lower()), plain)


def with_published(ours: pd.DataFrame, theirs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Add a column `published` to the measured cells `ours`, and append the published cells that have no measured value.

    `theirs` (columns `keys` and `value`) holds the published figures; cells match by their keys under the names of the paper.
    """
    cells = ours.copy()
    names = [tuple(paper_name(str(row[k])) for k in keys) for row in ours.to_dict("records")]
    figures = {tuple(str(row[k]) for k in keys): float(row["value"]) for row in theirs.to_dict("records")}
    cells["published"] = [figures.get(name, np.nan) for name in names]
    rest = [
        {**dict(zip(keys, name, strict=True)), "value": np.nan, "published": value}
        for name, value in figures.items()
        if name not in set(names)
    ]
    return pd.concat([cells, pd.DataFrame(rest)], ignore_index=True) if rest else cells


def base(gatherer: Scores, selection: Selection, ks: Sequence[int] = KS) -> StudyResult:
    """Create one table for each k, with the macro-average; as in the paper, Precision@1 is shown only for the average."""
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
                with_published(cells[wanted | alone], _theirs(k), _KEYS),
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
