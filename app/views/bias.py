"""The Bias page: which sides retrieval favours. It shows the leaning of the top k, whether the results follow the side of the
query (sycophancy), and the shares of stances, perspectives and places."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.cached.bias import leaning_figures, side_by_side, stance_figures
from berdseye.app.cached.runs import Made, made
from berdseye.app.components.choices import chosen_source, one_of, options, selectbox_by_id, warn_if_sides_unknown
from berdseye.app.components.counting_rule import questions_that_count
from berdseye.app.components.downloads import downloads
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.missing import is_missing
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.reader_time import shown_moment
from berdseye.app.jobs.running import Job
from berdseye.app.jobs.studies import start
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.pir_tasks import kept_task
from berdseye.data.runs.stored import RunManifest, list_runs
from berdseye.evaluation.bias.charts import (
    LEANING_COLOURS,
    STANCE_SHARE_COLOURS,
    perspective_colours,
    share_dots,
    sycophancy_arrows,
)
from berdseye.evaluation.bias.sides import PIR, SYCOPHANCY, by_people, location_matrices, results_of, table_of
from berdseye.evaluation.charts import Chart
from berdseye.evaluation.labels.sources import HUMAN
from berdseye.evaluation.scores.enough_judged import below, min_judged_of
from berdseye.evaluation.scores.unjudged import in_words, parse_unjudged
from berdseye.evaluation.studies.charts import stacked
from berdseye.evaluation.studies.pir.paper import IN_CORPUS
from berdseye.evaluation.studies.pir.places import heat_map
from berdseye.evaluation.studies.result import Stored
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

# The studies that this page starts and shows.
BEGUN = ("berds sycophancy", "pir ")
FEW = 12


def chosen_runs() -> list[RunManifest]:
    """Draw the choice of data sets and return their runs that still match their corpora."""
    current = {name: open_corpus(workspace(), name).manifest.hash for name in workspace().corpora()}
    runs = [run for run in list_runs(workspace()) if current.get(run.corpus) == run.corpus_hash]
    names = sorted({run.dataset for run in runs})
    chosen = st.multiselect("Data sets", names, key="datasets", bind="query-params", placeholder="All")
    return [run for run in runs if not chosen or run.dataset in chosen]


def of_runs(draw: Callable[[Made, str, int], None], row: DeltaGenerator) -> None:
    """Draw the choices of runs, label source and k into `row`, and pass them to `draw`, which shows what is computed from
    stored runs."""
    with row:
        source = chosen_source(workspace(), width=220)
        with options("The data sets, and how many passages count."):
            runs = chosen_runs()
            k = int(st.number_input("k", 1, 100, 5, key="k", bind="query-params"))
    if runs:
        warn_if_sides_unknown(workspace(), source)
        draw(made(runs, source), source, k)
    else:
        is_missing("run")


def leaning(kept: Made, source: str, k: int) -> None:
    """Draw which sides the top k of each system supports."""
    cells, by_people = leaning_figures(kept, source, k)
    if not cells["n"].any():
        st.info(
            "No question has a supporting and an opposing perspective with labels. Choose another data set or label source, or "
            "set the stance of perspectives on the [Perspectives](perspectives) page."
        )
        return
    shown = cells[cells["n"] > 0].assign(row=cells["system"])
    chart = stacked(
        shown[shown["value"].notna()],
        f"percent of questions, top {k}",
        row="row",
        colour="leaning",
        colours=LEANING_COLOURS,
    )
    st.altair_chart(chart, key="leaning")
    st.caption(
        f"Share of the questions with a supporting and an opposing perspective by which of the two the top {k} supports (BERDS, "
        f"figure 2). Labels from **{escaped(source)}**. {questions_that_count(workspace())}"
    )
    draw_withheld(shown)
    draw_table(shown.drop(columns=["row", "place"]), f"leaning-{k}", chart, across="leaning", digits=1)
    draw_by_people(
        by_people,
        "over the questions for which people judged every pair of the top k; *same* is the share of these on which the labels "
        "and people agree",
        source,
    )


def stances(kept: Made, source: str, k: int) -> None:
    """Draw the stances of the perspectives that the passages of the top k support."""
    cells, by_people = stance_figures(kept, source, k)
    if not cells["n"].any():
        st.info("No passage supports a perspective. Choose another label source or a larger k.")
        return
    chart = share_dots(cells[cells["value"].notna()], part="stance", colours=STANCE_SHARE_COLOURS)
    st.altair_chart(chart, key="stances")
    st.caption(
        f"Share of each stance among all pairs of the top {k} that support a perspective, with 95% intervals over questions "
        "(compare PIR, table 3, for queries that name no side). The upright mark is the share of that stance among the "
        f"perspectives themselves. Labels from **{escaped(source)}**."
    )
    draw_withheld(cells)
    draw_table(cells.drop(columns="place"), f"stances-{k}", chart, across="stance", digits=1)
    draw_by_people(by_people, "over the questions for which people judged every pair of the top k", source)


def draw_withheld(cells: pd.DataFrame) -> None:
    """List the systems that have no value, with the reason."""
    floor = min_judged_of(workspace())
    without = sorted(cells.loc[cells["judged"] < 100 * floor, "system"].unique())
    if without:
        st.caption(f"No value for {escaped(', '.join(without))}: {below(floor)}.")


def draw_by_people(by_people: pd.DataFrame, of_what: str, source: str) -> None:
    """Draw the figures computed from people's judgments alone, with their number of questions."""
    st.subheader("By people's labels", anchor=False)
    if source == HUMAN:
        st.caption("The figures above already use people's labels.")
    elif by_people.empty:
        st.info(
            "Nobody has judged the whole top k of a question yet. Judge on the page [Annotate](annotate), or create a batch of a "
            "run on the page [Batches](batches)."
        )
    else:
        st.dataframe(by_people.style.format(precision=1), hide_index=True, key="by-people")
        st.caption(f"Percent, {of_what}; n is the number of these questions.")
        downloads("bias-by-people", by_people)


