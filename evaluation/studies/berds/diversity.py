"""Effects of diversity reranking (MMR) and of query expansion, and tuning of the MMR weight (BERDS, tables 4 and 8)."""

import pandas as pd

from berdseye.data.corpora.tuned_weights import TunedWeight
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.published import published
from berdseye.evaluation.scores.tuning import stored_weight, tune
from berdseye.evaluation.studies.berds.base import NOTE, with_published
from berdseye.evaluation.studies.charts import curves, dots
from berdseye.evaluation.studies.gathering import Gatherer, Selection, cells_of
from berdseye.evaluation.studies.result import StudyResult, Table


def diversity(
    gatherer: Gatherer, selection: Selection, *, k: int = 5, weight: str = "0.95", expansion: str | None = None
) -> StudyResult:
    """Compare each pipeline alone, with MMR of weight `weight`, and after a query expansion.

    `weight` is a number or `tuned`, the weight tuned for the corpus; `expansion` is a source of perspectives (`manual`, `llm`,
    `file(PATH)`, ...), None to skip expansion.
    """
    selection = selection.retrievers
    variants = {p: [("default", p), ("reranking", f"{p} >> mmr({weight})")] for p in selection.pipelines}
    if expansion is not None:
        for pipeline, methods in variants.items():
            methods.append(("query_expansion", f"expand({expansion}) >> {pipeline}"))
    for name in (name for methods in variants.values() for _, name in methods):
        gatherer.parsed(name)  # an invalid pipeline is reported before the first run starts
    measures = parse_measures(f"Precision@{k} MRecall@{k}")
    last = "average" if len(selection.datasets) > 1 else selection.datasets[0]
    parts = []
    pipelines = tuple(name for methods in variants.values() for _, name in methods)
    gatherer.runs(Selection(selection.datasets, selection.corpora, pipelines), k)
    for pipeline, methods in variants.items():
        for method, name in methods:
            part = cells_of(gatherer.scores(Selection(selection.datasets, selection.corpora, (name,)), measures))
            parts.append(part[part["dataset"] == last].assign(pipeline=pipeline, method=method, system=name))
    cells = pd.concat(parts, ignore_index=True)
    theirs = published("berds_diversity").rename(columns={"retriever": "pipeline"})
    keys = ("corpus", "pipeline", "method", "measure")
    cells = with_published(cells, theirs if k == 5 else theirs.iloc[:0], keys)
    table = Table(
        "berds-diversity",
        f"Base retrievers, alone, reranked by MMR and with query expansion ({last}), in percent",
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
    notes = () if expansion else ("Query expansion was skipped; name a source of perspectives with --expansion.",)
    return StudyResult("berds-diversity", settings, [table], {"mrecall": chart}, notes)


def tuning(gatherer: Gatherer, selection: Selection, *, measure: str = "MRecall@5") -> StudyResult:
    """Tune the MMR weight on the data sets, which should be dev splits, by corpus and retriever (BERDS, table 8)."""
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
        f"MMR weight (lambda) with the best {measure}",
        with_published(pd.DataFrame(rows), theirs.assign(figure="lambda"), ("corpus", "pipeline", "figure")),
        ("corpus", "pipeline"),
        ("figure",),
        digits=2,
        notes=(NOTE,),
    )
    chart = curves(pd.DataFrame(points), x="weight", x_title="lambda", y_title=f"{measure}, percent", colour="system")
    settings = {**selection.settings(), "measure": measure, "labels": str(gatherer.source)}
    return StudyResult("berds-lambda", settings, [table], {"lambda": chart})


def _tuned(g: Gatherer, selection: Selection, corpus: str, pipeline: str, measure: str) -> TunedWeight:
    """Return the stored weight if it was tuned on these data sets, labels and this measure; otherwise tune it now."""
    arguments = (g.workspace, g.judgments, selection.datasets, corpus, f"{pipeline} >> mmr(tuned)", g.source)
    [parsed] = parse_measures(measure)
    return stored_weight(*arguments, parsed) or tune(*arguments, parsed, progress=g.progress)
