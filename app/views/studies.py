"""The Studies page: shows the stored reproductions of the papers' tables and figures with their settings, and starts new
studies."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
import typer.main

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.cli import cli
from berdseye.app.components.command_form import command_form, draw_command_help, leaf_commands
from berdseye.app.components.downloads import download
from berdseye.app.components.job_box import job_box
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.reader_time import shown_moment
from berdseye.app.jobs.studies import jobs, resume, start
from berdseye.data.files.tables import to_csv
from berdseye.data.runs.stored import list_runs
from berdseye.evaluation.labels.sources import default_sources
from berdseye.evaluation.measures.shown import shown
from berdseye.evaluation.studies.result import PROVENANCE, Stored, Table, list_results, load_result
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

_READING = ("list", "show")
_WHOLE = 30


def draw_result(name: str) -> None:
    """Draw a stored result with its notes, tables and charts."""
    result = load_result(workspace(), name)
    settings = [f"{name}: {_short(value)}" for name, value in result.settings.items() if value not in (None, "", [])]
    st.caption(escaped(" · ".join([shown_moment(datetime.fromisoformat(result.created)), *settings])))
    for text in result.notes:
        st.info(escaped(text), icon=":material/info:")
    for table in result.tables:
        draw_table(result, table)
    for chart, specification in result.charts.items():
        st.vega_lite_chart(specification)
        picture = result.folder / f"{chart}.svg"
        if picture.is_file():
            download(f"{chart}.svg", picture.read_bytes, picture.name, icon=":material/image:", key=f"svg-{chart}")


def draw_table(result: Stored, table: Table) -> None:
    """Draw a table in the layout of its paper, with the source of its numbers and its downloads."""
    st.subheader(escaped(table.caption), anchor=False, divider="gray")
    laid = table.laid_out()
    laid.columns = [" · ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in laid.columns]
    height: Literal["content", "auto"] = "content" if len(laid) <= _WHOLE else "auto"
    st.dataframe(laid.reset_index(), hide_index=True, key=f"table-{table.name}", height=height)
    source = provenance(table.cells)
    for text in (*table.notes, *((source,) if source else ())):
        st.caption(escaped(text))
    with st.container(horizontal=True):
        makers: dict[str, Callable[[], bytes]] = {
            "csv": partial(to_csv, table.cells),
            "tex": lambda: table.latex().encode(),
        }
        for ending, make in makers.items():
            download(
                f"{table.name}.{ending}", make, f"{result.name}-{table.name}.{ending}", key=f"{ending}-{table.name}"
            )


def provenance(cells: pd.DataFrame) -> str:
    """Summarize in one line where the numbers of a table come from. The CSV file has it for every number."""
    measured = cells[cells["value"].notna()] if "value" in cells else cells
    parts = []
    for column in PROVENANCE:
        values = (
            measured[column].dropna()
            if column in measured and column not in ("low", "high", "published")
            else pd.Series()
        )
        if values.empty or (values == "").all():
            continue
        name = column.replace("_", " ")
        if column in ("n", "judged"):
            low, high = float(values.min()), float(values.max())
            texts = [shown(v) if column == "judged" else f"{v:,.0f}" for v in (low, high)]
            parts.append(f"{'judged@k' if column == 'judged' else name}: {' to '.join(dict.fromkeys(texts))}")
        else:
            parts.append(f"{name}: {', '.join(sorted(map(str, values.unique())))}")
    return "; ".join(parts)


def new_study() -> None:
    """Draw the form that starts a study."""
    studies: Any = vars(typer.main.get_command(cli))["commands"]["study"]
    commands = {
        " ".join(words): command for words, command in leaf_commands(studies).items() if words[0] not in _READING
    }
    name = st.selectbox("Study", list(commands), key="study", bind="query-params")
    if not name:
        return
    draw_command_help(commands[name])
    stored = [m.pipeline for m in list_runs(workspace())]
    choices = {
        "dataset": workspace().datasets(),
        "corpus": workspace().corpora(),
        "pipeline": list(dict.fromkeys([*stored, *DEFAULT_PIPELINES])),
        "labels": default_sources(workspace()),
    }
    arguments = command_form(commands[name], choices, f"form-{name}")
    if arguments is not None:
        start(workspace(), (*name.split(), *arguments), person=started_by())
        st.rerun()


@st.fragment(run_every=2)
def progress() -> None:
    """Draw the running and the unfinished studies, refreshed every two seconds."""
    unfinished, done = jobs(workspace())
    if done:
        st.session_state["finished"] = done[-1]
        st.rerun()
    for job in unfinished:
        with st.container(border=True, key=f"job-{job.folder.name}"):
            title = " ".join(job.arguments)
            again = partial(resume, workspace(), job, person=started_by())
            job_box(job, title, doing="is running", again=again)


def page() -> None:
    """Draw the page."""
    if name := st.session_state.pop("finished", None):
        st.session_state["result"] = name
        st.toast(f"Finished: {escaped(name)}.")
    names = list_results(workspace())
    name = None
    with st.container(horizontal=True, vertical_alignment="center"):
        if names:
            name = st.selectbox(
                "Result", names, format_func=_title, key="result", bind="query-params", label_visibility="collapsed"
            )
        begins = st.toggle("New study", value=not names or "study" in st.query_params, key="begins")
    if begins:
        with st.container(border=True):
            new_study()
    progress()
    if name:
        draw_result(name)
    else:
        st.info("No results yet. Start a study above; its tables and charts are stored and shown here.")


def _title(name: str) -> str:
    """Write a stored result as its study, with the digest of its settings where two results differ by them alone."""
    study, _, digest = name.rpartition("-")
    alike = sum(other.rpartition("-")[0] == study for other in list_results(workspace()))
    return study.replace("-", " ") + (f" ({digest})" if alike > 1 else "")


def _short(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


with errors_in_place():
    page()