def draw_table(frame: pd.DataFrame, name: str, chart: Chart | None, *, across: str = "", digits: int = 2) -> None:
    """Draw the numbers of a chart as a table with downloads. With `across`, the table has one row per system and the values of
    that column side by side."""
    wide = side_by_side(frame, across, digits) if across else frame
    height: Literal["content", "auto"] = "content" if len(wide) <= FEW else "auto"
    shown = wide if across else wide.style.format(precision=digits)
    st.dataframe(shown, hide_index=True, key=f"table-{name}", height=height, placeholder="–")
    downloads(name, frame, chart)


def sycophancy(row: DeltaGenerator) -> None:
    """Draw whether the results follow the side of the query, from the stored studies; `row` takes the choice of one."""
    results = results_of(workspace(), SYCOPHANCY, SYCOPHANCY)
    with st.expander("New study", icon=":material/science:", expanded=not results):
        st.markdown(
            "Berdseye searches for the question, for its supporting and for its opposing perspective, and labels each top k. "
            "This takes a while and runs in the background."
        )
        begin_sycophancy()
    draw_unfinished_jobs("bias", begun_here)
    if not results:
        st.info("No results yet. Press **Start** above.")
        return
    with row:
        result = chosen_result(results, "sycophancy")
    k = result.settings["k"]
    warn_if_sides_unknown(workspace(), str(result.settings["labels"]))
    draw_arrows(table_of(result, SYCOPHANCY).cells, f"sycophancy-{k}")
    st.caption(
        f"Delta = (p - n) / p of the top {k}, where p and n are the shares of the passages of all questions that support the "
        "supporting and the opposing perspective (BERDS, figure 3). Dots: the query is the plain question. Arrows point to Delta "
        "when a side is the query. Pale bands are 95% intervals. "
        f"Labels from **{escaped(str(result.settings['labels']))}**. "
        f"{in_words(parse_unjudged(result.settings.get('unjudged')))}"
    )
    st.subheader("By people's labels", anchor=False)
    result_by_people = by_people(results, result)
    if result.settings["labels"] == HUMAN:
        st.caption("The figures above already use people's labels.")
    elif result_by_people is None:
        st.info(f"No result with people's labels yet. Start the study above with labels from **{HUMAN}**.")
    elif table_of(result_by_people, SYCOPHANCY).cells["n"].any():
        draw_arrows(table_of(result_by_people, SYCOPHANCY).cells, f"sycophancy-{k}-people")
    else:
        st.info("Nobody has judged a passage that the three queries retrieved: n is 0 everywhere.")


