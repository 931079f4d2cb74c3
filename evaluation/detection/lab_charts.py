"""Charts of the detector lab."""

from typing import Final, cast

import altair as alt
import numpy as np
import pandas as pd

from berdseye.evaluation.charts import CATEGORIES, NEUTRAL

_SIDE, _WIDTH, _HEIGHT, _STRIP = 320, 420, 320, 70
_ROW = 26
_DRAWN = 2_000
FIGURE_COLOURS: Final = {"precision": CATEGORIES[0], "recall": CATEGORIES[1], "f1": CATEGORIES[2]}
_SHARE = alt.Scale(domain=[0, 1])
_PERCENT = alt.Axis(format=".0%", tickCount=5)


def reliability_chart(bins: pd.DataFrame) -> alt.VConcatChart:
    """Draw the share of supporting pairs against the probability, one dot with its interval per bin, and the pairs of each bin.

    `bins` is that of `calibration`; the dashed line is perfect calibration.
    """
    line = (
        alt.Chart(pd.DataFrame({"p": [0.0, 1.0]})).mark_line(strokeDash=[4, 4], color=NEUTRAL).encode(x="p:Q", y="p:Q")
    )
    x = alt.X("probability:Q", scale=_SHARE, title="probability by the detector (mean of the bin)")
    tooltip = [
        alt.Tooltip(name, format=".3f") if name not in ("n", "questions") else alt.Tooltip(name)
        for name in ("from", "to", "n", "questions", "probability", "share", "low", "high")
    ]
    base = alt.Chart(bins).encode(tooltip=tooltip)
    rules = base.mark_rule(strokeWidth=2, color=CATEGORIES[0]).encode(x=x, y=alt.Y("low:Q", scale=_SHARE), y2="high:Q")
    dots = base.mark_point(filled=True, size=70, color=CATEGORIES[0]).encode(
        x=x, y=alt.Y("share:Q", scale=_SHARE, axis=_PERCENT, title="share of supporting pairs, by the labels")
    )
    counts = base.mark_rect(color=NEUTRAL, stroke="transparent").encode(
        x=alt.X("from:Q", scale=_SHARE, title=None),
        x2="to:Q",
        y=alt.Y("n:Q", title="pairs", axis=alt.Axis(tickCount=3)),
        y2=alt.datum(0),
    )
    return alt.vconcat(
        (line + rules + dots).properties(width=_SIDE, height=_SIDE), counts.properties(width=_SIDE, height=_STRIP)
    )


def precision_recall_chart(curve: pd.DataFrame, threshold: float, precision: float, recall: float) -> alt.LayerChart:
    """Draw precision against recall at every threshold, with a dot at the chosen one; `curve` comes from `precision_recall`."""
    base = alt.Chart(curve).encode(
        x=alt.X("recall:Q", scale=_SHARE, axis=_PERCENT),
        y=alt.Y("precision:Q", scale=_SHARE, axis=_PERCENT),
        order="threshold:Q",
    )
    line = base.mark_line(color=CATEGORIES[0], interpolate="step-after").encode(
        tooltip=[
            alt.Tooltip("threshold", format=".4f"),
            *(alt.Tooltip(name, format=".1%") for name in ("precision", "recall", "f1")),
        ]
    )
    chosen = pd.DataFrame({"recall": [recall], "precision": [precision], "threshold": [threshold]}).dropna()
    dot = (
        alt.Chart(chosen)
        .mark_point(filled=True, size=120, color=CATEGORIES[1])
        .encode(x="recall:Q", y="precision:Q", tooltip=[alt.Tooltip("threshold", format=".4f")])
    )
    return cast(alt.LayerChart, (line + dot).properties(width=_WIDTH, height=_HEIGHT))


