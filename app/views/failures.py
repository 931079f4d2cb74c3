"""The Failures page: the map of a run's holes, the reason of each hole, and the passages around a chosen hole. A hole is a
perspective that no passage of the top k supports."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.cached.overview import telling_run
from berdseye.app.cached.runs import labelled
from berdseye.app.components.choices import chosen_run, chosen_source, one_of, options, topic_note
from berdseye.app.components.downloads import downloads
from berdseye.app.components.holes import ANCHOR, clickable_holes, hole_reader
from berdseye.app.components.missing import is_missing
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.app.components.plain_text import escaped
from berdseye.data.errors import StaleError
from berdseye.data.runs.stored import Run, RunManifest, list_runs, load_run
from berdseye.evaluation.failures.charts import reason_bars
from berdseye.evaluation.failures.hole_map import LENGTHS, hole_map
from berdseye.evaluation.failures.reasons import REASONS, reason_counts, reasons_of_holes
from berdseye.evaluation.measures.shown import shown

ORDERS = {
    "most holes first": ["holes", "row"],
    "as in the data set": ["row"],
    "deepest ranks first": ["latest", "row"],
    "shortest question first": ["words", "row"],
}
Hole = tuple[str, str, int]  # the run's name, the question's id and the perspective's place, from 1
RULES = """The first statement that is true of a missing perspective is its reason:

1. **flagged**: people flagged its text as unsuitable.
2. **detector against people**: by people's judgments a passage of the top k supports it, by the labels none does.
3. **disputed**: people disagree about a passage of the top k, and no adjudicator has settled it.
4. **unjudged**: a passage of the top k has no label.
5. **below k**: this run ranks a supporting passage below k.
6. **another pipeline**: another run over this corpus has a supporting passage in its top 100.
7. **not in the pool**: no run over this corpus has a supporting passage."""


def holes_of(runs: Sequence[RunManifest], source: str, k: int) -> pd.DataFrame:
    """Return the hole maps of runs over several corpora as one frame."""
    maps = [hole_map(labelled(run, source), k).assign(run=run.name, corpus=run.corpus) for run in runs]
    return pd.concat(maps, ignore_index=True)


def reasons_of(runs: Sequence[RunManifest], pool: Sequence[RunManifest], source: str, k: int) -> pd.DataFrame:
    """Return the holes of the runs with their reasons, which depend on the other runs of the pool over the same corpus."""
    frames = []
    for run in runs:
        others = [other for other in pool if other.corpus == run.corpus and other.name != run.name]
        ranks = {other.pipeline: labelled(other, source).first_ranks() for other in others}
        holes = reasons_of_holes(judgments(), run.dataset, labelled(run, source), ranks, k)
        frames.append(holes.assign(run=run.name, corpus=run.corpus, pipeline=run.pipeline))
    return pd.concat(frames, ignore_index=True)


def fitting(runs: Sequence[RunManifest], source: str) -> list[RunManifest]:
    """Return the runs that still match their data set and corpus, and warn about the others."""
    kept, stale = [], []
    for run in runs:
        try:
            labelled(run, source)
            kept.append(run)
        except StaleError:
            stale.append(run.name)
    if stale:
        names = ", ".join(map(escaped, stale))
        st.warning(f"Skipped because their data set or corpus has changed: {names}. Run these pipelines again.")
    return kept


def slices(frame: pd.DataFrame) -> pd.DataFrame:
    """Draw the filters, which the address keeps, and return the part of the hole map that passes them."""
    values_by_name: list[list[str]] = [
        sorted(frame["stance"].unique()),
        [str(count) for count in sorted(frame["perspectives"].unique())],
        [length for length in LENGTHS if length in set(frame["length"])],
    ]
    labels = {"stance": "Stance", "perspectives": "Perspectives", "length": "Question length"}
    useful = [(*named, values) for named, values in zip(labels.items(), values_by_name, strict=True) if len(values) > 1]
    kept = frame
    for name, label, values in useful:
        chosen = st.pills(label, values, selection_mode="multi", key=name, bind="query-params", wrap=True)
        if chosen:
            kept = kept[kept[name].astype(str).isin(chosen)]
    search = st.text_input("Text filter", key="words", bind="query-params")
    if search:
        texts = kept["question"] + " " + kept["perspective"]
        kept = kept[texts.str.contains(search, case=False, regex=False)]
    return kept


def in_order(frame: pd.DataFrame, order: str, k: int) -> pd.DataFrame:
    """Return the frame with its questions in an order of `ORDERS`."""
    by = frame.groupby("row")
    keyed = frame.assign(
        holes=-by["hole"].transform("sum"),
        latest=-frame["rank"].fillna(10 * k).groupby(frame["row"]).transform("max"),
        words=[len(question.split()) for question in frame["question"]],
        nth=frame["corpus"].map({corpus: n for n, corpus in enumerate(dict.fromkeys(frame["corpus"]))}),
    )
    return frame.loc[keyed.sort_values([*ORDERS[order], "nth", "place"], kind="stable").index]


def draw_summary(frame: pd.DataFrame, k: int, note: str) -> None:
    """Draw the counts of questions, perspectives and holes, and a note. Several corpora are rows of a table."""
    by = frame.groupby("corpus", sort=False)
    if len(by) > 1:
        summary = pd.DataFrame(
            {
                "questions": by["row"].nunique(),
                "perspectives": by.size(),
                f"holes within {k}": by["hole"].sum(),
                "holes, %": 100 * by["hole"].mean(),
                "judged@k, %": 100 * by["judged"].mean(),
            }
        )
        shares = {name: st.column_config.NumberColumn(format="%.1f") for name in ("holes, %", "judged@k, %")}
        st.dataframe(summary, column_config=shares, key="by-corpus")
        if note:
            st.markdown(note)
        return
    counts = (
        f"**{int(frame['hole'].sum()):,}** holes within {k} ({shown(frame['hole'].mean())} of the perspectives)",
        f"**{len(frame):,}** perspectives",
        f"**{frame['row'].nunique():,}** questions",
        f"judged@k **{shown(frame['judged'].mean())}**",
    )
    st.markdown(f"{' · '.join(counts)}{note}")


def draw_map(frame: pd.DataFrame, k: int, name: str) -> Hole | None:
    """Draw the hole map and return the clicked perspective, if any."""
    shown = frame if frame["corpus"].nunique() > 1 else frame.drop(columns="corpus")
    alt = "Hole map: the rank that first covers each perspective. The table below lists these holes."
    chart, picked = clickable_holes(shown, k, alt)
    downloads(f"map-{name}", frame.drop(columns="row"), chart)
    if picked is None:
        return None
    at = frame[(frame["row"] == int(picked["row"])) & (frame["place"] == int(picked["place"]))]
    if "corpus" in picked:
        at = at[at["corpus"] == picked["corpus"]]
    return hole_at(at, 0) if len(at) else None


def hole_at(frame: pd.DataFrame, place: int) -> Hole:
    """Return the hole of one row of a frame."""
    row = frame.iloc[place]
    return (str(row["run"]), str(row["question_id"]), int(row["place"]))


def draw_holes(frame: pd.DataFrame, k: int) -> tuple[int, Hole] | None:
    """Draw the holes as a table for mouse and keyboard. Return the chosen row's number with its hole, or None."""
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


