"""Whether the probabilities mean what they say."""

import streamlit as st

from berdseye.app.cached.lab import Measured
from berdseye.app.components.choices import one_of
from berdseye.app.components.downloads import downloads
from berdseye.evaluation.detection.calibration import BINNINGS, calibration
from berdseye.evaluation.detection.lab_charts import reliability_chart
from berdseye.evaluation.statistics.intervals import Estimate

BESIDE = 560
"""Width beside a chart, in pixels; it goes below where the page has no room for both."""
MEANING = """**Expected calibration error**: over the bins, the gap between the mean probability and the share that supports
by the labels, each bin weighted by its pairs (Naeini, Cooper and Hauskrecht, AAAI 2015). It depends on how many bins there
are, and with few pairs it is above 0 even where probabilities are right.

**Mean gap**: the mean probability minus the share that supports. Above 0, the detector promises more than it keeps.

Bars are 95% intervals of a bootstrap over whole questions (500 draws). Where the labels of a bin are all equal they are
Wilson's, for as many pairs as it has questions."""


def calibration_panel(found: Measured) -> None:
    """The reliability diagram with its bins as a table."""
    left, right, _ = st.columns([2, 1, 3], vertical_alignment="bottom")
    with left:
        binning = one_of("Bins of", BINNINGS, key="bins-of")
    bins = right.number_input("Bins", 2, 30, 10, key="bins", bind="query-params")
    told = calibration(found.judged.truth, found.probabilities, found.judged.groups, bins=int(bins), binning=binning)
    one, two, three = st.columns(3)
    estimate(one, "Expected calibration error", told.error)
    estimate(two, "Mean gap", told.gap, sign="+")
    three.metric("Questions", f"{told.error.n:,}")
    chart = reliability_chart(told.bins)
    row = st.container(horizontal=True)
    with row:
        st.altair_chart(chart, width="content", key="reliability")
    with row.container(width=BESIDE):
        st.dataframe(told.bins.style.format(precision=3, na_rep="–"), hide_index=True, key="calibration-bins")
        downloads(f"calibration-{found.detector.name}", told.bins, chart)
        with st.popover("What these figures are", icon=":material/help:"):
            st.markdown(MEANING)


def estimate(place: "st.delta_generator.DeltaGenerator", name: str, value: Estimate, *, sign: str = "") -> None:
    """A figure with its 95% interval beneath."""
    known = value.value == value.value
    ends = f"{value.low:{sign}.3f} to {value.high:{sign}.3f}" if value.low == value.low else "no interval"
    place.metric(name, f"{value.value:{sign}.3f}" if known else "–", ends, delta_color="off", delta_arrow="off")
