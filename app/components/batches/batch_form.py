"""The form of a new batch: only the fields that its kind needs are open, and the others are under More settings."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from berdseye.annotation.batches.stored import RESERVATION_SECONDS, Order, list_batches
from berdseye.annotation.checks import FORMS
from berdseye.app.access.session import judgments, people, workspace
from berdseye.app.components.batches.kinds import SOURCE_NAMES, Kind, Source, suggested_name
from berdseye.app.components.choices import one_of
from berdseye.app.components.plain_text import escaped
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import RunManifest, list_runs
from berdseye.detectors.trained import adopted_detector, detector_names
from berdseye.evaluation.selection.batches import STRATA
from berdseye.evaluation.selection.request import UNLABELLED, BatchRequest, check_verifiable

ORDERS: dict[Order, str] = {
    "batch": "As they were chosen",
    "uncertainty": "Drawn, the least certain more often",
    "random": "Drawn at random",
    "disagreement": "Disputed pairs first",
}
SIGHTS = ("Nobody", "Everyone", "A random share")
"""Who sees the label of the detector before judging."""
PURPOSES = {"": "Check the data", "exam": "Exam, without feedback", "training": "Training, with feedback"}
MEASURES = ("MRecall@5", "Precision@5", "Coverage@5")
PAIRS_TYPES, ANSWERS_TYPES = ("tsv", "csv", "jsonl", "parquet"), ("jsonl",)
PAIRS_HELP = "One row for each pair, with the columns passage and perspective; question, title and url are optional."
ITEMS_HELP = (
    "One JSON object on each line, with the fields read (a text, or a list of documents) and statement; id, question, title and "
    "expected (the known verdict) are optional."
)
ANSWERS_HELP = "One JSON object on each line, with the fields question, first and second; id is optional."
_UPLOADS = "batch-uploads"
_LONGEST_RESERVATION = 366 * 24 * 60


class Filled(NamedTuple):
    """The request that the form describes, and what it still needs; `missing` is empty if nothing is missing."""

    request: BatchRequest
    missing: str


def batch_form(kind: Kind) -> Filled:
    """Draw the form of a kind of batch, and return what it describes."""
    names = [batch.name for batch in list_batches(judgments())]
    left, right = st.columns([2, 3])
    with left:
        name = _kept("new-name", kind, suggested_name(kind, names), _text("Name", max_chars=64)).strip()
    with right:
        chosen_people = _people()
    fields: dict[str, Any] = {"name": name, "people": tuple(chosen_people), "task": kind.task, "preset": kind.preset}
    refused = _verified_detector(kind, fields) if kind.task == "verify" else ""
    source: Source = kind.sources[0]
    if len(kind.sources) > 1:
        source = one_of("Pairs from", kind.sources, key="new-source", shown=SOURCE_NAMES.__getitem__)
    missing = _SOURCES[source](fields)
    columns = st.columns(3)
    qualifies = bool(fields.get("purpose"))
    fields["per_pair"] = (
        1
        if qualifies
        else columns[0].number_input("People for each pair", 1, 1000, kind.per_pair, key=f"new-per-pair-{kind.name}")
    )
    if kind.calibration:
        with columns[1]:
            fields["calibration"] = _calibration(kind)
    if kind.questions is not None:
        fields["questions"] = columns[1].number_input(
            "Questions of each data set", 1, 100_000, kind.questions, key=f"new-questions-{kind.name}"
        )
    with st.expander("More settings", icon=":material/tune:"):
        _more(kind, fields, names, qualifies=qualifies)
    enough = fields["per_pair"] <= max(1, len(chosen_people)) or not (chosen_people or kind.calibration)
    if refused:
        missing = refused
    elif not name:
        missing = "Give the batch a name."
    elif name in names:
        missing = "Another batch has this name. Choose a different one."
    elif not missing and not enough:
        missing = f"Name at least {fields['per_pair']} people, or set fewer people for each pair."
    elif not missing and fields.get("calibration") and not chosen_people:
        missing = "Name the people, because the calibration pairs go to each of them."
    return Filled(BatchRequest(**fields), missing)


def uploads_folder() -> Path:
    """The folder with the files that this session uploaded for a batch; it is deleted with the session."""
    folder: tempfile.TemporaryDirectory[str] = st.session_state.setdefault(_UPLOADS, tempfile.TemporaryDirectory())
    return Path(folder.name)


def _text(label: str, **options: Any) -> Callable[[str], str]:
    return lambda key: st.text_input(label, key=key, **options) or ""


def _kept(key: str, kind: Kind, first: str, draw: Callable[[str], str]) -> str:
    """Draw a widget of a kind whose first value may differ by now from the one that it was drawn with."""
    own = f"{key}-{kind.name}"
    st.session_state.setdefault(own, first)
    return draw(own)


def _people() -> list[str]:
    known = [person.name for person in judgments().annotators() if not person.demo]
    team = " In a team, an e-mail address also invites a person who has not signed in yet." if people().team else ""
    return st.multiselect(
        "People",
        known,
        key="new-people",
        accept_new_options=True,
        placeholder="Anyone may judge",
        help=f"Only these people get pairs of the batch. Type a new name and press Enter.{team}",
    )


def _of_runs(fields: dict[str, Any]) -> str:
    runs = {run.name: run for run in list_runs(workspace())}
    left, right = st.columns([5, 1])
    chosen = left.multiselect("Runs", list(runs), key="new-runs", format_func=lambda name: _run_title(runs[name]))
    fields["k"] = right.number_input("Top k", 1, 1000, 5, key="new-k", help="How many passages of each question.")
    fields["runs"] = tuple(chosen)
    return "" if chosen else "Choose at least one run."


def _of_two_runs(fields: dict[str, Any]) -> str:
    runs = {run.name: run for run in list_runs(workspace())}
    first = st.selectbox(
        "First run", list(runs), index=None, key="new-a", format_func=lambda name: _run_title(runs[name])
    )
    same = [
        name
        for name, run in runs.items()
        if first is not None
        and name != first
        and (run.dataset, run.corpus) == (runs[first].dataset, runs[first].corpus)
    ]
    second = st.selectbox(
        "Second run",
        same,
        index=None,
        key=f"new-b-{first}",
        format_func=lambda name: _run_title(runs[name]),
        disabled=first is None,
        placeholder="Choose a run on the same data set and corpus",
    )
    measure = st.selectbox("Measure that decides", MEASURES, key="new-measure", accept_new_options=True)
    fields["measure"] = measure or MEASURES[0]
    if first is None or second is None:
        return "Choose two runs on the same data set and corpus."
    fields["decide"] = (first, second)
    return ""


def _of_pairs_file(fields: dict[str, Any]) -> str:
    uploaded = st.file_uploader("File of pairs", PAIRS_TYPES, key="new-pairs-file", help=PAIRS_HELP)
    fields["file"] = _stored(uploaded)
    return "" if uploaded else "Upload a file of pairs."


def _of_answers_file(fields: dict[str, Any]) -> str:
    uploaded = st.file_uploader("File of answers", ANSWERS_TYPES, key="new-answers-file", help=ANSWERS_HELP)
    fields["answers"] = _stored(uploaded)
    return "" if uploaded else "Upload a file of answers."


def _of_items_file(fields: dict[str, Any]) -> str:
    left, right = st.columns(2)
    fields["check"] = left.selectbox("What people decide", list(FORMS), format_func=_form_title, key="new-check")
    purpose = right.selectbox(
        "Purpose",
        list(PURPOSES),
        format_func=PURPOSES.__getitem__,
        key="new-purpose",
        help="In an exam or a training batch each person judges every item, and every item needs an expected verdict.",
    )
    fields["purpose"] = purpose or None
    uploaded = st.file_uploader("File of items", ANSWERS_TYPES, key="new-items-file", help=ITEMS_HELP)
    fields["file"] = _stored(uploaded)
    if purpose and not fields["people"]:
        return "Name the people, because each of them judges every item."
    return "" if uploaded else "Upload a file of items."


def _form_title(name: str) -> str:
    return FORMS[name].title


_SOURCES: dict[Source, Callable[[dict[str, Any]], str]] = {
    "runs": _of_runs,
    "two runs": _of_two_runs,
    "pairs file": _of_pairs_file,
    "answers file": _of_answers_file,
    "items file": _of_items_file,
}
"""Draws the fields of a source, and returns what is missing."""


def _stored(uploaded: UploadedFile | None) -> Path | None:
    """Store an uploaded file under its own name, which the recipe of the batch records, and return its path."""
    if uploaded is None:
        return None
    folder = uploads_folder() / uploaded.file_id
    path = folder / (Path(uploaded.name).name or "pairs")
    if not path.exists():
        folder.mkdir(exist_ok=True)
        path.write_bytes(uploaded.getvalue())
    return path


def _run_title(run: RunManifest) -> str:
    return f"{run.dataset} · {run.corpus} · {run.pipeline}"


def _calibration(kind: Kind) -> int:
    return int(
        st.number_input(
            "Calibration pairs",
            0,
            100_000,
            kind.calibration,
            key=f"new-calibration-{kind.name}",
            help="Pairs, drawn at random, that every person judges first.",
        )
    )


def _detector(kind: Kind) -> str | None:
    present = adopted_detector(workspace())
    return st.selectbox(
        "Detector",
        detector_names(workspace()),
        index=None,
        key=f"new-detector-{kind.name}",
        accept_new_options=True,
        placeholder=f"{present} (in use)",
    )


def _verified_detector(kind: Kind, fields: dict[str, Any]) -> str:
    """Draw the choice of the detector whose decisions people verify; returns why they cannot, empty if they can."""
    fields["detector"] = _detector(kind)
    try:
        check_verifiable(workspace(), fields["detector"])
    except BadInputError as error:
        st.warning(
            f"{escaped(error.what)} Choose a detector of the grade *stance*, or the kind *Label pairs of runs*, which can show "
            "the detector's opinion (*More settings*).",
            icon=":material/topic:",
        )
        return "Choose a detector of the grade stance."
    return ""


def _more(kind: Kind, fields: dict[str, Any], names: Sequence[str], *, qualifies: bool) -> None:
    """Draw the settings that most batches leave as they are."""
    judged, labelled = kind.task == "judge", kind.task not in UNLABELLED
    decides = kind.sources == ("two runs",)
    left, right = st.columns(2)
    with left:
        if not (kind.calibration or kind.whole or qualifies):
            fields["calibration"] = _calibration(kind)
        if not (decides or kind.whole):
            offered: list[Order] = [order for order in ORDERS if labelled or order != "uncertainty"]
            fields["order"] = st.selectbox("Order", offered, format_func=ORDERS.__getitem__, key="new-order")
        if judged:
            sight = st.selectbox(
                "Who sees the detector's label before judging",
                SIGHTS,
                key="new-sight",
                help="A random share of pairs and people makes an experiment: Agreement then reports whether the label changed "
                "their judgments.",
            )
            fields["shown"] = sight == SIGHTS[1]
            if sight == SIGHTS[2]:
                fields["experiment"] = st.slider("Share that sees the label", 0.05, 0.95, 0.5, 0.05, key="new-share")
        if judged and not kind.whole:
            fields["detector"] = _detector(kind)
    with right:
        if not (decides or kind.whole or qualifies):
            fields["sample"] = st.number_input(
                "Draw only this many pairs", 1, None, None, key="new-sample", placeholder="All pairs"
            )
            if fields["sample"] is not None:
                strata = STRATA if labelled else ("dataset",)
                fields["strata"] = tuple(st.multiselect("Evenly by", strata, format_func=_stratum, key="new-strata"))
        if not (kind.whole or qualifies):
            fields["without"] = tuple(
                st.multiselect(
                    "Leave out the questions of",
                    names,
                    key="new-without",
                    placeholder="No batch",
                    help="So that two batches share no question, for example a test set and training data.",
                )
            )
        fields["seed"] = st.number_input("Seed", 0, 2**32 - 1, 0, key="new-seed", help="Of every random choice.")
        minutes = st.number_input(
            "Reservation, minutes",
            1,
            _LONGEST_RESERVATION,
            RESERVATION_SECONDS // 60,
            key="new-reservation",
            help="How long a pair stays reserved for a person who left.",
        )
        fields["reservation_seconds"] = int(minutes) * 60
    fields["guidelines"] = _guidelines()


def _stratum(name: str) -> str:
    return {"dataset": "data set", "probability": "probability of the detector"}.get(name, name)


def _guidelines() -> str | None:
    """Draw the guidelines of the batch's own, typed or uploaded, and return their text; None: those of the workspace."""
    uploaded = st.file_uploader("Guidelines for this batch alone", ("md", "txt"), key="new-guidelines-file")
    if uploaded is not None:
        try:
            return uploaded.getvalue().decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInputError("The guidelines cannot be read.", hint="Upload a UTF-8 text file.") from error
    typed = st.text_area(
        "Or write them here",
        key="new-guidelines",
        height=120,
        placeholder="Markdown. Without a text, the guidelines of the workspace apply.",
    )
    return typed if typed and typed.strip() else None