def draw_reasons(
    frame: pd.DataFrame, runs: list[RunManifest], pool: list[RunManifest], source: str, k: int
) -> pd.DataFrame:
    """Draw the counts of the reasons of the holes of these runs, or of every run of the data set. Return the holes of the
    chosen count, or all holes of these runs."""
    beside = len(pool) > len(runs) and st.toggle(
        "Show every run of this data set", key="every_run", bind="query-params"
    )
    own = [run.name for run in runs]
    counted = [*runs, *(run for run in pool if run.name not in own)] if beside else runs
    all_holes = reasons_of(counted, pool, source, k)
    holes = all_holes.merge(frame[["row", "place"]].drop_duplicates(), on=["row", "place"])
    if holes.empty:
        st.success(f"Every perspective shown is covered within the top {k}.")
        return holes
    bars_frame = holes.assign(run=holes["corpus"] + " · " + holes["pipeline"])
    bars = reason_bars(bars_frame, row="run")
    st.altair_chart(
        bars, key="reasons", alt="Number of holes per reason, one bar per run. The table below has the counts."
    )
    counts = reason_counts(holes, ("corpus", "pipeline"), [(run.corpus, run.pipeline) for run in counted])
    st.caption("Choose a count to show only its holes.")
    # Columns of reasons without holes would push the others off the screen. The downloaded file has all of them.
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


def chosen_runs(run: RunManifest, runs: list[RunManifest]) -> list[RunManifest]:
    """Draw the choice of other corpora, and return the run with the runs of its pipeline over the chosen ones."""
    others = {r.corpus: r for r in runs if (r.dataset, r.pipeline) == (run.dataset, run.pipeline) and r != run}
    if not others:
        return [run]
    chosen = st.pills(
        "Compare with this pipeline over", list(others), selection_mode="multi", key="beside", bind="query-params"
    )
    return [run, *(others[corpus] for corpus in chosen)]