def threshold_chart(curves: pd.DataFrame, threshold: float) -> alt.LayerChart:
    """Draw each column of `curves` against the column `threshold`, with a vertical line at the chosen threshold."""
    names = [str(name) for name in curves.columns if name != "threshold"]
    colours = [FIGURE_COLOURS.get(name, CATEGORIES[3 + place]) for place, name in enumerate(names)]
    long = curves.melt("threshold", var_name="figure", value_name="value").dropna()
    lines = (
        alt.Chart(long)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("threshold:Q", scale=_SHARE),
            y=alt.Y("value:Q", scale=_SHARE, title=None, axis=_PERCENT),
            color=alt.Color(
                "figure:N",
                title=None,
                sort=names,
                scale=alt.Scale(domain=names, range=colours),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=["figure:N", alt.Tooltip("threshold:Q", format=".4f"), alt.Tooltip("value:Q", format=".1%")],
        )
    )
    chosen = (
        alt.Chart(pd.DataFrame({"threshold": [threshold]}))
        .mark_rule(strokeWidth=2, color=NEUTRAL)
        .encode(x="threshold:Q")
    )
    return cast(alt.LayerChart, (chosen + lines).properties(width=_WIDTH, height=_HEIGHT))


def figures_chart(confusion: pd.DataFrame) -> alt.LayerChart:
    """Draw precision and recall of each value of `confusion_by`, with their intervals."""
    rows = [
        {
            "value": row["value"],
            "figure": name,
            "share": row[name],
            "low": row[f"{name}_low"],
            "high": row[f"{name}_high"],
            "n": row["n"],
        }
        for row in confusion.to_dict("records")
        for name in ("precision", "recall")
    ]
    frame = pd.DataFrame(rows).dropna(subset=["share"])
    colours = alt.Scale(domain=["precision", "recall"], range=[FIGURE_COLOURS["precision"], FIGURE_COLOURS["recall"]])
    base = alt.Chart(frame).encode(
        y=alt.Y("value:N", sort=None, title=None),
        yOffset=alt.YOffset("figure:N"),
        color=alt.Color("figure:N", scale=colours, title=None, legend=alt.Legend(orient="top")),
        tooltip=["value", "figure", "n", *(alt.Tooltip(name, format=".1%") for name in ("share", "low", "high"))],
    )
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=_SHARE, title=None, axis=_PERCENT), x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(x=alt.X("share:Q", scale=_SHARE))
    return cast(alt.LayerChart, (rules + dots).properties(width=_WIDTH, height=alt.Step(_ROW)))


def two_probabilities_chart(frame: pd.DataFrame, a: tuple[str, float], b: tuple[str, float]) -> alt.LayerChart:
    """Draw the probabilities of two detectors against each other, one dot per pair (at most 2,000, evenly spaced), with
    thresholds.

    `frame` has the columns a, b and supports; `a` and `b` are the names of the detectors and their thresholds.
    """
    kept = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, min(_DRAWN, len(frame))).astype(np.int64))]
    shown = kept.assign(label=np.where(kept["supports"], "supports", "does not"))
    colours = alt.Scale(domain=["supports", "does not"], range=[CATEGORIES[0], CATEGORIES[1]])
    dots = (
        alt.Chart(shown[["a", "b", "label"]])
        .mark_point(filled=True, size=30, opacity=0.6)
        .encode(
            x=alt.X("a:Q", scale=_SHARE, title=a[0]),
            y=alt.Y("b:Q", scale=_SHARE, title=b[0]),
            color=alt.Color("label:N", scale=colours, title="by the labels", legend=alt.Legend(orient="top")),
            shape=alt.Shape("label:N", legend=None),
            tooltip=["label", alt.Tooltip("a", format=".3f"), alt.Tooltip("b", format=".3f")],
        )
    )
    rule = alt.Chart().mark_rule(strokeDash=[4, 4], color=NEUTRAL)
    across = rule.properties(data=alt.InlineData([{"b": b[1]}])).encode(y="b:Q")
    upright = rule.properties(data=alt.InlineData([{"a": a[1]}])).encode(x="a:Q")
    return cast(alt.LayerChart, (across + upright + dots).properties(width=_SIDE, height=_SIDE))
