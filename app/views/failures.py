"""Failures: every hole of a run from above, why each is there, and the passages around it."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotation.export import to_csv
from app.components.hole_reader import hole_reader
from app.labelled import labelled
from app.run_choice import chosen_run, chosen_source
from app.session import errors_in_place, judgments, workspace
from data.errors import StaleError
from data.runs import Run, RunManifest, list_runs, load_run
from evaluation.failures.attribution import reasons_of_holes
from evaluation.failures.charts import PICKED, hole_chart, legend, reason_bars
from evaluation.failures.hole_map import LENGTHS, hole_map
from evaluation.failures.reasons import REASONS

ORDERS = {
    "most holes first": ["holes", "row"],
    "as in the data set": ["row"],
    "latest ranks first": ["latest", "row"],
    "shortest question first": ["words", "row"],
}


def holes_of(run: RunManifest, source: str, k: int) -> pd.DataFrame:
    """The hole map of a run."""
    return hole_map(labelled(run, source), k)


def reasons_of(run: RunManifest, pool: Sequence[RunManifest], source: str, k: int) -> pd.DataFrame:
    """The holes of a run with their reasons, by the other runs of the pool over the same corpus."""
    others = [other for other in pool if other.corpus == run.corpus and other.name != run.name]
    ranks = {other.pipeline: labelled(other, source).first_ranks() for other in others}
    return reasons_of_holes(judgments(), run.dataset, labelled(run, source), ranks, k)


def slices(frame: pd.DataFrame) -> pd.DataFrame:
    """The part of a hole map that the widgets leave."""
    columns = st.columns(4)
    stances = columns[0].pills("Stance", sorted(frame["stance"].unique()), selection_mode="multi", key="stance")
    counts = columns[1].pills(
        "Perspectives", sorted(frame["perspectives"].unique().tolist()), selection_mode="multi", key="perspectives"
    )
    known = [length for length in LENGTHS if length in set(frame["length"])]
    lengths = columns[2].pills("Length of the question", known, selection_mode="multi", key="length")
    search = columns[3].text_input("Words of the question or perspective", key="words", bind="query-params")
    kept = frame
    for column, chosen in (("stance", stances), ("perspectives", counts), ("length", lengths)):
        if chosen:
            kept = kept[kept[column].isin(chosen)]
    if search:
        texts = kept["question"] + " " + kept["perspective"]
        kept = kept[texts.str.contains(search, case=False, regex=False)]
    return kept


def in_order(frame: pd.DataFrame, order: str, k: int) -> pd.DataFrame:
    """Whole questions in an order of `ORDERS`."""
    by = frame.groupby("row")
    keyed = frame.assign(
        holes=-by["hole"].transform("sum"),
        latest=-frame["rank"].fillna(10 * k).groupby(frame["row"]).transform("max"),
        words=frame["question"].str.split().str.len(),
    )
    return frame.loc[keyed.sort_values([*ORDERS[order], "place"], kind="stable").index]


def figures(frame: pd.DataFrame, k: int) -> None:
    """How much is missing, at a glance."""
    columns = st.columns(4)
    columns[0].metric("Questions", f"{frame['row'].nunique():,}")
    columns[1].metric("Perspectives", f"{len(frame):,}")
    columns[2].metric(
        f"Holes within {k}",
        f"{int(frame['hole'].sum()):,}",
        f"{frame['hole'].mean():.0%} of them",
        delta_color="off",
        delta_arrow="off",
    )
    columns[3].metric("judged@k", f"{frame['judged'].mean():.0%}")


def view_from_above(frame: pd.DataFrame, k: int) -> tuple[int, int] | None:
    """The map; the question (its row) and perspective (its place) that were clicked, if any."""
    said = " ".join(f'<span style="color:{colour}">■</span> {text}' for text, colour in legend(k))
    st.html(f'<div style="font-size:0.85rem" aria-hidden="true">{said}</div>')
    event = st.altair_chart(
        hole_chart(frame, k), on_select="rerun", selection_mode=PICKED, key="hole-map", width="content"
    )
    picked = event.selection.get(PICKED, [])
    return (int(picked[0]["row"]), int(picked[0]["place"])) if picked else None


def holes_table(frame: pd.DataFrame, k: int) -> tuple[int, int] | None:
    """The holes as a table that the keyboard walks; the one that is chosen, if any."""
    shown = frame[["question", "place", "perspective", "stance", "rank", "reason", "elsewhere", "found_by"]]
    event = st.dataframe(
        shown.rename(
            columns={"place": "P", "rank": f"rank (> {k})", "elsewhere": "best rank elsewhere", "found_by": "found by"}
        ),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="holes",
        height=min(300, 38 + 36 * max(len(frame), 1)),
    )
    rows = event.selection.rows
    return (int(frame.iloc[rows[0]]["row"]), int(frame.iloc[rows[0]]["place"])) if rows else None


def why(frame: pd.DataFrame, run: RunManifest, pool: list[RunManifest], source: str, k: int) -> pd.DataFrame:
    """The reasons of this run's holes, beside those of the other runs on the same data set where they are asked for."""
    own = reasons_of(run, pool, source, k).assign(run=f"{run.corpus} · {run.pipeline}")
    kept = own.merge(frame[["row", "place"]], on=["row", "place"])
    shown = [kept]
    if len(pool) > 1 and st.toggle("Beside every run of this data set", key="all-runs"):
        for other in pool:
            if other.name != run.name:
                found = reasons_of(other, pool, source, k)
                shown.append(
                    found.merge(frame[["row", "place"]], on=["row", "place"]).assign(
                        run=f"{other.corpus} · {other.pipeline}"
                    )
                )
    together = pd.concat(shown)
    if len(together):
        st.altair_chart(reason_bars(together, row="run"), key="reasons")
    with st.popover("What the reasons mean", icon=":material/help:"):
        st.markdown(RULES)
    return kept


