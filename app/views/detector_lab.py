"""Detector lab: how far a detector's probabilities and verdicts can be trusted, on pairs whose labels are known."""

from collections.abc import Callable

import streamlit as st

from berdseye.app.access.session import errors_in_place
from berdseye.app.cached.lab import Measured, chosen_detector, chosen_pairs, measured
from berdseye.app.components.choices import one_of
from berdseye.app.components.lab.calibration_panel import calibration_panel
from berdseye.app.components.lab.cost_panel import cost_panel
from berdseye.app.components.lab.errors_panel import confusion_panel, mistakes_panel
from berdseye.app.components.lab.threshold_panel import threshold_panel
from berdseye.app.components.lab.two_detectors_panel import two_detectors_panel
from berdseye.app.components.plain_text import escaped
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.detection.pairs import JudgedPairs

CALIBRATION, THRESHOLD, CONFUSION, MISTAKES, TWO, COST = (
    "Calibration", "Threshold", "Confusion", "Mistakes", "Two detectors", "Cost",
)  # fmt: skip
PARTS = (CALIBRATION, THRESHOLD, CONFUSION, MISTAKES, TWO, COST)
ON_ONE: dict[str, Callable[[Measured], None]] = {
    CALIBRATION: calibration_panel,
    CONFUSION: confusion_panel,
    MISTAKES: mistakes_panel,
}


def measured_on(found: Measured) -> None:
    """What the figures below stand on."""
    n, truth = len(found.judged.truth), found.judged.truth
    questions = len(set(found.judged.groups.tolist()))
    parts = [f"Measured on **{n:,}** pairs of **{questions:,}** questions ({escaped(found.judged.name)})"]
    if n:
        parts.append(f"{truth.mean():.0%} support")
    if found.unasked:
        parts.append(f"{found.unasked:,} it was not asked about are left out")
    if found.seen:
        parts.append(f"{found.seen:,} it learned from are left out")
    if found.judged.left_out:
        parts.append(f"no label: {escaped(found.judged.left_out)}")
    st.markdown("; ".join(parts) + ".")
    if found.detector.measured:
        st.caption(f"{escaped(found.detector.name)} itself: {escaped(found.detector.measured)}")


def part_of_pairs(part: str, judged: JudgedPairs, detector: Detector) -> None:
    """A part that needs judged pairs, or what to do where there are none."""
    if judged.table.empty:
        st.info(
            "There is no pair with such a label yet. Judge some on Annotate or Explore, import a data set with gold labels, or "
            "choose a labelled file above."
        )
        if part == THRESHOLD:
            threshold_panel(None, detector)
        return
    found = measured(judged, detector, "chosen")
    measured_on(found)
    if not len(found.judged.truth):
        st.info("No pair is left to measure on: ask the detector about them, or count what it learned from.")
    elif part == THRESHOLD:
        threshold_panel(found, detector)
    elif part == TWO:
        two_detectors_panel(judged, found)
    else:
        ON_ONE[part](found)


def page() -> None:
    """The whole page."""
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
