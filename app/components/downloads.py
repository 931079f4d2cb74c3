"""Download buttons: the only way in which pages offer files, and the standard set of files of a chart and its data."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from berdseye.app.access.session import people, started_by, workspace
from berdseye.app.serving.gate import MADE
from berdseye.data.files.tables import to_csv
from berdseye.data.people import folded_email
from berdseye.evaluation.charts import Chart, png, svg


def download(
    label: str,
    make: Callable[[], bytes],
    file_name: str,
    *,
    key: str,
    icon: str = ":material/download:",
    kind: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """Draw a download button. Berdseye writes the file when the button is pressed; in team mode only that person can
    fetch it."""
    st.download_button(
        label,
        _for_this_person(make) if people().team else make,
        file_name,
        key=key,
        icon=icon,
        on_click="ignore",
        type=kind,
    )


def downloads(
    name: str, frame: pd.DataFrame, chart: Chart | None = None, *, latex: Callable[[], str] | None = None
) -> None:
    """Draw buttons for the data as CSV, the chart as SVG and PNG, and a LaTeX table. Each file is written on request; `name` is
    its stem."""
    makers: dict[str, Callable[[], bytes]] = {"csv": partial(to_csv, frame)}
    if latex is not None:
        makers["tex"] = lambda: latex().encode()
    if chart is not None:
        makers |= {"svg": partial(svg, chart), "png": partial(png, chart)}
    with st.container(horizontal=True, gap="small"):
        for ending, make in makers.items():
            download(ending.upper(), make, f"{name}.{ending}", key=f"download-{name}-{ending}", kind="tertiary")


def _for_this_person(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Wrap `make` so that it runs as the person who sees the button, only while they may see the page, and so that only they
    can fetch the file.

    Streamlit calls `make` in a thread without a session, in which nobody would be signed in.
    """
    drawn, email = get_script_run_ctx(), folded_email(started_by())

    def permitted() -> bytes:
        workspace()  # raises an error if this person may no longer see the page
        return make()

    def make_for_person() -> bytes:
        def be_in_session() -> None:
            add_script_run_ctx(threading.current_thread(), drawn)

        with ThreadPoolExecutor(1, initializer=be_in_session) as thread:
            content = thread.submit(permitted).result()
        MADE.note(email, content)
        return content

    return make_for_person
