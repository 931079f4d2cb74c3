"""Agreement: how far people agree with each other and with the detector, where they do not, and the exports."""

from math import isnan

import pandas as pd
import streamlit as st

from annotation.agreement import Agreement, agreement, confusion
from annotation.export import to_csv, to_jsonl, to_parquet
from annotation.judgments import VERDICTS
from annotation.training_data import training_data
from app.components.charts import counts_as_colours, dots_with_intervals
from app.components.detector_line import detector_line
from app.components.plain_text import escaped
from app.session import errors_in_place, judgments, workspace
from detectors.registry import parse_detector
from detectors.trained import adopted_detector, detector_names
from evaluation.agreement_labels import UNSURE_RULES, agreement_labels


@st.cache_data(max_entries=10, show_spinner="Computing agreement…")
def computed(version: int, detector: str, unsure: str, demo: bool) -> tuple[pd.DataFrame, pd.DataFrame, Agreement]:
    """Judgments, long-form labels and agreement; `version` is that of the judgments."""
    del version
    frame = judgments().frame()
    frame = frame if demo else frame[~frame["demo"].astype(bool)]
    labels = agreement_labels(
        workspace(),
        frame,
        parse_detector(detector, workspace()),
        "left out" if unsure == "left out" else "a third label",
    )
    return frame, labels, agreement(labels)


def statistics(result: Agreement) -> pd.DataFrame:
    """The table of pairs, as shown and exported."""
    return pd.DataFrame(result.pairs).rename(columns={"cohen_kappa": "kappa"})


def downloads(name: str, frame: pd.DataFrame, *, json_lines: bool = False) -> None:
    """Buttons for a table as CSV (or JSONL) and Parquet."""
    with st.container(horizontal=True):
        text = (to_jsonl(frame), "jsonl") if json_lines else (to_csv(frame), "csv")
        for content, ending in (text, (to_parquet(frame), "parquet")):
            st.download_button(
                f"{name}.{ending}",
                content,
                f"{name.lower().replace(' ', '_')}.{ending}",
                key=f"{name}-{ending}",
                on_click="ignore",
                icon=":material/download:",
            )


def page() -> None:
    """The whole page."""
    columns = st.columns([2, 2, 3])
    detector = columns[0].selectbox(
        "Detector",
        detector_names(workspace()),
        key="detector",
        bind="query-params",
        accept_new_options=True,
    )
    unsure = columns[1].selectbox("Unsure is", UNSURE_RULES, key="unsure", bind="query-params")
    demo = columns[2].toggle("With the made-up annotators of the demo", True, key="demo", bind="query-params")
    frame, labels, result = computed(
        judgments().version(), detector or adopted_detector(workspace()), unsure or "left out", demo
    )
    if frame.empty:
        st.info("Nobody has judged anything yet. Begin on the Annotate page, or correct a label on Explore.")
        return
    st.caption(f"The detector: {detector_line(parse_detector(detector or adopted_detector(workspace()), workspace()))}")
    table = statistics(result)
    summary(table, result)
    details(frame, labels, table)
    st.subheader("Exports", anchor=False)
    downloads("Judgments", frame)
    downloads("Agreement", table)
    st.caption("Fine-tuning data: one row a judged pair, split by question so that no question stands in two splits.")
    downloads("Training data", training_data(frame), json_lines=True)


def summary(table: pd.DataFrame, result: Agreement) -> None:
    """Chart and table of all pairs of annotators."""
    known = table[table["n"] > 0].copy()
    known["pair"] = known["a"] + " and " + known["b"]
    left, right = st.columns([3, 2])
    with left:
        st.subheader("Cohen's kappa, 95% interval", anchor=False)
        if known["kappa"].notna().any():
            st.altair_chart(
                dots_with_intervals(known.dropna(subset=["kappa"]), value="kappa", row="pair", low_end=-0.4)
            )
        else:
            st.info("No two annotators have judged the same pairs yet.")
    with right:
        st.dataframe(known.drop(columns=["pair"]).round(3), hide_index=True)
        st.caption(
            f"Everyone together: Krippendorff's alpha {_shown(result.krippendorff_alpha)} over {result.n_items} pairs; Fleiss' "
            f"kappa {_shown(result.fleiss_kappa)} over the {result.n_complete} pairs that all have labelled, the detector too."
        )


def _shown(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:.3f}"


def details(frame: pd.DataFrame, labels: pd.DataFrame, table: pd.DataFrame) -> None:
    """The confusion table of two annotators, and the pairs on which they disagree."""
    machine = table["b"].str.startswith("detector ") | table["a"].str.startswith("detector ")
    shared = table[table["n"] > 0].assign(machine=machine).sort_values(["machine", "n"], ascending=[True, False])
    pairs = list(zip(shared["a"], shared["b"], strict=True))
    if not pairs:
        return
    chosen = st.selectbox("Two annotators", pairs, format_func=lambda p: f"{p[0]} and {p[1]}", key="two")
    if chosen is None:
        return
    a, b = chosen
    left, right = st.columns([1, 2])
    with left:
        st.altair_chart(counts_as_colours(confusion(labels, a, b, VERDICTS)))
    with right:
        said = (
            labels[labels["annotator"].isin((a, b))].pivot(index="item", columns="annotator", values="label").dropna()
        )
        disagreed = said[said[a] != said[b]]
        texts = frame.drop_duplicates("pair").set_index("pair")[["question", "perspective", "title", "passage"]]
        comments = frame[frame["comment"] != ""].groupby("pair")["comment"].agg(" / ".join)
        listed = disagreed.join(texts).join(comments)
        st.markdown(f"**{len(listed)} of {len(said)} pairs are disagreed** by {escaped(a)} and {escaped(b)}")
        st.dataframe(listed, hide_index=True, height=320)


with errors_in_place():
    page()
