"""The hole map on a page: what its colours say, the map, and what was clicked in it."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from berdseye.evaluation.failures.charts import PICKED, hole_chart, legend


def clickable_holes(
    frame: pd.DataFrame, k: int, told: str
) -> tuple[alt.Chart | alt.LayerChart, Mapping[str, Any] | None]:
    """Draw the map of first ranks; gives the chart and the clicked cell's row and place, if any. `told` is the map's name for
    screen readers."""
    said = "".join(f'<span><span style="color:{colour}">■</span> {text}</span>' for text, colour in legend(k))
    st.html(
        f'<div style="font-size:0.875rem; display:flex; flex-wrap:wrap; gap:0 1.25rem" aria-hidden="true">{said}</div>'
    )
    chart = hole_chart(frame, k)
    event = st.altair_chart(chart, on_select="rerun", selection_mode=PICKED, key="hole-map", width="content", alt=told)
    picked = event.selection.get(PICKED, [])
    return chart, picked[0] if picked else None
