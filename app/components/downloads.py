"""Buttons that take a chart, or its data, away as a file."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from annotation.export import to_csv
from evaluation.chart_files import Chart, png, svg


def downloads(name: str, frame: pd.DataFrame, chart: Chart | None = None) -> None:
    """CSV of the data and, of a chart, SVG and PNG; each is made when it is asked for. `name` is that of the files."""
    made: dict[str, Callable[[], bytes]] = {"csv": partial(to_csv, frame)}
    if chart is not None:
        made |= {"svg": partial(svg, chart), "png": partial(png, chart)}
    with st.container(horizontal=True, gap="small"):
        for ending, make in made.items():
            st.download_button(
                ending.upper(),
                make,
                f"{name}.{ending}",
                key=f"download-{name}-{ending}",
                on_click="ignore",
                type="tertiary",
                icon=":material/download:",
            )
