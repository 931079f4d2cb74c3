"""Retrievers as they are: MRecall and Precision by corpus, retriever and data set (BERDS, tables 3 and 17)."""

from collections.abc import Sequence

import pandas as pd

from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.berds.beside import NOTE, beside
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.gathering import Scores, Selection, cells_of
from berdseye.evaluation.studies.result import StudyResult, Table

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