def draw_arrows(cells: pd.DataFrame, name: str) -> None:
    """Draw the chart of arrows and its numbers."""
    shown = cells.assign(system=cells["pipeline"] + ", " + cells["corpus"])
    if "judged" in shown:
        shown["judged"] = 100 * shown["judged"]
    chart = sycophancy_arrows(shown)
    st.altair_chart(chart, key=f"chart-{name}")
    columns = ["system", "asked", "value", "low", "high", "n", "judged", "labels"]
    draw_table(shown[[c for c in columns if c in shown]], name, chart, across="asked")


def begin_sycophancy() -> None:
    """Draw the form that starts the sycophancy study."""
    with st.form("begin-sycophancy", border=False):
        columns = st.columns([3, 3, 3, 3, 2])
        chosen = {
            "--dataset": columns[0].multiselect("Data sets", workspace().datasets(), placeholder="All"),
            "--corpus": columns[1].multiselect("Corpora", workspace().corpora(), placeholder="All"),
            "--pipeline": columns[2].multiselect(
                "Pipelines", pipelines(), default=pipelines()[:1], accept_new_options=True
            ),
        }
        with columns[3]:
            source = chosen_source(workspace(), key="study-labels")
        k = int(columns[4].number_input("k", 1, 100, 5))
        warn_if_sides_unknown(workspace(), source)
        if st.form_submit_button("Start", type="primary", icon=":material/play_arrow:"):
            if chosen["--pipeline"]:
                arguments = ("berds", "sycophancy", *words_of(chosen), "--labels", source, "--k", str(k))
                start(workspace(), arguments, person=started_by())
                st.rerun()
            st.warning("Choose at least one pipeline.")


def of_tasks(name: str, draw: Callable[[pd.DataFrame], None], row: DeltaGenerator) -> None:
    """Draw a table of a stored study of PIR's tasks with `draw`, and the form that starts the study. `row` takes the choice of
    one."""
    results = results_of(workspace(), PIR, name)
    tasks = tasks_here()
    if tasks:
        with st.expander("New study", icon=":material/science:", expanded=not results):
            begin_pir(tasks)
    draw_unfinished_jobs("bias", begun_here)
    if not results:
        first = "Press **Start** above" if tasks else "This workspace has no PIR task: fetch one on the page Data"
        st.info(f"No results yet. {first}, or start the study on task files of your own on the page Studies.")
        with st.container(horizontal=True):
            if not tasks:
                page_button(
                    "data", "Fetch a PIR task", key="fetch-task", icon="download", kind="primary", show="Data sets"
                )
            page_button("studies", "Study of own task files", key="own-tasks", icon="science", study="pir")
        return
    with row:
        result = chosen_result(results, name)
    for note in table_of(result, name).notes:
        st.caption(escaped(note))
    draw(table_of(result, name).cells)


def tasks_here() -> list[str]:
    """Return the names of the PIR tasks that this workspace has fetched."""
    fetched = [name for name in workspace().datasets() if name.startswith("pir-")]
    return [name for name in fetched if kept_task(workspace().downloads_folder / name) is not None]


def begin_pir(tasks: Sequence[str]) -> None:
    """Draw the form that starts the PIR study over the fetched tasks."""
    with st.form("begin-pir", border=False):
        left, right = st.columns(2)
        chosen = left.multiselect("Tasks", tasks, default=tasks)
        ranked = right.multiselect("Pipelines", pipelines(), default=pipelines()[:1], accept_new_options=True)
        if st.form_submit_button("Start", type="primary", icon=":material/play_arrow:"):
            if chosen and ranked:
                parts = {"--pipeline": ranked, "--part": ["bias", "places"]}
                start(workspace(), ("pir", *chosen, *words_of(parts)), person=started_by())
                st.rerun()
            st.warning("Choose at least one task and one pipeline.")


