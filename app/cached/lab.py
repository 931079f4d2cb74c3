"""The detector lab's data: a detector, and the judged pairs it is measured on, read once for all sessions."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from berdseye.annotation.training_sets.store import find_set, list_sets
from berdseye.app.access.session import judgments, workspace
from berdseye.app.cached.cached_on import cached_on, judgments_version
from berdseye.app.cached.runs import labelled
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.stored import GOLD
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import RunManifest, load_run
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label_keys
from berdseye.detectors.protocol import Detector, Floats
from berdseye.detectors.trained import detector_names
from berdseye.evaluation.detection.pairs import (
    JudgedPairs,
    Learned,
    learned,
    of_gold,
    of_people,
    of_rows,
    rows_to_test_on,
)
from berdseye.evaluation.detection.thresholds import RunProbabilities, run_probabilities
from berdseye.evaluation.labels.sources import HUMAN

MADE_UP, FILE, SET = "human and made-up", "file", "set "
_FILES = ("tsv", "csv", "jsonl", "parquet")
_PROGRESS = "Predicting with {}…"


@dataclass(frozen=True)
class Measured:
    """A detector with its probabilities for judged pairs, float32[n] without NaN. Of `known` labelled pairs, `unasked` have no
    prediction yet, and `seen` were in its training data; both are left out."""

    detector: Detector
    judged: JudgedPairs
    probabilities: Floats
    known: int
    unasked: int
    seen: int


def chosen_detector(key: str, label: str = "Detector", *, place: int = 0) -> Detector:
    """Draw the choice of a detector of this workspace, or of a typed name; the `place`-th is selected at first."""
    names = detector_names(workspace())
    chosen = st.selectbox(
        label, names, index=min(place, len(names) - 1), key=key, bind="query-params", accept_new_options=True
    )
    return parse_detector(chosen or names[0], workspace())


def chosen_pairs() -> JudgedPairs:
    """Draw the choice `on` of judged pairs, and return them. The address of the page keeps the choice."""
    sets = {f"{SET}{made.id}": made.id for made in list_sets(workspace())}
    options = [HUMAN, GOLD, MADE_UP, *sets, FILE]
    first = HUMAN if len(_people(demo=False).table) else GOLD
    chosen = st.selectbox(
        "Measured on",
        options,
        index=options.index(first),
        key="on",
        bind="query-params",
        help="human: judgments (the adjudicated label; otherwise the majority label). gold: the labels that come with data "
        "sets, for the passages of stored runs. A training set: its held-out questions.",
    )
    if chosen in (HUMAN, MADE_UP):
        return _people(demo=chosen == MADE_UP)
    if chosen in sets:
        return _set(sets[chosen])
    if chosen == FILE:
        return _given()
    return _gold()


def _given() -> JudgedPairs:
    """Draw the upload of a file of labelled pairs, and return its rows; none before a file is chosen."""
    given = st.file_uploader(
        "Labelled pairs",
        _FILES,
        key="labelled-file",
        help="Columns document, perspective and label (0 or 1); optionally question, title, dataset, corpus, stance and split. "
        "If there are splits, only the rows of the split test count.",
    )
    return of_rows("", []) if given is None else _file(given.name, given.getvalue())


@cached_on(judgments_version, max_entries=4, show_spinner="Reading the judgments…", shared=True)
def _people(*, demo: bool) -> JudgedPairs:
    return of_people(judgments(), demo=demo)


def _gold_state() -> tuple[object, ...]:
    written = sorted((path.name, path.stat().st_mtime_ns) for path in workspace().runs_folder.glob("*.json"))
    return LabelStore(workspace()).state(GOLD), tuple(written)


@cached_on(_gold_state, max_entries=2, show_spinner="Reading the gold labels of the stored runs…", shared=True)
def _gold() -> JudgedPairs:
    return of_gold(workspace())


@cached_on(lambda name: find_set(workspace(), name).hash, max_entries=8, show_spinner=True, shared=True)
def _set(name: str) -> JudgedPairs:
    return of_rows(f"{name} (held out)", rows_to_test_on(find_set(workspace(), name).pairs()))


@st.cache_resource(max_entries=4, show_spinner="Reading the file…")
def _file(name: str, content: bytes) -> JudgedPairs:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        return of_rows(path.name, rows_to_test_on(read_labelled_pairs(path)))


def measured(judged: JudgedPairs, detector: Detector, key: str) -> Measured:
    """Return the stored predictions of a detector for judged pairs; warn of pairs it learned from, and offer missing predictions.

    `key` distinguishes the widgets of several detectors.
    """
    known = _stored(detector, judged)
    unasked = int(np.isnan(known).sum())
    provenance = learned(workspace(), detector.name)
    seen = provenance.seen(judged.table)
    _warn(provenance, int(seen.sum()), len(seen), detector.name)
    if unasked:
        _offer(judged, detector, known, key)
    with_seen = bool(seen.any()) and st.toggle(
        "Include pairs it learned from", key=f"seen-{key}", help="The figures then flatter the detector."
    )
    kept = ~np.isnan(known) & (~seen | with_seen)
    left = 0 if with_seen else int((seen & ~np.isnan(known)).sum())
    return Measured(detector, judged.part(kept), known[kept], len(known), unasked, left)


def stored_run(run: RunManifest, detector: Detector, k: int) -> RunProbabilities:
    """Return the stored predictions of a detector for a run's top k; do not change them."""
    return _run(run.name, run.created, detector.name, detector.version, k)


