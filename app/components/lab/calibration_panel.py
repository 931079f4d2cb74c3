"""The Calibration panel of the detector lab: whether the probabilities match the share of supporting pairs."""

from collections.abc import Callable

import streamlit as st

from berdseye.app.cached.lab import Measured
from berdseye.app.components.choices import one_of
from berdseye.app.components.downloads import downloads
from berdseye.evaluation.detection.calibration import BINNINGS, calibration
from berdseye.evaluation.detection.lab_charts import reliability_chart
from berdseye.evaluation.measures.shown import MISSING
from berdseye.evaluation.statistics.intervals import Estimate

CHART_COLUMN = 560
"""Width in pixels of a table beside a chart. On a narrow page the table moves below the chart."""
MEANING = """**Expected calibration error**: the mean over the bins of the gap between the mean probability and the share of
supporting pairs, each bin weighted by its pairs (Naeini, Cooper and Hauskrecht, AAAI 2015). It depends on the number of bins,
and with few pairs it is above 0 even for calibrated probabilities.

**Mean gap**: the mean probability minus the share of supporting pairs. Above 0, the detector is overconfident that pairs
support.

Bars are 95% intervals of a bootstrap over whole questions (500 resamples). If all labels of a bin are equal, they are Wilson
intervals for as many pairs as the bin has questions."""


def calibration_panel(measurement: Measured) -> None:
    """Draw the reliability diagram with its bins as a table."""
    left, right, _ = st.columns([2, 1, 3], vertical_alignment="bottom")
    with left:
        binning = one_of("Binning", BINNINGS, key="bins-of")
    bins = right.number_input("Bins", 2, 30, 10, key="bins", bind="query-params")
    result = calibration(
        measurement.judged.truth, measurement.probabilities, measurement.judged.groups, bins=int(bins), binning=binning
    )
    one, two, three = st.columns(3)
    estimate(one, "Expected calibration error", result.error, "{:.3f}".format)
    estimate(two, "Mean gap", result.gap, "{:+.3f}".format)
    three.metric("Questions", f"{result.error.n:,}")
    chart = reliability_chart(result.bins)
    row = st.container(horizontal=True)
    with row:
        st.altair_chart(chart, width="content", key="reliability")
    with row.container(width=CHART_COLUMN):
        st.dataframe(result.bins.style.format(precision=3), hide_index=True, key="calibration-bins", placeholder="–")
        downloads(f"calibration-{measurement.detector.name}", result.bins, chart)
        with st.popover("What these figures are", icon=":material/help:"):
            st.markdown(MEANING)


def estimate(
    place: "st.delta_generator.DeltaGenerator", name: str, value: Estimate, write: Callable[[float], str]
) -> None:
    """Draw a figure with its 95% interval below it; `write` formats the figure and the ends."""
    ends = f"{write(value.low)} to {write(value.high)}" if value.low == value.low else "no interval"
    place.metric(
        name, write(value.value) if value.value == value.value else MISSING, ends, delta_color="off", delta_arrow="off"
    )
