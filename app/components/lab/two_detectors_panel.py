"""The Two detectors panel of the detector lab: compares two detectors on one set of judged pairs."""

import numpy as np
import pandas as pd
import streamlit as st

from berdseye.app.cached.lab import Measured, chosen_detector, measured
from berdseye.app.components.choices import one_of
from berdseye.app.components.downloads import downloads
from berdseye.app.components.lab.calibration_panel import CHART_COLUMN, estimate
from berdseye.app.components.lab.pair_reader import pair_reader
from berdseye.app.components.plain_text import escaped
from berdseye.evaluation.detection.errors import groupings
from berdseye.evaluation.detection.lab_charts import two_probabilities_chart
from berdseye.evaluation.detection.pairs import COLUMNS, JudgedPairs
from berdseye.evaluation.detection.two_detectors import Side, TwoDetectors, examples, two_detectors, where_they_differ
from berdseye.evaluation.measures.shown import scaled, shown

_FIGURES = {"f1": "F1", "auroc": "AUROC", "accuracy": "Accuracy"}
_SHOWN = 200


def two_detectors_panel(whole: JudgedPairs, first: Measured) -> None:
    """Draw the comparison. `whole` holds all judged pairs; the comparison uses those that both detectors have labelled
    and neither was trained on."""
    other = chosen_detector("other", "Compared with", place=1)
    if other.name == first.detector.name:
        st.info("Choose another detector to compare with.")
        return
    second = measured(whole, other, "other")
    shared, a, b = _aligned(first, second)
    if not len(shared.truth):
        st.info("No pair has labels from both detectors. Label some with the buttons above.")
        return
    sides = tuple((m.detector.name, m.detector.version, m.detector.threshold) for m in (first, second))
    comparison = _compared((shared.hash, *sides), shared, a, b)
    _verdict(comparison, a, b)
    row = st.container(horizontal=True)
    frame = pd.DataFrame({"a": a.probabilities, "b": b.probabilities, "supports": shared.truth})
    with row.container(width="content"):
        chart = two_probabilities_chart(frame, (a.name, a.threshold), (b.name, b.threshold))
        st.altair_chart(chart, width="content", key="two-chances")
        downloads(f"two-{a.name}-{b.name}", frame, chart)
    with row.container(width=CHART_COLUMN):
        _where(shared, a, b)
    _examples(shared, a, b)


def _aligned(first: Measured, second: Measured) -> tuple[JudgedPairs, Side, Side]:
    """Return the pairs that both measurements have, in the order of the first."""
    places = pd.Index(second.judged.table["pair"]).drop_duplicates()
    firsts = ~first.judged.table["pair"].duplicated().to_numpy()
    kept = firsts & first.judged.table["pair"].isin(places).to_numpy()
    chances = pd.Series(second.probabilities, index=second.judged.table["pair"])
    chances = chances[~chances.index.duplicated()]
    shared = first.judged.part(kept)
    return (
        shared,
        Side(first.detector.name, first.probabilities[kept], first.detector.threshold),
        Side(
            second.detector.name,
            chances.loc[shared.table["pair"]].to_numpy(dtype=np.float32),
            second.detector.threshold,
        ),
    )


@st.cache_data(max_entries=16, show_spinner="Comparing…")
def _compared(key: tuple[object, ...], _judged: JudgedPairs, _a: Side, _b: Side) -> TwoDetectors:
    del key
    return two_detectors(_judged, _a, _b)


def _verdict(comparison: TwoDetectors, a: Side, b: Side) -> None:
    columns = st.columns(4)
    estimate(columns[0], "Agreement (Cohen's kappa)", comparison.kappa, "{:.3f}".format)
    for column, difference in zip(columns[1:], comparison.differences, strict=True):
        column.metric(
            f"{_FIGURES[difference.figure]}: {shown(difference.present)} and {shown(difference.new)}",
            _points(difference.difference),
            f"{_points(difference.low)} to {_points(difference.high)}"
            if difference.low == difference.low
            else "no interval",
            delta_color="off",
            delta_arrow="off",
        )
    p = "no such pairs" if np.isnan(comparison.mcnemar_p) else f"p = {comparison.mcnemar_p:.3g}"
    st.markdown(
        escaped(
            f"Only {a.name} is right on {comparison.only_a:,} pairs, only {b.name} on {comparison.only_b:,}, both on "
            f"{comparison.both_right:,} and neither on {comparison.neither:,} ({comparison.kappa.n:,} pairs)."
        )
    )
    st.caption(
        f"McNemar's test on the pairs that only one has right ({'exact' if comparison.exact else 'with continuity correction'}): "
        f"{p}. It assumes independent pairs, but pairs of one question are not. Differences are the second minus the first, in "
        "points, with 95% intervals that resample whole questions; rely on these."
    )


def _points(difference: float) -> str:
    return shown(difference, signed=True, bare=True)


def _where(judged: JudgedPairs, a: Side, b: Side) -> None:
    columns = groupings(judged)
    if not columns:
        return
    column = one_of("Differences by", columns, key="differ-by", default=columns[-1])
    table = where_they_differ(judged, a, b, column)
    named = scaled(table, ["share"]).rename(
        columns={"only_a": f"{a.name} right", "only_b": f"{b.name} right", "share": "differing, %"}
    )
    st.dataframe(named.style.format({"differing, %": "{:.1f}"}), hide_index=True, key="where-differ")


def _examples(judged: JudgedPairs, a: Side, b: Side) -> None:
    table = examples(judged, a, b)
    if table.empty:
        st.info("Both detectors agree on every pair.")
        return
    shown = table[["right", "probability_a", "probability_b", "question", "perspective", "stance", "corpus"]].head(
        _SHOWN
    )
    event = st.dataframe(
        shown.rename(
            columns={
                "right": "who is right",
                "probability_a": f"P(supports), {a.name}",
                "probability_b": f"P(supports), {b.name}",
            }
        ),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="differing",
        height=min(320, 38 + 36 * max(len(shown), 1)),
    )
    downloads(f"differing-{a.name}-{b.name}", table[["right", "probability_a", "probability_b", *COLUMNS]])
    if not event.selection.rows:
        st.caption("Choose a row to read the pair. The largest gaps come first.")
        return
    row = table.iloc[event.selection.rows[0]]
    labels = f"P(supports): {a.name} {row['probability_a']:.3f}, {b.name} {row['probability_b']:.3f}"
    pair_reader({str(k): v for k, v in row.to_dict().items()}, labels)
