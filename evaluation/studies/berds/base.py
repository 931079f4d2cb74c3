"""Base retrievers: MRecall and Precision by corpus, retriever and data set (BERDS, tables 3 and 17), and the functions that place
published figures next to measured ones in every BERDS study.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.published import published
from berdseye.evaluation.published.berds import Sizes, Split, paper_corpora, paper_datasets, paper_retriever
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.gathering import Scores, Selection, cells_of
from berdseye.evaluation.studies.result import StudyResult, Table

NOTE = (
    "Figures in brackets are published by BERDS, for its test splits, its corpora and the labels of its fine-tuned detector; "
    "compare them only with values for these data sets, corpora and labels."
)
KS = (5, 10)
_PUBLISHED = {5: "berds_base_k5", 10: "berds_base_k10"}
_KEYS = ("corpus", "pipeline", "dataset", "measure")


def with_published(
    ours: pd.DataFrame, theirs: pd.DataFrame, keys: Sequence[str], sizes: Sizes, split: Split = "test"
) -> pd.DataFrame:
    """Add a column `published` to the measured cells `ours`, and append the published cells that have no measured value.

    `theirs` (columns `keys` and `value`) holds the published figures, of all three data sets together if `keys` does not name the
    data set. A figure is next to a cell if retriever, data set and corpus are those of the paper by name and by size
    (`berdseye.evaluation.published.berds`). No published figure is shown under the name of a data set or corpus of the workspace
    that is another one.
    """
    datasets, corpora = paper_datasets(sizes.questions, split), paper_corpora(sizes.passages)
    paper: Mapping[str, Callable[[str], str | None]] = {
        "dataset": datasets.get, "corpus": corpora.get, "pipeline": paper_retriever
    }  # fmt: skip
    cells = ours.copy()
    rows = [{k: str(row[k]) for k in keys} for row in ours.to_dict("records")]
    if "dataset" not in keys and "average" not in datasets:
        theirs = theirs.iloc[:0]
    others = {(k, row[k]) for row in rows for k in ("dataset", "corpus") if k in row and paper[k](row[k]) != row[k]}
    figures = {tuple(str(row[k]) for k in keys): float(row["value"]) for row in theirs.to_dict("records")}
    # An empty name is in no published table.
    places = [tuple((paper[k](row[k]) or "") if k in paper else row[k] for k in keys) for row in rows]
    cells["published"] = [figures.get(place, np.nan) for place in places]
    named = {paper_name: name for name, paper_name in datasets.items()}
    rest = [
        {k: named.get(v, v) if k == "dataset" else v for k, v in zip(keys, place, strict=True)}
        | {"value": np.nan, "published": value}
        for place, value in figures.items()
        if place not in set(places) and others.isdisjoint(zip(keys, place, strict=True))
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
                with_published(cells[wanted | alone], _theirs(k), _KEYS, gatherer.sizes(selection)),
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
