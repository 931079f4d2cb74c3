"""The rights of each role as a table of ticks."""

import pandas as pd
import streamlit as st

from berdseye.app.access.roles import MAY, RIGHTS, Right

RIGHTS_IN_WORDS: dict[Right, str] = {
    "explore": "Explore questions and passages",
    "judge": "Judge pairs",
    "propose": "Propose perspectives",
    "adjudicate": "Adjudicate disputed pairs",
    "analyse": "Read and export agreement",
    "research": "Run pipelines and read measures",
    "send out": "Create batches and guidelines",
    "train": "Train and adopt detectors",
    "exchange": "Exchange judgments with Label Studio",
    "administer": "Link addresses, back up and repair",
}
"""What each right allows."""
_CENTRED = """<style>
.st-key-rights :is(td, thead th), .st-key-rights :is(td, thead th) * { text-align: center !important; }
</style>"""


def rights_table() -> None:
    """Draw one row for each right and one column for each role."""
    ticks = {name: ["✓" if right in rights else "" for right in RIGHTS] for name, rights in MAY.items()}
    st.html(_CENTRED)
    with st.container(key="rights", width="content"):
        st.table(pd.DataFrame(ticks, index=[RIGHTS_IN_WORDS[right] for right in RIGHTS]), border="horizontal")
