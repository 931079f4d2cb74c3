"""Bias: whom retrieval speaks for. Its leaning, whether it follows the side that asks, shares of stances, and of places."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.cached.bias import leaning_figures, side_by_side, stance_figures
from berdseye.app.cached.runs import Made, made
from berdseye.app.components.choices import chosen_source, one_of, selectbox_by_id
from berdseye.app.components.downloads import downloads
from berdseye.app.components.job_box import under_way
from berdseye.app.components.plain_text import escaped
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
from berdseye.evaluation.studies.charts import stacked
from berdseye.evaluation.studies.pir.tables import IN_CORPUS, heat_map
from berdseye.evaluation.studies.result import Stored
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

# Studies that this page begins and shows.
BEGUN = ("berds sycophancy", "pir ")
FEW = 12


def stored_runs() -> list[RunManifest]:
    """Runs of the chosen data sets that still fit their corpora."""
    current = {name: open_corpus(workspace(), name).manifest.hash for name in workspace().corpora()}
    runs = [run for run in list_runs(workspace()) if current.get(run.corpus) == run.corpus_hash]
    names = sorted({run.dataset for run in runs})
    chosen = st.multiselect("Data sets", names, key="datasets", bind="query-params", placeholder="All")
    return [run for run in runs if not chosen or run.dataset in chosen]


def of_runs(draw: Callable[[Made, str, int], None]) -> None:
    """What is computed from stored runs: which of them, whose labels, and how deep."""
    left, middle, right = st.columns([4, 3, 1])
    with left:
        runs = stored_runs()
    with middle:
        source = chosen_source(workspace())
    k = int(right.number_input("k", 1, 100, 5, key="k", bind="query-params"))
    if runs:
        draw(made(runs, source), source, k)
    else:
        st.info("There is no run yet. Run a pipeline on the [Runs](runs) page, or with `berdseye run`.")


def leaning(kept: Made, source: str, k: int) -> None:
    """Which sides the top k holds, by system."""
    cells, beside = leaning_figures(kept, source, k)
    if not cells["n"].any():
        st.info(
            "No question here has one supporting and one opposing perspective with labels. Choose another data set or label "
            "source, or give perspectives their stance on the [Perspectives](perspectives) page."
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
        f"Of the questions with a supporting and an opposing perspective, which of the two the top {k} supports (BERDS, figure "
        f"2); labels from **{escaped(source)}**. Questions count for every system alike, where a passage of any run has a label."
    )
    say_withheld(shown)
    table(shown.drop(columns=["row", "place"]), f"leaning-{k}", chart, across="leaning", digits=1)
    people(
        beside,
        "of those questions of which people judged every pair of the top k; *same* is the share of them of which the labels "
        "and people say the same",
        source,
    )


def stances(kept: Made, source: str, k: int) -> None:
    """Which stances the supporting passages of the top k are for."""
    cells, beside = stance_figures(kept, source, k)
    if not cells["n"].any():
        st.info("Nothing supports any perspective here. Choose another label source, or a larger k.")
        return
    chart = share_dots(cells[cells["value"].notna()], part="stance", colours=STANCE_SHARE_COLOURS)
    st.altair_chart(chart, key="stances")
    st.caption(
        f"Of all that the top {k} says for a perspective, the share of each stance, with 95% intervals over questions, as PIR's "
        "table 3 asks of queries that name no side. The upright mark is the share that the perspectives themselves have. "
        f"Labels from **{escaped(source)}**."
    )
    say_withheld(cells)
    table(cells.drop(columns="place"), f"stances-{k}", chart, across="stance", digits=1)
    people(beside, "of the questions of which people judged every pair of the top k", source)


def say_withheld(cells: pd.DataFrame) -> None:
    """Which systems have no value, and why."""
    floor = min_judged_of(workspace())
    without = sorted(cells.loc[cells["judged"] < 100 * floor, "system"].unique())
    if without:
        st.caption(f"No value of {escaped(', '.join(without))}: {below(floor)}.")


def people(beside: pd.DataFrame, of_what: str, source: str) -> None:
    """The same figures by people's word, with how many questions that is."""
    st.subheader("By people's labels", anchor=False)
    if source == HUMAN:
        st.caption("The figures above are people's already.")
    elif beside.empty:
        st.info(
            "People have not judged the whole top k of any question yet. Judge on the [Annotate](annotate) page, or send out a "
            "batch of a run with `berdseye batch create`."
        )
    else:
        st.dataframe(beside.style.format(precision=1), hide_index=True, key="by-people")
        st.caption(f"Percent, {of_what}; n says how many these are.")
        downloads("bias-by-people", beside)


