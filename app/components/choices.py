"""Which run, and whose labels: the two choices that pages about runs begin with.

Addresses of pages about one thing, relative to any page.

A choice that stands in the address of the page by its id, whatever it is shown as.

A row of choices of which one is always chosen, the first unless told otherwise; it stands in the address.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import urlencode

import streamlit as st

from berdseye.data.datasets.stored import split_version, version_name, version_numbers
from berdseye.data.runs.stored import RunManifest
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import default_sources, parse_label_source


def passage_address(corpus: str, passage: int) -> str:
    """Everything known of a passage."""
    return f"passage?{urlencode({'corpus': corpus, 'id': passage})}"


def question_address(dataset: str, question_id: str) -> str:
    """One question in all runs."""
    return f"question?{urlencode({'set': dataset, 'question': question_id})}"


def selectbox_by_id(
    label: str, ids: Sequence[str], key: str, shown: Callable[[str], str], *, first: str = "", help: str | None = None
) -> str:
    """One of the ids, at least one of which there is; `first` is chosen where the address, under `key`, names none of them.

    Streamlit's own binding would put what is shown into the address: texts that are long, change, and may be there twice.
    """
    default = first if first in ids else ids[0]
    if st.session_state.get(key) not in ids:
        asked = st.query_params.get(key, default)
        st.session_state[key] = asked if asked in ids else default
    chosen = st.selectbox(label, ids, key=key, format_func=shown, help=help)
    found = chosen if chosen in ids else default
    if found != default:
        st.query_params[key] = found
    elif key in st.query_params:
        del st.query_params[key]
    return found


T = TypeVar("T")


def one_of(label: str, options: Iterable[T], *, key: str, default: T | None = None, named: bool = True) -> T:
    """Draw the row; gives the chosen one. `named` False shows the label to screen readers alone. There must be an option."""
    known = list(options)
    first = known[0] if default is None else default
    chosen = st.segmented_control(
        label,
        known,
        default=first,
        required=True,
        key=key,
        bind="query-params",
        label_visibility="visible" if named else "collapsed",
    )
    return first if chosen is None else chosen


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
