"""Runs with their labels, read once for all pages and sessions."""

from pathlib import Path

import streamlit as st

from app.session import judgments, workspace
from data.dataset_names import version_file
from data.runs import RunManifest, load_run
from evaluation.dataset_versions import under_version
from evaluation.failures.attribution import POOL_DEPTH
from evaluation.failures.sides import pooled_support
from evaluation.label_sources import label_versions, parse_label_source
from evaluation.labelled_runs import LabelledRun, labelled_run
from evaluation.support import Support

_MOST, _MOST_POOLED = 32, 8
_State = tuple[object, ...]


def labelled(run: RunManifest, source: str, version: str = "", depth: int = POOL_DEPTH) -> LabelledRun:
    """The first `depth` passages of a stored run with the labels of a source; nobody changes what is given. A detector is asked
    about those it has not seen, so that a small depth is drawn sooner.

    `version` is one of its data set, where that is not the run's own. Raises `StaleError` as `labelled_run` does.
    """
    return _labelled(run.name, version or run.dataset, source, min(depth, run.k), state(run, source, version))


def pooled(run: RunManifest, source: str, version: str = "") -> Support:
    """What a stored run supports, with what the passages do that other runs of its data set and corpus found."""
    others = tuple(sorted((p.name, p.stat().st_mtime_ns) for p in workspace().runs_folder.glob("*.json")))
    return _pooled(run.name, version or run.dataset, source, (*state(run, source, version), others))


def state(run: RunManifest, source: str, version: str = "") -> _State:
    """What changes when a run, its questions, its corpus or the labels of a source do."""
    held = workspace()
    files = (version_file(held, version or run.dataset), held.corpus_folder(run.corpus) / "manifest.json")
    labels = label_versions(held, judgments(), parse_label_source(source))
    return (run.created, *map(_written, files), *sorted(labels.items()))


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


@st.cache_resource(max_entries=_MOST, show_spinner="Reading the run and its labels…")
def _labelled(name: str, version: str, source: str, depth: int, state: _State) -> LabelledRun:
    del state  # part of the key: what was made anew is read anew
    run = under_version(workspace(), load_run(workspace(), name), version)
    return labelled_run(workspace(), judgments(), run, parse_label_source(source), depth)


@st.cache_resource(max_entries=_MOST_POOLED, show_spinner="Pooling the labels of all runs…")
def _pooled(name: str, version: str, source: str, state: _State) -> Support:
    del state
    run = under_version(workspace(), load_run(workspace(), name), version)
    return pooled_support(workspace(), judgments(), run, parse_label_source(source))
