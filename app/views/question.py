"""Question: one question in all runs, how its coverage came about, and what people say of its perspectives."""

from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.versions import attention
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.cached.questions import questions_of
from berdseye.app.components.choices import chosen_source, one_of, selectbox_by_id
from berdseye.app.components.downloads import downloads
from berdseye.app.components.edits import VERBS, edit_lines, numbered_line
from berdseye.app.components.holes import clickable_holes
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
from berdseye.evaluation.scores.enough_judged import below, min_judged_of

DEPTH = 100
_DECIDED = {"open": ":orange-badge[open]", "accepted": ":green-badge[accepted]", "rejected": ":red-badge[rejected]"}


def chosen_question() -> Question:
    """The question of the widgets."""
    names = dataset_names(workspace())
    if not names:
        raise BadInputError("The workspace holds no data set.", hint="Add one with `berdseye dataset add NAME FILE`.")
    left, right = st.columns([1, 3])
    dataset = left.selectbox("Data set", names, key="set", bind="query-params") or names[0]
    questions = questions_of(dataset)
    if not questions:
        raise BadInputError("This data set has no question.", hint="Choose another.")
    with right:
        return questions[selectbox_by_id("Question", list(questions), "question", lambda i: questions[i].text)]


def links(question: Question, dataset: str, runs: list[RunManifest]) -> None:
    """Where to go on from here."""
    to = [
        ("Explore: read its passages and correct labels", "./", {"set": dataset, "question": question.id}),
        (
            "Perspectives: propose an edit",
            "perspectives",
            {"dataset": split_version(dataset)[0], "question": question.id},
        ),
        ("Search: its passages on a map", "search", {"set": dataset, "question": question.id}),
    ]
    if runs:
        to.append(("Failures of a run", "failures", {"run": runs[0].name, "words": question.text}))
    if len(runs) > 1:
        to.append(("Compare two runs", "compare", {"a": runs[0].name, "b": runs[1].name, "question": question.id}))
    st.markdown(" · ".join(f"[{said}]({page}?{urlencode(query)})" for said, page, query in to))


def perspectives(question: Question) -> None:
    """The perspectives, with flags and judgments counted."""
    if not question.perspectives:
        st.info("This question has no perspective yet. Propose one on the Perspectives page.")
    told = attention(judgments(), [p.text for p in question.perspectives])
    for number, (perspective, said) in enumerate(zip(question.perspectives, told, strict=True), start=1):
        st.markdown(numbered_line(number, perspective, said))
        for who, why in said.flags:
            st.caption(f":material/flag: {escaped(who)}: {escaped(why) or 'no comment'}")


def holes(question: Question, runs: list[QuestionRun], k: int) -> None:
    """First ranks, runs down and perspectives across; the one that is clicked leads on."""
    frame = first_rank_frame(question, runs, k)
    chart, picked = clickable_holes(frame, k, "First ranks by run and perspective")
    if picked is not None:
        run, place = runs[int(picked["row"])], int(picked["place"])
        asked = {
            "set": run.run.dataset,
            "question": question.id,
            "corpora": run.run.corpus,
            "pipelines": run.run.pipeline,
        }
        st.markdown(
            f"{perspective_mark(place - 1)} {escaped(question.perspectives[place - 1].text)}: "
            f"[read what {escaped(run.name)} ranks](./?{urlencode(asked)})"
        )
    downloads("question-first-ranks", frame.drop(columns="row"), chart)


def measures(question: Question, dataset: str, runs: list[QuestionRun], source: LabelSource, k: int) -> None:
    """The measures of each run, on this question alone."""
    counted, floor = (
        counts_over(workspace(), judgments(), dataset, question.id, runs, source),
        min_judged_of(workspace()),
    )
    frame = measures_frame(runs, parse_measures(f"MRecall@{k} Precision@{k} Coverage@{k}"), counted, floor)
    st.dataframe(
        frame.assign(made=frame["made"].str[:16].str.replace("T", " ")),
        hide_index=True,
        key="measures",
        column_config={name: st.column_config.NumberColumn(format="%.2f") for name in frame.columns if "@" in name},
    )
    if not all(counted.values()):
        without = escaped(", ".join(corpus for corpus, counts in counted.items() if not counts))
        st.caption(f"No value over {without}: no passage that any run found there has a label.")
    if (frame[f"judged@{k}"] < floor).any():
        st.caption(f"No value where the pairs of the top {k} are {below(floor)}.")
    downloads("question-measures", frame)


