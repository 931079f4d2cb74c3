"""Effects of diversity reranking (MMR) and of query expansion, and tuning of the MMR weight (BERDS, tables 4 and 8)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from berdseye.data.corpora.tuned_weights import TunedWeight
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show_name
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.published import published
from berdseye.evaluation.published.berds import AVERAGE, paper_datasets
from berdseye.evaluation.scores.tuning import stored_weight, tune
from berdseye.evaluation.studies.berds.base import NOTE, with_published
from berdseye.evaluation.studies.charts import curves, dots
from berdseye.evaluation.studies.gathering import Gatherer, Selection, cells_of
from berdseye.evaluation.studies.result import StudyResult, Table
from berdseye.retrieval.encoders.known_models import find_known
from berdseye.retrieval.expansion.protocol import Queries
from berdseye.retrieval.rerank.mmr import DEFAULT_EMBEDDER

DEFAULT, RERANKING, EXPANSION = "default", "reranking", "query_expansion"
_PAPER_EMBEDDER = "WhereIsAI/UAE-Large-V1"
_KEYS = ("corpus", "pipeline", "method", "measure")


def diversity(
    gatherer: Gatherer,
    selection: Selection,
    *,
    k: int = 5,
    weight: str = "0.95",
    dev: Sequence[str] = (),
    embedder: str = DEFAULT_EMBEDDER,
    expansion: str | None = None,
    queries: Queries = "released",
) -> StudyResult:
    """Compare each pipeline alone, with MMR, and after a query expansion; a second table has the relative changes.

    `dev` names data sets on which the weight of MMR is tuned for each corpus and pipeline, by MRecall@k; without any, `weight` is
    a number, or `tuned` for the stored weight. `embedder` compares passages in MMR (in the paper UAE-Large-V1). `expansion` is a
    source of perspectives (`manual`, `llm`, `file(PATH)`, ...), None to skip expansion, and `queries` selects the expanded
    queries (`expanded_queries`). The paper's figures for a method are shown only if the method is the paper's
    (`is_papers_reranking`; expansion from a file of perspectives). Raises `BadInputError` if a data set is in both `dev` and the
    selection.
    """
    selection = selection.retrievers
    if shared := set(dev) & set(selection.datasets):
        raise BadInputError(
            f"The weight must not be tuned on a data set that is measured: {', '.join(sorted(shared))}.",
            hint="Name the dev splits to tune on with --dev, and the test splits with --dataset.",
        )
    chosen = _mmr("tuned" if dev else weight, embedder)
    variants = {p: [(DEFAULT, p), (RERANKING, f"{p} >> {chosen}")] for p in selection.pipelines}
    if expansion is not None:
        variant = "" if queries == "released" else f",variant={queries}"
        for pipeline, methods in variants.items():
            methods.append((EXPANSION, f"expand({expansion}{variant}) >> {pipeline}"))
    names = tuple(name for methods in variants.values() for _, name in methods)
    for name in names:
        gatherer.parsed(name)  # an invalid pipeline is reported before the first run starts
    measures = parse_measures(f"Precision@{k} MRecall@{k}")
    tables = []
    on_dev = Selection(tuple(dev), selection.corpora, selection.pipelines)
    if dev:
        tables.append(_weights(gatherer, on_dev, f"MRecall@{k}", embedder)[0])
    last = "average" if len(selection.datasets) > 1 else selection.datasets[0]
    parts = []
    gatherer.runs(Selection(selection.datasets, selection.corpora, names), k)
    for pipeline, methods in variants.items():
        for method, name in methods:
            part = cells_of(gatherer.scores(Selection(selection.datasets, selection.corpora, (name,)), measures))
            parts.append(part[part["dataset"] == last].assign(pipeline=pipeline, method=method, system=name))
    ours = pd.concat(parts, ignore_index=True)
    reranking = is_papers_reranking(embedder, gatherer.sizes(on_dev).questions)
    theirs = published_methods(k, reranking=reranking, expansion=expansion)
    sizes = gatherer.sizes(selection)
    cells = with_published(ours, theirs, _KEYS, sizes)
    caption = f"Base retrievers, alone, reranked by MMR and with query expansion ({last})"
    tables = [
        Table("berds-diversity", f"{caption}, in percent", cells, ("corpus", "pipeline"), ("method", "measure"), notes=(NOTE,)),
        Table(
            "berds-diversity-change",
            f"{caption}: change from the retriever alone, in percent of its value",
            with_published(relative_changes(ours), relative_changes(theirs), _KEYS, sizes),
            ("corpus", "pipeline"),
            ("method", "measure"),
            notes=(NOTE,),
        ),
        *tables,
    ]  # fmt: skip
    shown = cells[(cells["measure"] == f"MRecall@{k}") & cells["value"].notna()]
    chart = dots(shown.assign(row=shown["corpus"] + ", " + shown["pipeline"]), f"MRecall@{k} ({last}), percent",
                 row="row", colour="method")  # fmt: skip
    settings = {
        **selection.settings(),
        "k": k,
        "weight": "tuned" if dev else weight,
        "expansion": expansion,
        "labels": str(gatherer.source),
    }
    settings |= {"dev": tuple(dev)} if dev else {}
    settings |= {"embedder": embedder} if embedder != DEFAULT_EMBEDDER else {}
    settings |= {"queries": queries} if queries != "released" else {}
    notes = () if expansion else ("Query expansion was skipped; name a source of perspectives with --expansion.",)
    return StudyResult("berds-diversity", settings, tables, {"mrecall": chart}, notes)


def relative_changes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the change of each method from the default, in percent of the default, as cells without intervals.

    NaN if the default is 0. `cells` has the columns corpus, pipeline, method, measure and value, in percent.
    """
    places = ["corpus", "pipeline", "measure"]
    default = cells[cells["method"] == DEFAULT].set_index(places)["value"].to_dict()
    kept = cells[cells["method"] != DEFAULT].drop(columns=["low", "high"], errors="ignore").copy()
    rows = kept[places].itertuples(index=False, name=None)
    before = np.array([default.get(place, np.nan) for place in rows], dtype=float)
    kept["value"] = 100 * (kept["value"] / np.where(before == 0, np.nan, before) - 1)
    return kept.reset_index(drop=True)


