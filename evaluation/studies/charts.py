"""Charts that several studies share."""

from collections.abc import Mapping
from typing import Literal, cast

import altair as alt
import pandas as pd

from berdseye.evaluation.charts import NEUTRAL, legend_below

_ROW, _WIDTH, _HEIGHT = 22, 460, 340


def dots(cells: pd.DataFrame, title: str, *, row: str, colour: str | None = None) -> alt.LayerChart:
    """Draw a dot at `value` and, with columns `low` and `high`, a line between them; one per row, or one per colour in each
    row."""
    base = alt.Chart(_plain(cells)).encode(y=alt.Y(f"{row}:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)))
    if colour is None:
        base = base.encode(color=alt.value(NEUTRAL))
    else:
        base = base.encode(
            color=alt.Color(f"{colour}:N", title=None, legend=legend_below(cells[colour])),
            yOffset=alt.YOffset(f"{colour}:N", sort=None),
        )
    scale = alt.Scale(zero=False)
    points = base.mark_point(filled=True, size=70).encode(
        x=alt.X("value:Q", title=title, scale=scale), tooltip=_tooltip_columns(cells)
    )
    layers: list[alt.Chart] = [points]
    if {"low", "high"} <= set(cells.columns):
        layers.insert(0, base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"))
    return cast(alt.LayerChart, alt.layer(*layers).properties(height=alt.Step(_ROW), width=_WIDTH))


def curves(cells: pd.DataFrame, *, x: str, x_title: str, y_title: str, colour: str) -> alt.LayerChart:
    """Draw one line per colour through `value`, with its interval as a band if the columns `low` and `high` exist."""
    base = alt.Chart(_plain(cells)).encode(
        x=alt.X(f"{x}:Q", title=x_title),
        color=alt.Color(f"{colour}:N", title=None, sort=None, legend=legend_below(cells[colour], symbolOpacity=1)),
    )
    scale = alt.Scale(zero=False)
    line = base.mark_line(point=True).encode(
        y=alt.Y("value:Q", title=y_title, scale=scale), tooltip=_tooltip_columns(cells)
    )
    layers = [line]
    if {"low", "high"} <= set(cells.columns):
        layers.insert(0, base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", scale=scale, title=y_title), y2="high:Q"))
    return cast(alt.LayerChart, alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT))


def stacked(cells: pd.DataFrame, title: str, *, row: str, colour: str, colours: Mapping[str, str]) -> alt.Chart:
    """Draw shares that add up to 100% as one stacked bar per row; `colours` maps the parts, in their order, to colours."""
    chart = (
        alt.Chart(_plain(cells))
        .mark_bar()
        .encode(
            y=alt.Y(f"{row}:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
            x=alt.X("value:Q", title=title, stack="zero"),
            color=alt.Color(
                f"{colour}:N",
                title=None,
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                legend=legend_below(colours),
            ),
            order=alt.Order("place:Q"),
            tooltip=_tooltip_columns(cells),
        )
    )
    return cast(alt.Chart, chart.properties(height=alt.Step(_ROW), width=_WIDTH))


def matrix(cells: pd.DataFrame, title: str, *, row: str, column: str, span: tuple[float, float] = (-1, 1)) -> alt.Chart:
    """Draw `value` of each row and column as a coloured cell, in the order of the rows; the colours cover `span`."""
    order = list(dict.fromkeys(cells[row]))
    scheme: Literal["redblue", "blues"] = "redblue" if span[0] < 0 else "blues"
    chart = (
        alt.Chart(_plain(cells), title=title)
        .mark_rect()
        .encode(
            alt.X(f"{column}:N", sort=order, title=None),
            alt.Y(f"{row}:N", sort=order, title=None),
            alt.Color("value:Q", title=None, scale=alt.Scale(domain=list(span), scheme=scheme)),
            tooltip=_tooltip_columns(cells),
        )
    )
    return cast(alt.Chart, chart)


def _plain(cells: pd.DataFrame) -> pd.DataFrame:
    """Drop rows without a value."""
    return cells[cells["value"].notna()]


def _tooltip_columns(cells: pd.DataFrame) -> list[str]:
    hidden = ("published", "detector_version", "detector version")
    return [] if cells.empty else [c for c in cells.columns if c not in hidden]  # Altair infers types from values