def over_time(question: Question, runs: list[QuestionRun], source: LabelSource, k: int) -> None:
    """What people's words changed, event by event, and when the runs were made."""
    without = LabelSource(tuple(part for part in source.parts if part != HUMAN))
    beside = [str(without)] if without.parts else []
    people = one_of("What counts where nobody said anything", ["nothing", *beside], key="beside")
    alone = people != (beside[0] if beside else "")
    held = runs
    if not alone and without != source:
        held, _ = question_runs(workspace(), judgments(), question, [run.run for run in runs], without, DEPTH)
    history = coverage_over_time(judgments(), held, k, people_alone=alone)
    if history["at"].isna().all():
        st.info("Nobody has judged a passage of these top k yet. Judge some on Explore or Annotate.")
        return
    chart = coverage_chart(history, held)
    st.altair_chart(chart, key="history", alt="Coverage over time, a line a run")
    st.caption(
        "A dot: somebody's word changed what the run covers or how that is known. A diamond: the run was made. "
        "Rankings are those of today, words those of then."
    )
    downloads("question-coverage", history, chart)


def said(runs: list[QuestionRun]) -> None:
    """The judgments of its pairs that any run ranks."""
    keys = sorted({key.decode() for run in runs for key in run.keys.ravel() if key})
    words = judgments().present(keys)
    if not words:
        st.info("Nobody has judged a passage that these runs rank.")
        return
    records = judgments().pair_records([word.pair for word in words])
    frame = pd.DataFrame(
        {
            "at": [word.at[:16].replace("T", " ") for word in words],
            "annotator": [word.annotator.name for word in words],
            "verdict": [word.verdict for word in words],
            "perspective": [records[word.pair].perspective for word in words],
            "title": [records[word.pair].title for word in words],
            "passage": [records[word.pair].passage for word in words],
            "comment": [word.comment for word in words],
        }
    )
    st.dataframe(frame, hide_index=True, key="said")
    downloads("question-judgments", frame)


def edits(question: Question, dataset: str) -> None:
    """What people propose to change about its perspectives."""
    found = [e for e in EditLog(workspace(), judgments(), dataset).edits() if e.question_id == question.id]
    if not found:
        st.info("Nobody has proposed an edit of its perspectives.")
    for edit in found:
        with st.container(border=True):
            state = _DECIDED.get(edit.status, f":gray-badge[{edit.status}]")
            st.markdown(f"{VERBS[edit.change.action]} · {escaped(edit.by.name)}, {edit.at[:10]} · {state}")
            st.markdown(edit_lines(edit.change))
            if edit.comment:
                st.markdown(f":material/comment: {escaped(edit.comment)}")


def page() -> None:
    """The whole page."""
    question = chosen_question()
    dataset = str(st.session_state["set"])
    left, right = st.columns([4, 1])
    with left:
        source = parse_label_source(chosen_source(workspace()))
    k = int(right.number_input("k", 1, DEPTH, 5, key="k", bind="query-params"))
    known = [run for run in list_runs(workspace()) if split_version(run.dataset)[0] == split_version(dataset)[0]]
    st.header(escaped(question.text), anchor=False)
    links(question, dataset, known)
    perspectives(question)
    runs, stale = question_runs(workspace(), judgments(), question, known, source, DEPTH)
    if stale:
        names = escaped(", ".join(run.name for run in stale))
        st.warning(f"Left out, since their corpora have changed: {names}. Run these pipelines again.")
    if not runs:
        st.info("No run has this question. Run a pipeline on the Runs page.")
    parts = ["Runs", "Over time", "Judgments", "Edits"]
    tabs = st.tabs(parts, key="part", on_change="rerun", bind="query-params")
    part = next(n for n, tab in enumerate(tabs) if tab.open)
    with tabs[part], errors_in_place():
        match parts[part]:
            case "Runs" | "Over time" if not (runs and question.perspectives):
                st.caption("What runs cover of its perspectives will be seen here.")
            case "Runs":
                holes(question, runs, k)
                measures(question, dataset, runs, source, k)
            case "Over time":
                over_time(question, runs, source, k)
            case "Judgments":
                said(runs)
            case _:
                edits(question, dataset)


with errors_in_place():
    page()
