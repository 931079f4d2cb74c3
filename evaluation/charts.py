"""Charts as files, drawn here: nothing is fetched.

The colours of every chart, on pages and in files: told apart by colour-blind people, and seen on light and dark grounds.

`app/.streamlit/config.toml` has the same ones for what Streamlit colours by itself.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt

from berdseye.data.errors import BadInputError
from berdseye.data.extras import needing, require

CATEGORIES = ("#2a78b8", "#d55e00", "#12936c", "#c0609b", "#a87808", "#7f6fd0", "#3a94c9", "#b0413e")
"""After Okabe and Ito's palette, its light ones darkened: each at least 3:1 against white and against the dark page."""
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


def perspective_colour(place: int) -> str:
    """The colour of a question's perspective (0 the first), the same wherever it is drawn."""
    return CATEGORIES[place % len(CATEGORIES)]


@alt.theme.register("berdseye", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return alt.theme.ThemeConfig(
        config={
            "range": {"category": list(CATEGORIES), "ramp": list(SEQUENTIAL), "diverging": list(DIVERGING)},
            "view": {"stroke": "transparent"},
            "axis": {"labelLimit": 320, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
            # The first and last name of a list stand beside their rows, as all others do.
            "axisY": {"labelFlush": False},
            "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
        }
    )


Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.FacetChart
_SHARPNESS = 2.0
# What XML does not allow: one such sign in a text ends the library that draws, and the whole process with it.
_NOT_DRAWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Vega makes functions of its expressions.
_INSIDE = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"


def svg(chart: Chart | dict[str, Any]) -> bytes:
    """The chart, or its Vega-Lite specification, as an SVG picture."""
    with needing("A picture of a chart"):
        import vl_convert  # takes half a second to load, which only those who export should wait for

    return str(vl_convert.vegalite_to_svg(_specified(chart))).encode("utf-8")


def png(chart: Chart | dict[str, Any]) -> bytes:
    """The same as PNG, at twice the size it has on the page."""
    with needing("A picture of a chart"):
        import vl_convert

    return bytes(vl_convert.vegalite_to_png(_specified(chart), scale=_SHARPNESS))


def html(chart: Chart) -> bytes:
    """A page with the chart as one moves about in it: what draws it is inside, and the browser is told to load nothing."""
    require("A page with a chart", "vl_convert")
    page: str = chart.to_html(inline=True, embed_options={"actions": False}, json_kwds={"cls": _Inert})
    return page.replace(
        "<head>", f'<head>\n  <meta http-equiv="Content-Security-Policy" content="{_INSIDE}">', 1
    ).encode()


def drawer(path: Path) -> Callable[[Chart], bytes]:
    """What makes the file that a name asks for; raises `BadInputError` for an ending that has none."""
    known: dict[str, Callable[[Chart], bytes]] = {".svg": svg, ".png": png, ".html": html}
    if path.suffix.lower() not in known:
        raise BadInputError(f"Cannot draw into '{path.suffix}' files.", where=path, hint=f"Use {', '.join(known)}.")
    return known[path.suffix.lower()]


class _Inert(json.JSONEncoder):
    """JSON that ends no script, whatever the texts in it say."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


def _specified(chart: Chart | dict[str, Any]) -> str:
    return json.dumps(_drawable(chart if isinstance(chart, dict) else chart.to_dict()))


def _drawable(value: Any) -> Any:
    """A specification, its texts without signs that cannot be drawn."""
    if isinstance(value, str):
        return _NOT_DRAWN.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_drawable(key): _drawable(one) for key, one in value.items()}
    return [_drawable(one) for one in value] if isinstance(value, list | tuple) else value
