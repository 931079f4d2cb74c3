"""Charts that compare two runs: the differences by question and, for one question, how passages move between the rankings."""

import json
from collections.abc import Hashable, Sequence
from typing import Final, Literal, cast

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.records import Passage
from berdseye.evaluation.charts import CATEGORIES, NEUTRAL, perspective_colour
from berdseye.evaluation.failures.contrast import LOSS, TIE, WIN
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.measures.shown import DIFFERENCE_NAMES, FACTORS

OUTCOME_COLOURS: Final = {WIN: CATEGORIES[0], TIE: NEUTRAL, LOSS: CATEGORIES[1]}
_FEW_VALUES, _BINS, _FEW_TICKS = 25, 20, 10
_LEAST_REACH, _WIDEST = 0.25, 0.2
_ROW, _WIDTH = 26, 720
_BAR, _NARROW, _WIDE, _HEIGHT, _TICKS = 34, 280, 640, 220, 7
_TITLE, _LABEL = 40, 170
_DOT = 0.06
RISES, FALLS = CATEGORIES[2], CATEGORIES[3]


def names_of(passages: Sequence[Passage], *, by_text: bool) -> list[Hashable]:
    """Return keys that identify the passages of a ranking in another ranking: their ids or, across two corpora, their texts.

    The key of a text includes its number of occurrence, so that equal passages of one ranking have different keys.
    """
    if not by_text:
        return [p.id for p in passages]
    seen: dict[str, int] = {}
    names: list[Hashable] = []
    for passage in passages:
        text = " ".join(passage.text.split())
        seen[text] = seen.get(text, 0) + 1
        names.append((text, seen[text]))
    return names


def rank_moves(first: Sequence[Hashable], second: Sequence[Hashable]) -> pd.DataFrame:
    """Return the rank of each passage in two rankings of one question; both list the keys of passages, best first.

    Columns: passage, first, second (ranks from 1, NaN if a ranking lacks the passage).
    """
    places: dict[Hashable, dict[str, float]] = {}
    for column, ranked in (("first", first), ("second", second)):
        for rank, passage in enumerate(ranked, start=1):
            places.setdefault(passage, {})[column] = rank
    rows = [
        {"passage": p, "first": at.get("first", np.nan), "second": at.get("second", np.nan)} for p, at in places.items()
    ]
    return pd.DataFrame(rows, columns=["passage", "first", "second"])


def difference_bars(questions: pd.DataFrame, measure: Measure, names: tuple[str, str]) -> alt.Chart:
    """Draw a histogram of the differences (second minus first) by question; `questions` is that table of a contrast. Wins of the
    second run are blue, its losses orange. Differences of shares are in points. The chart is as wide as its bars need."""
    known = questions[questions["difference"].notna()]
    values: npt.NDArray[np.float64] = known["difference"].to_numpy(dtype=np.float64).round(6)
    width = 0.1
    if len(np.unique(values)) > _FEW_VALUES:
        # Zero is an edge of bins, so that no bin holds both wins and losses.
        width = 2 * float(np.abs(values).max()) / _BINS
        values = np.where(values == 0, 0.0, np.sign(values) * (np.ceil(np.abs(values) / width) - 0.5) * width).round(6)
    elif len(np.unique(values)) > 1:
        width = min(float(np.diff(np.unique(values)).min()), _WIDEST)
    reach = max(float(np.abs(values).max(initial=0.0)), _LEAST_REACH) + width / 2
    across = int(np.clip(_BAR * 2 * reach / width, _NARROW, _WIDE))
    factor = FACTORS[measure.unit]
    values, width, reach = (factor * values).round(6), factor * width, factor * reach
    counts = (
        pd.DataFrame({"difference": values, "outcome": known["outcome"].to_numpy()})
        .groupby(["difference", "outcome"])
        .size()
        .rename("questions")
        .reset_index()
    )
    counts["from"], counts["to"] = counts["difference"] - 0.42 * width, counts["difference"] + 0.42 * width
    legend = {WIN: f"{names[1]} wins", TIE: "tie", LOSS: f"{names[1]} loses"}
    outcome = alt.Color(
        "outcome:N",
        title=None,
        legend=alt.Legend(orient="top", labelExpr=f"{json.dumps(legend)}[datum.label]", labelLimit=260),
        scale=alt.Scale(domain=list(OUTCOME_COLOURS), range=list(OUTCOME_COLOURS.values())),
    )
    most = int(counts["questions"].max()) if len(counts) else 0
    ticks = alt.Axis(format="d", values=list(range(most + 1))) if most <= _FEW_TICKS else alt.Axis(format="d")
    title = f"{measure}: {names[1]} minus {names[0]}, {DIFFERENCE_NAMES[measure.unit]}"
    return cast(
        alt.Chart,
        alt.Chart(counts)
        .mark_rect()
        .encode(
            x=alt.X(
                "from:Q",
                title=title,
                scale=alt.Scale(domain=[-reach, reach], nice=False),
                axis=alt.Axis(titleLimit=620, tickCount=_TICKS),
            ),
            x2="to:Q",
            y=alt.Y("questions:Q", title="questions", axis=ticks),
            y2=alt.datum(0),
            color=outcome,
            tooltip=[alt.Tooltip("difference:Q", format="+.1f"), "outcome", "questions"],
        )
        .properties(width=across, height=_HEIGHT),
    )