def draw_warnings(frame: pd.DataFrame, runs: list[RunManifest], source: str, k: int) -> None:
    """Warn of everything that limits how the map can be read."""
    if not frame["judged"].any():
        st.warning(
            f"No pair of the top {k} has a label from {escaped(source)}, so every perspective shows as a hole. Judge some "
            "pairs or choose a detector."
        )
    short = [run for run in runs if run.k < k]
    if short:
        depths = ", ".join(f"{escaped(run.corpus)} {run.k}" for run in short)
        st.warning(f"k is {k}, but these runs have fewer passages per question: {depths}.")


def page() -> None:
    """Draw the page."""
    if is_missing("run", also="Its holes are shown here."):
        return
    runs = list_runs(workspace())
    left, middle, right, last = st.columns([4, 2.5, 1.25, 1.6], vertical_alignment="bottom")
    with left:
        run = chosen_run(runs, first=telling_run())
    with middle:
        source = chosen_source(workspace())
    k = int(right.number_input("k", 1, 100, 5, key="k", bind="query-params"))
    labelled(run, source)  # reports a run that no longer matches its corpus before anything is drawn
    pool = fitting([r for r in runs if r.dataset == run.dataset], source)
    with last:
        more = options("Other corpora to compare with, and which perspectives are shown.")
    with more:
        shown = chosen_runs(run, pool)
    frame = holes_of(shown, source, k)
    if frame.empty:
        st.info(
            "No question of this run has a perspective, so nothing can be missing. Propose some on the Perspectives page."
        )
        return
    draw_warnings(frame, shown, source, k)
    with more:
        kept = slices(frame)
    if kept.empty:
        st.info("No perspective matches these filters. Remove one of them under *Options*.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        order = one_of("Questions", ORDERS, key="order", named=False)
        draw_summary(kept, k, topic_note(workspace(), source))
    ordered = in_order(kept, order, k)
    clicked = draw_map(ordered, k, run.name)
    below_the_map = st.container()
    st.subheader("Reasons", anchor=False)
    reasons = draw_reasons(ordered, shown, pool, source, k)
    chosen = None
    if len(reasons):
        present = [r for r in REASONS if r in set(reasons["reason"])]
        picked = st.pills("Reason", present, key="reason", bind="query-params")
        listed = reasons[reasons["reason"] == picked] if picked else reasons
        chosen = draw_holes(listed, k)
        downloads(f"holes-{run.name}", listed.drop(columns="row"))
    hole = newest(clicked, chosen)
    if hole is None:
        below_the_map.markdown(
            "Choose a hole on the map or in the table below (with the keyboard: arrow keys, then Shift+Space) to read the "
            "passages around it."
        )
        return
    manifest = next((r for r in pool if r.name == hole[0]), None)
    questions = labelled(manifest, source).questions if manifest else ()
    at = [row for row, question in enumerate(questions) if question.id == hole[1]]
    if manifest is None or not at or hole[2] > len(questions[at[0]].perspectives):
        st.warning("The hole that the address names does not exist. Choose one above.")
        return
    question = questions[at[0]]
    below_the_map.markdown(
        f"{perspective_mark(hole[2] - 1)} of *{escaped(question.text)}*: [the passages around it](#{ANCHOR})"
    )
    hole_reader(load(manifest), at[0], hole[2], source, k)


def newest(clicked: Hole | None, chosen: tuple[int, Hole] | None) -> Hole | None:
    """Return the hole that was chosen last: by a click on the map, by a row of the table or by the address, which keeps it.

    A row that now holds another hole, because a judgment filled the earlier one, does not count as a new choice.
    """
    line, of_line = chosen or (None, None)
    before = st.session_state.get("hole-places", (None, None))
    st.session_state["hole-places"] = (clicked, line)
    for now, changed in ((of_line, line != before[1]), (clicked, clicked != before[0])):
        if now is not None and changed:
            st.query_params.update({"of": now[0], "question": now[1], "place": str(now[2])})
            return now
    query = st.query_params
    place = query.get("place", "")
    if "question" in query and place.isdecimal() and len(place) < 10 and int(place) > 0:
        return query.get("of", str(st.session_state.get("run", ""))), query["question"], int(place)
    return None


def load(manifest: RunManifest) -> Run:
    """Load the run. Raises `StaleError` if it was made again since the page was drawn."""
    run = load_run(workspace(), manifest.name)
    if run.manifest.created != manifest.created:
        raise StaleError("This run was made again in the meantime.", hint="Reload the page.")
    return run


with errors_in_place():
    page()
