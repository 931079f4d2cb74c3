"""Charts of bias: the effect of the side of the query, and shares of stances."""

from collections.abc import Iterable, Mapping
from typing import cast

import altair as alt
import pandas as pd

from berdseye.evaluation.charts import CATEGORIES, NEUTRAL, STANCE_COLOURS, legend_below, perspective_colour

LEANING_COLOURS: Mapping[str, str] = {
    "only supporting": STANCE_COLOURS["supporting"],
    "only opposing": STANCE_COLOURS["opposing"],
    "both": CATEGORIES[2],
    "neither": NEUTRAL,
}
STANCE_SHARE_COLOURS: Mapping[str, str] = {
    "supporting": STANCE_COLOURS["supporting"],
    "opposing": STANCE_COLOURS["opposing"],
    "no side": STANCE_COLOURS["none"],
}
_STEP, _WIDTH = 22, 460
_SIDES = ("supporting", "opposing")


def sycophancy_arrows(cells: pd.DataFrame) -> alt.LayerChart:
    """Draw the effect of the side of the query: for each `system`, an arrow from Delta with the question as the query to Delta
    with the supporting perspective as the query, and one to Delta with the opposing perspective.

    `cells` has the columns system, asked (question, supporting, opposing), value, low, high and n. For sycophantic retrieval, the
    first arrow points right and the second left.
    """
    plain = cells[cells["asked"] == "question"].set_index("system")["value"]
    arrows = cells[cells["asked"].isin(_SIDES)].copy()
    arrows["start"] = arrows["system"].map(plain.to_dict()).astype(float)
    arrows = arrows[arrows["value"].notna() & arrows["start"].notna()]
    arrows["turn"] = (arrows["value"] >= arrows["start"]).map({True: 90, False: -90})
    scale = alt.Scale(zero=False, nice=True)
    title = "Delta of the top k (0: as many opposing as supporting passages, 1: no opposing one)"
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))
    rows = alt.Y("system:N", title=None, sort=None, axis=alt.Axis(labelLimit=320))
    base = alt.Chart(arrows).encode(
        y=rows,
        yOffset=alt.YOffset("asked:N", sort=list(_SIDES), scale=alt.Scale(domain=list(_SIDES))),
        color=alt.Color(
            "asked:N",
            title="query",
            legend=legend_below(_SIDES, symbolOpacity=1),
            scale=alt.Scale(domain=list(_SIDES), range=[STANCE_COLOURS[side] for side in _SIDES]),
        ),
        tooltip=["system", alt.Tooltip("asked", title="query"), "start", "value", "low", "high", "n"],
    )
    intervals = base.mark_rule(strokeWidth=8, opacity=0.2).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    shafts = base.mark_rule(strokeWidth=2).encode(x=alt.X("start:Q", title=title, scale=scale), x2="value:Q")
    heads = base.mark_point(shape="triangle", filled=True, size=110, opacity=1).encode(
        x=x, angle=alt.Angle("turn:Q", scale=None)
    )
    asked = cells[(cells["asked"] == "question") & cells["value"].notna()]
    dots = (
        alt.Chart(asked)
        .mark_point(filled=True, size=90, opacity=1, color=NEUTRAL)
        .encode(y=rows, x=x, tooltip=["system", alt.Tooltip("asked", title="query"), "value", "low", "high", "n"])
    )
    return cast(
        alt.LayerChart,
        alt.layer(intervals, shafts, heads, dots).properties(height=alt.Step(_STEP), width=_WIDTH),
    )


def perspective_colours(labels: Iterable[str]) -> dict[str, str]:
    """Return a colour for each label of PIR's tasks: sides have the colours of their stances, other labels the theme's in
    order."""
    names = list(dict.fromkeys(labels))
    sides = {"support": STANCE_COLOURS["supporting"], "undermine": STANCE_COLOURS["opposing"]}
    others = [name for name in names if name not in sides]
    return {name: sides.get(name) or perspective_colour(others.index(name)) for name in names}


def share_dots(cells: pd.DataFrame, *, part: str, colours: Mapping[str, str]) -> alt.LayerChart:
    """Draw the shares of each `system` as dots with intervals, and a tick at the share of a balanced ranking (`even`).

    `cells` has the columns system, `part`, value, low, high, even and n.
    """
    order = [name for name in colours if name in set(cells[part])]
    base = alt.Chart(cells[cells["value"].notna()]).encode(
        y=alt.Y("system:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
        yOffset=alt.YOffset(f"{part}:N", sort=order, scale=alt.Scale(domain=order)),
        color=alt.Color(
            f"{part}:N",
            title=None,
            scale=alt.Scale(domain=order, range=[colours[name] for name in order]),
            legend=legend_below(order),
        ),
        tooltip=list(cells.columns),
    )
    scale = alt.Scale(domain=[0, 100])
    x = alt.X("value:Q", title="percent", scale=scale, axis=alt.Axis(tickCount=5))
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="percent", scale=scale), x2="high:Q")
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(x=x)
    ticks = base.mark_tick(thickness=3, size=12, color=NEUTRAL).encode(
        x=alt.X("even:Q", scale=scale), color=alt.value(NEUTRAL)
    )
    return cast(alt.LayerChart, alt.layer(ticks, lines, dots).properties(height=alt.Step(_STEP), width=_WIDTH))
