"""Runs with their labels, read once for all pages and sessions."""

import streamlit as st

from app.session import judgments, workspace
from data.runs import RunManifest, load_run
from evaluation.failures.attribution import POOL_DEPTH
from evaluation.label_sources import HUMAN, parse_label_source
from evaluation.labelled_runs import LabelledRun, labelled_run

_MOST = 16


def labelled(run: RunManifest, source: str) -> LabelledRun:
    """The first 100 passages of a stored run with the labels of a source; nobody changes what is given."""
    people = HUMAN in parse_label_source(source).parts
    return _labelled(run.name, run.created, source, judgments().version() if people else 0)


@st.cache_resource(max_entries=_MOST, show_spinner="Reading the run and its labels…")
def _labelled(name: str, created: str, source: str, version: int) -> LabelledRun:
    del created, version  # part of the key: a run made anew, or a word more, is read anew
    return labelled_run(workspace(), judgments(), load_run(workspace(), name), parse_label_source(source), POOL_DEPTH)
