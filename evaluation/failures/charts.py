"""Charts of holes: the hole map, and the number of holes by reason."""

import json
from typing import Any, Final, cast

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.evaluation.charts import CATEGORIES, NEUTRAL, SEQUENTIAL, legend_below
from berdseye.evaluation.failures.reasons import REASONS

HOLE_COLOUR: Final = CATEGORIES[1]
_FEW = 40
_LINE, _COLUMN = 24, 44
_CELL, _GAP, _OVERVIEW_WIDTH = 9, 1, 936
_TITLE_ROWS = 1
_CUT = "\u2063"  # an invisible separator that is valid in XML, and so in SVG
_TOOLTIP = ["question", "perspective", "rank"]
PICKED: Final = "picked"
"""The name of the selection parameter that holds the clicked cell."""


def hole_chart(holes: pd.DataFrame, k: int) -> alt.Chart | alt.LayerChart:
    """Draw the hole map: up to 40 questions with one line each, with texts and ranks; more questions as small cells without text.

    `holes` is a frame of `hole_map`, or a part of one, with the questions in the order of its rows; frames of several corpora
    carry a column `corpus`. Covered cells are darker for earlier ranks; holes are orange, and paler where a passage below rank k
    covers the perspective. A click selects a cell (`PICKED`, with the fields row, place and, if the column exists, corpus).
    """
    few = holes["row"].nunique() <= _FEW
    return _text_map(holes, k) if few else _overview(holes, k)


def _text_map(holes: pd.DataFrame, k: int) -> alt.LayerChart:
    corpora = holes["corpus"] if "corpus" in holes else pd.Series("", index=holes.index)
    place = "P" + holes["place"].astype(str)
    frame = pd.DataFrame(
        {
            # The row number distinguishes questions with equal texts; the axis label drops it.
            "line": holes["row"].astype(str) + _CUT + holes["question"],
            "column": corpora + _CUT + place,
            "label": holes["rank"].map(lambda rank: "–" if np.isnan(rank) else f"{rank:.0f}"),
            "ink": [_ink(colour) for colour in _colours(holes, k)],
            **_shared(holes, k),
        }
    )
    widths = holes.groupby(corpora.to_numpy(), sort=False)["place"].max()
    columns = [f"{corpus}{_CUT}P{n}" for corpus, most in widths.items() for n in range(1, int(most) + 1)]
    parts = f"split(datum.label, '{_CUT}')"
    # The name of a corpus is above its first column.
    column_label = f"[{parts}[1] == 'P1' ? {parts}[0] : '', {parts}[1]]" if "corpus" in holes else f"{parts}[1]"
    top_axis = alt.Axis(
        orient="top",
        labelExpr=column_label,
        labelAngle=0,
        labelAlign="left" if "corpus" in holes else "center",
        labelOffset=4 - _COLUMN // 2 if "corpus" in holes else 0,
        labelOverlap=False,
        title=None,
        ticks=False,
        domain=False,
    )
    axis = alt.Axis(labelExpr=f"{parts}[1]", labelLimit=520, title=None, ticks=False, domain=False)
    base = alt.Chart(frame).encode(
        x=alt.X("column:N", sort=columns, scale=alt.Scale(domain=columns), axis=top_axis),
        y=alt.Y("line:N", sort=None, axis=axis),
        tooltip=_tooltip_columns(holes),
    )
    cells = _pickable(base.mark_rect(cursor="pointer", cornerRadius=2, stroke="transparent", strokeWidth=3), holes)
    ranks = base.mark_text(fontSize=12).encode(text="label:N", color=alt.Color("ink:N", scale=None))
    return cast(alt.LayerChart, (cells + ranks).properties(width=alt.Step(_COLUMN), height=alt.Step(_LINE)))


def _overview(holes: pd.DataFrame, k: int) -> alt.Chart:
    """Draw questions from left to right in several lines, their perspectives below each other, and one block per corpus."""
    order = {row: number for number, row in enumerate(dict.fromkeys(holes["row"].tolist()))}
    tallest = int(holes["place"].max())
    across = _OVERVIEW_WIDTH // _CELL
    number = holes["row"].map(order)
    blocks: list[str] = list(dict.fromkeys(holes["corpus"])) if "corpus" in holes else []
    tall = -(-len(order) // across) * (tallest + 1) + _TITLE_ROWS
    top = holes["corpus"].map({corpus: n * tall + _TITLE_ROWS for n, corpus in enumerate(blocks)}) if blocks else 0
    frame = pd.DataFrame(
        {
            "x": number % across,
            "y": top + (number // across) * (tallest + 1) + holes["place"] - 1,
            **_shared(holes, k),
        }
    )
    none = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    lines = int(frame["y"].max()) + 1
    cells = (
        alt.Chart(frame)
        .mark_rect(width=_CELL - _GAP, height=_CELL - _GAP, cursor="pointer", strokeWidth=3)
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(domain=[-0.5, across - 0.5], nice=False), axis=none),
            y=alt.Y("y:Q", scale=alt.Scale(domain=[lines - 0.5, -0.5], nice=False), axis=_block_names(blocks, tall)),
            tooltip=_tooltip_columns(holes),
        )
    )
    return _pickable(cells, holes).properties(width=across * _CELL, height=lines * _CELL)


