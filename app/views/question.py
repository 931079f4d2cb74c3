"""The Question page: one question in all runs, its coverage over time, the judgments of its passages and the proposed edits of
its perspectives."""

from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.versions import attention
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.cached.questions import questions_of
from berdseye.app.components.choices import chosen_source, one_of, selectbox_by_id, topic_note
from berdseye.app.components.downloads import downloads
from berdseye.app.components.edits import VERBS, edit_lines, numbered_line
from berdseye.app.components.holes import clickable_holes
from berdseye.app.components.missing import is_missing
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.stored import dataset_names, split_version
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question
from berdseye.data.runs.stored import RunManifest, list_runs
from berdseye.evaluation.exploration.coverage_history import coverage_chart, coverage_over_time
from berdseye.evaluation.exploration.question_runs import (
    QuestionRun,
    counts_over,
    first_rank_frame,
    measures_frame,
    question_runs,
)
from berdseye.evaluation.labels.sources import HUMAN, LabelSource, parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.measures.shown import scaled
from berdseye.evaluation.scores.enough_judged import below, min_judged_of
from berdseye.evaluation.scores.unjudged import in_words, unjudged_of

DEPTH = 100
_DECIDED = {"open": ":orange-badge[open]", "accepted": ":green-badge[accepted]", "rejected": ":red-badge[rejected]"}


def chosen_question(left: DeltaGenerator, right: DeltaGenerator) -> Question:
    """Draw the choice of a data set and of its question, and return the question.

    Raises `BadInputError` for a data set without questions.
    """
    names = dataset_names(workspace())
    dataset = left.selectbox("Data set", names, key="set", bind="query-params") or names[0]
    questions = questions_of(dataset)
    if not questions:
        raise BadInputError("This data set has no questions.", hint="Choose another data set.")
    with right:
        return questions[selectbox_by_id("Question", list(questions), "question", lambda i: questions[i].text)]


def draw_links(question: Question, dataset: str, runs: list[RunManifest]) -> None:
    """Draw the links to this question on other pages."""
    targets = [
        ("Explore: read its passages and correct labels", "explore", {"set": dataset, "question": question.id}),
        (
            "Perspectives: propose an edit",
            "perspectives",
            {"dataset": split_version(dataset)[0], "question": question.id},
        ),
        ("Search: its passages on a map", "search", {"set": dataset, "question": question.id}),
    ]
    if runs:
        targets.append(("Failures of a run", "failures", {"run": runs[0].name, "words": question.text}))
    if len(runs) > 1:
        targets.append(("Compare two runs", "compare", {"a": runs[0].name, "b": runs[1].name, "question": question.id}))
    st.markdown(" · ".join(f"[{text}]({page}?{urlencode(query)})" for text, page, query in targets))


def draw_perspectives(question: Question) -> None:
    """Draw the perspectives with their flags and their numbers of judgments."""
    if not question.perspectives:
        st.info("This question has no perspectives yet. Propose one on the Perspectives page.")
    counts = attention(judgments(), [p.text for p in question.perspectives])
    for number, (perspective, count) in enumerate(zip(question.perspectives, counts, strict=True), start=1):
        st.markdown(numbered_line(number, perspective, count))
        for who, why in count.flags:
            st.caption(f":material/flag: {escaped(who)}: {escaped(why) or 'no comment'}")


def draw_holes(question: Question, runs: list[QuestionRun], k: int) -> None:
    """Draw the first rank of each perspective, one row per run and one column per perspective, and a link to the passages of
    the clicked cell."""
    frame = first_rank_frame(question, runs, k)
    chart, picked = clickable_holes(frame, k, "First ranks by run and perspective")
    if picked is not None:
        run, place = runs[int(picked["row"])], int(picked["place"])
        query = {
            "set": run.run.dataset,
            "question": question.id,
            "corpora": run.run.corpus,
            "pipelines": run.run.pipeline,
        }
        st.markdown(
            f"{perspective_mark(place - 1)} {escaped(question.perspectives[place - 1].text)}: "
            f"[read the ranking of {escaped(run.name)}](explore?{urlencode(query)})"
        )
    downloads("question-first-ranks", frame.drop(columns="row"), chart)


def draw_measures(question: Question, dataset: str, runs: list[QuestionRun], source: LabelSource, k: int) -> None:
    """Draw the measures of each run on this question alone."""
    counted = counts_over(workspace(), judgments(), dataset, question.id, runs, source)
    floor, rule = min_judged_of(workspace()), unjudged_of(workspace())
    frame = measures_frame(runs, parse_measures(f"MRecall@{k} Precision@{k} Coverage@{k}"), counted, floor, rule)
    shares = [name for name in frame.columns if "@" in name]
    st.dataframe(
        scaled(frame, shares).assign(made=frame["made"].str[:16].str.replace("T", " ")),
        hide_index=True,
        key="measures",
        column_config={name: st.column_config.NumberColumn(format="%.1f", help="Percent.") for name in shares},
    )
    if not all(counted.values()):
        without = escaped(", ".join(corpus for corpus, counts in counted.items() if not counts))
        st.caption(f"No value over {without}: no passage that a run retrieved there has a label.")
    if (frame[f"judged@{k}"] < floor).any():
        st.caption(f"A run has no value if the pairs of its top {k} are {below(floor)}.")
    if (frame[f"judged@{k}"] == 0).any():
        st.caption(in_words(rule))
    downloads("question-measures", frame)