def task_shares(cells: pd.DataFrame) -> None:
    """Draw PIR's shares of perspectives, beside those of the corpus and the values that the paper prints."""
    corpus = cells[cells["pipeline"] == IN_CORPUS].set_index(["task", "perspective"])["value"]
    measured = cells[(cells["pipeline"] != IN_CORPUS) & cells["value"].notna()].copy()
    measured["even"] = [corpus.get((row.task, row.perspective)) for row in measured.itertuples()]
    measured["system"] = measured["pipeline"] + ", " + measured["task"]
    colours = perspective_colours(measured["perspective"])
    columns = ["system", "perspective", "value", "low", "high", "even", "n", "published"]
    shown = measured[[c for c in columns if c in measured]]
    chart = share_dots(shown.drop(columns="published", errors="ignore"), part="perspective", colours=colours)
    st.altair_chart(chart, key="task-shares")
    st.caption(
        "Share of each perspective among the relevant passages retrieved for queries without a perspective (PIR, tables 3 and "
        "10). Upright marks: its share of all relevant passages. Relevance comes from the human labels of the task. *published* "
        "is the value that the paper prints."
    )
    draw_table(shown, "perspective-shares", chart, digits=1)


def places(cells: pd.DataFrame) -> None:
    """Draw the heat map of places of one task and pipeline."""
    matrices = location_matrices(cells)
    keys_by_name = {f"{task} · {pipeline}": key for key in matrices for task, pipeline in [key]}
    name = st.selectbox("Task and pipeline", list(keys_by_name), key="map", bind="query-params")
    matrix = matrices[keys_by_name[name or next(iter(keys_by_name))]]
    chart = heat_map(matrix)
    st.altair_chart(chart, key="places")
    st.caption(
        "Share of each place, in percent, among the passages retrieved for queries that ask for news from a place. A passage is "
        "from the place for which the task calls it relevant, otherwise from the first place named in its text. Off the "
        "diagonal, the passages are from another place than the query asks for."
    )
    draw_table(matrix.assign(share=100 * matrix["share"]), "places", chart, digits=1)


def chosen_result(results: Sequence[Stored], key: str) -> Stored:
    """Draw the choice of a stored result and return it. Results by a detector's labels come first, newest first."""
    ordered = sorted(results, key=lambda result: result.settings.get("labels") == HUMAN)
    by_name: Mapping[str, Stored] = {result.name: result for result in ordered}
    return by_name[selectbox_by_id("Result", list(by_name), key, lambda name: result_name(by_name[name]))]


def result_name(result: Stored) -> str:
    """Return the name of a result: its data sets or tasks, corpora, pipelines, k, label source and time."""
    settings = result.settings
    parts = [
        settings.get("datasets") or list(settings.get("tasks", {})),
        settings.get("corpora"),
        settings["pipelines"],
    ]
    parts.append([f"k = {settings['k']}"])
    if "labels" in settings:
        parts.append([f"labels from {settings['labels']}"])
    return (
        " · ".join(", ".join(part) for part in parts if part)
        + f" · {shown_moment(datetime.fromisoformat(result.created))}"
    )


def begun_here(job: Job) -> bool:
    """Whether the job is a study of this page."""
    return job.arguments[:1] == ("study",) and " ".join(job.arguments[1:]).startswith(BEGUN)


def pipelines() -> list[str]:
    """Return the pipelines to choose from, those of the stored runs first."""
    return list(dict.fromkeys([*(run.pipeline for run in list_runs(workspace())), *DEFAULT_PIPELINES]))


def words_of(chosen: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the options of a command, one per value."""
    return [word for option, values in chosen.items() for value in values for word in (option, value)]


VIEWS: Mapping[str, Callable[[DeltaGenerator], None]] = {
    "Leaning": partial(of_runs, leaning),
    "Sycophancy": sycophancy,
    "Stances": partial(of_runs, stances),
    "Perspective shares": partial(of_tasks, "pir_bias", task_shares),
    "Places": partial(of_tasks, "pir_places", places),
}
"""What each view draws below the row of choices, into which it puts its own."""


def page() -> None:
    """Draw the page."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row.container(horizontal=True, width="content"):
        view = one_of("View", VIEWS, key="view")
    VIEWS[view](row)


with errors_in_place():
    page()
