"""Choices that several pages share: the run, the label source and the version of a data set, a choice that the page's address
keeps by its id, and a row of options of which one is always chosen. Also the relative addresses of the pages Passage and
Question."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.stored import split_version, version_name, version_numbers
from berdseye.data.runs.stored import RunManifest
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import default_sources, parse_label_source, source_grade

T = TypeVar("T")


def passage_address(corpus: str, passage: int) -> str:
    """Return the address of the Passage page of a passage."""
    return f"passage?{urlencode({'corpus': corpus, 'id': passage})}"


def question_address(dataset: str, question_id: str) -> str:
    """Return the address of the Question page of a question."""
    return f"question?{urlencode({'set': dataset, 'question': question_id})}"


def selectbox_by_id(
    label: str,
    ids: Sequence[str],
    key: str,
    shown: Callable[[str], str],
    *,
    first: str = "",
    noun: str = "",
    help: str | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
) -> str:
    """Draw the choice of one of the ids, of which there must be at least one, and return it. `first` is the default if the
    address, under `key`, names none of them. If the address changes by itself, as when a person goes back, so does the choice.

    A person who comes with an address that names none of the ids is warned until they choose; `noun` says what the ids are, by
    default the label. Streamlit's own binding would put the shown texts into the address, which are long, change and need not
    be unique; it drops unknown ones silently.
    """
    default = first if first in ids else ids[0]
    in_address, written = str(st.query_params.get(key, "")), _written(key)
    if key not in st.session_state or st.session_state.get(written) != in_address:
        st.session_state[_unknown(key)] = "" if in_address in ids else in_address
    if st.session_state.get(key) not in ids or st.session_state.get(written, in_address) != in_address:
        st.session_state[key] = in_address if in_address in ids else default
    chosen = st.selectbox(
        label,
        ids,
        key=key,
        format_func=shown,
        help=help,
        label_visibility=label_visibility,
        on_change=_keep_choice,
        args=(key,),
    )
    result = chosen if chosen in ids else default
    if result != default:
        st.query_params[key] = result
    elif unknown := _unknown_in_address(key):
        what = noun or f"{label[0].lower()}{label[1:]}"
        st.warning(
            f"There is no {what} “{escaped(unknown)}”; this is “{escaped(shown(result))}”.", icon=":material/link_off:"
        )
    elif key in st.query_params:
        del st.query_params[key]
    st.session_state[written] = str(st.query_params.get(key, ""))
    return result


def _unknown_in_address(key: str) -> str:
    """Return the id that the address named although it does not exist, until the person chooses another; otherwise ""."""
    unknown = str(st.session_state.get(_unknown(key), ""))
    return unknown if unknown == st.query_params.get(key) else ""


def _keep_choice(key: str) -> None:
    """Let what the box of `selectbox_by_id` shows be the person's choice, whatever the address names."""
    st.query_params.pop(key, None)
    st.session_state[_written(key)] = st.session_state[_unknown(key)] = ""


def _written(key: str) -> str:
    return f"{key} in the address"


def _unknown(key: str) -> str:
    return f"{key} in the address, unknown"


def one_of(
    label: str,
    options: Iterable[T],
    *,
    key: str,
    default: T | None = None,
    named: bool = True,
    shown: Callable[[T], str] = str,
) -> T:
    """Draw the options as a row and return the chosen one, by default `default` or the first. `named=False` shows the label to
    screen readers only, and `shown` names the options. There must be at least one option."""
    choices = list(options)
    first = choices[0] if default is None else default
    chosen = st.segmented_control(
        label,
        choices,
        default=first,
        required=True,
        key=key,
        format_func=shown,
        bind="query-params",
        label_visibility="visible" if named else "collapsed",
    )
    return first if chosen is None else chosen


def options(help: str) -> DeltaGenerator:
    """Return the popover for the choices that are seldom changed, so that the others fit into one row; `help` names them."""
    return st.popover("Options", icon=":material/tune:", help=help)


def chosen_run(runs: Sequence[RunManifest], label: str = "Run", key: str = "run", first: str = "") -> RunManifest:
    """Draw the choice of a run, which the address keeps by its name, and return it. `first` names the default."""
    by_name = {run.name: run for run in runs}

    def shown(name: str) -> str:
        return f"{by_name[name].dataset} · {by_name[name].corpus} · {by_name[name].pipeline}"

    return by_name[selectbox_by_id(label, list(by_name), key, shown, first=first)]


def chosen_source(
    workspace: Workspace,
    key: str = "labels",
    label: str = "Labels from",
    same_as: str = "",
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """Draw the choice of a label source that labels single pairs, and return it. If `same_as` names a source, the first option
    is "the same" and stands for it. `width` is in pixels."""
    same = ["the same"] if same_as else []
    sources = [s for s in default_sources(workspace) if not parse_label_source(s).corrected]
    chosen = st.selectbox(label, [*same, *sources], key=key, bind="query-params", accept_new_options=True, width=width)
    if chosen in same:
        return same_as
    return str(parse_label_source(chosen or sources[0]).plain)


def topic_note(workspace: Workspace, *sources: str) -> str:
    """Return Markdown that says of which sources the labels tell the topic and not the side, with a leading space; empty if there
    are none."""
    names = dict.fromkeys(
        parsed.parts[-1]
        for parsed in map(parse_label_source, sources)
        if source_grade(workspace, parsed.plain) == "topic"
    )
    return "".join(f" :orange[{escaped(name)} has grade topic: it does not tell sides.]" for name in names)


def warn_if_sides_unknown(workspace: Workspace, source: str) -> None:
    """Draw a warning if the labels of a source do not tell sides, with what to choose instead."""
    if source_grade(workspace, parse_label_source(source)) == "topic":
        st.warning(
            f"The labels of **{escaped(source)}** tell what is on topic, not which side it takes: a passage against a "
            "perspective may count as supporting it, and figures about sides mean little. Choose **gold** or **human** above, "
            "or a detector whose grade is *stance*.",
            icon=":material/warning:",
        )


def chosen_version(workspace: Workspace, run: RunManifest, key: str, label: str = "Version") -> str:
    """Draw the choice of a version of the run's data set and return its name. With a single version, return the run's
    own."""
    dataset = split_version(run.dataset)[0]
    names = [version_name(dataset, number) for number in version_numbers(workspace, dataset)]
    if len(names) < 2 or run.dataset not in names:
        return run.dataset
    chosen = st.selectbox(label, names, index=names.index(run.dataset), key=key, bind="query-params")
    return chosen or run.dataset
