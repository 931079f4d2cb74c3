"""Buttons that take a file away: the one way in which pages offer files, and the files of a chart and its data."""

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
    """A button for a file, which is made when the button is pressed; in team mode for that person alone."""
    st.download_button(
        label,
        _for_this_person(make) if people().team else make,
        file_name,
        key=key,
        icon=icon,
        on_click="ignore",
        type=kind,
    )


def downloads(name: str, frame: pd.DataFrame, chart: Chart | None = None) -> None:
    """CSV of the data and, of a chart, SVG and PNG; each is made when it is asked for. `name` is that of the files."""
    made: dict[str, Callable[[], bytes]] = {"csv": partial(to_csv, frame)}
    if chart is not None:
        made |= {"svg": partial(svg, chart), "png": partial(png, chart)}
    with st.container(horizontal=True, gap="small"):
        for ending, make in made.items():
            download(ending.upper(), make, f"{name}.{ending}", key=f"download-{name}-{ending}", kind="tertiary")


def _for_this_person(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """`make`, run as whoever sees the button now and only while they may; its file is theirs.

    Streamlit makes the file in a thread that knows no session, so that nobody would be signed in there.
    """
    drawn, email = get_script_run_ctx(), folded_email(started_by())

    def permitted() -> bytes:
        workspace()  # asks whether this person still may see the page
        return make()

    def made() -> bytes:
        def be_in_session() -> None:
            add_script_run_ctx(threading.current_thread(), drawn)

        with ThreadPoolExecutor(1, initializer=be_in_session) as thread:
            content = thread.submit(permitted).result()
        MADE.note(email, content)
        return content

    return made
