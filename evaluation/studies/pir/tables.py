"""The tables of the PIR study, one function each: `retrievers` (table 2 and figure 2: how well retrievers follow a perspective),
`bias` (tables 3 and 10: perspectives that retrievers prefer), `methods` (tables 4 and 8: projections and other uses of a
perspective's vector), `extraction` (table 6: perspectives named by a language model instead of stated ones) and `backbones`
(table 9: projections on other encoders).
"""

from collections import Counter
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets.pir_tasks import known_task
from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.pir.measures import (
    Extractions,
    Singleton,
    extractions,
    labels_with_sides,
    perspective_shares,
    root_values,
    singletons,
    successes,
    with_perspectives,
)
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.pir.paper import (
    AVERAGE,
    BY_DIFFERENCE,
    DIFFERENCE_NOTE,
    IN_CORPUS,
    LABELS,
    MEAN,
    Setting,
    StudyPart,
    cell,
    figure,
    p_recall_estimate,
    paper_backbone,
    paper_column,
    paper_retriever,
    paper_task,
    set_apart,
    with_average,
)
from berdseye.evaluation.studies.result import Table
from berdseye.retrieval.projection.forms import FORMS
from berdseye.retrieval.protocol import Query

_ROW = 28
_NO_SIDES = ("agnews", "story")
_P_RECALL, _ASKED, _ROOT, _SINGLE_AT_0 = "p-Recall", "with perspective", "root query", "roots of one query at 0"
BASELINE = "baseline"
_PAPERS_MODEL, _PAPERS_SAMPLE = "gpt-3.5-turbo", 50


def retrievers(setting: Setting) -> StudyPart:
    """Compute p-Recall@k by task and pipeline, and Recall@k over queries with and without their perspective."""
    searches, k = list(setting.searches), setting.k
    cells, recalls = [], []
    for name in setting.pipelines:
        by_task = with_average({s.task.name: p_recall_estimate(setting, s, name) for s in searches})
        for task, estimate in by_task.items():
            paper = figure("pir_precall5", "value", task=paper_column(searches, task), retriever=paper_retriever(name))
            cells.append(cell(estimate, paper if k == 5 else None, pipeline=name, task=task))
        for kind in (_ASKED, _ROOT, _SINGLE_AT_0):
            figures = with_average({s.task.name: mean_with_interval(_values(setting, s, name, kind)) for s in searches})
            recalls += [cell(estimate, pipeline=name, task=t, figure=kind) for t, estimate in figures.items()]
    frame = pd.DataFrame(cells)
    shown, notes = set_apart(searches, frame, "pipeline")
    tables = [
        Table("pir_precall", f"p-Recall@{k} (PIR, table 2)", shown, ("pipeline",), ("task",), notes=notes),
        Table(
            "pir_recall",
            f"Recall@{k} with the perspective and with the root query alone; p-Recall@{k} with roots of one query at 0",
            pd.DataFrame(recalls),
            ("pipeline", "figure"),
            ("task",),
        ),
    ]
    charts = {"pir_precall": _chart(frame, k)}
    if len(setting.pipelines) > 1:
        means = _means(setting)
        tables.append(means)
        measured = means.cells[means.cells["value"].notna()]
        charts["pir_means"] = dots(measured, f"percent, {MEAN}", row="task", colour="figure")
    return StudyPart(tuple(tables), charts, tuple(filter(None, map(_singletons, searches))))


def _means(setting: Setting) -> Table:
    """Compute the means over pipelines of p-Recall@k, and of Recall@k over queries and with root queries alone, by task."""
    searches, cells = list(setting.searches), list[dict[str, Any]]()
    shown = {
        f"p-Recall@{setting.k}": _P_RECALL,
        f"Recall@{setting.k}": _ASKED,
        f"Recall@{setting.k}, root query": _ROOT,
    }
    for figure_name, kind in shown.items():
        figures = {}
        for search in searches:
            values = [_values(setting, search, name, kind) for name in setting.pipelines]
            figures[search.task.name] = mean_with_interval(np.mean(values, axis=0))
        for task, estimate in with_average(figures).items():
            paper = _paper_mean(setting, paper_column(searches, task)) if kind == _P_RECALL else None
            cells.append(cell(estimate, paper, task=task, figure=figure_name))
    frame, notes = set_apart(searches, pd.DataFrame(cells), "task")
    caption = f"Means over {len(setting.pipelines)} pipelines (PIR, figure 2)"
    return Table("pir_means", caption, frame, ("task",), ("figure",), notes=notes)


