"""Which run, and whose labels: the two choices that pages about runs begin with."""

from collections.abc import Sequence

import streamlit as st

from berdseye.app.components.selectbox_by_id import selectbox_by_id
from berdseye.data.dataset_names import split_version, version_name, version_numbers
from berdseye.data.runs import RunManifest
from berdseye.data.workspace import Workspace
from berdseye.evaluation.label_sources import default_sources, parse_label_source


def chosen_run(runs: Sequence[RunManifest], label: str = "Run", key: str = "run", first: str = "") -> RunManifest:
    """One of the runs, by its name in the address of the page; `first` names the one that stands there at first."""
    by_name = {run.name: run for run in runs}

    def shown(name: str) -> str:
        return f"{by_name[name].dataset} · {by_name[name].corpus} · {by_name[name].pipeline}"

    return by_name[selectbox_by_id(label, list(by_name), key, shown, first=first)]


def chosen_source(workspace: Workspace, key: str = "labels", label: str = "Labels from", same_as: str = "") -> str:
    """A label source that says something of single pairs; where there is one that it may be the `same_as`, that stands first."""
    same = ["the same"] if same_as else []
    sources = [s for s in default_sources(workspace) if not parse_label_source(s).corrected]
    chosen = st.selectbox(label, [*same, *sources], key=key, bind="query-params", accept_new_options=True)
    if chosen in same:
        return same_as
    return str(parse_label_source(chosen or sources[0]).plain)


def chosen_version(workspace: Workspace, run: RunManifest, key: str, label: str = "Version") -> str:
    """A version of the run's data set by its name, where there are several; else the run's own."""
    dataset = split_version(run.dataset)[0]
    names = [version_name(dataset, number) for number in version_numbers(workspace, dataset)]
    if len(names) < 2 or run.dataset not in names:
        return run.dataset
    chosen = st.selectbox(label, names, index=names.index(run.dataset), key=key, bind="query-params")
    return chosen or run.dataset
