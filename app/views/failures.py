"""Failures: every hole of a run from above, why each is there, and the passages around it."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.cached.runs import labelled
from berdseye.app.components.choices import chosen_run, chosen_source, one_of
from berdseye.app.components.downloads import downloads
from berdseye.app.components.holes import ANCHOR, clickable_holes, hole_reader
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.app.components.plain_text import escaped
from berdseye.data.errors import StaleError
from berdseye.data.runs.stored import Run, RunManifest, list_runs, load_run
from berdseye.evaluation.failures.charts import reason_bars
from berdseye.evaluation.failures.hole_map import LENGTHS, hole_map
from berdseye.evaluation.failures.reasons import REASONS, reason_counts, reasons_of_holes

ORDERS = {
    "most holes first": ["holes", "row"],
    "as in the data set": ["row"],
    "latest ranks first": ["latest", "row"],
    "shortest question first": ["words", "row"],
}
Hole = tuple[str, str, int]  # a run's name, a question's id, and the place of a perspective, from 1


def holes_of(runs: Sequence[RunManifest], source: str, k: int) -> pd.DataFrame:
    """The hole maps of runs over several corpora, one below the other."""
    maps = [hole_map(labelled(run, source), k).assign(run=run.name, corpus=run.corpus) for run in runs]
    return pd.concat(maps, ignore_index=True)


def reasons_of(runs: Sequence[RunManifest], pool: Sequence[RunManifest], source: str, k: int) -> pd.DataFrame:
    """The holes of runs with their reasons, each by the other runs of the pool over its corpus."""
    found = []
    for run in runs:
        others = [other for other in pool if other.corpus == run.corpus and other.name != run.name]
        ranks = {other.pipeline: labelled(other, source).first_ranks() for other in others}
        holes = reasons_of_holes(judgments(), run.dataset, labelled(run, source), ranks, k)
        found.append(holes.assign(run=run.name, corpus=run.corpus, pipeline=run.pipeline))
    return pd.concat(found, ignore_index=True)


def fitting(runs: Sequence[RunManifest], source: str) -> list[RunManifest]:
    """The runs that still fit their data set and corpus; the others are said."""
    kept, stale = [], []
    for run in runs:
        try:
            labelled(run, source)
            kept.append(run)
        except StaleError:
            stale.append(run.name)
    if stale:
        names = ", ".join(map(escaped, stale))
        st.warning(f"Left out, since data set or corpus have changed since: {names}. Run these pipelines again.")
    return kept


def slices(frame: pd.DataFrame) -> pd.DataFrame:
    """The part of a hole map that the widgets leave; what they say is in the address."""
    known: list[list[str]] = [
        sorted(frame["stance"].unique()),
        [str(count) for count in sorted(frame["perspectives"].unique())],
        [length for length in LENGTHS if length in set(frame["length"])],
    ]
    labels = {"stance": "Stance", "perspectives": "Perspectives", "length": "Question length"}
    telling = [(*named, options) for named, options in zip(labels.items(), known, strict=True) if len(options) > 1]
    columns = st.columns(len(telling) + 1)
    kept = frame
    for column, (name, label, options) in zip(columns, telling, strict=False):
        chosen = column.pills(label, options, selection_mode="multi", key=name, bind="query-params", wrap=True)
        if chosen:
            kept = kept[kept[name].astype(str).isin(chosen)]
    search = columns[-1].text_input("Words in them", key="words", bind="query-params")
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
        words=[len(question.split()) for question in frame["question"]],
        nth=frame["corpus"].map({corpus: n for n, corpus in enumerate(dict.fromkeys(frame["corpus"]))}),
    )
    return frame.loc[keyed.sort_values([*ORDERS[order], "nth", "place"], kind="stable").index]


def figures(frame: pd.DataFrame, k: int) -> None:
    """How much is missing, at a glance; of several corpora a line each."""
    by = frame.groupby("corpus", sort=False)
    if len(by) > 1:
        told = pd.DataFrame(
            {
                "questions": by["row"].nunique(),
                "perspectives": by.size(),
                f"holes within {k}": by["hole"].sum(),
                "share": by["hole"].mean(),
                "judged@k": by["judged"].mean(),
            }
        )
        shares = {name: st.column_config.NumberColumn(format="percent") for name in ("share", "judged@k")}
        st.dataframe(told, column_config=shares, key="by-corpus")
        return
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


def view_from_above(frame: pd.DataFrame, k: int, name: str) -> Hole | None:
    """The map; the perspective that was clicked, if any."""
    shown = frame if frame["corpus"].nunique() > 1 else frame.drop(columns="corpus")
    told = "Hole map: the rank that first covers each perspective. The same holes are in the table below."
    chart, picked = clickable_holes(shown, k, told)
    downloads(f"map-{name}", frame.drop(columns="row"), chart)
    if picked is None:
        return None
    at = frame[(frame["row"] == int(picked["row"])) & (frame["place"] == int(picked["place"]))]
    if "corpus" in picked:
        at = at[at["corpus"] == picked["corpus"]]
    return hole_at(at, 0) if len(at) else None


def hole_at(frame: pd.DataFrame, place: int) -> Hole:
    """The hole of one row of a frame."""
    row = frame.iloc[place]
    return (str(row["run"]), str(row["question_id"]), int(row["place"]))


def holes_table(frame: pd.DataFrame, k: int) -> tuple[int, Hole] | None:
    """The holes as a table that the keyboard walks; the line that is chosen, if any, with its hole."""
    shown = frame[["corpus", "pipeline", "question", "place", "perspective", "reason", "rank", "stance", "elsewhere",
                   "found_by"]]  # fmt: skip
    shown = shown.drop(columns=[name for name in ("corpus", "pipeline") if frame[name].nunique() < 2])
    event = st.dataframe(
        shown.rename(
            columns={"place": "P", "rank": f"rank (> {k})", "elsewhere": "best rank elsewhere", "found_by": "found by"}
        ),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="holes",
        height=min(300, 38 + 36 * max(len(frame), 1)),
        placeholder="–",
        column_config={
            "question": st.column_config.TextColumn(width=200),
            "P": st.column_config.NumberColumn(width=40),
            "perspective": st.column_config.TextColumn(width=260),
        },
    )
    rows = [row for row in event.selection.rows if row < len(frame)]
    return (rows[0], hole_at(frame, rows[0])) if rows else None


def why(frame: pd.DataFrame, runs: list[RunManifest], pool: list[RunManifest], source: str, k: int) -> pd.DataFrame:
    """The reasons of the holes of these runs, or of every run of the data set, counted; the holes that are chosen of them."""
    beside = len(pool) > len(runs) and st.toggle(
        "Beside every run of this data set", key="every_run", bind="query-params"
    )
    own = [run.name for run in runs]
    counted = [*runs, *(run for run in pool if run.name not in own)] if beside else runs
    found = reasons_of(counted, pool, source, k)
    holes = found.merge(frame[["row", "place"]].drop_duplicates(), on=["row", "place"])
    if holes.empty:
        st.success(f"Nothing is missing: every perspective that is left is covered within {k}.")
        return holes
    told = holes.assign(run=holes["corpus"] + " · " + holes["pipeline"])
    bars = reason_bars(told, row="run")
    st.altair_chart(bars, key="reasons", alt="How many holes each reason has, a bar a run; the table has the counts.")
    counts = reason_counts(holes, ("corpus", "pipeline"), [(run.corpus, run.pipeline) for run in counted])
    st.caption("Choose a count to see its holes alone.")
    # Reasons that no hole has would push the others out of sight; the file has them all.
    counted_ones = counts[[name for name in counts if name not in REASONS or counts[name].any()]]
    event = st.dataframe(
        counted_ones, hide_index=True, on_select="rerun", selection_mode="single-cell", key="counts", height="content"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        downloads("reasons", counts, bars)
        with st.popover("What the reasons mean", icon=":material/help:"):
            st.markdown(RULES)
    cells = [cell for cell in event.selection.cells if cell[0] < len(counts)]
    if not cells:
        shown: pd.DataFrame = holes[holes["run"].isin(own)]
        return shown
    line, column = counts.iloc[cells[0][0]], str(cells[0][1])
    one: pd.DataFrame = holes[(holes["corpus"] == line["corpus"]) & (holes["pipeline"] == line["pipeline"])]
    st.markdown(
        f"Holes of {escaped(line['corpus'])} · {escaped(line['pipeline'])}"
        + (f": {column}" if column in REASONS else "")
    )
    if column in REASONS:
        one = one[one["reason"] == column]
    return one


RULES = """The first that is true of a missing perspective is its reason:

