"""Charts as files, drawn here: nothing is fetched."""

import json
from typing import Any

import altair as alt

Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.FacetChart
_SHARPNESS = 2.0


def svg(chart: Chart | dict[str, Any]) -> bytes:
    """The chart, or its Vega-Lite specification, as an SVG picture."""
    import vl_convert  # takes half a second to load, which only those who export should wait for

    return str(vl_convert.vegalite_to_svg(_specified(chart))).encode("utf-8")


def png(chart: Chart | dict[str, Any]) -> bytes:
    """The same as PNG, at twice the size it has on the page."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_specified(chart), scale=_SHARPNESS))


def _specified(chart: Chart | dict[str, Any]) -> str:
    return json.dumps(chart if isinstance(chart, dict) else chart.to_dict())
