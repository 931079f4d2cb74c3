"""The Threshold panel of the detector lab: the effect of a threshold on the judged pairs and on a run, and adopting it."""

import numpy as np
import pandas as pd
import streamlit as st

from berdseye.app.access.session import acting_person, workspace
from berdseye.app.cached.lab import Measured, ask_of_run, stored_run
from berdseye.app.cached.runs import labelled
from berdseye.app.components.choices import chosen_run
from berdseye.app.components.downloads import downloads
from berdseye.app.components.lab.calibration_panel import estimate
from berdseye.app.components.missing import is_missing
from berdseye.app.components.plain_text import escaped
from berdseye.data.runs.stored import list_runs
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import forget_threshold, read_threshold, write_threshold
from berdseye.evaluation.detection.lab_charts import precision_recall_chart, threshold_chart
from berdseye.evaluation.detection.operating_points import (
    FIGURES,
    cells_by_group,
    decisions_at,
    figures,
    precision_recall,
)
from berdseye.evaluation.detection.thresholds import RunEffects, chosen_by_hand, with_human_labels
from berdseye.evaluation.labels.sources import HUMAN
from berdseye.evaluation.measures.shown import MISSING, scaled, shown

_NAMES = {"precision": "Precision", "recall": "Recall", "f1": "F1", "accuracy": "Accuracy"}
_POINTS = np.linspace(0, 1, 401, dtype=np.float64)


def threshold_panel(measurement: Measured | None, detector: Detector) -> None:
    """Draw the panel. Without judged pairs (None), draw only the effect of the threshold on a run."""
    threshold = chosen_threshold(detector)
    if measurement is not None:
        on_judged(measurement, threshold)
        adoption(measurement, threshold)
    on_run(detector, threshold)


def chosen_threshold(detector: Detector) -> float:
    """Draw a slider and a number box that share one threshold, and return it. A newly chosen detector starts at its own."""
    state = st.session_state
    if state.setdefault("threshold-of", detector.name) != detector.name:
        state.pop("threshold", None)
        state["threshold-of"] = detector.name
    if "threshold" in state:
        state["threshold-typed"] = state["threshold"]

    def typed() -> None:
        state["threshold"] = state["threshold-typed"]

    left, middle, right = st.columns([6, 2, 2], vertical_alignment="bottom")
    value = left.slider(
        "Threshold", 0.0, 1.0, detector.threshold, 0.001, format="%.3f", key="threshold", bind="query-params",
        help="A pair counts as supporting from this probability. The arrow keys move it.",
    )  # fmt: skip
    state["threshold-typed"] = float(value)
    middle.number_input("Exact threshold", 0.0, 1.0, step=0.001, format="%.4f", key="threshold-typed", on_change=typed)
    right.caption(f"In use: {detector.threshold:.4f}, {escaped(detector.threshold_source)}")
    return float(value)


def on_judged(measurement: Measured, threshold: float) -> None:
    """Draw precision, recall, F1 and accuracy at the threshold, and both curves."""
    truth = measurement.judged.truth
    cells = cells_by_group(truth, decisions_at(measurement.probabilities, threshold), measurement.judged.groups)
    here = figures(cells)
    columns = st.columns(4)
    for name, column in zip(FIGURES, columns, strict=True):
        estimate(column, _NAMES[name], here[name], shown)
    curve = precision_recall(truth, measurement.probabilities)
    if curve.empty:
        st.info("A curve needs pairs of both labels.")
        return
    left, right = st.columns(2)
    at_all = precision_recall_chart(curve, threshold, here["precision"].value, here["recall"].value)
    with left:
        st.altair_chart(at_all, key="precision-recall")
        downloads(f"precision-recall-{measurement.detector.name}", curve, at_all)
    by_threshold = threshold_chart(curve[["threshold", "precision", "recall", "f1"]], threshold)
    with right:
        st.altair_chart(by_threshold, key="by-threshold")
        downloads(f"threshold-{measurement.detector.name}", curve, by_threshold)
    best = curve.iloc[int(curve["f1"].to_numpy().argmax())]
    st.caption(
        f"The best F1 of the curve is {shown(best['f1'])}, at {best['threshold']:.4f}. A threshold chosen on these pairs looks "
        "better on them than on new ones."
    )


