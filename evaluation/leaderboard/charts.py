"""Charts of the leaderboard: systems in order of their values, and quality against cost."""

from typing import cast

import altair as alt
import numpy as np
import pandas as pd

from berdseye.evaluation.charts import NEUTRAL, legend_below
from berdseye.evaluation.leaderboard.board import best_first

_ROW, _WIDTH, _HEIGHT = 24, 520, 320
_LOGARITHMIC = 30
"""Above this ratio of the largest to the smallest cost, the scale is logarithmic."""


def standings(measured: pd.DataFrame, printed: pd.DataFrame, title: str) -> alt.LayerChart:
    """Draw one line for each system, the best first: its value, interval and letters.

    `measured` holds rows of `board` for one measure and one data set, `printed` rows of `printed_rows` for that measure and data
    set, which are drawn as hollow grey diamonds.
    """
    ours = measured[measured["value"].notna()].assign(what="measured here")
    theirs = printed.assign(what=printed["source"].map("printed in {}".format), group="", n=np.nan, judged=np.nan)
    both = pd.concat([ours, theirs.assign(unit=ours["unit"].iloc[0] if len(ours) else "share")])
    both = best_first(both.assign(system=_systems(both)))
    tooltip = ["system", "value", "low", "high", "n", "judged", "group", "rank_best", "rank_worst", "what"]
    base = alt.Chart(both[[c for c in (*tooltip, "pipeline") if c in both]]).encode(
        y=alt.Y("system:N", title=None, sort=both["system"].tolist(), axis=alt.Axis(labelLimit=420))
    )
    scale = alt.Scale(zero=False, nice=True)
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))
    is_measured = alt.datum.what == "measured here"
    colour = alt.Color("pipeline:N", legend=None, scale=alt.Scale(domain=sorted(ours["pipeline"].unique())))
    lines = (
        base.transform_filter(is_measured).mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    )
    dots = base.transform_filter(is_measured).mark_point(filled=True, size=80, opacity=1).encode(x=x, tooltip=tooltip)
    letters = (
        base.transform_filter(is_measured)
        .mark_text(align="left", dx=8, color=NEUTRAL)
        .encode(x="high:Q", text="group:N")
    )
    layers = [lines.encode(color=colour), dots.encode(color=colour), letters]
    if len(theirs):
        marks = base.transform_filter(~is_measured).mark_point(shape="diamond", size=90, color=NEUTRAL)
        layers.append(marks.encode(x=x, tooltip=["system", "value", "what"]))
    return cast(alt.LayerChart, alt.layer(*layers).properties(height=alt.Step(_ROW), width=_WIDTH))


def quality_against_cost(measured: pd.DataFrame, cost: str, *, cost_title: str, title: str) -> alt.LayerChart:
    """Draw a dot with its interval for each system; `measured` has the columns of `board` and `cost`.

    The scale of costs is logarithmic if the largest is more than 30 times the smallest and none is 0.
    """
    known = measured[measured["value"].notna() & measured[cost].notna()].assign(system=_systems)
    costs = known[cost]
    apart = len(costs) > 0 and costs.min() > 0 and costs.max() > _LOGARITHMIC * costs.min()
    base = alt.Chart(known[["system", "corpus", "pipeline", "value", "low", "high", "n", cost]]).encode(
        x=alt.X(f"{cost}:Q", title=cost_title, scale=alt.Scale(type="log") if apart else alt.Scale(zero=True)),
        color=alt.Color("pipeline:N", title=None, legend=legend_below(known["pipeline"])),
    )
    scale = alt.Scale(zero=False)
    lines = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        y=alt.Y("value:Q", title=title, scale=scale),
        shape=alt.Shape(
            "corpus:N",
            title=None,
            legend=legend_below(known["corpus"], symbolFillColor=NEUTRAL, symbolStrokeColor=NEUTRAL),
        ),
        tooltip=["system", "value", "low", "high", "n", cost],
    )
    return cast(alt.LayerChart, alt.layer(lines, dots).properties(width=_WIDTH, height=_HEIGHT))


def _systems(frame: pd.DataFrame) -> pd.Series:
    """Return the names of systems in the charts; those of papers include their source."""
    names = frame["pipeline"] + ", " + frame["corpus"]
    return (
        names + frame["source"].map(lambda s: f" ({s})" if isinstance(s, str) else "") if "source" in frame else names
    )