def _paper_mean(setting: Setting, column: str | None) -> float | None:
    """Return the mean of a column of table 2 over the paper's retrievers, if the pipelines are these."""
    rows = published("pir_precall5")
    if setting.k != 5 or column is None or {paper_retriever(n) for n in setting.pipelines} != {*rows["retriever"]}:
        return None
    return float(rows[rows["task"] == column]["value"].mean())


def _values(setting: Setting, search: TaskSearch, name: str, kind: str) -> npt.NDArray[np.float64]:
    """Return the values of root queries for p-Recall, float64[n_roots], or of queries for Recall, float64[n_queries]."""
    queries = search.bare() if kind == _ROOT else search.asked()
    hits = successes(
        search.task, search.ranked(setting.parse(name), queries, setting.k, setting.progress), setting.variant
    )
    if kind in (_P_RECALL, _SINGLE_AT_0):
        singleton: Singleton = "zero" if kind == _SINGLE_AT_0 else singletons(setting.variant)
        return root_values([q.root for q in search.task.queries], hits, singleton=singleton)
    return hits.astype(np.float64)


def _singletons(search: TaskSearch) -> str:
    counts = Counter(q.root for q in search.task.queries)
    alone = sum(n == 1 for n in counts.values())
    note = f"{search.task.name}: {alone} of {len(counts)} root queries have one query; the released notebook counts these as 0."
    return note if alone else ""


def _chart(frame: pd.DataFrame, k: int) -> alt.LayerChart:
    base = alt.Chart(frame).encode(
        y=alt.Y("task:N", title=None, sort=None),
        yOffset=alt.YOffset("pipeline:N", sort=None),
        color=alt.Color("pipeline:N", title=None, sort=None, legend=legend_below(frame["pipeline"])),
    )
    scale = alt.Scale(domain=[0, 100])
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale, title=f"p-Recall@{k}"), x2="high:Q")
    chart: alt.LayerChart = lines + base.mark_point(filled=True, size=60).encode(x=alt.X("value:Q", scale=scale))
    return chart.properties(height=alt.Step(_ROW))


def bias(setting: Setting) -> StudyPart:
    """Compute the shares of labels among the relevant passages in the top k of root queries, and their shares in the corpus.

    Tasks whose labels are not sides (topic and location, kinds of similarity) or that have a single label are left out.
    """
    sided = [s for s in setting.searches if _has_sides(s)]
    left = [s.task.name for s in setting.searches if s not in sided]
    notes = (f"Perspective shares leave out {', '.join(left)}, whose labels are not sides.",) if left else ()
    if not sided:
        return StudyPart(notes=notes)
    cells = []
    for search in sided:
        roots = list(dict.fromkeys(q.root for q in search.task.queries))
        queries = [Query(root, root) for root in roots]
        for name in setting.pipelines:
            ids = search.ranked(setting.parse(name), queries, setting.k, setting.progress)
            for share in perspective_shares(search.task, roots, ids):
                place = {"retriever": paper_retriever(name), "task": paper_task(search), "perspective": share.label}
                paper = figure("pir_bias", "share", **place) if setting.k == 5 else None
                cells.append(
                    cell(share.retrieved, paper, task=search.task.name, pipeline=name, perspective=share.label)
                )
        for share in perspective_shares(search.task, roots, ids):
            in_corpus = share.retrieved._replace(value=share.corpus, low=float("nan"), high=float("nan"), n=len(roots))
            cells.append(cell(in_corpus, task=search.task.name, pipeline=IN_CORPUS, perspective=share.label))
    frame = pd.DataFrame(cells)
    shown, table_notes = set_apart(sided, frame, "pipeline")
    caption = f"Perspectives of the relevant passages in the top {setting.k} of root queries, % (PIR, tables 3 and 10)"
    table = Table("pir_bias", caption, shown, ("task", "pipeline"), ("perspective",), notes=table_notes)
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", stack="normalize", title="share"),
            y=alt.Y("pipeline:N", title=None, sort=None),
            color=alt.Color("perspective:N", title=None),
            row=alt.Row("task:N", title=None),
        )
        .resolve_scale(color="independent")
    )
    return StudyPart((table,), {"pir_bias": chart}, notes)