def adoption(measurement: Measured, threshold: float) -> None:
    """Draw the buttons that adopt the threshold for this workspace or return to the detector's own."""
    detector, adopted = measurement.detector, read_threshold(workspace(), measurement.detector.name)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            f"Use {threshold:.4f} from now on",
            icon=":material/check_circle:",
            disabled=not len(measurement.judged.truth) or threshold == detector.threshold,
            help="Every page and command then counts a pair as supporting from this probability. Probabilities do not change.",
        ):
            write_threshold(
                workspace(),
                chosen_by_hand(
                    detector, measurement.judged, measurement.probabilities, threshold, made_by=acting_person()
                ),
            )
            st.toast(f"{escaped(detector.name)} now uses the threshold {threshold:.4f}.")
            st.rerun()
        if adopted is not None:
            if st.button("Restore the detector's own", icon=":material/undo:"):
                forget_threshold(workspace(), detector.name)
                st.session_state.pop("threshold-of", None)
                st.rerun()
            who = f" by {adopted.made_by}" if adopted.made_by else ""
            old = (
                ""
                if adopted.version == detector.version
                else " It was chosen for another version of the detector and does not apply."
            )
            st.caption(escaped(f"{adopted.value:.4f} was chosen {adopted.created[:10]}{who}, on {adopted.data}.{old}"))
            if adopted.data_hash == measurement.judged.hash:
                st.markdown(":orange-badge[chosen on these pairs, so the figures flatter it]")


def on_run(detector: Detector, threshold: float) -> None:
    """Draw MRecall@k and Precision@k of a run at the threshold and at every other."""
    st.subheader("Effect on a run", anchor=False)
    if is_missing("run", also="This part shows how its measures change with the threshold."):
        return
    runs = list_runs(workspace())
    left, middle, right = st.columns([5, 1, 2], vertical_alignment="bottom")
    with left:
        run = chosen_run(runs)
    k = int(middle.number_input("k", 1, 100, 5, key="k", bind="query-params"))
    prefer_people = right.toggle("Prefer people's judgments", key="words", bind="query-params")
    run_probabilities = stored_run(run, detector, k)
    if run_probabilities.missing:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"{escaped(detector.name)} has not labelled {run_probabilities.missing:,} of the run's "
                f"{int(run_probabilities.there.sum()):,} pairs, which count as not supporting."
            )
            if st.button("Label them", icon=":material/smart_toy:", key="ask-run"):
                ask_of_run(run, detector)
                st.rerun()
    chances = (
        with_human_labels(run_probabilities, labelled(run, HUMAN).labels)
        if prefer_people
        else run_probabilities.chances
    )
    effects = RunEffects(chances, run_probabilities.counts, k)
    columns = st.columns(4)
    now, before = effects.at(threshold), effects.at(detector.threshold)
    for place, (name, value) in enumerate(now.items()):
        estimate(columns[place], name, value, shown)
        columns[place + 2].metric(f"{name} at {detector.threshold:.3f} (in use)", shown(before[name].value))
    curves = effects.curves(_POINTS)
    chart = threshold_chart(curves, threshold)
    left, right = st.columns(2)
    with left:
        st.altair_chart(chart, key="run-effects")
        downloads(f"threshold-{detector.name}-{run.name}-{k}", curves, chart)
    with right:
        near = scaled(_around(curves, threshold), now)
        st.dataframe(
            near.style.format(precision=1, na_rep=MISSING).format("{:.3f}", subset=["threshold"]),
            hide_index=True,
            key="around",
        )
        st.caption(
            f"Percent. {now[f'MRecall@{k}'].n:,} questions with perspectives; 95% intervals over these questions."
        )


def _around(curves: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return the curve as a table for the keyboard: a row every 0.05, and the rows next to the threshold."""
    near = np.abs(curves["threshold"].to_numpy() - threshold) <= 0.005
    return curves.iloc[np.flatnonzero((np.arange(len(curves)) % 20 == 0) | near)]
