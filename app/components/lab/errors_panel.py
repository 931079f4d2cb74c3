"""The Confusion and Mistakes panels of the detector lab: confusion by corpus and stance, and the most confident mistakes."""

import streamlit as st

from berdseye.app.cached.lab import Measured
from berdseye.app.components.charts import counts_as_colours
from berdseye.app.components.choices import one_of
from berdseye.app.components.downloads import downloads
from berdseye.app.components.lab.pair_reader import pair_reader
from berdseye.evaluation.detection.errors import MISTAKES, confident_mistakes, confusion_by, confusion_table, groupings
from berdseye.evaluation.detection.lab_charts import figures_chart
from berdseye.evaluation.detection.operating_points import FIGURES, decisions_at
from berdseye.evaluation.detection.pairs import COLUMNS
from berdseye.evaluation.detection.readable import readable

_SHOWN = 200
_COLUMNS = ["mistake", "probability", "question", "perspective", "stance", "corpus", "title"]


def confusion_panel(measurement: Measured) -> None:
    """Draw the confusion table of all pairs, and the figures by the value of a column."""
    judged, verdicts = measurement.judged, decisions_at(measurement.probabilities, measurement.detector.threshold)
    columns = groupings(judged)
    left, right = st.columns([1, 2])
    counts = confusion_table(judged, verdicts)
    with left:
        chart = counts_as_colours(counts)
        st.altair_chart(chart, key="confusion")
        downloads(f"confusion-{measurement.detector.name}", counts.reset_index(), chart)
        st.caption(f"At the threshold in use, {measurement.detector.threshold:.4f}.")
    with right:
        if not columns:
            st.info("These pairs name no corpus, data set or stance.")
            return
        first = "corpus" if "corpus" in columns else columns[0]
        column = one_of("By", columns, key="by", default=first)
        table = confusion_by(judged, verdicts, column)
        by_value = figures_chart(table)
        st.altair_chart(by_value, key="figures-by")
        downloads(f"confusion-by-{column}-{measurement.detector.name}", table, by_value)
    st.dataframe(readable(table.rename(columns={"value": column}), FIGURES), hide_index=True, key="confusion-by")
    st.caption("Percent. 95% intervals of a bootstrap over questions in brackets; a single question has none.")


def mistakes_panel(measurement: Measured) -> None:
    """Draw the mistakes as a table, and the chosen one to read."""
    table = confident_mistakes(measurement.judged, measurement.probabilities, measurement.detector.threshold)
    if table.empty:
        st.info("The detector makes no mistakes on these pairs.")
        return
    columns = st.columns([3, 2], vertical_alignment="bottom")
    kind = columns[0].pills(
        "Mistake", [m for m in MISTAKES if m in set(table["mistake"])], key="mistake", bind="query-params"
    )
    stances = columns[1].pills(
        "Stance", sorted(s for s in table["stance"].unique() if s), key="stance", bind="query-params"
    )
    kept = table[(table["mistake"] == kind) | (kind is None)]
    kept = kept[kept["stance"] == stances] if stances else kept
    event = st.dataframe(
        kept[_COLUMNS].head(_SHOWN).style.format({"probability": "{:.3f}"}),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="mistakes",
        height=min(320, 38 + 36 * max(len(kept), 1)),
        column_config={
            "probability": st.column_config.NumberColumn("P(supports)"),
            "question": st.column_config.TextColumn(width=220),
            "perspective": st.column_config.TextColumn(width=280),
            "title": st.column_config.TextColumn(width=160),
        },
    )
    st.caption(
        f"{len(kept):,} of {len(measurement.judged.truth):,} pairs, most confident first"
        + (f"; the table shows the first {_SHOWN}, the file has all." if len(kept) > _SHOWN else ".")
    )
    downloads(f"mistakes-{measurement.detector.name}", kept[["mistake", "probability", "margin", *COLUMNS]])
    if not event.selection.rows:
        st.caption("Choose a row to read the pair.")
        return
    row = kept.iloc[event.selection.rows[0]]
    pair_reader(
        {str(k): v for k, v in row.to_dict().items()},
        f"{measurement.detector.name}: P(supports) = {row['probability']:.3f}",
    )