def draw_history(question: Question, runs: list[QuestionRun], source: LabelSource, k: int) -> None:
    """Draw how judgments changed the coverage, event by event, and when the runs were made."""
    without = LabelSource(
        source.parts[1:] if source.consensus else tuple(part for part in source.parts if part != HUMAN)
    )
    beside = [str(without)] if without.parts else []
    people = one_of("Labels of unjudged pairs", ["nothing", *beside], key="beside")
    people_only = people != (beside[0] if beside else "")
    runs_shown = runs
    if not people_only and without != source:
        runs_shown, _ = question_runs(workspace(), judgments(), question, [run.run for run in runs], without, DEPTH)
    history = coverage_over_time(judgments(), runs_shown, k, people_alone=people_only)
    if history["at"].isna().all():
        st.info("Nobody has judged a passage in these top k yet. Judge some on Explore or Annotate.")
        return
    chart = coverage_chart(history, runs_shown)
    st.altair_chart(chart, key="history", alt="Coverage over time, one line per run")
    st.caption(
        "A dot marks a judgment that changed which perspectives the run covers, or the source of that label. A diamond marks "
        "the time when the run was made. The rankings are today's; the judgments are those of the time shown."
    )
    downloads("question-coverage", history, chart)


def draw_judgments(runs: list[QuestionRun]) -> None:
    """Draw the judgments of the pairs that a run ranks for the question."""
    keys = sorted({key.decode() for run in runs for key in run.keys.ravel() if key})
    current_judgments = judgments().present(keys)
    if not current_judgments:
        st.info("Nobody has judged a passage that these runs rank.")
        return
    records = judgments().pair_records([judgment.pair for judgment in current_judgments])
    frame = pd.DataFrame(
        {
            "at": [judgment.at[:16].replace("T", " ") for judgment in current_judgments],
            "annotator": [judgment.annotator.name for judgment in current_judgments],
            "verdict": [judgment.verdict for judgment in current_judgments],
            "perspective": [records[judgment.pair].perspective for judgment in current_judgments],
            "title": [records[judgment.pair].title for judgment in current_judgments],
            "passage": [records[judgment.pair].passage for judgment in current_judgments],
            "comment": [judgment.comment for judgment in current_judgments],
        }
    )
    st.dataframe(frame, hide_index=True, key="said")
    downloads("question-judgments", frame)


def draw_edits(question: Question, dataset: str) -> None:
    """Draw the proposed edits of the perspectives."""
    proposed = [e for e in EditLog(workspace(), judgments(), dataset).edits() if e.question_id == question.id]
    if not proposed:
        st.info("Nobody has proposed an edit of the perspectives.")
    for edit in proposed:
        with st.container(border=True):
            state = _DECIDED.get(edit.status, f":gray-badge[{edit.status}]")
            st.markdown(f"{VERBS[edit.change.action]} · {escaped(edit.by.name)}, {edit.at[:10]} · {state}")
            st.markdown(edit_lines(edit.change))
            if edit.comment:
                st.markdown(f":material/comment: {escaped(edit.comment)}")


def page() -> None:
    """Draw the page."""
    if is_missing("data set"):
        return
    *row, left, right = st.columns([2, 5, 2.5, 1.25])
    question = chosen_question(*row)
    dataset = str(st.session_state["set"])
    with left:
        source = parse_label_source(chosen_source(workspace()))
    k = int(right.number_input("k", 1, DEPTH, 5, key="k", bind="query-params"))
    candidates = [run for run in list_runs(workspace()) if split_version(run.dataset)[0] == split_version(dataset)[0]]
    st.header(escaped(question.text), anchor=False)
    draw_links(question, dataset, candidates)
    draw_perspectives(question)
    if note := topic_note(workspace(), str(source)):
        st.caption(note)
    runs, stale = question_runs(workspace(), judgments(), question, candidates, source, DEPTH)
    if stale:
        names = escaped(", ".join(run.name for run in stale))
        st.warning(f"Skipped because their corpora have changed: {names}. Run these pipelines again.")
    if not runs:
        st.info("No run contains this question. Run a pipeline on the Runs page.")
    parts = ["Runs", "Over time", "Judgments", "Edits"]
    tabs = st.tabs(parts, key="part", on_change="rerun", bind="query-params")
    part = next(n for n, tab in enumerate(tabs) if tab.open)
    with tabs[part], errors_in_place():
        match parts[part]:
            case "Runs" | "Over time" if not (runs and question.perspectives):
                st.caption("The coverage of its perspectives appears here once a run contains this question.")
            case "Runs":
                draw_holes(question, runs, k)
                draw_measures(question, dataset, runs, source, k)
            case "Over time":
                draw_history(question, runs, source, k)
            case "Judgments":
                draw_judgments(runs)
            case _:
                draw_edits(question, dataset)


with errors_in_place():
    page()
