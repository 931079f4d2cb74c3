"""Charts that several pages draw: dots with intervals, learning curves, and a table of counts as colours."""

from typing import cast

import altair as alt
import pandas as pd

from berdseye.evaluation.charts import NEUTRAL, legend_below

_ROW = 28
_TICKS = 5
_SHORT = 12
_CURVE, _CURVE_WIDTH = 110, 420


def dots_with_intervals(
    frame: pd.DataFrame, *, value: str, row: str, colour: str | None = None, low_end: float = 0.0
) -> alt.LayerChart:
    """A dot at `value`, a share, and a line from `low` to `high` for each `row`. The axis, in percent, runs from `low_end` to
    1."""
    scale = alt.Scale(domain=[low_end, 1.0])
    base = alt.Chart(frame).encode(y=alt.Y(f"{row}:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)))
    if colour is None:
        base = base.encode(color=alt.value(NEUTRAL))
    else:
        base = base.encode(
            color=alt.Color(f"{colour}:N", title=None, legend=legend_below(frame[colour])),
            yOffset=alt.YOffset(f"{colour}:N"),
        )
    lines = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", scale=scale, title=value, axis=alt.Axis(tickCount=_TICKS, format=".0%")), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=80).encode(x=alt.X(f"{value}:Q", scale=scale), tooltip=list(frame.columns))
    return cast(alt.LayerChart, (lines + dots).properties(height=alt.Step(_ROW)))


def learning_curves(points: pd.DataFrame) -> alt.VConcatChart:
    """Loss and F1 on dev against the step, one line per trial."""
    base = alt.Chart(points).encode(x=alt.X("step:Q", title="step"), color=alt.Color("trial:N", legend=None))
    loss = base.mark_line(point=True).encode(y=alt.Y("loss:Q", scale=alt.Scale(zero=False), title="loss"))
    f1 = base.mark_line(point=True).encode(y=alt.Y("dev_f1:Q", scale=alt.Scale(domain=[0, 1]), title="F1 on dev"))
    return alt.vconcat(*(chart.properties(height=_CURVE, width=_CURVE_WIDTH) for chart in (loss, f1)))


def worth_of_corrections(curve: pd.DataFrame) -> alt.HConcatChart:
    """AUROC and F1 on held-out questions against the number of corrections: one line per strategy, and a band
    from the lowest to the highest seed."""
    base = alt.Chart(curve[curve["strategy"] != "all"]).encode(
        x=alt.X("corrections:Q"), color=alt.Color("strategy:N", title=None)
    )
    both = []
    for figure, name in (("auroc", "AUROC"), ("f1", "F1 at 16.8% positive")):
        scale = alt.Scale(zero=False)
        band = base.mark_area(opacity=0.15).encode(y=alt.Y(f"{figure}_low:Q", scale=scale), y2=f"{figure}_high:Q")
        line = base.mark_line(point=True).encode(y=alt.Y(f"{figure}:Q", scale=scale, title=name))
        both.append((band + line).properties(width=_CURVE_WIDTH, height=2 * _CURVE))
    return alt.hconcat(*both)


def counts_as_colours(table: pd.DataFrame) -> alt.LayerChart:
    """A confusion table with one rater's labels as rows, the other's as columns, and the count in each cell."""
    rows, columns = str(table.index.name), str(table.columns.name)
    # Names of people may contain dots and brackets, which Altair would read as paths.
    long = table.rename_axis(index="row", columns="column").stack().rename("items").reset_index()  # type: ignore[call-overload]
    order = list(table.index)
    angle = -20 if max(len(str(name)) for name in table.columns) > _SHORT else 0
    base = alt.Chart(long).encode(
        x=alt.X(
            "column:N",
            title=columns,
            sort=order,
            axis=alt.Axis(labelAngle=angle),
        ),
        y=alt.Y("row:N", title=rows, sort=order),
    )
    cells = base.mark_rect().encode(color=alt.Color("items:Q", scale=alt.Scale(scheme="blues"), legend=None))
    dark = alt.condition(
        f"datum.items > {max(float(long['items'].max()), 1) / 2}", alt.value("white"), alt.value("black")
    )
    texts = base.mark_text(fontSize=16).encode(text="items:Q", color=dark)
    return cast(alt.LayerChart, (cells + texts).properties(height=alt.Step(2 * _ROW)))
