"""What differs between the judgments here and Label Studio, on request: the look reads every task there."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from berdseye.annotation.label_studio.drift_report import Drift, Held
from berdseye.app.components.plain_text import escaped

_ROWS = 500


def drift_table(look: Callable[[], Sequence[Drift]]) -> None:
    """A button, and below it what was found: the counts of each project, and the words word by word."""
    st.subheader("Do both sides agree?")
    if not st.button("Compare", icon=":material/compare_arrows:", help="Reads both sides, and changes neither."):
        return
    found = look()
    if not found:
        st.info("No project of Label Studio holds judgments of this workspace yet.")
    for drift in found:
        (st.warning if drift else st.success)(escaped(str(drift)))
        if drift.words:
            rows = [
                {"pair": w.pair, "person": w.person, "differs": w.side, **_columns(w.here, w.there), "next": w.cure}
                for w in drift.words[:_ROWS]
            ]
            st.dataframe(pd.DataFrame(rows), hide_index=True)
        if drift.contested:
            st.caption("Judged differently in both places: both words are kept, and the later one stands.")
            settled = [
                {"pair": c.pair, "person": c.person, **_columns(c.here, c.there), "stands": c.stands}
                for c in drift.contested[:_ROWS]
            ]
            st.dataframe(pd.DataFrame(settled), hide_index=True)
        for problem in drift.unreadable[:_ROWS]:
            st.caption(escaped(problem))
    if any(found):
        st.caption("`berdseye judgments doctor --mend` brings both sides into agreement, and loses no word.")


def _columns(here: Held, there: Held) -> dict[str, str]:
    return {"here": str(here), "there": str(there)}