def _has_sides(search: TaskSearch) -> bool:
    facts = known_task(search.task.name)
    return len(labels_with_sides(search.task)) > 1 and (facts is None or facts.name not in _NO_SIDES)


def methods(setting: Setting) -> StudyPart:
    """Compute p-Recall@k of every method on the first encoder, by task and on average."""
    encoder, searches, cells = setting.encoders[0], list(setting.searches), []
    simcse = paper_retriever(encoder) == "simcse-sup" and setting.k == 5
    for method in _in_order():
        by_task = with_average(
            {s.task.name: p_recall_estimate(setting, s, method_pipeline(encoder, method, s)) for s in searches}
        )
        for task, estimate in by_task.items():
            paper = figure("pir_methods_by_task", "value", method=method, task=paper_column(searches, task))
            cells.append(cell(estimate, paper if simcse else None, method=method, task=task))
    frame, notes = set_apart(searches, pd.DataFrame(cells), "method")
    caption = f"p-Recall@{setting.k} of methods on {encoder}"
    tables = [Table("pir_methods_by_task", f"{caption} (PIR, table 8)", frame, ("method",), ("task",), notes=notes)]
    if len(searches) > 1:
        mean = frame[frame["task"] == AVERAGE]
        tables.insert(
            0,
            Table(
                "pir_methods", f"{caption}, mean over tasks (PIR, table 4)", mean, ("method",), ("task",), notes=notes
            ),
        )
    part_notes = (DIFFERENCE_NOTE,) if any(_is_ambigqa(s) for s in searches) else ()
    shown = tables[0].cells.dropna(subset="value")  # the mean if there are several tasks
    chart = dots(shown, f"p-Recall@{setting.k}, percent ({shown['task'].iloc[0]})", row="method")
    return StudyPart(tuple(tables), {"pir_methods": chart}, part_notes)


def _in_order() -> list[str]:
    """Return the methods in the order of table 8, followed by those that it does not list."""
    listed = [m for m in published("pir_methods_by_task")["method"].unique() if m == BASELINE or m in FORMS]
    return list(dict.fromkeys([*listed, *FORMS]))


def method_pipeline(encoder: str, method: str, search: TaskSearch) -> str:
    """Return the name of the pipeline of a method for a task."""
    if method == BASELINE:
        return encoder
    difference = "(perspective=difference)" if _is_ambigqa(search) and method in BY_DIFFERENCE else ""
    return f"{encoder} >> {method}{difference}"


def _is_ambigqa(search: TaskSearch) -> bool:
    facts = known_task(search.task.name)
    return facts is not None and facts.name == "ambigqa"


