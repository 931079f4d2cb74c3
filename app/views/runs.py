"""The Runs page: the leaderboard of pipelines over corpora, with the label source of every number and the cost of every
pipeline."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.cached.runs import Made, by_k, costs, made, shares_without_detector, standings
from berdseye.app.components.bundle_form import bundle_form
from berdseye.app.components.choices import one_of, options, topic_note
from berdseye.app.components.counting_rule import questions_that_count
from berdseye.app.components.detector_line import detector_line
from berdseye.app.components.downloads import downloads
from berdseye.app.components.label_mixture import draw_mixing_note
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.run_form import draw_unfinished_runs, run_form
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.pir_tasks import PirTask, kept_task, read_pir_task
from berdseye.data.runs.stored import RunManifest, list_runs
from berdseye.evaluation.labels.sources import default_sources, parse_label_source
from berdseye.evaluation.leaderboard.board import (
    AVERAGE,
    best_first,
    laid_out,
    leaderboard_latex,
    printed_p_recall,
    printed_rows,
    ranked_dataset,
)
from berdseye.evaluation.leaderboard.charts import quality_against_cost
from berdseye.evaluation.leaderboard.charts import standings as standings_chart
from berdseye.evaluation.leaderboard.costs import COSTS
from berdseye.evaluation.measures import DEFAULT_MEASURES, Measure, parse_measure, parse_measures
from berdseye.evaluation.scores.enough_judged import below, min_judged_of
from berdseye.evaluation.scores.unjudged import unjudged_of
from berdseye.evaluation.statistics.significance import CORRECTIONS, TEST_NAMES, TESTS, Test
from berdseye.evaluation.studies.charts import curves
from berdseye.evaluation.studies.comparing import missing_points

MEASURES = (*DEFAULT_MEASURES, "ToCover@5")
VIEWS = ("Standings", "By k", "Cost")
DEEPEST = 20
# These keys differ from those of Explore, whose choices stay in the address and must not filter this page.
CHOICES = {
    "of_datasets": ("Data sets", "dataset"),
    "of_corpora": ("Corpora", "corpus"),
    "of_pipelines": ("Pipelines", "pipeline"),
}
PRINTED = "color: #8a94a0; font-style: italic"
NAMES_OF_COLUMNS = {"gpu_seconds": "GPU seconds", "minutes": "annotator minutes", "milliseconds": "ms a question"}


def fresh_runs() -> list[RunManifest]:
    """Return the runs that still match their corpora, and warn about the others."""
    current = {name: open_corpus(workspace(), name).manifest.hash for name in workspace().corpora()}
    runs = list_runs(workspace())
    stale = [r.name for r in runs if current.get(r.corpus) != r.corpus_hash]
    if stale:
        st.warning(
            f"Skipped because their corpus has changed or is gone: {escaped(', '.join(stale))}. Run these pipelines again."
        )
    return [r for r in runs if r.name not in stale]


def chosen_runs(runs: Sequence[RunManifest]) -> list[RunManifest]:
    """Draw the filters and return the runs of the chosen data sets, corpora and pipelines. An empty filter keeps all."""
    kept = list(runs)
    for key, (label, field) in CHOICES.items():
        names = sorted({str(getattr(run, field)) for run in runs})
        chosen = st.multiselect(label, names, key=key, bind="query-params", placeholder="All")
        kept = [run for run in kept if not chosen or getattr(run, field) in chosen]
    return kept


def chosen_test(source: str) -> tuple[Test, str]:
    """Draw the choice of the paired test and the correction behind the significance groups, and return both."""
    with st.popover("Significance groups", icon=":material/help:"):
        st.markdown(
            "Each letter after a value marks a group of systems of which no two **differ significantly** (p < .05, paired over "
            "questions, corrected for the number of pairs); statisticians call this a compact letter display. Systems of one "
            "group are not proven to be equally good. Source: Piepho 2004, *Journal of Computational and Graphical Statistics* "
            "13(2)."
        )
        if parse_label_source(source).corrected:
            st.caption("Means from a corrected label source are compared by a test of their own.")
        test = st.selectbox("Test", TESTS, key="test", bind="query-params")
        correction = st.selectbox("Correction", CORRECTIONS, key="correction", bind="query-params")
    return test or TESTS[0], correction or CORRECTIONS[0]


def chosen_dataset(datasets: Sequence[str]) -> str:
    """Draw the choice of the data set of a chart and return it. With several data sets, their average comes first."""
    names = [*([AVERAGE] if len(datasets) > 1 else []), *datasets]
    return one_of("Data set", names, key="chart_of")


def standings_view(frame: pd.DataFrame, runs: Sequence[RunManifest], measure: Measure, source: str, test: Test) -> None:
    """Draw the table of a measure with one column per data set, the values that papers print below it in grey, and a chart of
    one column; `test` is that of the letters."""
    questions = {run.dataset: run.questions for run in runs}
    printed = printed_rows(str(measure), questions)
    table = laid_out(frame, printed)
    grey = table["labels"].isin(printed["source"])
    columns = [str(name) for name in table]
    first = [name for name in ("corpus", "pipeline", AVERAGE) if name in columns]
    st.dataframe(
        table.style.apply(lambda row: [PRINTED if grey[row.name] else ""] * len(row), axis=1),
        hide_index=True,
        key="runs-table",
        column_order=[*first, *(name for name in columns if name not in first)],
        column_config={name: st.column_config.TextColumn(pinned=True) for name in ("corpus", "pipeline")},
    )
    st.caption(caption(source, measure, printed, frame, test), help=explanation(source, measure))
    for line in sample_lines(frame):
        st.caption(line)
    draw_mixing_note(shares_without_detector(made(list(runs), source), source, measure.k), source)
    dataset = chosen_dataset(list(questions))
    part = frame[frame["dataset"] == dataset]
    if part["value"].isna().all():
        st.info(
            "No system has enough labels for a value. Choose another label source, or judge more pairs on the Annotate page."
        )
        chart = None
    else:
        unit = "passages" if measure.unit == "passages" else "percent"
        chart = standings_chart(part, printed[printed["dataset"] == dataset], f"{measure}, {dataset}, {unit}")
        st.altair_chart(chart, key="standings")
    downloads(
        f"leaderboard-{measure}",
        pd.concat([best_first(frame), printed.assign(measure=str(measure))]),
        chart,
        latex=lambda: leaderboard_latex(frame),
    )
    p_recall()


def sample_lines(frame: pd.DataFrame) -> list[str]:
    """Describe the samples behind corrected means: one line for each, with the systems if their samples differ."""
    noted = frame[(frame["sample"] != "") & (frame["dataset"] != AVERAGE)]
    lines = [
        f"{escaped(', '.join(dict.fromkeys(rows['pipeline'])))}: {escaped(str(note))}."
        for note, rows in noted.groupby("sample")
    ]
    return lines if noted["sample"].nunique() > 1 else [line.partition(": ")[2] for line in lines]


def caption(source: str, measure: Measure, printed: pd.DataFrame, frame: pd.DataFrame, test: Test) -> str:
    """Say in a few sentences what the numbers of the table are; `explanation` has the rest."""
    unit = (
        "Passages read until every perspective is covered; fewer is better."
        if measure.unit == "passages"
        else "Percent."
    )
    corrected = parse_label_source(source).corrected
    rule = "" if corrected else f" (unjudged: {unjudged_of(workspace())})"
    by = "" if corrected else f", by {TEST_NAMES[test]}"
    parts = [
        f"{unit} 95% intervals over questions; labels from **{escaped(source)}**{rule}.",
        f"Systems with a common letter do not differ significantly in that column{by}.",
        f"*ranks* are those on {escaped(ranked_dataset(frame))} that the data allow, at 95% for all systems together.",
    ]
    if len(printed):
        parts.append("Grey rows are **printed in a paper**; Berdseye did not measure them.")
    return " ".join(parts) + topic_note(workspace(), source)


def explanation(source: str, measure: Measure) -> str:
    """Explain what counts, for those who ask."""
    parsed = parse_label_source(source)
    detector = parsed.detector(workspace())
    parts = [
        "The detector's mean is corrected with the questions that a batch sampled at random and people judged completely, or "
        "with batches' draws of known probability; the interval of the latter is for these questions alone. Several detectors "
        "count together, with weights fitted on other questions than those they are used for."
        if parsed.corrected
        else f"{questions_that_count(workspace())} Pairs without a label count as not supporting. A system "
        f"{below(min_judged_of(workspace()))} has no number.",
        "With the ranks 1–3, a system may be the first and is not below the third place (Mogstad et al., 2024).",
        "The average is over data sets, for systems that ran on all of them.",
    ]
    if measure.unit == "passages":
        parts.insert(0, "A run that does not cover all perspectives counts as its depth plus one.")
    if detector is not None:
        parts.append(f"Detector: {detector_line(detector)}")
    return " ".join(parts)


def p_recall() -> None:
    """Draw the p-Recall@5 that PIR prints for its tasks, if the workspace has them. It needs one ranking per perspective, which
    no run has."""
    printed = printed_p_recall(
        {
            name: _task(place, name)
            for name in workspace().datasets()
            if (place := kept_task(workspace().downloads_folder / name))
        }
    )
    if len(printed):
        with st.expander("p-Recall@5 of PIR's tasks, as printed", icon=":material/menu_book:"):
            wide = printed.pivot_table(index=["pipeline", "source"], columns="dataset", values="value").reset_index()
            st.dataframe(wide.style.format(precision=1).map(lambda _: PRINTED), hide_index=True, key="p-recall")
            st.caption("These values are not measured here. The page [Studies](studies) measures them.")


@st.cache_resource(max_entries=8, show_spinner=False)
def _task(place: Path, dataset: str) -> PirTask:
    return read_pir_task(place, dataset.removeprefix("pir-"))


def by_k_view(kept: Made, measure: Measure, deepest: int, source: str) -> None:
    """Draw a measure against k, over all questions of the data sets."""
    if measure.definition.cutoff != "needed" or measure.unit != "share":
        st.info(f"{measure} has no curve over k. Choose a measure of the top k, such as MRecall@5.")
        return
    points = by_k(kept, source, measure.name, deepest)
    shown = points.assign(system=points["pipeline"] + ", " + points["corpus"], judged=100 * points["judged"])
    drawn = shown[shown["value"].notna()]
    chart = None
    if drawn.empty:
        st.info(
            "No system has enough labels for a curve. Choose another label source, or judge more pairs on the Annotate page."
        )
    else:
        chart = curves(drawn, x="k", x_title="k", y_title=f"{measure.name}@k, percent", colour="system")
        st.altair_chart(chart, key="by-k")
    if missing := missing_points(points, min_judged_of(workspace())):
        st.caption(missing)
    plain = parse_label_source(source).plain
    st.caption(f"Over all questions of the data sets; bands are 95% intervals; labels from **{escaped(str(plain))}**.")
    wide = shown.pivot(index="system", columns="k", values="value").rename(columns="{:d}".format).reset_index()
    st.dataframe(wide.style.format(precision=1), hide_index=True, key="points", placeholder="–")
    downloads(f"{measure.name}-by-k", points, chart)


def cost_view(frame: pd.DataFrame, runs: Sequence[RunManifest], kept: Made, measure: Measure, source: str) -> None:
    """Draw the table and the chart of the quality and the cost of each system."""
    datasets = list(dict.fromkeys(run.dataset for run in runs))
    dataset = AVERAGE if len(datasets) > 1 else datasets[0]
    k = min(measure.k, max(run.k for run in runs))
    spent = costs(kept, source, k)
    both = best_first(frame[frame["dataset"] == dataset]).merge(spent, on=["corpus", "pipeline"], how="left")
    spends = [name for name, column in COSTS.items() if (both[column] > 0).any()]
    counted = [column for column in COSTS.values() if both[column].notna().any()]
    columns = ["corpus", "pipeline", "value", "low", "high", *counted]
    st.dataframe(
        both[columns].rename(columns=NAMES_OF_COLUMNS | {"value": str(measure)}).style.format(precision=1),
        hide_index=True,
        key="costs",
        placeholder="–",
    )
    if both["withheld"].astype(bool).any():
        st.caption(f"A system has no value if the pairs of its top k are {below(min_judged_of(workspace()))}.")
    st.caption(
        f"{measure}, {dataset}. Times are for searching only, without indexing, on the machine that made the run. GPU seconds "
        "are for runs that used a GPU. Tokens count every text by a language model that a run used, cached texts included. "
        f"Minutes are the time that annotators spent on the pairs of its top {k}. A missing cost was not recorded, for example "
        "because the run was imported."
    )
    chart = None
    if spends and both["value"].notna().any():
        cost = one_of("Cost", spends, key="cost")
        chart = quality_against_cost(both, COSTS[cost], cost_title=cost, title=str(measure))
        st.altair_chart(chart, key="quality-against-cost")
    downloads(f"costs-{measure}", both, chart)


def page() -> None:
    """Draw the page."""
    fresh = fresh_runs()
    if not fresh:
        st.info("This workspace has no runs yet. A run holds what a pipeline finds for every question of a data set.")
    run_form(expanded=not fresh)
    draw_unfinished_runs()
    if not fresh:
        return
    row = st.container(horizontal=True, vertical_alignment="bottom")
    segments = row.container(horizontal=True, width="content")
    sources = default_sources(workspace())
    with row:
        chosen = st.selectbox(
            "Labels from", sources, key="labels", bind="query-params", accept_new_options=True, width=220
        )
        source = str(parse_label_source(chosen or sources[0]))
        with options("The measures, and which data sets, corpora and pipelines are shown."):
            typed = st.text_input("Measures", " ".join(MEASURES), key="measures", bind="query-params")
            runs = chosen_runs(fresh)
        names = [str(m) for m in parse_measures(typed or "")]
        test, correction = chosen_test(source)
    with segments:
        view = one_of("View", VIEWS, key="view")
        shown = one_of("Measure", names, key="measure")
    if not runs:
        st.info("No run matches these filters. Remove one of them under *Options*.")
        return
    measure = parse_measure(shown if shown in names else names[0])
    kept = made(runs, source)
    if view == "By k":
        by_k_view(kept, measure, min(DEEPEST, min(run.k for run in runs)), source)
    else:
        frame = standings(kept, source, str(measure), test, correction)
        if view == "Cost":
            cost_view(frame, runs, kept, measure, source)
        else:
            standings_view(frame, runs, measure, source, test)
    bundle_form(runs, source, names)


with errors_in_place():
    page()
