"""Which run, and whose labels: the two choices that pages about runs begin with."""

from collections.abc import Sequence

import streamlit as st

from data.runs import RunManifest
from data.workspace import Workspace
from evaluation.label_sources import default_sources, parse_label_source


def chosen_run(runs: Sequence[RunManifest], label: str = "Run", key: str = "run") -> RunManifest:
    """One of the runs, by its name in the address of the page."""
    by_name = {run.name: run for run in runs}
    chosen = st.selectbox(
        label,
        list(by_name),
        key=key,
        bind="query-params",
        format_func=lambda name: f"{by_name[name].dataset} · {by_name[name].corpus} · {by_name[name].pipeline}",
    )
    return by_name[chosen or next(iter(by_name))]


def chosen_source(workspace: Workspace, key: str = "labels") -> str:
    """A label source that says something of single pairs."""
    sources = [s for s in default_sources(workspace) if not parse_label_source(s).corrected]
    chosen = st.selectbox("Labels from", sources, key=key, bind="query-params", accept_new_options=True)
    return str(parse_label_source(chosen or sources[0]).plain)