RULES = """The first that is true of a missing perspective is its reason:

1. **flagged**: people say that its text is no good.
2. **detector against people**: a passage of the top k supports it by people's word, and not by the labels.
3. **disputed**: people disagree about a passage of the top k, and nobody has decided.
4. **unjudged**: a passage of the top k has no label.
5. **below k**: this run ranks a supporting passage below k.
6. **another pipeline**: another run over this corpus has one among its first 100.
7. **not in the pool**: no run over this corpus has one."""


def page() -> None:
    """The whole page."""
    runs = list_runs(workspace())
    if not runs:
        st.info("There is no run yet. Run a pipeline on the Runs page, then its holes are shown here.")
        return
    left, middle, right = st.columns([4, 3, 1])
    with left:
        run = chosen_run(runs)
    with middle:
        source = chosen_source(workspace())
    k = int(right.number_input("k", 1, 100, 5, key="k", bind="query-params"))
    frame = holes_of(run, source, k)
    if frame.empty:
        st.info("No question of this run has a perspective, so none can be missing.")
        return
    kept = slices(frame)
    if kept.empty:
        st.info("Nothing is left. Take back one of the choices above.")
        return
    figures(kept, k)
    order = st.segmented_control("Questions", list(ORDERS), default=next(iter(ORDERS)), required=True, key="order")
    ordered = in_order(kept, order or next(iter(ORDERS)), k)
    clicked = view_from_above(ordered, k)
    st.subheader("Why", anchor=False)
    reasons = why(ordered, run, [r for r in runs if r.dataset == run.dataset], source, k)
    picked = st.pills("Only holes that are", [r for r in REASONS if r in set(reasons["reason"])], key="reason")
    listed = reasons[reasons["reason"] == picked] if picked else reasons
    chosen = holes_table(listed, k)
    st.download_button(
        "Holes.csv", to_csv(listed), f"holes-{run.name}.csv", on_click="ignore", icon=":material/download:"
    )
    place = newest(clicked, chosen)
    if place is None:
        st.caption("Choose a hole on the map or in the table to read the passages around it.")
        return
    hole_reader(load(run), *place, source, k)


def newest(clicked: tuple[int, int] | None, chosen: tuple[int, int] | None) -> tuple[int, int] | None:
    """Of a click on the map and a row of the table, the one that changed last."""
    before = st.session_state.get("hole-places", (None, None))
    st.session_state["hole-places"] = (clicked, chosen)
    if chosen != before[1] and chosen is not None:
        st.session_state["hole"] = chosen
    elif clicked != before[0] and clicked is not None:
        st.session_state["hole"] = clicked
    elif clicked is None and chosen is None:
        st.session_state["hole"] = None
    held: tuple[int, int] | None = st.session_state.get("hole")
    return held


def load(manifest: RunManifest) -> Run:
    """The run; raises `StaleError` where it was made anew since the page was drawn."""
    run = load_run(workspace(), manifest.name)
    if run.manifest.created != manifest.created:
        raise StaleError("The run was made anew meanwhile.", hint="Draw the page again.")
    return run


with errors_in_place():
    page()
