"""The Detectors page: lists the detectors with their measured quality, trains new ones from the judgments of this workspace, and
adopts one."""

from dataclasses import asdict
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from berdseye.annotation.training_sets.labelling import RULES, UNSURE_RULES
from berdseye.annotation.training_sets.leakage import LEAK_HANDLINGS
from berdseye.annotation.training_sets.store import TrainingSetVersion, list_sets
from berdseye.app.access.session import acting_person, errors_in_place, judgments, started_by, workspace
from berdseye.app.components.charts import dots_with_intervals, learning_curves
from berdseye.app.components.choices import one_of, selectbox_by_id
from berdseye.app.components.detector_parts import detector_parts
from berdseye.app.components.downloads import download
from berdseye.app.components.job_box import job_box
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.improving import read_improvement, set_to_train_on
from berdseye.app.jobs.training_sets import FILE_ENDINGS, create_set_version, file_of_set
from berdseye.app.jobs.trainings import TrainingJob, jobs, start
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.listing import list_detectors
from berdseye.detectors.thresholds import threshold_history
from berdseye.detectors.trained import Trained, adopt, adopted_detector, detector_names, discard, list_trained
from berdseye.evaluation.detection.grading import grade_in
from berdseye.evaluation.detection.improvement import ADOPTS

TABS = ("Detectors", "Train a better one", "Training sets")
KINDS = {
    "stance": "The biases and norms of `stance`, trained further. Trains in minutes; useful from 200 judgments.",
    "head": "A logistic head over the features of `embedded`. Trains in seconds; useful from 20 judgments.",
    "crossencoder": "A cross-encoder. Trains in minutes; needs a base model and several hundred judgments.",
    "lora": "LoRA on a language model. Needs a GPU, a base model and several thousand judgments.",
}
WITHOUT_BASE = ("stance", "head")
IMPROVE = (
    "Creates a training set, trains on it, compares the result with the detector in use on held-out questions, and adopts it as "
    "set under “Adopt it afterwards”."
)
WHEN = {"if-better": "if it is better", "always": "always", "never": "never"}
RULE_NAMES = {
    "adjudicated": "adjudicated, otherwise majority",
    "majority": "majority",
    "unanimous": "unanimous",
    "one": "one annotator's",
}
LEAK_HANDLING_NAMES = {
    "drop": "drop it from one split",
    "move": "move its questions to one split",
    "keep": "keep it in both",
}
FORMAT_NAMES = {
    "jsonl": "JSON Lines",
    "chat": "Chats for LoRA",
    "huggingface": "Hugging Face",
    "label-studio": "Label Studio",
}
_CHOICE = 235
FIGURES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auroc": "AUROC",
    "average_precision": "average precision",
}


def table() -> None:
    """Draw the table of all available detectors, with the one in use marked."""
    rows = [
        (
            "in\u00a0use" if row.adopted else "",
            escaped(row.detector),
            escaped(row.version),
            escaped(row.graded),
            escaped(row.problem or row.measured),
            row.threshold,
            escaped(row.threshold_source),
        )
        for row in list_detectors(workspace())
    ]
    columns = ["", "detector", "version", "grade", "measured", "threshold", "source of the threshold"]
    with st.container(key="detectors-table"):
        st.table(pd.DataFrame(rows, columns=columns).set_index(""))
    st.caption(
        "Pages and commands take their labels from the detector in use unless you choose another label source. In a workspace "
        "with gold labels, judgments and gold labels come first. The grade says what labels can mean: *stance* tells sides, "
        "*topic* does not, and neither does a detector that was not graded."
    )