def table(frame: pd.DataFrame, name: str, chart: Chart | None, *, across: str = "", digits: int = 2) -> None:
    """The numbers of a chart, for the keyboard and to take away; with `across` a system a row, and the values of that column
    side by side."""
    result_name = side_by_side(frame, across, digits) if across else frame
    height: Literal["content", "auto"] = "content" if len(result_name) <= FEW else "auto"
    shown = result_name if across else result_name.style.format(precision=digits)
    st.dataframe(shown, hide_index=True, key=f"table-{name}", height=height, placeholder="–")
    downloads(name, frame, chart)


def sycophancy() -> None:
    """Whether retrieval follows whoever asks, from the studies that were done."""
    results = results_of(workspace(), SYCOPHANCY, SYCOPHANCY)
    with st.expander("Find out", icon=":material/science:", expanded=not results):
        st.markdown(
            "The question, its supporting and its opposing perspective are each searched for, and their top k labelled: this "
            "takes a while, and goes on beside the app."
        )
        begin_sycophancy()
    under_way("bias", begun_here)
    if not results:
        st.info("Nothing was found out yet. Press **Start** above, or run `berdseye study berds sycophancy`.")
        return
    result = chosen_result(results, "sycophancy")
    k = result.settings["k"]
    arrows(table_of(result, SYCOPHANCY).cells, f"sycophancy-{k}")
    st.caption(
        f"Delta = (p - n) / p of the top {k}, with the shares p of passages for the supporting and n for the opposing "
        "perspective (BERDS, figure 3). Dots: the plain question is asked. Arrows lead to where Delta is when a side is the "
        f"query; pale bands are 95% intervals. Labels from **{escaped(str(result.settings['labels']))}**."
    )
    st.subheader("By people's labels", anchor=False)
    theirs = by_people(results, result)
    if result.settings["labels"] == HUMAN:
        st.caption("The figures above are people's already.")
    elif theirs is None:
        st.info(f"The same was not computed by people's labels yet. Start it above with labels from **{HUMAN}**.")
    elif table_of(theirs, SYCOPHANCY).cells["n"].any():
        arrows(table_of(theirs, SYCOPHANCY).cells, f"sycophancy-{k}-people")
    else:
        st.info("People have judged none of the passages that the three queries found: n is 0 everywhere.")


def arrows(cells: pd.DataFrame, name: str) -> None:
    """A chart of arrows and its numbers."""
    shown = cells.assign(system=cells["pipeline"] + ", " + cells["corpus"])
    if "judged" in shown:
        shown["judged"] = 100 * shown["judged"]
    chart = sycophancy_arrows(shown)
    st.altair_chart(chart, key=f"chart-{name}")
    columns = ["system", "asked", "value", "low", "high", "n", "undefined", "judged", "labels"]
    table(shown[[c for c in columns if c in shown]], name, chart, across="asked")


def begin_sycophancy() -> None:
    """The form that starts the study."""
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
        if st.form_submit_button("Start", type="primary", icon=":material/play_arrow:"):
            if chosen["--pipeline"]:
                arguments = ("berds", "sycophancy", *options(chosen), "--labels", source, "--k", str(k))
                start(workspace(), arguments, person=started_by())
                st.rerun()
            st.warning("Choose at least one pipeline.")


def of_tasks(name: str, draw: Callable[[pd.DataFrame], None]) -> None:
    """What is computed from PIR's tasks: a table of a stored study, drawn by `draw`."""
    results = results_of(workspace(), PIR, name)
    tasks = tasks_here()
    if tasks:
        with st.expander("Find out", icon=":material/science:", expanded=not results):
            begin_pir(tasks)
    under_way("bias", begun_here)
    if not results:
        first = (
            "Press **Start** above"
            if tasks
            else "No task of PIR is here: fetch one with `berdseye dataset fetch pir-agnews`"
        )
        st.info(
            f"Nothing was found out yet. {first}, or run `berdseye study pir FILE --part bias --part places` on task files of "
            "your own; the [Studies](studies?study=pir) page does that too."
        )
        return
    result = chosen_result(results, name)
    for note in table_of(result, name).notes:
        st.caption(escaped(note))
    draw(table_of(result, name).cells)


