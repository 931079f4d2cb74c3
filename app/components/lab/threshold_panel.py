"""The threshold, moved: what it does to the judged pairs and to a run; and taking it over."""

import numpy as np
import pandas as pd
import streamlit as st

from berdseye.app.access.session import acting_person, workspace
from berdseye.app.cached.lab import Measured, ask_of_run, stored_run
from berdseye.app.cached.runs import labelled
from berdseye.app.components.choices import chosen_run
from berdseye.app.components.downloads import downloads
from berdseye.app.components.lab.calibration_panel import estimate
from berdseye.app.components.plain_text import escaped
from berdseye.data.runs.stored import list_runs
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import forget_threshold, read_threshold, write_threshold
from berdseye.evaluation.detection.lab_charts import precision_recall_chart, threshold_chart
from berdseye.evaluation.detection.operating_points import FIGURES, cells_by_group, figures, precision_recall, said_at
from berdseye.evaluation.detection.thresholds import RunEffects, chosen_by_hand, with_words
from berdseye.evaluation.labels.sources import HUMAN

_NAMES = {"precision": "Precision", "recall": "Recall", "f1": "F1", "accuracy": "Accuracy"}
_POINTS = np.linspace(0, 1, 401, dtype=np.float64)


def threshold_panel(found: Measured | None, detector: Detector) -> None:
    """The whole panel; without judged pairs (None) only what the threshold does to a run."""
    threshold = chosen_threshold(detector)
    if found is not None:
        on_judged(found, threshold)
        adoption(found, threshold)
    on_run(detector, threshold)


def chosen_threshold(detector: Detector) -> float:
    """One value of a slider and of a box; another detector begins at its own."""
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
        help="A pair is called supporting from this probability on. The arrow keys move it.",
    )  # fmt: skip
    state["threshold-typed"] = float(value)
    middle.number_input("Threshold, typed", 0.0, 1.0, step=0.001, format="%.4f", key="threshold-typed", on_change=typed)
    right.caption(f"In use: {detector.threshold:.4f}, {escaped(detector.threshold_source)}")
    return float(value)


def on_judged(found: Measured, threshold: float) -> None:
    """Precision, recall, F1 and accuracy there, and both curves."""
    truth = found.judged.truth
    cells = cells_by_group(truth, said_at(found.probabilities, threshold), found.judged.groups)
    here = figures(cells)
    columns = st.columns(4)
    for name, column in zip(FIGURES, columns, strict=True):
        estimate(column, _NAMES[name], here[name])
    curve = precision_recall(truth, found.probabilities)
    if curve.empty:
        st.info("A curve needs pairs of both labels.")
        return
    left, right = st.columns(2)
    at_all = precision_recall_chart(curve, threshold, here["precision"].value, here["recall"].value)
    with left:
        st.altair_chart(at_all, key="precision-recall")
        downloads(f"precision-recall-{found.detector.name}", curve, at_all)
    by_threshold = threshold_chart(curve[["threshold", "precision", "recall", "f1"]], threshold)
    with right:
        st.altair_chart(by_threshold, key="by-threshold")
        downloads(f"threshold-{found.detector.name}", curve, by_threshold)
    best = curve.iloc[int(curve["f1"].to_numpy().argmax())]
    st.caption(
        f"The best F1 of the curve is {best['f1']:.3f}, at {best['threshold']:.4f}. A threshold that was chosen on these "
        "pairs looks better on them than it is."
    )


def adoption(found: Measured, threshold: float) -> None:
    """Take the threshold over for this workspace, or go back to the detector's own."""
    detector, held = found.detector, read_threshold(workspace(), found.detector.name)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            f"Use {threshold:.4f} from now on",
            icon=":material/check_circle:",
            disabled=not len(found.judged.truth) or threshold == detector.threshold,
            help="Every page and command calls a pair supporting from there on; probabilities stay.",
        ):
            write_threshold(
                workspace(),
                chosen_by_hand(detector, found.judged, found.probabilities, threshold, made_by=acting_person()),
            )
            st.toast(f"{escaped(detector.name)} says yes from {threshold:.4f} on.")
            st.rerun()
        if held is not None:
            if st.button("Back to its own", icon=":material/undo:"):
                forget_threshold(workspace(), detector.name)
                st.session_state.pop("threshold-of", None)
                st.rerun()
            who = f" by {held.made_by}" if held.made_by else ""
            old = "" if held.version == detector.version else " For another version of the detector: it does not count."
            st.caption(escaped(f"{held.value:.4f} was chosen {held.created[:10]}{who}, on {held.data}.{old}"))
            if held.data_hash == found.judged.hash:
                st.markdown(":orange-badge[chosen on these very pairs: they flatter it]")


def on_run(detector: Detector, threshold: float) -> None:
    """MRecall@k and Precision@k of a run at the threshold, and at every other."""
    st.subheader("What it does to a run", anchor=False)
    runs = list_runs(workspace())
    if not runs:
        st.info("There is no run yet. Run a pipeline on the Runs page, then its measures move with the threshold.")
        return
    left, middle, right = st.columns([5, 1, 2], vertical_alignment="bottom")
    with left:
        run = chosen_run(runs)
    k = int(middle.number_input("k", 1, 100, 5, key="k", bind="query-params"))
    words = right.toggle("People's words first", key="words", bind="query-params")
    held = stored_run(run, detector, k)
    if held.missing:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"{escaped(detector.name)} was not asked about {held.missing:,} of the run's {int(held.there.sum()):,} pairs: "
                "they count as not supporting."
            )
            if st.button("Ask it", icon=":material/smart_toy:", key="ask-run"):
                ask_of_run(run, detector)
                st.rerun()
    chances = with_words(held, labelled(run, HUMAN).labels) if words else held.chances
    effects = RunEffects(chances, held.counts, k)
    columns = st.columns(4)
    now, before = effects.at(threshold), effects.at(detector.threshold)
    for place, (name, value) in enumerate(now.items()):
        estimate(columns[place], name, value)
        columns[place + 2].metric(f"{name} at {detector.threshold:.3f}, as it is", _share(before[name].value))
    curves = effects.curves(_POINTS)
    chart = threshold_chart(curves, threshold)
    left, right = st.columns(2)
    with left:
        st.altair_chart(chart, key="run-effects")
        downloads(f"threshold-{detector.name}-{run.name}-{k}", curves, chart)
    with right:
        st.dataframe(_around(curves, threshold).style.format(precision=3, na_rep="–"), hide_index=True, key="around")
        st.caption(f"{now[f'MRecall@{k}'].n:,} questions with perspectives; 95% intervals over them.")


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _around(curves: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """The curve as a table that the keyboard walks: a line each 0.05, and those beside the threshold."""
    near = np.abs(curves["threshold"].to_numpy() - threshold) <= 0.005
    return curves.iloc[np.flatnonzero((np.arange(len(curves)) % 20 == 0) | near)]