def published_methods(k: int, *, reranking: bool, expansion: str | None) -> pd.DataFrame:
    """Return the paper's figures (BERDS, table 4) for the methods that are the paper's here; empty unless `k` is 5.

    `reranking` says whether MMR is the paper's; an expansion is if its perspectives come from a file, such as the released one.
    """
    methods = [DEFAULT, *([RERANKING] if reranking else []), *([EXPANSION] if _is_file(expansion) else [])]
    table = published("berds_diversity").rename(columns={"retriever": "pipeline"})
    return table[table["method"].isin(methods if k == 5 else [])]


def is_papers_reranking(embedder: str, dev: Mapping[str, int]) -> bool:
    """Whether MMR is the paper's: by UAE-Large-V1, with a weight tuned on the three dev splits of BERDS.

    `dev` maps the names of the data sets for tuning to their numbers of questions.
    """
    return _is_paper(embedder) and AVERAGE in paper_datasets(dev, "dev")


def _is_file(expansion: str | None) -> bool:
    return expansion is not None and (expansion.startswith("file(") or ("(" not in expansion and "." in expansion))


def _is_paper(embedder: str) -> bool:
    known = find_known("dense", embedder)
    return known is not None and known.name == _PAPER_EMBEDDER


def _mmr(weight: str, embedder: str) -> str:
    return f"mmr({weight})" if embedder == DEFAULT_EMBEDDER else f"mmr({weight},embedder={show_name(embedder)})"


def tuning(
    gatherer: Gatherer, selection: Selection, *, measure: str = "MRecall@5", embedder: str = DEFAULT_EMBEDDER
) -> StudyResult:
    """Tune the MMR weight on the data sets, which should be dev splits, by corpus and retriever (BERDS, table 8).

    `embedder` compares passages in MMR; the paper's weights are shown only for its embedder, UAE-Large-V1.
    """
    selection = selection.retrievers
    table, points = _weights(gatherer, selection, measure, embedder)
    chart = curves(points, x="weight", x_title="lambda", y_title=f"{measure}, percent", colour="system")
    settings = {**selection.settings(), "measure": measure, "labels": str(gatherer.source)}
    settings |= {"embedder": embedder} if embedder != DEFAULT_EMBEDDER else {}
    return StudyResult("berds-lambda", settings, [table], {"lambda": chart})


def _weights(gatherer: Gatherer, selection: Selection, measure: str, embedder: str) -> tuple[Table, pd.DataFrame]:
    """Tune the weight for each corpus and pipeline; returns the table of weights and the score of each weight of the grid."""
    rows, points = [], []
    for corpus in selection.corpora:
        for pipeline in selection.pipelines:
            chosen = _tuned(gatherer, selection.datasets, corpus, f"{pipeline} >> {_mmr('tuned', embedder)}", measure)
            rows.append({"corpus": corpus, "pipeline": pipeline, "figure": "lambda", "value": chosen.weight,
                         "labels": chosen.labels})  # fmt: skip
            points += [
                {"system": f"{pipeline}, {corpus}", "weight": float(w), "value": 100 * v}
                for w, v in chosen.scores.items()
            ]
    theirs = published("berds_lambda").rename(columns={"retriever": "pipeline", "lambda": "value"})
    theirs = theirs.assign(figure="lambda") if _is_paper(embedder) else theirs.assign(figure="lambda").iloc[:0]
    keys, sizes = ("corpus", "pipeline", "figure"), gatherer.sizes(selection)
    table = Table(
        "berds-lambda",
        f"MMR weight (lambda) with the best {measure}",
        with_published(pd.DataFrame(rows), theirs, keys, sizes, "dev"),
        ("corpus", "pipeline"),
        ("figure",),
        digits=2,
        notes=(NOTE,),
    )
    return table, pd.DataFrame(points)


def _tuned(g: Gatherer, datasets: tuple[str, ...], corpus: str, pipeline: str, measure: str) -> TunedWeight:
    """Return the stored weight if it was tuned on these data sets, labels, this rule and measure; otherwise tune it now."""
    arguments = (g.workspace, g.judgments, datasets, corpus, pipeline, g.source)
    [parsed] = parse_measures(measure)
    return stored_weight(*arguments, parsed, unjudged=g.unjudged) or tune(
        *arguments, parsed, unjudged=g.unjudged, progress=g.progress
    )
