"""Studies: the papers' tables and figures from this workspace, each stored with what made it, and starting new ones."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
import typer.main

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.cli import cli
from berdseye.app.components.command_form import command_form, command_told, leaf_commands
from berdseye.app.components.downloads import download
from berdseye.app.components.job_box import job_box
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.studies import jobs, resume, start
from berdseye.data.files.tables import to_csv
from berdseye.data.runs.stored import list_runs
from berdseye.evaluation.labels.sources import default_sources
from berdseye.evaluation.studies.result import PROVENANCE, Stored, Table, list_results, load_result
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

_READING = ("list", "show")
_WHOLE = 30


def chosen_result(names: list[str]) -> None:
    """One stored result, whole."""
    name = st.selectbox("Result", names, key="result", bind="query-params", help="The newest comes first.")
    if not name:
        return
    held = load_result(workspace(), name)
    st.caption(escaped(f"{held.created}; " + "; ".join(f"{k}: {_short(v)}" for k, v in held.settings.items())))
    for text in held.notes:
        st.info(escaped(text), icon=":material/info:")
    for table in held.tables:
        draw_table(held, table)
    for chart, specification in held.charts.items():
        st.vega_lite_chart(specification)
        picture = held.folder / f"{chart}.svg"
        download(f"{chart}.svg", picture.read_bytes, picture.name, icon=":material/image:", key=f"svg-{chart}")


def draw_table(held: Stored, table: Table) -> None:
    """A table in its paper's layout, what its numbers come from, and its files."""
    st.subheader(escaped(table.caption), anchor=False, divider="gray")
    laid = table.laid_out()
    laid.columns = [" · ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in laid.columns]
    height: Literal["content", "auto"] = "content" if len(laid) <= _WHOLE else "auto"
    st.dataframe(laid.reset_index(), hide_index=True, key=f"table-{table.name}", height=height)
    told = provenance(table.cells)
    for text in (*table.notes, *((told,) if told else ())):
        st.caption(escaped(text))
    with st.container(horizontal=True):
        made: dict[str, Callable[[], bytes]] = {
            "csv": partial(to_csv, table.cells),
            "tex": lambda: table.latex().encode(),
        }
        for ending, make in made.items():
            download(f"{table.name}.{ending}", make, f"{held.name}-{table.name}.{ending}", key=f"{ending}-{table.name}")


def provenance(cells: pd.DataFrame) -> str:
    """Where the numbers of a table come from, in one line; the CSV says it number by number."""
    ours = cells[cells["value"].notna()] if "value" in cells else cells
    parts = []
    for column in PROVENANCE:
        values = ours[column].dropna() if column in ours and column not in ("low", "high", "published") else pd.Series()
        if values.empty or (values == "").all():
            continue
        name = column.replace("_", " ")
        if column in ("n", "judged"):
            low, high = float(values.min()), float(values.max())
            shown = [f"{v:.0%}" if column == "judged" else f"{v:,.0f}" for v in (low, high)]
            parts.append(f"{'judged@k' if column == 'judged' else name}: {' to '.join(dict.fromkeys(shown))}")
        else:
            parts.append(f"{name}: {', '.join(sorted(map(str, values.unique())))}")
    return "; ".join(parts)


def new_study() -> None:
    """Choose a study, set it up and start it."""
    studies: Any = vars(typer.main.get_command(cli))["commands"]["study"]
    commands = {
        " ".join(words): command for words, command in leaf_commands(studies).items() if words[0] not in _READING
    }
    name = st.selectbox("Study", list(commands), key="study", bind="query-params")
    if not name:
        return
    command_told(commands[name])
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
    """Studies that are under way, drawn anew every two seconds."""
    held, done = jobs(workspace())
    if done:
        st.session_state["finished"] = done[-1]
        st.rerun()
    for job in held:
        with st.container(border=True, key=f"job-{job.folder.name}"):
            title = " ".join(job.arguments)
            again = partial(resume, workspace(), job, person=started_by())
            job_box(job, title, doing="is under way", again=again)


def page() -> None:
    """The whole page."""
    if name := st.session_state.pop("finished", None):
        st.session_state["result"] = name
        st.toast(f"{escaped(name)} is done.")
    names = list_results(workspace())
    with st.expander("New study", icon=":material/science:", expanded=not names):
        new_study()
    progress()
    if names:
        chosen_result(names)
    else:
        st.info(
            "No study has been done here yet. Choose one above: the tables and charts it makes are kept and shown here."
        )


def _short(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


with errors_in_place():
    page()