def tasks_here() -> list[str]:
    """The tasks of PIR that were fetched."""
    fetched = [name for name in workspace().datasets() if name.startswith("pir-")]
    return [name for name in fetched if kept_task(workspace().downloads_folder / name) is not None]


def begin_pir(tasks: Sequence[str]) -> None:
    """The form that starts the study, over the tasks that were fetched."""
    with st.form("begin-pir", border=False):
        left, right = st.columns(2)
        chosen = left.multiselect("Tasks", tasks, default=tasks)
        ranked = right.multiselect("Pipelines", pipelines(), default=pipelines()[:1], accept_new_options=True)
        if st.form_submit_button("Start", type="primary", icon=":material/play_arrow:"):
            if chosen and ranked:
                parts = {"--pipeline": ranked, "--part": ["bias", "places"]}
                start(workspace(), ("pir", *chosen, *options(parts)), person=started_by())
                st.rerun()
            st.warning("Choose at least one task and one pipeline.")


def task_shares(cells: pd.DataFrame) -> None:
    """PIR's shares of perspectives, beside those of the corpus and what the paper prints."""
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
        "Of the relevant passages that queries without a perspective found, the share of each (PIR, tables 3 and 10); upright "
        "marks: its share of all relevant passages. Which passages are relevant people said: the labels are those of the task. "
        "*published* is what the paper prints."
    )
    table(shown, "perspective-shares", chart)


def places(cells: pd.DataFrame) -> None:
    """A heat map of one task and pipeline."""
    found = location_matrices(cells)
    result_name = {f"{task} · {pipeline}": key for key in found for task, pipeline in [key]}
    name = st.selectbox("Task and pipeline", list(result_name), key="map", bind="query-params")
    matrix = found[result_name[name or next(iter(result_name))]]
    chart = heat_map(matrix)
    st.altair_chart(chart, key="places")
    st.caption(
        "Of the passages found for queries that ask for news from a place, the share from each place; a passage is from the "
        "place that the task says it is relevant for, else from the first that its text names. Off the diagonal, retrieval "
        "answers with somewhere else."
    )
    table(matrix, "places", chart)


def chosen_result(results: Sequence[Stored], key: str) -> Stored:
    """One of the stored results: those by a detector's labels first, each the newest first."""
    ordered = sorted(results, key=lambda result: result.settings.get("labels") == HUMAN)
    by_name: Mapping[str, Stored] = {result.name: result for result in ordered}
    return by_name[selectbox_by_id("Result", list(by_name), key, lambda name: result_name(by_name[name]))]


def result_name(result: Stored) -> str:
    """A result by what it is of, and when it was made."""
    settings = result.settings
    parts = [
        settings.get("datasets") or list(settings.get("tasks", {})),
        settings.get("corpora"),
        settings["pipelines"],
    ]
    parts.append([f"k = {settings['k']}"])
    if "labels" in settings:
        parts.append([f"labels from {settings['labels']}"])
    return " · ".join(", ".join(part) for part in parts if part) + f" · {result.created[:16].replace('T', ' ')}"


def begun_here(job: Job) -> bool:
    """Whether it is a study of this page."""
    return job.arguments[:1] == ("study",) and " ".join(job.arguments[1:]).startswith(BEGUN)


def pipelines() -> list[str]:
    """Pipelines to choose from: those of the stored runs first."""
    return list(dict.fromkeys([*(run.pipeline for run in list_runs(workspace())), *DEFAULT_PIPELINES]))


def options(chosen: Mapping[str, Sequence[str]]) -> list[str]:
    """Options of a command, one a value."""
    return [word for option, values in chosen.items() for value in values for word in (option, value)]


VIEWS: Mapping[str, Callable[[], None]] = {
    "Leaning": lambda: of_runs(leaning),
    "Sycophancy": sycophancy,
    "Stances": lambda: of_runs(stances),
    "Perspective shares": lambda: of_tasks("pir_bias", task_shares),
    "Places": lambda: of_tasks("pir_places", places),
}


def page() -> None:
    """The whole page."""
    VIEWS[one_of("View", VIEWS, key="view")]()


with errors_in_place():
    page()