def choose() -> None:
    """Draw the choice of a detector with the buttons that adopt it and, if it was trained here, discard it."""
    names = detector_names(workspace())
    trained = {t.detector: t for t in list_trained(workspace(), [])}
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    chosen = left.selectbox("Detector", names, key="chosen", bind="query-params", accept_new_options=True)
    if not chosen:
        return
    with right.container(horizontal=True):
        if st.button(
            "Grade",
            icon=":material/grade:",
            help="Measures whether it tells sides, on contrasts: a passage with two statements.",
        ):
            with st.spinner("Grading…"):
                found = grade_in(workspace(), parse_detector(chosen, workspace()))
            st.toast(f"{escaped(found.detector)}: {found}.")
        if st.button("Use", icon=":material/check_circle:", disabled=chosen == adopted_detector(workspace())):
            detector = parse_detector(chosen, workspace())
            adopt(workspace(), detector.name, made_by=acting_person())
            st.toast(f"{escaped(detector.name)} is now in use.")
            st.rerun()
        if chosen in trained:
            with st.popover("Discard", icon=":material/delete:"):
                st.markdown("This deletes its weights. Labels that it has given stay.")
                if st.button("Delete", type="primary"):
                    discard(workspace(), trained[chosen].name)
                    st.rerun()
    lab = urlencode({"detector": chosen})
    st.markdown(f"[Open it in the detector lab to see how reliable it is](detector_lab?{lab})")
    with errors_in_place():
        tuned_thresholds(chosen)
    if chosen in trained:
        card(trained[chosen])


def tuned_thresholds(detector: str) -> None:
    """Draw the thresholds that were tuned for a detector, the newest first, and the text that numbers measured with them keep."""
    if not (entries := threshold_history(workspace(), detector)):
        return
    with st.expander(f"Thresholds tuned so far: {len(entries)}"):
        rows = [(escaped(entry.stamp), escaped(entry.change)) for entry in reversed(entries)]
        st.table(pd.DataFrame(rows, columns=["version and threshold", "source"]).set_index("version and threshold"))
        st.caption("Numbers keep the version and the threshold that they were measured with.")


def card(trained: Trained) -> None:
    """Draw the record of a training: its measures, learning curve, settings and comparison."""
    if compared := read_improvement(trained):
        st.markdown(escaped(compared["comparison"]["summary"]))
    figures = [
        {"figure": shown, "split": split, "share": figures_of_split[name], "low": figures_of_split["intervals"][name][0],
         "high": figures_of_split["intervals"][name][1], "pairs": figures_of_split["n"]}
        for split in ("dev", "test")
        if (figures_of_split := trained.card.get(split))
        for name, shown in FIGURES.items()
        if figures_of_split.get(name) is not None and name in figures_of_split.get("intervals", {})
    ]  # fmt: skip
    left, right = st.columns(2)
    with left:
        if figures:
            st.altair_chart(dots_with_intervals(pd.DataFrame(figures), value="share", row="figure", colour="split"))
        else:
            st.info("The card has no measures.")
    with right:
        if points := trained.card.get("curve"):
            st.altair_chart(learning_curves(pd.DataFrame(points)))
        st.json({k: v for k, v in trained.card.items() if k not in ("curve", "dev", "test")}, expanded=False)


def train_form() -> None:
    """Draw the form that starts a training alone, or the training set, training, comparison and adoption in one job."""
    chosen = rules()
    kind = one_of("Kind", KINDS, key="kind", default="stance")
    st.caption(KINDS[kind])
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="bottom")
    name = left.text_input("Name", key="training-name", placeholder="the training set's name")
    base = middle.text_input(
        "Base model",
        key="base",
        disabled=kind in WITHOUT_BASE,
        placeholder="a folder or a name on the Hugging Face hub" if kind not in WITHOUT_BASE else "the shipped weights",
    )
    mode = right.selectbox("Adopt it afterwards", ADOPTS, key="adopt", format_func=WHEN.__getitem__)
    with st.container(horizontal=True):
        improve = st.button("Improve", icon=":material/trending_up:", type="primary", help=IMPROVE)
        train = st.button(
            "Train", icon=":material/model_training:", help="Trains only, without a comparison or an adoption."
        )
    if improve or train:
        version = create_set_version(workspace(), "judged", *chosen[:-1], demo=chosen[-1], made_by=acting_person())
        set_to_train_on(version)  # reports what is missing here and now, not in a job
        options = (
            "--training-set",
            version.id,
            "--kind",
            kind,
            *(("--base", base.strip()) if base and kind not in WITHOUT_BASE else ()),
        )
        name_to_use = (name or "").strip() or (version.id if kind == "stance" else f"{version.id}-{kind}")
        if improve:
            start(workspace(), name_to_use, (*options, "--adopt", mode or "if-better"), "improve", person=started_by())
        else:
            start(workspace(), name_to_use, options, person=started_by())
        st.rerun()


