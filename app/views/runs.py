"""Runs: every pipeline over every corpus, each number beside the source of its labels."""

import numpy as np
import pandas as pd
import streamlit as st

from annotation.export import to_csv
from app.components.detector_line import detector_line
from app.components.plain_text import escaped
from app.components.run_form import run_form, runs_under_way
from app.session import errors_in_place, judgments, workspace
from data.corpora import open_corpus
from data.runs import list_runs, load_run
from evaluation.label_sources import default_sources, parse_label_source
from evaluation.measures import DEFAULT_MEASURES, parse_measures
from evaluation.scoring import Score, macro_average, score_runs
from evaluation.studies.charts import dots

ENOUGH_JUDGED = 0.5


@st.cache_data(max_entries=50, show_spinner="Scoring the runs…")
def scores(runs: tuple[tuple[str, str], ...], source: str, measures: str, version: int) -> list[Score]:
    """Scores of runs (name, created); `version` is that of the judgments."""
    del version
    parsed = parse_measures(measures)
    held = [load_run(workspace(), name) for name, _ in runs]
    found = score_runs(workspace(), judgments(), held, parse_label_source(source), parsed)
    return [*found, *macro_average(found)]


def as_frame(found: list[Score]) -> pd.DataFrame:
    """Scores as a table, in percent; a value over too few labels is left out and its judged@k says why."""
    rows = []
    for s in found:
        # What corrects a detector is a sample: its interval says whether that was enough.
        enough = np.isfinite(s.estimate.low) if s.people is not None else s.judged >= ENOUGH_JUDGED and s.estimate.n > 0
        value, low, high = ((x if enough else np.nan) for x in s.shown[:3])
        rows.append(
            {
                "dataset": s.dataset,
                "corpus": s.corpus,
                "pipeline": s.pipeline,
                "measure": s.measure,
                "value": value,
                "low": low,
                "high": high,
                "n": s.estimate.n,
                "judged": 100 * s.judged,
                "labels": s.labels,
                "detector version": s.detector_version,
            }
        )
    return pd.DataFrame(rows)


def results(frame: pd.DataFrame, measures: list[str]) -> None:
    """A table a measure, data sets across, and a chart of the averages."""
    labels = frame["labels"].iloc[0]
    shown = st.segmented_control(
        "Measure", measures, default=measures[0], required=True, key="measure", bind="query-params"
    )
    part = frame[frame["measure"] == (shown or measures[0])].copy()
    part["cell"] = [
        f"{v:.1f}  [{lo:.1f}, {hi:.1f}]"
        if np.isfinite(lo)
        else f"{v:.1f}"
        if np.isfinite(v)
        else f"– (judged {j:.0f}%)"
        for v, lo, hi, j in zip(part["value"], part["low"], part["high"], part["judged"], strict=True)
    ]
    order = [*(d for d in part["dataset"].unique() if d != "average"), "average"]
    wide = part.pivot(index=["corpus", "pipeline"], columns="dataset", values="cell").reindex(columns=order)
    wide["judged@k"] = part.groupby(["corpus", "pipeline"])["judged"].mean().map("{:.0f}%".format)
    wide["labels"] = labels
    st.dataframe(wide.reset_index(), hide_index=True, key="runs-table")
    st.caption(
        f"Shares in percent, with 95% intervals over questions; labels from **{labels}**. "
        + (
            "The detector's mean is put right by the questions that people judged whole, which must be a random sample."
            if parse_label_source(labels).corrected
            else f"Pairs without a label count as not supporting; below {ENOUGH_JUDGED:.0%} judged no number is shown."
        )
        + " The average is over data sets."
    )
    averages = part[(part["dataset"] == "average") & part["value"].notna()].copy()
    if not averages.empty:
        st.altair_chart(dots(averages, f"{shown}, average", row="corpus", colour="pipeline"))


def page() -> None:
    """The whole page."""
    run_form()
    runs_under_way()
    current = {name: open_corpus(workspace(), name).manifest.hash for name in workspace().corpora()}
    runs = list_runs(workspace())
    stale = [r.name for r in runs if current.get(r.corpus) != r.corpus_hash]
    if stale:
        st.warning(f"Left out, since their corpus has changed or gone: {escaped(', '.join(stale))}. Run them again.")
    fresh = [r for r in runs if r.name not in stale]
    if not fresh:
        st.info("There is no run yet. Run a pipeline above.")
        return
    left, right = st.columns(2)
    sources = default_sources(workspace())
    source = left.segmented_control(
        "Labels from",
        sources,
        default=sources[0],
        required=True,
        key="labels",
        bind="query-params",
    )
    measures = right.text_input("Measures", " ".join(DEFAULT_MEASURES), key="measures", bind="query-params")
    names = [str(m) for m in parse_measures(measures or "")]
    found = scores(
        tuple((r.name, r.created) for r in fresh),
        source or sources[0],
        " ".join(names),
        judgments().version(),
    )
    behind = parse_label_source(source or sources[0]).detector(workspace())
    if behind is not None:
        st.caption(f"The detector: {detector_line(behind)}")
    frame = as_frame(found)
    results(frame, names)
    st.download_button("All numbers.csv", to_csv(frame), "runs.csv", on_click="ignore", icon=":material/download:")


with errors_in_place():
    page()
