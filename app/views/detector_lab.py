"""The Detector lab page: measures how reliable a detector's probabilities and labels are, on pairs with human or gold
labels."""

from collections.abc import Callable

import streamlit as st

from berdseye.app.access.session import errors_in_place
from berdseye.app.cached.lab import Measured, chosen_detector, chosen_pairs, measured
from berdseye.app.components.choices import one_of
from berdseye.app.components.detector_parts import detector_parts
from berdseye.app.components.lab.calibration_panel import calibration_panel
from berdseye.app.components.lab.cost_panel import cost_panel
from berdseye.app.components.lab.errors_panel import confusion_panel, mistakes_panel
from berdseye.app.components.lab.threshold_panel import threshold_panel
from berdseye.app.components.lab.two_detectors_panel import two_detectors_panel
from berdseye.app.components.plain_text import escaped
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.detection.pairs import JudgedPairs
from berdseye.evaluation.measures.shown import shown

CALIBRATION, THRESHOLD, CONFUSION, MISTAKES, TWO, COST = (
    "Calibration", "Threshold", "Confusion", "Mistakes", "Two detectors", "Cost",
)  # fmt: skip
PARTS = (CALIBRATION, THRESHOLD, CONFUSION, MISTAKES, TWO, COST)
ON_ONE: dict[str, Callable[[Measured], None]] = {
    CALIBRATION: calibration_panel,
    CONFUSION: confusion_panel,
    MISTAKES: mistakes_panel,
}


def measured_on(measurement: Measured) -> None:
    """Draw which pairs the figures below are measured on, and which are omitted."""
    n, truth = len(measurement.judged.truth), measurement.judged.truth
    questions = len(set(measurement.judged.groups.tolist()))
    parts = [f"Measured on **{n:,}** pairs of **{questions:,}** questions ({escaped(measurement.judged.name)})"]
    if n:
        parts.append(f"{shown(truth.mean())} support")
    if measurement.unasked:
        parts.append(f"{measurement.unasked:,} pairs without a label from the detector are omitted")
    if measurement.seen:
        parts.append(f"{measurement.seen:,} pairs the detector was trained on are omitted")
    if measurement.judged.left_out:
        parts.append(f"omitted without a label: {escaped(measurement.judged.left_out)}")
    st.markdown("; ".join(parts) + ".")
    if measurement.detector.measured:
        st.caption(f"{escaped(measurement.detector.name)} itself: {escaped(measurement.detector.measured)}")


def part_of_pairs(part: str, judged: JudgedPairs, detector: Detector) -> None:
    """Draw a part that needs judged pairs, or explain how to get some."""
    if judged.table.empty:
        st.info(
            "No pair has such a label yet. Judge some on the pages Annotate or Explore, import a data set with gold labels, or "
            "choose a labelled file above."
        )
        if part == THRESHOLD:
            threshold_panel(None, detector)
        return
    measurement = measured(judged, detector, "chosen")
    measured_on(measurement)
    if not len(measurement.judged.truth):
        st.info(
            "No pair is left to measure on. Let the detector label these pairs, or include the pairs it was trained on."
        )
    elif part == THRESHOLD:
        threshold_panel(measurement, detector)
    elif part == TWO:
        two_detectors_panel(judged, measurement)
    else:
        ON_ONE[part](measurement)


def page() -> None:
    """Draw the page."""
    detector_parts("detector_lab")
    left, right = st.columns(2)
    with left:
        detector = chosen_detector("detector")
    with right:
        judged = chosen_pairs()
    part = one_of("Part", PARTS, key="part", default=CALIBRATION, named=False)
    if part == COST:
        cost_panel(detector)
    else:
        part_of_pairs(part, judged, detector)


with errors_in_place():
    page()