def rules() -> tuple[str, str, str, str, bool]:
    """Draw the rules that turn judgments into labels, and return them: the rule, unsure votes, the annotator, the
    handling of leaks, and whether simulated annotators vote."""
    frame = judgments().frame()
    simulated = frame["demo"].astype(bool)
    st.caption(f"Pairs in this workspace that people have judged: {frame[~simulated]['pair'].nunique():,}.")
    demo = simulated.any() and st.toggle(
        f"Count the votes of the demo's {frame[simulated]['annotator'].nunique()} simulated annotators",
        key="demo-votes",
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
        unsure = row.selectbox("Count unsure votes as", UNSURE_RULES, width=_CHOICE, key="unsure-votes")
        people = sorted(frame["annotator"].unique())
        one_person = (
            row.selectbox("Annotator", people, width=_CHOICE, key="whose", disabled=rule != "one") if people else ""
        )
        leaks = row.selectbox(
            "If a passage is in two splits",
            LEAK_HANDLINGS,
            width=_CHOICE,
            key="leaks",
            format_func=LEAK_HANDLING_NAMES.__getitem__,
        )
    return (
        rule or "adjudicated",
        unsure or "ignored",
        (one_person or "") if rule == "one" else "",
        leaks or "drop",
        bool(demo),
    )


def set_table(versions: list[TrainingSetVersion]) -> None:
    """Draw the table of the training-set versions, newest first, with the class balance of each split, and the download of
    one."""
    rows = [
        {
            "version": version.id,
            "rule": version.manifest["rules"]["rule"],
            **{f"{split}: pairs (supporting)": f"{n['pairs']:,} ({n['positives']:,})" for split, n in splits.items()},
            "questions": sum(n["questions"] for n in splits.values()),
            "omitted": sum(version.manifest["left_out"].values()),
            "leaks": version.leakage,
            "hash": version.hash,
        }
        for version in sorted(versions, key=lambda m: str(m.manifest["created"]), reverse=True)
        for splits in [version.manifest["splits"]]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = selectbox_by_id("Version", [row["version"] for row in rows], "exported-set", str)
        form = one_of("Format", FORMAT_NAMES, key="exported-form", shown=FORMAT_NAMES.__getitem__)
        chosen = next((v for v in versions if v.id == version), versions[-1])
        name = f"{chosen.id}{FILE_ENDINGS[form]}"
        download(name, lambda: file_of_set(chosen, form), name, key="exported")


@st.fragment(run_every=2)
def progress() -> None:
    """Draw the running and the unfinished trainings, refreshed every two seconds."""
    unfinished = jobs(workspace())
    before = st.session_state.get("jobs")
    st.session_state["jobs"] = [job.name for job in unfinished]
    if before is not None and set(before) - {job.name for job in unfinished}:
        st.rerun()  # one has finished, so the table above has a new row
    for training in unfinished:
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
    """Draw the page."""
    detector_parts("detectors")
    detectors, training, sets = st.tabs(TABS, key="tab", on_change="rerun", bind="query-params")
    with detectors:
        table()
        choose()
    with training, errors_in_place():
        st.markdown("Train a detector from the judgments of this workspace.")
        train_form()
    with sets:
        if versions := list_sets(workspace()):
            set_table(versions)
        else:
            st.info("No training sets yet. **Improve** and **Train** create one.")
    progress()


with errors_in_place():
    page()
