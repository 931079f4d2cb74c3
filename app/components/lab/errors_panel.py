"""Where the detector errs: confusion by corpus and stance, and the mistakes it is surest of."""

import streamlit as st

from berdseye.app.cached.lab import Measured
from berdseye.app.components.charts import counts_as_colours
from berdseye.app.components.choices import one_of
from berdseye.app.components.downloads import downloads
from berdseye.app.components.lab.pair_reader import pair_reader
from berdseye.evaluation.detection.errors import MISTAKES, confident_mistakes, confusion_by, confusion_table, groupings
from berdseye.evaluation.detection.lab_charts import figures_chart
from berdseye.evaluation.detection.operating_points import said_at
from berdseye.evaluation.detection.pairs import COLUMNS
from berdseye.evaluation.detection.readable import readable

_SHOWN = 200
_TOLD = ["mistake", "probability", "question", "perspective", "stance", "corpus", "title"]


def confusion_panel(found: Measured) -> None:
    """Counts of all pairs, and figures by the value of a column."""
    judged, said = found.judged, said_at(found.probabilities, found.detector.threshold)
    known = groupings(judged)
    left, right = st.columns([1, 2])
    whole = confusion_table(judged, said)
    with left:
        chart = counts_as_colours(whole)
        st.altair_chart(chart, key="confusion")
        downloads(f"confusion-{found.detector.name}", whole.reset_index(), chart)
        st.caption(f"At the threshold in use, {found.detector.threshold:.4f}.")
    with right:
        if not known:
            st.info("The pairs do not say of which corpus, data set or stance they are.")
            return
        first = "corpus" if "corpus" in known else known[0]
        column = one_of("By", known, key="by", default=first)
        table = confusion_by(judged, said, column)
        by_value = figures_chart(table)
        st.altair_chart(by_value, key="figures-by")
        downloads(f"confusion-by-{column}-{found.detector.name}", table, by_value)
    st.dataframe(readable(table.rename(columns={"value": column})), hide_index=True, key="confusion-by")
    st.caption("95% intervals of a bootstrap over questions, in brackets; none where there is one question.")


def mistakes_panel(found: Measured) -> None:
    """The mistakes as a table; the chosen one to read."""
    table = confident_mistakes(found.judged, found.probabilities, found.detector.threshold)
    if table.empty:
        st.info("The detector makes no mistake on these pairs.")
        return
    columns = st.columns([3, 2], vertical_alignment="bottom")
    kind = columns[0].pills(
        "Only", [m for m in MISTAKES if m in set(table["mistake"])], key="mistake", bind="query-params"
    )
    stances = columns[1].pills(
        "Stance", sorted(s for s in table["stance"].unique() if s), key="stance", bind="query-params"
    )
    kept = table[(table["mistake"] == kind) | (kind is None)]
    kept = kept[kept["stance"] == stances] if stances else kept
    event = st.dataframe(
        kept[_TOLD].head(_SHOWN).style.format({"probability": "{:.3f}"}),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="mistakes",
        height=min(320, 38 + 36 * max(len(kept), 1)),
        column_config={
            "question": st.column_config.TextColumn(width=220),
            "perspective": st.column_config.TextColumn(width=280),
            "title": st.column_config.TextColumn(width=160),
        },
    )
    st.caption(
        f"{len(kept):,} of {len(found.judged.truth):,} pairs, the surest first"
        + (f"; the first {_SHOWN} are shown, the file holds all." if len(kept) > _SHOWN else ".")
    )
    downloads(f"mistakes-{found.detector.name}", kept[["mistake", "probability", "margin", *COLUMNS]])
    if not event.selection.rows:
        st.caption("Choose a row to read the pair.")
        return
    row = kept.iloc[event.selection.rows[0]]
    pair_reader({str(k): v for k, v in row.to_dict().items()}, f"{found.detector.name}: P = {row['probability']:.3f}")
