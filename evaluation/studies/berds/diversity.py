"""What reranking for diversity and expanding the question change (BERDS, tables 4 and 8)."""

import pandas as pd

from berdseye.data.corpora.tuned_weights import TunedWeight
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.published import published
from berdseye.evaluation.scores.tuning import stored_weight, tune
from berdseye.evaluation.studies.berds.base import NOTE, beside
from berdseye.evaluation.studies.charts import curves, dots
from berdseye.evaluation.studies.gathering import Gatherer, Selection, cells_of
from berdseye.evaluation.studies.result import StudyResult, Table


def diversity(
    gatherer: Gatherer, selection: Selection, *, k: int = 5, weight: str = "0.95", expansion: str | None = None
) -> StudyResult:
    """Each pipeline as it is, with MMR of `weight` (`tuned` takes the weight tuned for its corpus), and behind an expansion
    (`manual`, `llm`, `file(PATH)`, ...; None leaves it out)."""
    selection = selection.retrievers
    variants = {p: [("default", p), ("reranking", f"{p} >> mmr({weight})")] for p in selection.pipelines}
    if expansion is not None:
        for pipeline, held in variants.items():
            held.append(("query_expansion", f"expand({expansion}) >> {pipeline}"))
    for name in (name for held in variants.values() for _, name in held):
        gatherer.parsed(name)  # a wrong one is reported before the first run is made
    measures = parse_measures(f"Precision@{k} MRecall@{k}")
    last = "average" if len(selection.datasets) > 1 else selection.datasets[0]
    parts = []
    every = tuple(name for held in variants.values() for _, name in held)
    gatherer.runs(Selection(selection.datasets, selection.corpora, every), k)
    for pipeline, held in variants.items():
        for method, name in held:
            found = cells_of(gatherer.scores(Selection(selection.datasets, selection.corpora, (name,)), measures))
            parts.append(found[found["dataset"] == last].assign(pipeline=pipeline, method=method, system=name))
    cells = pd.concat(parts, ignore_index=True)
    theirs = published("berds_diversity").rename(columns={"retriever": "pipeline"})
    keys = ("corpus", "pipeline", "method", "measure")
    cells = beside(cells, theirs if k == 5 else theirs.iloc[:0], keys)
    table = Table(
        "berds-diversity",
        f"Base retrievers, reranked by MMR and with expanded questions: {last} over the data sets, in percent",
        cells,
        ("corpus", "pipeline"),
        ("method", "measure"),
        notes=(NOTE,),
    )
    shown = cells[(cells["measure"] == f"MRecall@{k}") & cells["value"].notna()]
    chart = dots(shown.assign(row=shown["corpus"] + ", " + shown["pipeline"]), f"MRecall@{k} ({last}), percent",
                 row="row", colour="method")  # fmt: skip
    settings = {
        **selection.settings(),
        "k": k,
        "weight": weight,
        "expansion": expansion,
        "labels": str(gatherer.source),
    }
    notes = () if expansion else ("Expansion was left out: name a source of perspectives with --expansion.",)
    return StudyResult("berds-diversity", settings, [table], {"mrecall": chart}, notes)


def tuning(gatherer: Gatherer, selection: Selection, *, measure: str = "MRecall@5") -> StudyResult:
    """The weight of MMR that is best on the data sets, which should be dev splits, by corpus and retriever (BERDS, table 8)."""
    selection, rows, points = selection.retrievers, [], []
    for corpus in selection.corpora:
        for pipeline in selection.pipelines:
            chosen = _tuned(gatherer, selection, corpus, pipeline, measure)
            rows.append({"corpus": corpus, "pipeline": pipeline, "figure": "lambda", "value": chosen.weight,
                         "labels": chosen.labels})  # fmt: skip
            points += [
                {"system": f"{pipeline}, {corpus}", "weight": float(w), "value": 100 * v}
                for w, v in chosen.scores.items()
            ]
    theirs = published("berds_lambda").rename(columns={"retriever": "pipeline", "lambda": "value"})
    table = Table(
        "berds-lambda",
        f"The weight of MMR with the best {measure}",
        beside(pd.DataFrame(rows), theirs.assign(figure="lambda"), ("corpus", "pipeline", "figure")),
        ("corpus", "pipeline"),
        ("figure",),
        digits=2,
        notes=(NOTE,),
    )
    chart = curves(pd.DataFrame(points), x="weight", x_title="lambda", y_title=f"{measure}, percent", colour="system")
    settings = {**selection.settings(), "measure": measure, "labels": str(gatherer.source)}
    return StudyResult("berds-lambda", settings, [table], {"lambda": chart})


def _tuned(g: Gatherer, selection: Selection, corpus: str, pipeline: str, measure: str) -> TunedWeight:
    """The stored weight, where it was tuned on the same; else it is tuned now."""
    asked = (g.workspace, g.judgments, selection.datasets, corpus, f"{pipeline} >> mmr(tuned)", g.source)
    [parsed] = parse_measures(measure)
    return stored_weight(*asked, parsed) or tune(*asked, parsed, progress=g.progress)
