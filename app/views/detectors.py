"""Detectors: how good each is, training one from the judgments of this workspace, and adopting it."""

from dataclasses import asdict
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from berdseye.annotation.training_sets.labelling import RULES, UNSURE_RULES
from berdseye.annotation.training_sets.leakage import MENDS
from berdseye.annotation.training_sets.store import TrainingSetVersion, list_sets
from berdseye.app.access.session import acting_person, errors_in_place, judgments, started_by, workspace
from berdseye.app.components.charts import dots_with_intervals, learning_curves
from berdseye.app.components.choices import one_of
from berdseye.app.components.job_box import job_box
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.improving import read_improvement
from berdseye.app.jobs.training_sets import made_set
from berdseye.app.jobs.trainings import TrainingJob, jobs, start
from berdseye.data.errors import BerdseyeError
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import Trained, adopt, adopted_detector, detector_names, discard, list_trained
from berdseye.evaluation.detection.improvement import ADOPTS

TABS = ("Detectors", "Train a better one", "Training sets")
KINDS = {
    "head": "A logistic head over the features of `embedded`: seconds, good from 20 judgments on",
    "crossencoder": "A cross-encoder: minutes, wants a base model and some hundred judgments",
    "lora": "LoRA on a language model: wants a GPU, a base model and some thousand judgments",
}
IMPROVE = "Makes a training set, trains on it, compares with the detector in use on questions held out, and uses the better one"
WHEN = {"if-better": "if it is better", "always": "in any case", "never": "not by itself"}
RULE_NAMES = {
    "adjudicated": "adjudicated, else majority",
    "majority": "majority",
    "unanimous": "unanimous",
    "one": "one annotator's",
}
MEND_NAMES = {"drop": "is dropped from one", "move": "joins their questions", "keep": "stays"}
_CHOICE = 235
FIGURES = ("accuracy", "precision", "recall", "f1", "auroc", "average_precision")


def table() -> None:
    """Every detector that can be chosen, and which is used."""
    adopted = adopted_detector(workspace())
    rows: list[tuple[str | float | None, ...]] = []
    for name in detector_names(workspace()):
        told: tuple[str | float | None, ...]
        try:
            found = parse_detector(name, workspace())
            measured = escaped(found.measured or "not measured")
            told = (escaped(found.version), measured, found.threshold, escaped(found.threshold_source))
        except BerdseyeError as error:
            told = ("", escaped(str(error)), None, "")
        rows.append(("in\u00a0use" if name == adopted else "", escaped(name), *told))
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
            adopt(workspace(), found.name, made_by=acting_person())
            st.toast(f"{escaped(found.name)} is used from now on.")
            st.rerun()
        if chosen in trained:
            with st.popover("Discard", icon=":material/delete:"):
                st.markdown("Its weights are deleted; labels that it gave stay.")
                if st.button("Delete it", type="primary"):
                    discard(workspace(), trained[chosen].name)
                    st.rerun()
    lab = urlencode({"detector": chosen})
    st.markdown(f"[How far it can be trusted: open it in the detector lab](detector_lab?{lab})")
    if chosen in trained:
        card(trained[chosen])


def card(held: Trained) -> None:
    """What the training left behind: figures, curve and settings, and how it compared."""
    if compared := read_improvement(held):
        st.markdown(escaped(compared["comparison"]["told"]))
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
    """Begin a training, or all of it: training set, training, comparison, and use."""
    chosen = rules()
    kind = one_of("Kind", KINDS, key="kind", default="head")
    st.caption(KINDS[kind])
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="bottom")
    name = left.text_input("Name", key="training-name", placeholder="as the training set")
    base = middle.text_input(
        "Base model",
        key="base",
        disabled=kind == "head",
        placeholder="a folder, or a name on the hub" if kind != "head" else "the shipped weights",
    )
    mode = right.selectbox("Use it afterwards", ADOPTS, key="adopt", format_func=WHEN.__getitem__)
    with st.container(horizontal=True):
        improve = st.button("Improve", icon=":material/trending_up:", type="primary", help=IMPROVE)
        train = st.button("Train", icon=":material/model_training:", help="Only trains: nothing is compared or used.")
    if improve or train:
        made = made_set(workspace(), "judged", *chosen[:-1], demo=chosen[-1], made_by=acting_person())
        options = ("--set", made.id, "--kind", kind, *(("--base", base.strip()) if base and kind != "head" else ()))
        called = (name or "").strip() or (made.id if kind == "head" else f"{made.id}-{kind}")
        if improve:
            start(workspace(), called, (*options, "--adopt", mode or "if-better"), "improve", person=started_by())
        else:
            start(workspace(), called, options, person=started_by())
        st.rerun()


def rules() -> tuple[str, str, str, str, bool]:
    """How judgments become labels: the rule, unsure votes, whose word, leaks, and whether made-up people vote."""
    frame = judgments().frame()
    made_up = frame["demo"].astype(bool)
    st.caption(f"{frame[~made_up]['pair'].nunique():,} pairs judged by people stand in this workspace.")
    demo = made_up.any() and st.toggle(
        f"Let the demo's {frame[made_up]['annotator'].nunique()} made-up annotators vote", key="demo-votes"
    )
    with st.expander("How judgments become training data"):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        rule = row.selectbox(
            "Label",
            RULES,
            width=_CHOICE,
            index=RULES.index("adjudicated"),
            key="rule",
            format_func=RULE_NAMES.__getitem__,
        )
        unsure = row.selectbox("Unsure votes are", UNSURE_RULES, width=_CHOICE, key="unsure-votes")
        people = sorted(frame["annotator"].unique())
        one_person = (
            row.selectbox("Annotator", people, width=_CHOICE, key="whose", disabled=rule != "one") if people else ""
        )
        leaks = row.selectbox(
            "A passage in two splits", MENDS, width=_CHOICE, key="leaks", format_func=MEND_NAMES.__getitem__
        )
    return (
        rule or "adjudicated",
        unsure or "ignored",
        (one_person or "") if rule == "one" else "",
        leaks or "drop",
        bool(demo),
    )


def set_table(held: list[TrainingSetVersion]) -> None:
    """The versions there are, the newest first, with the class balance of each split."""
    rows = [
        {
            "version": made.id,
            "rule": made.manifest["rules"]["rule"],
            **{f"{split}: pairs (supporting)": f"{n['pairs']:,} ({n['positives']:,})" for split, n in splits.items()},
            "questions": sum(n["questions"] for n in splits.values()),
            "left out": sum(made.manifest["left_out"].values()),
            "leaks": made.manifest["leakage"]["told"],
            "hash": made.hash,
        }
        for made in sorted(held, key=lambda m: str(m.manifest["created"]), reverse=True)
        for splits in [made.manifest["splits"]]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.caption("`berdseye training-set export` writes any of them for other tools.")


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
        doing="is being trained" if training.command == "train" else "is being trained and compared",
        again=lambda: start(workspace(), training.name, training.options, training.command, person=started_by()),
    )
    if training.points:
        st.altair_chart(learning_curves(pd.DataFrame([asdict(p) for p in training.points])))


def page() -> None:
    """The whole page."""
    detectors, training, sets = st.tabs(TABS, key="tab", on_change="rerun", bind="query-params")
    with detectors:
        table()
        choose()
    with training, errors_in_place():
        st.markdown("A better one from the judgments of this workspace.")
        train_form()
    with sets:
        if held := list_sets(workspace()):
            set_table(held)
        else:
            st.info("There is no training set yet. Improve or Train makes one; so does `berdseye training-set create`.")
    progress()


with errors_in_place():
    page()
