"""Detectors: how good each is, training one from the judgments of this workspace, and adopting it."""

from dataclasses import asdict

import pandas as pd
import streamlit as st

from app.components.charts import dots_with_intervals, learning_curves
from app.components.job_box import job_box
from app.components.plain_text import escaped
from app.session import errors_in_place, judgments, workspace
from app.training_jobs import TrainingJob, jobs, start
from data.errors import BerdseyeError
from detectors.registry import parse_detector
from detectors.trained import Trained, adopt, adopted_detector, detector_names, discard, list_trained

KINDS = {
    "head": "A logistic head over the features of `embedded`: seconds, good from 20 judgments on",
    "crossencoder": "A cross-encoder: minutes, wants a base model and some hundred judgments",
    "lora": "LoRA on a language model: wants a GPU, a base model and some thousand judgments",
}
FIGURES = ("accuracy", "precision", "recall", "f1", "auroc", "average_precision")


def table() -> None:
    """Every detector that can be chosen, and which is used."""
    adopted = adopted_detector(workspace())
    rows: list[tuple[str | float | None, ...]] = []
    for name in detector_names(workspace()):
        told: tuple[str | float | None, ...]
        try:
            found = parse_detector(name, workspace())
            told = (found.version, found.measured or "not measured", found.threshold, found.threshold_source)
        except BerdseyeError as error:
            told = ("", str(error), None, "")
        rows.append(("in use" if name == adopted else "", name, *told))
    columns = ["", "detector", "version", "measured", "threshold", "threshold chosen by"]
    st.table(pd.DataFrame(rows, columns=columns).set_index(""))
    st.caption("The detector in use labels whatever no person has judged, on every page and in every command.")


def choose() -> None:
    """Adopt one; discard one that was trained here."""
    names = detector_names(workspace())
    trained = {t.detector: t for t in list_trained(workspace())}
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    chosen = left.selectbox("Detector", names, key="chosen", bind="query-params", accept_new_options=True)
    if not chosen:
        return
    with right.container(horizontal=True):
        if st.button("Use it", icon=":material/check_circle:", disabled=chosen == adopted_detector(workspace())):
            found = parse_detector(chosen, workspace())
            adopt(workspace(), found.name)
            st.toast(f"{escaped(found.name)} is used from now on.")
            st.rerun()
        if chosen in trained:
            with st.popover("Discard", icon=":material/delete:"):
                st.markdown("Its weights are deleted; labels that it gave stay.")
                if st.button("Delete it", type="primary"):
                    discard(workspace(), trained[chosen].name)
                    st.rerun()
    if chosen in trained:
        card(trained[chosen])


def card(held: Trained) -> None:
    """What the training left behind: figures, curve and settings."""
    figures = [
        {"figure": name, "split": split, "share": found[name], "low": found["intervals"][name][0],
         "high": found["intervals"][name][1], "pairs": found["n"]}
        for split in ("dev", "test")
        if (found := held.card.get(split))
        for name in FIGURES
        if found.get(name) is not None and name in found.get("intervals", {})
    ]  # fmt: skip
    left, right = st.columns(2)
    with left:
        if figures:
            st.altair_chart(dots_with_intervals(pd.DataFrame(figures), value="share", row="figure", colour="split"))
        else:
            st.info("The card holds no figures.")
    with right:
        if points := held.card.get("curve"):
            st.altair_chart(learning_curves(pd.DataFrame(points)))
        st.json({k: v for k, v in held.card.items() if k not in ("curve", "dev", "test")}, expanded=False)


def train_form() -> None:
    """Begin a training."""
    judged = int(judgments().frame()["pair"].nunique())
    st.caption(f"{judged:,} judged pairs stand in this workspace; the Agreement page exports them as training data.")
    kind = st.segmented_control("Kind", list(KINDS), default="head", required=True, key="kind")
    st.caption(KINDS[kind or "head"])
    left, middle, right = st.columns([2, 3, 1], vertical_alignment="bottom")
    name = left.text_input("Name", key="training-name", placeholder="mine")
    base = middle.text_input(
        "Base model",
        key="base",
        disabled=kind == "head",
        placeholder="a folder, or a name on the hub" if kind != "head" else "the shipped weights",
    )
    if right.button("Train", icon=":material/model_training:", type="primary", disabled=not (name or "").strip()):
        arguments = ("--kind", kind or "head", *(("--base", base.strip()) if base and kind != "head" else ()))
        start(workspace(), name.strip(), arguments)
        st.rerun()


@st.fragment(run_every=2)
def progress() -> None:
    """Trainings that are under way, drawn anew every two seconds."""
    held = jobs(workspace())
    before = st.session_state.get("jobs")
    st.session_state["jobs"] = [job.name for job in held]
    if before is not None and set(before) - {job.name for job in held}:
        st.rerun()  # one has finished: the table above has a new row
    for training in held:
        with st.container(border=True, key=f"job-{training.name}"):
            _job(training)


def _job(training: TrainingJob) -> None:
    job_box(
        training.job,
        training.name,
        doing="is being trained",
        again=lambda: start(workspace(), training.name, training.options),
    )
    if training.points:
        st.altair_chart(learning_curves(pd.DataFrame([asdict(p) for p in training.points])))


def page() -> None:
    """The whole page."""
    table()
    choose()
    st.subheader("Train one from the judgments of this workspace", anchor=False)
    with errors_in_place():
        train_form()
    progress()


with errors_in_place():
    page()
