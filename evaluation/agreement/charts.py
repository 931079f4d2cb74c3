"""Charts of agreement for the page and the report."""

from typing import cast

import altair as alt
import pandas as pd

from berdseye.evaluation.charts import NEUTRAL, legend_below

_ROW, _CELL, _WIDTH = 24, 34, 420
_MOST = 40


def coefficients_chart(table: pd.DataFrame) -> alt.LayerChart:
    """Draw a dot with its interval for each coefficient (columns statistic, value, low, high, and `who` or `part` as colour)."""
    known = table[table["value"].notna()]
    colour = next(name for name in ("who", "part", "statistic") if name in table.columns)
    base = alt.Chart(known).encode(
        y=alt.Y("statistic:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset(f"{colour}:N", sort=None),
        color=alt.Color(f"{colour}:N", title=None, sort=None, legend=legend_below(known[colour])),
    )
    return dots(base, "value", floor=min(0.0, _least(known["low"])))


def pairs_chart(pairs: pd.DataFrame) -> alt.LayerChart:
    """Draw Cohen's kappa of pairs of raters, those with the most items first, at most 40."""
    known = pairs[(pairs["n"] > 0) & pairs["cohen_kappa"].notna()].nlargest(_MOST, "n")
    shown = known[["cohen_kappa", "low", "high", "n"]].assign(pair=known["a"] + " and " + known["b"])
    base = alt.Chart(shown).encode(
        y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)), color=alt.value(NEUTRAL)
    )
    return dots(base, "cohen_kappa", title="Cohen's kappa", floor=min(0.0, _least(shown["low"])))


def matrix_chart(pairs: pd.DataFrame, raters: list[str]) -> alt.LayerChart:
    """Draw Cohen's kappa of all pairs of raters as a heat map, with the values in the cells if there are at most 15 raters."""
    both = pd.concat([pairs, pairs.rename(columns={"a": "b", "b": "a"})])[["a", "b", "cohen_kappa", "n"]]
    base = alt.Chart(both[both["cohen_kappa"].notna()]).encode(
        x=alt.X("b:N", title=None, sort=raters, axis=alt.Axis(labelLimit=120, labelAngle=-40, labelOverlap=False)),
        y=alt.Y("a:N", title=None, sort=raters, axis=alt.Axis(labelLimit=200)),
        tooltip=["a:N", "b:N", alt.Tooltip("cohen_kappa:Q", format=".3f"), "n:Q"],
    )
    scale = alt.Scale(scheme="redblue", domain=[-1, 1])
    cells = base.mark_rect().encode(color=alt.Color("cohen_kappa:Q", scale=scale, title="kappa"))
    few = len(raters) <= 15
    texts = base.mark_text(fontSize=11).encode(text=alt.Text("cohen_kappa:Q", format=".2f"), color=alt.value("black"))
    size = alt.Step(_CELL if few else 12)
    return cast(alt.LayerChart, alt.layer(*((cells, texts) if few else (cells,))).properties(width=size, height=size))


def reliability_chart(people: pd.DataFrame) -> alt.LayerChart:
    """Draw the sensitivity and the specificity of each person with their intervals, the most reliable first, at most 40;
    `people` is a table of `reliability.people_table`."""
    shown = pd.concat(
        [
            people.head(_MOST)[["annotator", "n", kind, f"{kind}_low", f"{kind}_high"]]
            .set_axis(["annotator", "n", "value", "low", "high"], axis=1)
            .assign(chance=kind)
            for kind in ("sensitivity", "specificity")
        ]
    )
    base = alt.Chart(shown).encode(
        y=alt.Y("annotator:N", title=None, sort=people["annotator"].tolist(), axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("chance:N"),
        color=alt.Color("chance:N", title=None, legend=legend_below(shown["chance"])),
    )
    return dots(base, "value", title="chance of the right label", floor=0.0)


def time_chart(table: pd.DataFrame, statistic: str = "Krippendorff's alpha") -> alt.LayerChart:
    """Draw a coefficient over time, with its interval as a band."""
    known = table[(table["statistic"] == statistic) & table["value"].notna()]
    base = alt.Chart(known).encode(x=alt.X("part:O", title=None, axis=alt.Axis(labelAngle=-40)))
    top = alt.Scale(domain=[min(0.0, _least(known["low"])), 1.0])
    band = base.mark_area(opacity=0.2, color=NEUTRAL).encode(y=alt.Y("low:Q", scale=top, title=statistic), y2="high:Q")
    line = base.mark_line(point=True, color=NEUTRAL).encode(
        y=alt.Y("value:Q", scale=top), tooltip=["part:O", "value:Q", "low:Q", "high:Q", "n:Q", "n_labels:Q"]
    )
    return cast(alt.LayerChart, (band + line).properties(width=_WIDTH, height=160))


def dots(base: alt.Chart, value: str, *, title: str | None = None, floor: float = 0.0) -> alt.LayerChart:
    """Draw a dot at the column `value` for each row of `base`, on a line from `low` to `high`."""
    scale = alt.Scale(domain=[floor, 1.0])
    lines = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", scale=scale, title=title, axis=alt.Axis(tickCount=5)), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70).encode(
        x=alt.X(f"{value}:Q", scale=scale, title=title),
        tooltip=[alt.Tooltip(f"{name}:Q", format=".3f") for name in (value, "low", "high")] + [alt.Tooltip("n:Q")],
    )
    return cast(alt.LayerChart, (lines + dots).properties(width=_WIDTH, height=alt.Step(_ROW)))


def _least(values: pd.Series) -> float:
    least = values.min()
    return 0.0 if pd.isna(least) else float(least)