def extraction(setting: Setting) -> StudyPart:
    """Compute QA-F1 of the perspectives that the model names, and Recall@k with stated and with named perspectives.

    Each task contributes a sample of its queries. A search combines the perspective with the root query. A query for which the
    model names no perspective counts as a failure.
    """
    assert setting.model is not None
    assert setting.cache is not None
    cells, notes = list[dict[str, Any]](), list[str]()
    same = _PAPERS_MODEL in setting.model.name and (setting.k, setting.sample) == (5, _PAPERS_SAMPLE)
    for search in setting.searches:
        named = extractions(
            search.task, setting.model, setting.cache, setting.sample,
            seed=setting.seed, prompt=setting.prompt, progress=setting.progress,
        )  # fmt: skip
        silent = sum(not text for text in named.named)
        if silent:
            notes.append(
                f"{search.task.name}: {setting.model.name} names no perspective in {silent} of {len(named.named)} queries."
            )
        for name in setting.pipelines:
            retriever = paper_retriever(name)
            place = {"task": paper_task(search), "retriever": "simcse" if retriever == "simcse-sup" else retriever}
            stated = [search.task.queries[i].perspective for i in named.places]
            figures = (
                ("QA-F1", "qa_f1", named.overlap),
                (f"Recall@{setting.k} stated", "recall5_annotated", _hits(setting, search, name, named, stated)),
                (f"Recall@{setting.k} named", "recall5_generated", _hits(setting, search, name, named, named.named)),
            )
            for label, column, values in figures:
                paper = figure("pir_extraction", column, **place) if same else None
                estimate = mean_with_interval(values)
                cells.append(cell(estimate, paper, task=search.task.name, pipeline=name, figure=label))
    frame = pd.DataFrame(cells)
    shown, table_notes = set_apart(setting.searches, frame, "pipeline")
    caption = f"Perspectives named by {setting.model.name}, at most {setting.sample} queries per task (PIR, table 6)"
    table = Table("pir_extraction", caption, shown, ("task", "pipeline"), ("figure",), notes=table_notes)
    drawn = frame.assign(row=frame["pipeline"] + ", " + frame["task"])
    return StudyPart((table,), {"pir_extraction": dots(drawn, "percent", row="row", colour="figure")}, tuple(notes))


def _hits(
    setting: Setting, search: TaskSearch, name: str, named: Extractions, perspectives: list[str]
) -> npt.NDArray[np.float64]:
    """Return the success of each sampled query, float64[n_sampled]; 0 if it has no perspective."""
    values = np.zeros(len(named.places))
    with_text = [row for row, text in enumerate(perspectives) if text]
    queries = [search.task.queries[named.places[row]] for row in with_text]
    if queries:
        combined = with_perspectives(queries, [perspectives[row] for row in with_text])
        ids = search.ranked(setting.parse(name), combined, setting.k, setting.progress)
        values[with_text] = [bool(q.relevant & set(row)) for q, row in zip(queries, ids.tolist(), strict=True)]
    return values


def backbones(setting: Setting) -> StudyPart:
    """Compute the mean p-Recall@k over tasks of PAP and PAP+ on each encoder, and their gain over the plain encoder, in
    points."""
    searches, cells = list(setting.searches), list[dict[str, Any]]()
    comparable = paper_column(searches, AVERAGE) is not None and setting.k == 5

    def mean(encoder: str, method: str) -> tuple[float, int]:
        by_task = {s.task.name: p_recall_estimate(setting, s, method_pipeline(encoder, method, s)) for s in searches}
        estimate = list(with_average(by_task).values())[-1]
        return 100 * estimate.value, estimate.n

    for encoder in setting.encoders:
        plain, n = mean(encoder, BASELINE)
        cells.append(_cell(BASELINE, encoder, "average", plain, n, None))
        for method in ("pap", "pap+"):
            value, n = mean(encoder, method)
            for name, shown in (("average", value), ("improvement", value - plain)):
                paper = figure("pir_backbones", name, method=method, backbone=paper_backbone(encoder))
                cells.append(_cell(method, encoder, name, shown, n, paper if comparable else None))
    frame, notes = set_apart(searches, pd.DataFrame(cells), "encoder")
    caption = f"p-Recall@{setting.k} of projections on several encoders, mean over {len(searches)} tasks (PIR, table 9)"
    table = Table("pir_backbones", caption, frame, ("method", "encoder"), ("figure",), notes=notes)
    means = frame[(frame["figure"] == "average") & frame["value"].notna()]
    return StudyPart(
        (table,), {"pir_backbones": dots(means, f"p-Recall@{setting.k}, percent", row="encoder", colour="method")}
    )


def _cell(method: str, encoder: str, name: str, value: float, n: int, paper: float | None) -> dict[str, Any]:
    return {
        "method": method,
        "encoder": encoder,
        "figure": name,
        "value": value,
        "n": n,
        "labels": LABELS,
        "published": paper,
    }
