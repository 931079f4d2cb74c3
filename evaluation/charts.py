"""The theme of all charts, and charts as files, which are rendered locally, without loading anything.

The colours can be distinguished by colour-blind people and are visible on light and dark backgrounds.
`app/.streamlit/config.toml` repeats them for the elements that Streamlit colours itself.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import altair as alt

from berdseye.data.errors import BadInputError
from berdseye.data.extras import needing, require

CATEGORIES = ("#2a78b8", "#d55e00", "#12936c", "#c0609b", "#a87808", "#7f6fd0", "#3a94c9", "#b0413e")
"""Based on Okabe and Ito's palette, with its light colours darkened: each has a contrast of at least 3:1 to white and to the dark
page."""
NEUTRAL = "#8a94a0"
STANCE_COLOURS = {"supporting": CATEGORIES[0], "opposing": CATEGORIES[1], "none": NEUTRAL}
SEQUENTIAL = (
    "#e3eef8",
    "#c3dbef",
    "#9dc4e4",
    "#74abd7",
    "#4d92c8",
    "#2a78b8",
    "#1c5f99",
    "#124878",
    "#0a3358",
    "#061f38",
)
DIVERGING = (
    "#a84700", "#d55e00", "#e58b45", "#f0b78a", "#f8dfcb", "#d3e4f2", "#9dc4e4", "#5c9fd0", "#2a78b8", "#1c5f99",
)  # fmt: skip
Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.FacetChart
_SHARPNESS = 2.0
_SYMBOL, _LEAST_LIMIT = 28, 160
"""Pixels in a legend: beside a label (its symbol, and the distance to the next one), and what every label may have."""
# Characters that XML does not allow: a single one makes the rendering library abort the whole process.
_NOT_DRAWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# 'unsafe-eval': Vega compiles its expressions to functions.
_INSIDE = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"


def perspective_colour(place: int) -> str:
    """Return the colour of a question's perspective (0: the first), which is equal in all charts."""
    return CATEGORIES[place % len(CATEGORIES)]


@alt.theme.register("berdseye", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return alt.theme.ThemeConfig(
        config={
            "range": {"category": list(CATEGORIES), "ramp": list(SEQUENTIAL), "diverging": list(DIVERGING)},
            "view": {"stroke": "transparent"},
            "axis": {"labelLimit": 320, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
            # However wide a chart is: labels for every twentieth of an axis are noise.
            "axisQuantitative": {"tickCount": 5},
            # Align the first and the last label with their rows, like all others.
            "axisY": {"labelFlush": False},
            "legend": {
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                # Two legends of a chart stand one below the other, since each has columns for the whole width.
                "layout": {"bottom": {"direction": "vertical"}},
            },
        }
    )


def legend_below(labels: Iterable[object], **options: Any) -> alt.Legend:
    """Return a legend below its chart, with as many columns as its width has room for; a label that is too long for it is cut.

    On a telephone it usually has one column. In concatenated charts, whose widths Vega does not tell apart, it always has one.
    `options` are those of `alt.Legend`.
    """
    longest = _SYMBOL + max((sum(map(_pixels, str(label))) for label in labels), default=0)
    columns = f"max(1, floor(width / {longest}))"
    limit = alt.ExprRef(f"max({_LEAST_LIMIT}, floor(width / {columns}) - {_SYMBOL})")
    return alt.Legend(orient="bottom", columns=alt.ExprRef(columns), labelLimit=limit, **options)


def _pixels(character: str) -> int:
    """Return a little more than the width of a character in a legend."""
    if unicodedata.east_asian_width(character) in "WF" or character in "MWmw@%—":
        return 12
    return 9 if character.isupper() else 7


def svg(chart: Chart | dict[str, Any]) -> bytes:
    """Render a chart or its Vega-Lite specification as SVG."""
    with needing("A picture of a chart"):
        import vl_convert  # takes half a second to import, so it is imported only for exports

    return str(vl_convert.vegalite_to_svg(_specified(chart))).encode("utf-8")


def png(chart: Chart | dict[str, Any]) -> bytes:
    """Render a chart or its Vega-Lite specification as PNG, at twice its size on the page."""
    with needing("A picture of a chart"):
        import vl_convert

    return bytes(vl_convert.vegalite_to_png(_specified(chart), scale=_SHARPNESS))


def html(chart: Chart) -> bytes:
    """Render an interactive page with the chart; the page includes its scripts and forbids the browser to load anything."""
    require("A page with a chart", "vl_convert")
    page: str = chart.to_html(inline=True, embed_options={"actions": False}, json_kwds={"cls": _Inert})
    return page.replace(
        "<head>", f'<head>\n  <meta http-equiv="Content-Security-Policy" content="{_INSIDE}">', 1
    ).encode()


def drawer(path: Path) -> Callable[[Chart], bytes]:
    """Return the function that renders charts for the extension of a file; raises `BadInputError` for other extensions."""
    functions: dict[str, Callable[[Chart], bytes]] = {".svg": svg, ".png": png, ".html": html}
    if path.suffix.lower() not in functions:
        raise BadInputError(
            f"Charts cannot be saved as '{path.suffix}' files.", where=path, hint=f"Use {', '.join(functions)}."
        )
    return functions[path.suffix.lower()]


class _Inert(json.JSONEncoder):
    """JSON that cannot end a script element, whatever texts it contains."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


def _specified(chart: Chart | dict[str, Any]) -> str:
    return json.dumps(_drawable(chart if isinstance(chart, dict) else chart.to_dict()))


def _drawable(value: Any) -> Any:
    """Replace characters that cannot be rendered in the texts of a specification."""
    if isinstance(value, str):
        return _NOT_DRAWN.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_drawable(key): _drawable(one) for key, one in value.items()}
    return [_drawable(one) for one in value] if isinstance(value, list | tuple) else value
