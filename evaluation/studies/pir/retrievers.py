"""How well retrievers follow a perspective (PIR, table 2), and what asking for it is worth."""

from collections import Counter

import altair as alt
import pandas as pd

from berdseye.evaluation.intervals import Estimate, mean_with_interval
from berdseye.evaluation.pir.recall import root_values, successes
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.studies.pir.paper import comparison_notes, figure, paper_column, paper_retriever
from berdseye.evaluation.studies.pir.recall_cells import cell, p_recall_estimate, with_average
from berdseye.evaluation.studies.pir.setting import Part, Setting
from berdseye.evaluation.studies.result import Table

_ROW = 28


def retrievers(setting: Setting) -> Part:
    """p-Recall@k by task and pipeline, and Recall@k over queries with and without their perspective."""
    searches, k = list(setting.searches), setting.k
    cells, recalls = [], []
    for name in setting.pipelines:
        held = with_average({s.task.name: p_recall_estimate(setting, s, name) for s in searches})
        for task, estimate in held.items():
            paper = figure("pir_precall5", "value", task=paper_column(searches, task), retriever=paper_retriever(name))
            cells.append(cell(estimate, paper if k == 5 else None, pipeline=name, task=task))
        for kind in ("with perspective", "root query", "roots of one query at 0"):
            figures = with_average({s.task.name: _other(setting, s, name, kind) for s in searches})
            recalls += [cell(estimate, pipeline=name, task=t, figure=kind) for t, estimate in figures.items()]
    frame = pd.DataFrame(cells)
    notes = comparison_notes(searches, frame)
    tables = (
        Table("pir_precall", f"p-Recall@{k} (PIR, table 2)", frame, ("pipeline",), ("task",), notes=notes),
        Table(
            "pir_recall",
            f"Recall@{k} with the perspective and with the root query alone; p-Recall@{k} as the released notebook counts it",
            pd.DataFrame(recalls),
            ("pipeline", "figure"),
            ("task",),
        ),
    )
    return Part(tables, {"pir_precall": _chart(frame, k)}, tuple(filter(None, map(_singletons, searches))))


def _other(setting: Setting, search: TaskSearch, name: str, kind: str) -> Estimate:
    queries = search.bare() if kind == "root query" else search.asked()
    hits = successes(search.task, search.ranked(setting.parse(name), queries, setting.k, setting.progress))
    if kind == "roots of one query at 0":
        return mean_with_interval(root_values([q.root for q in search.task.queries], hits, singleton="zero"))
    return mean_with_interval(hits.astype(float))


def _singletons(search: TaskSearch) -> str:
    counts = Counter(q.root for q in search.task.queries)
    alone = sum(n == 1 for n in counts.values())
    told = (
        f"{search.task.name}: {alone} of {len(counts)} roots have one query; the released notebook counts these as 0."
    )
    return told if alone else ""


def _chart(frame: pd.DataFrame, k: int) -> alt.LayerChart:
    base = alt.Chart(frame).encode(
        y=alt.Y("task:N", title=None, sort=None),
        yOffset=alt.YOffset("pipeline:N", sort=None),
        color=alt.Color("pipeline:N", title=None, sort=None),
    )
    scale = alt.Scale(domain=[0, 100])
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale, title=f"p-Recall@{k}"), x2="high:Q")
    chart: alt.LayerChart = lines + base.mark_point(filled=True, size=60).encode(x=alt.X("value:Q", scale=scale))
    return chart.properties(height=alt.Step(_ROW))
