"""How reliable each person is, whom to ask next about which pair, and the pairs on which reliable people disagree."""

import pandas as pd
import streamlit as st

from berdseye.app.access.session import judgments
from berdseye.app.components.downloads import downloads
from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.charts import reliability_chart
from berdseye.evaluation.agreement.people import contested_pairs, reliability_table

_LISTED = 50
_TEXTS = ("perspective", "passage")


@st.cache_data(max_entries=8, show_spinner="Estimating how reliable people are…")
def _people(version: int, demo: bool) -> pd.DataFrame:
    del version
    return reliability_table(judgments(), demo=demo)


@st.cache_data(max_entries=8, show_spinner=False)
def _pairs(version: int, demo: bool) -> pd.DataFrame:
    """Return the pairs about which one more label says most, with their texts."""
    del version
    found = reliability_table(judgments(), pairs=True, demo=demo)
    found = found[found["gain"] > 0].head(_LISTED).reset_index(drop=True)
    records = judgments().pair_records(found["item"].tolist()) if len(found) else {}
    texts = {name: [getattr(records[key], name) for key in found["item"]] for name in _TEXTS}
    return found.drop(columns=["item", "contested"]).assign(**texts)


@st.cache_data(max_entries=8, show_spinner=False)
def _contested(version: int, demo: bool) -> pd.DataFrame:
    del version
    return contested_pairs(judgments(), demo=demo).drop(columns="item")


def draw_reliability(version: int, *, demo: bool) -> None:
    """Draw the panel over all judgments; `version` is that of the judgments."""
    st.subheader("How reliable is each person?", anchor=False)
    try:
        people = _people(version, demo)
    except BadInputError as error:
        st.info(str(error))
        return
    if len(people) < 2:
        st.info("Reliability is estimated from pairs that several people judged. So far, only one person has judged.")
        return
    chart = reliability_chart(people)
    st.altair_chart(chart, key="people-reliability", alt="Sensitivity and specificity of each person")
    st.caption(
        "Sensitivity: the chance that the person says 'supports' where the passage supports the perspective; specificity: the "
        "chance of 'does not support' where it does not. From all judgments of the workspace, whatever pairs and raters are "
        "chosen above, and from the labels alone, by the model of Dawid and Skene (1979), with 95% intervals (posterior, "
        "uniform priors). It takes people's errors as independent, and says little where few pairs have "
        "several judgments. An interval from 0 to 1 says that nobody else judged any of the person's pairs."
    )
    downloads("people-reliability", people, chart)
    with st.expander("Whom to ask next", icon=":material/contact_support:"):
        pairs = _pairs(version, demo)
        if pairs.empty:
            st.caption("Everyone has judged every pair.")
        else:
            st.caption(
                "The pairs about which one more label is expected to say most. *gain* is the expected reduction of the "
                "uncertainty (*entropy*) in bits if the person *ask* judges the pair."
            )
            st.dataframe(pairs.round(3), hide_index=True, key="ask-next")
            downloads("ask-next", pairs)
    with st.expander("Pairs on which reliable people disagree", icon=":material/rule:"):
        contested = _contested(version, demo)
        if contested.empty:
            st.caption(
                "There are none: at least three reliable people must have judged a pair, a third of them otherwise."
            )
        else:
            st.caption("Here the guidelines or the wording may be at fault, not the people.")
            st.dataframe(contested.round(3), hide_index=True, key="contested")
            downloads("contested-pairs", contested)
