"""Heat maps of the place asked for against the place retrieved (PIR, location bias)."""

import altair as alt
import pandas as pd

from berdseye.data.workspace import file_stem
from berdseye.evaluation.pir.locations import location_matrix
from berdseye.evaluation.studies.pir.recall_cells import LABELS
from berdseye.evaluation.studies.pir.setting import Part, Setting
from berdseye.evaluation.studies.result import Table


def places(setting: Setting) -> Part:
    """A matrix a pipeline for each task that asks for places."""
    frames, charts = [], {}
    for search in setting.searches:
        for name in setting.pipelines:
            ids = search.ranked(setting.parse(name), search.asked(), setting.k, setting.progress)
            matrix = location_matrix(search.task, ids)
            if matrix.empty:
                break
            frames.append(matrix.assign(task=search.task.name, pipeline=name))
            charts[f"pir_places-{file_stem(f'{search.task.name}-{name}')}"] = heat_map(matrix)
    if not frames:
        return Part(notes=("No task asks for places: there are no heat maps.",))
    cells = pd.concat(frames, ignore_index=True)
    cells = (
        cells[cells["share"] > 0]
        .assign(labels=LABELS, value=lambda f: 100 * f["share"])
        .rename(columns={"queries": "n"})
    )
    caption = f"Place of the top {setting.k} passages by the place asked for, % of passages"
    table = Table(
        "pir_places", caption, cells.drop(columns="share"), ("task", "pipeline", "asked"), ("retrieved",), digits=0
    )
    return Part((table,), charts)


def heat_map(matrix: pd.DataFrame) -> alt.Chart:
    """Asked-for places down, retrieved places across, the share as colour; what comes from elsewhere stands last."""
    order = list(dict.fromkeys(matrix["retrieved"]))
    chart: alt.Chart = (
        alt.Chart(matrix)
        .mark_rect()
        .encode(
            x=alt.X("retrieved:N", sort=order, title="retrieved"),
            y=alt.Y("asked:N", sort=order, title="asked for"),
            color=alt.Color("share:Q", title="share", scale=alt.Scale(scheme="blues", domain=[0, 1])),
            tooltip=["asked", "retrieved", "share", "queries"],
        )
    )
    return chart