1. **flagged**: people say that its text is no good.
2. **detector against people**: a passage of the top k supports it by people's word, and not by the labels.
3. **disputed**: people disagree about a passage of the top k, and nobody has decided.
4. **unjudged**: a passage of the top k has no label.
5. **below k**: this run ranks a supporting passage below k.
6. **another pipeline**: another run over this corpus has one among its first 100.
7. **not in the pool**: no run over this corpus has one."""


def beside_it(run: RunManifest, runs: list[RunManifest]) -> list[RunManifest]:
    """The run, and those of the same pipeline over other corpora that are asked for."""
    others = {r.corpus: r for r in runs if (r.dataset, r.pipeline) == (run.dataset, run.pipeline) and r != run}
    if not others:
        return [run]
    chosen = st.pills(
        "Beside it, the same pipeline over", list(others), selection_mode="multi", key="beside", bind="query-params"
    )
    return [run, *(others[corpus] for corpus in chosen)]


def say_what_hinders(frame: pd.DataFrame, runs: list[RunManifest], source: str, k: int) -> None:
    """What keeps the map from meaning what it seems to."""
    if not frame["judged"].any():
        st.warning(
            f"Nothing of the top {k} has a label from {escaped(source)}: every hole only says so. Judge some pairs, or "
            "choose a detector."
        )
    short = [run for run in runs if run.k < k]
    if short:
        told = ", ".join(f"{escaped(run.corpus)} {run.k}" for run in short)
        st.warning(f"k is {k}, and there are no more passages a question than: {told}.")


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
    labelled(run, source)  # a run that does not fit any more is said before anything is drawn
    pool = fitting([r for r in runs if r.dataset == run.dataset], source)
    shown = beside_it(run, pool)
    frame = holes_of(shown, source, k)
    if frame.empty:
        st.info(
            "No question of this run has a perspective, so none can be missing. Propose some on the Perspectives page."
        )
        return
    say_what_hinders(frame, shown, source, k)
    kept = slices(frame)
    if kept.empty:
        st.info("Nothing is left. Take back one of the choices above.")
        return
    figures(kept, k)
    ordered = in_order(kept, one_of("Questions", ORDERS, key="order"), k)
    clicked = view_from_above(ordered, k, run.name)
    below_the_map = st.container()
    st.subheader("Why", anchor=False)
    reasons = why(ordered, shown, pool, source, k)
    chosen = None
    if len(reasons):
        present = [r for r in REASONS if r in set(reasons["reason"])]
        picked = st.pills("Only holes that are", present, key="reason", bind="query-params")
        listed = reasons[reasons["reason"] == picked] if picked else reasons
        chosen = holes_table(listed, k)
        downloads(f"holes-{run.name}", listed.drop(columns="row"))
    hole = newest(clicked, chosen)
    if hole is None:
        below_the_map.markdown(
            "Choose a hole on the map, or in the table below (by keys: arrows, then Shift+Space), to read the passages around it."
        )
        return
    manifest = next((r for r in pool if r.name == hole[0]), None)
    questions = labelled(manifest, source).questions if manifest else ()
    at = [row for row, question in enumerate(questions) if question.id == hole[1]]
    if manifest is None or not at or hole[2] > len(questions[at[0]].perspectives):
        st.warning("There is no such hole as the address names; choose one above.")
        return
    question = questions[at[0]]
    below_the_map.markdown(
        f"{perspective_mark(hole[2] - 1)} of *{escaped(question.text)}*: [the passages around it](#{ANCHOR})"
    )
    hole_reader(load(manifest), at[0], hole[2], source, k)


def newest(clicked: Hole | None, chosen: tuple[int, Hole] | None) -> Hole | None:
    """Of a click on the map, a line of the table and what the address names, the one that changed last; the address keeps it.

    A line that became another hole's, since a word filled the one before, was not chosen anew.
    """
    line, of_line = chosen or (None, None)
    before = st.session_state.get("hole-places", (None, None))
    st.session_state["hole-places"] = (clicked, line)
    for now, anew in ((of_line, line != before[1]), (clicked, clicked != before[0])):
        if now is not None and anew:
            st.query_params.update({"of": now[0], "question": now[1], "place": str(now[2])})
            return now
    asked = st.query_params
    place = asked.get("place", "")
    if "question" in asked and place.isdecimal() and len(place) < 10 and int(place) > 0:
        return asked.get("of", str(st.session_state.get("run", ""))), asked["question"], int(place)
    return None


def load(manifest: RunManifest) -> Run:
    """The run; raises `StaleError` where it was made anew since the page was drawn."""
    run = load_run(workspace(), manifest.name)
    if run.manifest.created != manifest.created:
        raise StaleError("The run was made anew meanwhile.", hint="Draw the page again.")
    return run


with errors_in_place():
    page()