def _block_names(blocks: list[str], tall: int) -> alt.Axis:
    """Return an axis that labels the start of each corpus's block."""
    if not blocks:
        return alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    names = json.dumps({str(n * tall + _TITLE_ROWS): corpus for n, corpus in enumerate(blocks)})
    return alt.Axis(
        values=[n * tall + _TITLE_ROWS for n in range(len(blocks))],
        labelExpr=f"{names}[datum.value]",
        labelLimit=160,
        labelBaseline="top",
        ticks=False,
        grid=False,
        domain=False,
        title=None,
    )


def _tooltip_columns(holes: pd.DataFrame) -> list[str]:
    return [*(("corpus",) if "corpus" in holes else ()), *_TOOLTIP]


def _ink(colour: str) -> str:
    """Return white or black: the colour of text that has the higher contrast (WCAG 2.1) to a cell of this colour, `#rrggbb`."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    luminance = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"


def _shared(holes: pd.DataFrame, k: int) -> dict[str, object]:
    return {"colour": _colours(holes, k), **{name: holes[name] for name in ("row", "place", *_tooltip_columns(holes))}}


def _pickable(chart: alt.Chart, holes: pd.DataFrame) -> alt.Chart:
    fields = ["row", "place", *(("corpus",) if "corpus" in holes else ())]
    picked = alt.selection_point(name=PICKED, fields=fields, toggle=False, empty=False)
    ring = alt.condition(picked, alt.value(CATEGORIES[3]), alt.value("transparent"))
    return chart.encode(color=alt.Color("colour:N", scale=None), stroke=ring).add_params(picked)


def legend(k: int) -> list[tuple[str, str]]:
    """Return the legend of `hole_chart`: pairs of a description and a colour."""
    return [
        ("rank 1", _covered(np.array([1]), k)[0]),
        (f"rank {k}", _covered(np.array([k]), k)[0]),
        (f"hole, covered below {k}", _pale(HOLE_COLOUR)),
        ("hole, not in this run", HOLE_COLOUR),
    ]


def reason_bars(holes: pd.DataFrame, *, row: str) -> alt.Chart:
    """Draw a bar of holes by reason for each value of the column `row`; reasons are in the order in which the rules apply."""
    counts = holes.groupby([row, "reason"], sort=False).size().rename("holes").reset_index()
    colours = [*CATEGORIES[2 : 2 + len(REASONS) - 2], NEUTRAL, HOLE_COLOUR]
    return cast(
        alt.Chart,
        alt.Chart(counts)
        .mark_bar()
        .encode(
            y=alt.Y(f"{row}:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
            x=alt.X("holes:Q", title="holes", axis=alt.Axis(format="d", tickMinStep=1)),
            color=alt.Color(
                "reason:N",
                title=None,
                sort=list(REASONS),
                legend=legend_below(REASONS),
                scale=alt.Scale(domain=list(REASONS), range=colours),
            ),
            order=alt.Order("place:Q"),
            tooltip=[row, "reason", "holes"],
        )
        .transform_calculate(place=f"indexof({list(REASONS)}, datum.reason)")
        .properties(height=alt.Step(26)),
    )


def _colours(holes: pd.DataFrame, k: int) -> list[str]:
    ranks = holes["rank"].to_numpy(dtype=np.float64)
    colours = np.where(np.isnan(ranks), HOLE_COLOUR, _pale(HOLE_COLOUR)).astype(object)
    covered = ~holes["hole"].to_numpy(dtype=bool)
    colours[covered] = _covered(ranks[covered], k)
    return [str(colour) for colour in colours]


def _covered(ranks: npt.NDArray[Any], k: int) -> list[str]:
    shades = SEQUENTIAL[3:8]
    places = np.clip((len(shades) * (k - ranks) / max(k - 1, 1)).astype(int), 0, len(shades) - 1)
    return [shades[place] for place in places]


def _pale(colour: str) -> str:
    """Return a colour mixed half with white."""
    return "#" + "".join(f"{(int(colour[i : i + 2], 16) + 255) // 2:02x}" for i in (1, 3, 5))