def slope_chart(moves: pd.DataFrame, depth: int) -> alt.LayerChart:
    """Draw lines between two rankings of one question down to rank `depth`: green if a passage rises, purple if it falls.

    `moves` has the columns of `rank_moves`, title, and supports (a tuple with the places, from 0, of the perspectives that the
    passage supports); each of these perspectives is a dot in its colour beside the passage. A dashed line leads to the bottom if
    the other ranking has the passage below `depth`; a passage that the other ranking lacks has no line.
    """
    below = depth + 1
    shown = moves[(moves["first"] <= depth) | (moves["second"] <= depth)]
    widest = max((len(s) for s in shown["supports"]), default=0)
    margin = _DOT * (widest + 1)
    x = alt.X("x:Q", scale=alt.Scale(domain=[-margin, 1 + margin], nice=False, zero=False), axis=None)
    y = alt.Scale(domain=[below + 0.5, 0.5], nice=False)
    axes = {"first": _axis(shown, "first", depth, "left"), "second": _axis(shown, "second", depth, "right")}
    tooltip = [alt.Tooltip("title:N", title="passage"), "first:Q", "second:Q"]
    lines = shown.dropna(subset=["first", "second"])
    step = lines["first"] - lines["second"]
    lines = lines.assign(
        x=0.0,
        x2=1.0,
        y=lines["first"].clip(upper=below),
        y2=lines["second"].clip(upper=below),
        colour=np.select([step > 0, step < 0], [RISES, FALLS], default=NEUTRAL),
        below=(lines["first"] > depth) | (lines["second"] > depth),
    ).drop(columns=["supports", "passage"])
    rules = (
        alt.Chart(lines)
        .mark_rule(strokeWidth=2.5)
        .encode(
            x=x,
            x2="x2:Q",
            y=alt.Y("y:Q", scale=y, axis=None),
            y2="y2:Q",
            color=alt.Color("colour:N", scale=None),
            strokeDash=alt.condition("datum.below", alt.value([4, 4]), alt.value([1, 0])),
            tooltip=tooltip,
        )
    )
    layers: list[alt.Chart] = [rules]
    for column, other, at in (("first", "second", 0.0), ("second", "first", 1.0)):
        ranked = shown[shown[column] <= depth]
        ends = ranked.assign(x=at, y=ranked[column], alone=ranked[other].isna()).drop(columns=["supports", "passage"])
        layers.append(
            alt.Chart(ends)
            .mark_point(size=50, opacity=1, stroke=NEUTRAL)
            .encode(
                x=x,
                y=alt.Y("y:Q", scale=y, axis=axes[column]),
                fill=alt.condition("datum.alone", alt.value("transparent"), alt.value(NEUTRAL)),
                tooltip=tooltip,
            )
        )
    dots = (
        alt.Chart(_dots(shown, depth))
        .mark_circle(size=70, opacity=1)
        .encode(
            x=x,
            y=alt.Y("y:Q", scale=y, axis=None),
            color=alt.Color("colour:N", scale=None),
            tooltip="perspective:N",
        )
    )
    chart = alt.layer(*layers, dots).resolve_axis(y="independent")
    return cast(alt.LayerChart, chart.properties(width=_WIDTH, height=_ROW * below))


def _axis(moves: pd.DataFrame, column: str, depth: int, orient: Literal["left", "right"]) -> alt.Axis:
    """Return an axis of ranks and titles beside the dots."""
    titles = [""] * depth
    for rank, title in zip(moves[column], moves["title"], strict=True):
        if rank <= depth:
            titles[int(rank) - 1] = str(title) or "untitled"
    labels = json.dumps([t if len(t) <= _TITLE else t[: _TITLE - 1] + "…" for t in titles])
    return alt.Axis(
        orient=orient,
        values=list(range(1, depth + 2)),
        labelExpr=f"datum.value > {depth} ? 'below' : datum.value + '. ' + {labels}[datum.value - 1]",
        labelLimit=_LABEL,
        labelOverlap=False,
        title=None,
        ticks=False,
        grid=False,
        domain=False,
    )


def _dots(shown: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return one row for each perspective that a passage supports; dots of one passage are side by side."""
    rows = [
        {
            "x": -_DOT * (nth + 1) if column == "first" else 1 + _DOT * (nth + 1),
            "y": rank,
            "perspective": f"P{place + 1}",
            "colour": perspective_colour(place),
        }
        for column in ("first", "second")
        for rank, supports in zip(shown[column], shown["supports"], strict=True)
        if rank <= depth
        for nth, place in enumerate(supports)
    ]
    return pd.DataFrame(rows, columns=["x", "y", "perspective", "colour"])
