"""The funnel of a construction as a chart: what each step kept, beside the paper's counts."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from berdseye.evaluation.charts import CATEGORIES, NEUTRAL, Chart
from berdseye.evaluation.construction.reporting import Stage

_ROW_HEIGHT, _AROUND = 30, 100
"""Pixels of a row, and of the legend and the axis."""


def funnel_chart(stages: Sequence[Stage]) -> Chart:
    """Draw a bar for each step, divided into the rows that it kept and rejected; steps that are not finished have none."""
    order = [stage.title for stage in stages]
    rows = [
        {"step": stage.title, "rows": count, "outcome": outcome}
        for stage in stages
        for outcome, count in (("kept", stage.kept), ("rejected", stage.rejected))
        if count is not None
    ]
    labels = [{"step": s.title, "kept": s.kept, "shown": f"{s.kept:,}"} for s in stages if s.kept is not None]
    y = alt.Y("step:N", sort=order, title=None, scale=alt.Scale(domain=order))
    bars = (
        alt.Chart(pd.DataFrame(rows, columns=["step", "rows", "outcome"]))
        .mark_bar(height=18)
        .encode(
            x=alt.X("rows:Q", title="rows", stack="zero", axis=alt.Axis(format=",d", tickMinStep=1)),
            y=y,
            color=alt.Color(
                "outcome:N",
                title=None,
                scale=alt.Scale(domain=["kept", "rejected"], range=[CATEGORIES[0], NEUTRAL]),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("outcome:N"),
            tooltip=["step", "outcome", alt.Tooltip("rows:Q", format=",d")],
        )
    )
    numbers = (
        alt.Chart(pd.DataFrame(labels, columns=["step", "kept", "shown"]))
        .mark_text(align="left", dx=6, color="white", fontSize=12)
        .encode(x=alt.datum(0), y=y, text="shown:N")
    )
    return alt.layer(bars, numbers).properties(height=_ROW_HEIGHT * len(order) + _AROUND)
