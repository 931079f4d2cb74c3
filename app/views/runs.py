"""Runs: the leaderboard of pipelines over corpora, each number beside the source of its labels, and what it costs."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.cached.runs import Made, by_k, costs, made, standings
from berdseye.app.components.choices import one_of
from berdseye.app.components.detector_line import detector_line
from berdseye.app.components.downloads import downloads
from berdseye.app.components.job_box import run_form, runs_under_way
from berdseye.app.components.plain_text import escaped
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.pir_tasks import PirTask, kept_task, read_pir_task
from berdseye.data.runs.stored import RunManifest, list_runs
from berdseye.evaluation.labels.sources import default_sources, parse_label_source
from berdseye.evaluation.leaderboard.board import AVERAGE, best_first, laid_out, printed_p_recall, printed_rows
from berdseye.evaluation.leaderboard.charts import quality_against_cost
from berdseye.evaluation.leaderboard.charts import standings as standings_chart
from berdseye.evaluation.leaderboard.costs import COSTS
from berdseye.evaluation.measures import DEFAULT_MEASURES, Measure, parse_measure, parse_measures
from berdseye.evaluation.scores.enough_judged import below, min_judged_of
from berdseye.evaluation.statistics.significance import CORRECTIONS, TESTS, Test
from berdseye.evaluation.studies.charts import curves
from berdseye.evaluation.studies.comparing import missing_points

MEASURES = (*DEFAULT_MEASURES, "ToCover@5")
VIEWS = ("Standings", "By k", "Cost")
DEEPEST = 20
# Names of their own: Explore's choices, which a person brings along in the address, are no filter of this page.
CHOICES = {
    "of_datasets": ("Data sets", "dataset"),
    "of_corpora": ("Corpora", "corpus"),
    "of_pipelines": ("Pipelines", "pipeline"),
}
PRINTED = "color: #8a94a0; font-style: italic"
NAMES_OF_COLUMNS = {"gpu_seconds": "GPU seconds", "minutes": "annotator minutes", "milliseconds": "ms a question"}


def fresh_runs() -> list[RunManifest]:
    """Runs that still fit their corpora; the others are told of."""
    current = {name: open_corpus(workspace(), name).manifest.hash for name in workspace().corpora()}
    runs = list_runs(workspace())
    stale = [r.name for r in runs if current.get(r.corpus) != r.corpus_hash]
    if stale:
        st.warning(f"Left out, since their corpus has changed or gone: {escaped(', '.join(stale))}. Run them again.")
    return [r for r in runs if r.name not in stale]


def chosen_runs(runs: Sequence[RunManifest]) -> list[RunManifest]:
    """Those of the data sets, corpora and pipelines that are left in the choices; all where nothing is chosen."""
    kept = list(runs)
    for column, (key, (label, field)) in zip(st.columns(3), CHOICES.items(), strict=True):
        names = sorted({str(getattr(run, field)) for run in runs})
        chosen = column.multiselect(label, names, key=key, bind="query-params", placeholder="All")
        kept = [run for run in kept if not chosen or getattr(run, field) in chosen]
    return kept


def chosen_test(source: str) -> tuple[Test, str]:
    """The paired test and the correction that letters go by."""
    with st.popover("Letters", icon=":material/help:"):
        st.markdown(
            "Systems that share a letter were **not found to differ** on these questions: each letter is a largest group of "
            "systems of whom no two differ significantly (p < .05, paired over questions, corrected for the number of pairs). "
            "That is no proof that they are equally good."
        )
        if parse_label_source(source).corrected:
            st.caption("Corrected means are compared by their own test.")
        test = st.selectbox(
            "Test", TESTS, key="test", bind="query-params", help="The randomisation test is slow for nDCG."
        )
        correction = st.selectbox("Correction", CORRECTIONS, key="correction", bind="query-params")
    return test or TESTS[0], correction or CORRECTIONS[0]


def chosen_dataset(datasets: Sequence[str]) -> str:
    """The data set that a chart is of; the average over all of them first."""
    names = [*([AVERAGE] if len(datasets) > 1 else []), *datasets]
    return one_of("Data set", names, key="chart_of")


def standings_view(frame: pd.DataFrame, runs: Sequence[RunManifest], measure: Measure, source: str) -> None:
    """The table of a measure, data sets across, what papers print below it in grey, and a chart of one column."""
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
    st.caption(caption(source, measure, printed))
    dataset = chosen_dataset(list(questions))
    part = frame[frame["dataset"] == dataset]
    if part["value"].isna().all():
        st.info(
            "No system has enough labels here for a number. Choose another label source, or judge more on Annotate."
        )
        chart = None
    else:
        unit = "passages" if measure.unit == "passages" else "percent"
        chart = standings_chart(part, printed[printed["dataset"] == dataset], f"{measure}, {dataset}, {unit}")
        st.altair_chart(chart, key="standings")
    downloads(f"leaderboard-{measure}", pd.concat([best_first(frame), printed.assign(measure=str(measure))]), chart)
    p_recall()


def caption(source: str, measure: Measure, printed: pd.DataFrame) -> str:
    """How the numbers of the table are to be read."""
    parts = [
        "Passages read until every perspective is covered, one more than the depth where it does not; fewer are better."
        if measure.unit == "passages"
        else "Percent.",
        f"95% intervals over questions; labels from **{escaped(source)}**.",
        "The detector's mean is put right by the questions that a batch drew at random and people judged whole."
        if parse_label_source(source).corrected
        else "A question counts for every run where the labels know something of it: where a passage of any run has a "
        "label. Pairs without one count as not supporting; "
        f"{below(min_judged_of(workspace()))} no number is shown.",
        "Systems that share a letter in a column were not found to differ there.",
        "The average is over data sets, of systems that ran on all of them.",
    ]
    if len(printed):
        parts.append(
            "Rows in grey were **printed in a paper**, over its own corpora and labels: they were not measured here."
        )
    return " ".join(parts)


def p_recall() -> None:
    """What PIR prints for its tasks, where they are here: a ranking for each perspective, which no run has."""
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
            st.caption("Not measured here: `berdseye study pir NAME` does that, and the Studies page starts it.")


@st.cache_resource(max_entries=8, show_spinner=False)
def _task(place: Path, dataset: str) -> PirTask:
    return read_pir_task(place, dataset.removeprefix("pir-"))


def by_k_view(kept: Made, measure: Measure, deepest: int, source: str) -> None:
    """A measure against k, over all questions of the data sets."""
    if measure.definition.cutoff != "needed" or measure.unit != "share":
        st.info(f"{measure} does not grow with k. Choose a share of the top k, such as MRecall@5.")
        return
    points = by_k(kept, source, measure.name, deepest)
    shown = points.assign(system=points["pipeline"] + ", " + points["corpus"], judged=100 * points["judged"])
    drawn = shown[shown["value"].notna()]
    chart = None
    if drawn.empty:
        st.info("No system has enough labels here for a curve. Choose another label source, or judge more on Annotate.")
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
    """What systems are worth beside what they cost."""
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
        st.caption(f"No value where the pairs of the top k are {below(min_judged_of(workspace()))}.")
    st.caption(
        f"{measure}, {dataset}. Times are of searching alone, without indexing, on the machine that made the run; GPU seconds "
        "are those of runs that used one; tokens are of all texts by language models that a run took, kept ones too; minutes "
        f"are those that people were timed on the pairs of its top {k}. What is not here was not counted, "
        "as for runs that were imported or made before it was."
    )
    chart = None
    if spends and both["value"].notna().any():
        cost = one_of("Cost", spends, key="cost")
        chart = quality_against_cost(both, COSTS[cost], cost_title=cost, title=str(measure))
        st.altair_chart(chart, key="quality-against-cost")
    downloads(f"costs-{measure}", both, chart)


def page() -> None:
    """The whole page."""
    run_form()
    runs_under_way()
    fresh = fresh_runs()
    if not fresh:
        st.info("There is no run yet. Run a pipeline above.")
        return
    runs = chosen_runs(fresh)
    if not runs:
        st.info("No run is of all that is chosen. Take back one of the choices above.")
        return
    left, right = st.columns(2)
    sources = default_sources(workspace())
    chosen = left.selectbox("Labels from", sources, key="labels", bind="query-params", accept_new_options=True)
    source = str(parse_label_source(chosen or sources[0]))
    typed = right.text_input("Measures", " ".join(MEASURES), key="measures", bind="query-params")
    names = [str(m) for m in parse_measures(typed or "")]
    behind = parse_label_source(source).detector(workspace())
    if behind is not None:
        st.caption(f"The detector: {detector_line(behind)}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = one_of("View", VIEWS, key="view")
        shown = one_of("Measure", names, key="measure")
        test, correction = chosen_test(source)
    measure = parse_measure(shown if shown in names else names[0])
    kept = made(runs, source)
    if view == "By k":
        by_k_view(kept, measure, min(DEEPEST, min(run.k for run in runs)), source)
        return
    frame = standings(kept, source, str(measure), test, correction)
    if view == "Cost":
        cost_view(frame, runs, kept, measure, source)
    else:
        standings_view(frame, runs, measure, source)


with errors_in_place():
    page()
