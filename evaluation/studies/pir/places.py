"""Location bias (PIR, figures 4 and 5): heat maps of the requested place against the place of the retrieved news, and the places
that queries without a place retrieve.
"""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from berdseye.data.workspace import file_stem
from berdseye.evaluation.pir.measures import location_matrix, root_places
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.statistics.intervals import Estimate
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.pir.paper import IN_CORPUS, LABELS, MEAN, Setting, StudyPart, cell
from berdseye.evaluation.studies.result import Table
from berdseye.retrieval.protocol import Query


def places(setting: Setting) -> StudyPart:
    """Compute a matrix of requested and retrieved places for each task whose queries name places, and the places that its root
    queries retrieve; by pipeline, and as the mean over pipelines."""
    frames, charts, of_roots = list[pd.DataFrame](), dict[str, Any](), list[dict[str, Any]]()
    for search in setting.searches:
        matrices = {name: _matrix(setting, search, name) for name in setting.pipelines}
        if any(matrix.empty for matrix in matrices.values()):
            continue
        if len(matrices) > 1:
            matrices[MEAN] = (
                pd.concat(matrices.values()).groupby(["asked", "retrieved"], sort=False, as_index=False).mean()
            )
        for name, matrix in matrices.items():
            frames.append(matrix.assign(task=search.task.name, pipeline=name))
            charts[f"pir_places-{file_stem(f'{search.task.name}-{name}')}"] = heat_map(matrix)
        of_roots += _of_roots(setting, search)
    if not frames:
        return StudyPart(notes=("There are no heat maps: no task has queries that name places.",))
    cells = pd.concat(frames, ignore_index=True)
    cells = (
        cells[cells["share"] > 0]
        .assign(labels=LABELS, value=lambda f: 100 * f["share"])
        .rename(columns={"queries": "n"})
    )
    caption = f"Places of the top {setting.k} passages by requested place, % of passages (PIR, location bias)"
    table = Table(
        "pir_places", caption, cells.drop(columns="share"), ("task", "pipeline", "asked"), ("retrieved",), digits=0
    )
    roots = pd.DataFrame(of_roots)
    root_caption = (
        f"Places of the top {setting.k} passages of root queries, which request no place, % (PIR, location bias)"
    )
    root_table = Table("pir_root_places", root_caption, roots, ("task", "pipeline"), ("retrieved",))
    for task, rows in roots.groupby("task", sort=False):
        charts[f"pir_root_places-{file_stem(str(task))}"] = dots(
            rows, f"{task}: % of passages", row="retrieved", colour="pipeline"
        )
    return StudyPart((table, root_table), charts)


def _matrix(setting: Setting, search: TaskSearch, name: str) -> pd.DataFrame:
    ids = search.ranked(setting.parse(name), search.asked(), setting.k, setting.progress)
    return location_matrix(search.task, ids)


def _of_roots(setting: Setting, search: TaskSearch) -> list[dict[str, Any]]:
    """Return the cells of one task: the share of each place among the passages that its root queries retrieve, by pipeline and as
    the mean over pipelines, and among all passages."""
    roots = list(dict.fromkeys(q.root for q in search.task.queries))
    queries = [Query(root, root) for root in roots]
    rankings = {n: search.ranked(setting.parse(n), queries, setting.k, setting.progress) for n in setting.pipelines}
    if len(rankings) > 1:
        rankings[MEAN] = np.concatenate(list(rankings.values()), axis=1)
    shares = {name: root_places(search.task, ids) for name, ids in rankings.items()}
    cells = [
        cell(share.retrieved, task=search.task.name, pipeline=name, retrieved=share.label)
        for name, of_pipeline in shares.items()
        for share in of_pipeline
    ]
    for share in next(iter(shares.values())):
        existing = Estimate(share.corpus, np.nan, np.nan, len(search.task.passages))
        cells.append(cell(existing, task=search.task.name, pipeline=IN_CORPUS, retrieved=share.label))
    return cells


def heat_map(matrix: pd.DataFrame) -> alt.Chart:
    """Draw requested places as rows and retrieved places as columns, with the share as colour; passages from elsewhere come
    last."""
    order = list(dict.fromkeys(matrix["retrieved"]))
    chart: alt.Chart = (
        alt.Chart(matrix)
        .mark_rect()
        .encode(
            x=alt.X("retrieved:N", sort=order, title="retrieved"),
            y=alt.Y("asked:N", sort=order, title="requested"),
            color=alt.Color(
                "share:Q",
                title="share",
                legend=alt.Legend(format=".0%"),
                scale=alt.Scale(scheme="blues", domain=[0, 1]),
            ),
            tooltip=["asked", "retrieved", alt.Tooltip("share:Q", format=".1%"), "queries"],
        )
    )
    return chart