def ask_of_run(run: RunManifest, detector: Detector) -> None:
    """Predict the pairs of a run that have no prediction yet."""
    with st.spinner(_PROGRESS.format(escaped(detector.name))):
        labelled(run, detector.name)


@cached_on(
    lambda name, _created, detector, _version, k: (_created, _version, LabelStore(workspace()).state(detector)),
    max_entries=16,
    show_spinner="Reading the run's probabilities…",
    shared=True,
)
def _run(name: str, _created: str, detector: str, _version: str, k: int) -> RunProbabilities:
    return run_probabilities(workspace(), load_run(workspace(), name), parse_detector(detector, workspace()), k)


def _stored(detector: Detector, judged: JudgedPairs) -> Floats:
    return _known(detector.name, detector.version, judged)


@cached_on(
    lambda name, version, _judged: (_judged.hash, LabelStore(workspace()).state(name)),
    max_entries=16,
    show_spinner="Reading the detector's labels…",
    shared=True,
)
def _known(name: str, version: str, _judged: JudgedPairs) -> Floats:
    return LabelStore(workspace()).get(name, _judged.table["pair"].tolist(), version)


def _warn(provenance: Learned, seen: int, n: int, name: str) -> None:
    if seen:
        st.warning(
            f"{escaped(name)} was trained or tuned on the questions or passages of {seen:,} of these {n:,} pairs "
            f"({escaped(', '.join(provenance.sets))}). They are left out unless you include them.",
            icon=":material/school:",
        )
    if provenance.elsewhere:
        st.info(
            f"{escaped(name)} learned from {escaped(', '.join(provenance.elsewhere))}, which is not in this workspace, so "
            "Berdseye cannot check whether it saw these pairs.",
            icon=":material/help:",
        )


def _offer(judged: JudgedPairs, detector: Detector, known: Floats, key: str) -> None:
    places = np.flatnonzero(np.isnan(known)).tolist()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{escaped(detector.name)} has no prediction for {len(places):,} of these {len(known):,} pairs.")
        if st.button(
            "Predict them",
            icon=":material/smart_toy:",
            key=f"ask-{key}",
            help="The predictions are stored as its labels.",
        ):
            with st.spinner(_PROGRESS.format(escaped(detector.name))):
                label_keys(
                    LabelStore(workspace()),
                    detector,
                    judged.table["pair"].iloc[places].tolist(),
                    lambda asked: judged.pairs([places[n] for n in asked]),
                )
            st.rerun()
