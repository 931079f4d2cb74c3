"""The Explore page: the rankings of every chosen corpus and pipeline for one question, side by side. A person corrects a label
with one key."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.app.access.session import annotator, errors_in_place, judgments, workspace
from berdseye.app.cached.searching import hits
from berdseye.app.components.choices import options, selectbox_by_id
from berdseye.app.components.coverage_table import coverage_table, measures_line, missing_line, without_labels
from berdseye.app.components.detector_line import detector_line, fallibility
from berdseye.app.components.judging import LINE, correct, judging_line, may_judge
from berdseye.app.components.keys import EXPLORE
from berdseye.app.components.missing import is_missing
from berdseye.app.components.page_button import page_button
from berdseye.app.components.passage_card import CHIPS_OF_A_CARD, opposite, passage_card
from berdseye.app.components.pipeline_builder import offered_pipelines
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.layouts.rows import perspectives_of_lines
from berdseye.data.datasets.stored import dataset_names, load_dataset
from berdseye.data.records import Pair, Question
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import opined
from berdseye.detectors.opinions import grade_of
from berdseye.detectors.trained import adopted_detector, detector_names
from berdseye.evaluation.exploration.inspection import (
    SHOWN,
    Chip,
    Hit,
    Listing,
    Shown,
    detector_against_gold,
    inspect_question,
    unlabelled,
)
from berdseye.evaluation.exploration.rationales import Rationale, rationales
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.retrieval.expansion.manual import ManualPerspectives
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES
from berdseye.retrieval.protocol import query_of

OWN = "your own question"
_SOURCES: Mapping[Shown, str] = {
    "first available": "A label comes from the first available source: your judgment, other people's judgments, the gold labels "
    "of the data set's authors,",
    "people": "A label comes from people's judgments, and where there is none, from",
    "gold": "A label comes from the gold labels of the data set's authors, and where there is none, from",
    "detector": "Every label comes from",
}
_MARKED = (
    "Marked in a passage is what a label rests on: people's evidence, otherwise the sentence that the detector scores highest by "
    "itself, if it is near the threshold or above it."
)
FLIP = "**1**–**9** flip a label of the focused passage."
LARGEST_K_SHOWN = 20
AT_ONCE = 45
"""Pairs without a label that are labelled before the page is drawn, in less than a second; the others follow behind it."""


def chosen_question(left: DeltaGenerator, right: DeltaGenerator) -> Question | None:
    """Draw the choice of a question of a data set, or the boxes to type one with a perspective per line. Return it, or
    None."""
    names = [*dataset_names(workspace()), OWN]
    dataset = left.selectbox("Data set", names, key="set", bind="query-params", label_visibility="collapsed")
    if dataset != OWN and dataset is not None:
        questions = {q.id: q for q in load_dataset(workspace(), dataset)}
        if not questions:
            return None
        with right:
            chosen = selectbox_by_id(
                "Question", list(questions), "question", lambda i: questions[i].text, label_visibility="collapsed"
            )
        return questions[chosen]
    text = right.text_input(
        "Question",
        key="ask",
        bind="query-params",
        placeholder="Your question, for example: Should cities ban private cars?",
        label_visibility="collapsed",
    )
    lines = st.text_area(
        "Perspectives, one per line (optional)",
        key="views",
        bind="query-params",
        height=90,
        placeholder="Start a line with + (supporting) or - (opposing) if the perspective takes a side",
    )
    if not (text or "").strip():
        st.info(
            "Type a question and press Enter. With perspectives, Berdseye labels the passages and reports the coverage.",
            icon=":material/keyboard:",
        )
        return None
    typed = perspectives_of_lines(lines or "")
    if typed:
        stored, texts = ManualPerspectives(workspace()), tuple(p.text for p in typed)
        if stored.get(str(text)) != texts:  # for pipelines that begin with expand(manual)
            stored.put(str(text), texts)
    return Question("typed", "typed", str(text).strip(), typed)


def chosen_lists() -> tuple[list[str], list[str], int, str]:
    """Draw the choices and return the corpora, the pipelines in canonical form, k and the detector's name."""
    names = workspace().corpora()
    corpora = st.multiselect("Corpora", names, default=names[:3], key="corpora", bind="query-params")
    pipelines = st.multiselect(
        "Pipelines",
        offered_pipelines(),
        default=list(DEFAULT_PIPELINES[:1]),
        key="pipelines",
        bind="query-params",
        accept_new_options=True,
        help="Choose one or more, or type one, for example dense(static) >> mmr(0.9), bm25 >> cover(embedded) or "
        "expand(manual) >> bm25.",
    )
    k = st.number_input("k", 1, LARGEST_K_SHOWN, 5, key="k", bind="query-params")
    detector = st.selectbox(
        "Detector",
        detector_names(workspace()),
        key="detector",
        bind="query-params",
        accept_new_options=True,
    )
    return (
        corpora,
        [str(pipeline_of(workspace(), p)) for p in pipelines],
        int(k),
        detector or adopted_detector(workspace()),
    )


def flip(question: Question, corpus: str, chip: Chip, hit: Hit) -> None:
    """Record what a press on the chip means as the person's judgment. It is stored before the page is drawn again."""
    place = [p.text for p in question.perspectives].index(chip.pair.perspective) + 1
    correct(question, place, corpus, hit.passage, opposite(chip), "explore")


def shown_labels() -> Shown:
    """Draw the choice of the labels that count."""
    chosen = st.segmented_control(
        "Labels",
        SHOWN,
        default=SHOWN[0],
        key="labels",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
        width="content",
    )
    return chosen or SHOWN[0]


@st.fragment
def results(question: Question, corpora: Sequence[str], pipelines: Sequence[str], k: int, detector: str) -> None:
    """Draw everything that a correction changes, as a fragment that is redrawn alone."""
    with errors_in_place():
        hits_by_list = {
            (corpus, pipeline): hits(corpus, pipeline, query_of(question), k)
            for pipeline in pipelines
            for corpus in corpora
        }
        chosen = parse_detector(detector, workspace())
        toolbar = st.container(horizontal=True, vertical_alignment="center", gap="small", key=LINE)
        with toolbar:
            shown = shown_labels() if question.perspectives else SHOWN[0]
        listings = inspect_question(
            workspace(), judgments(), chosen, question, hits_by_list, k, annotator(), shown, at_most=AT_ONCE
        )
        view = " ".join([question.dataset, question.id, question.text, *pipelines, *corpora, str(k)])
        judging_line(EXPLORE, view, answers=CHIPS_OF_A_CARD, idle=FLIP, into=toolbar)
        supporting = [c.pair for entry in listings for h in entry.hits for c in h.chips if c.is_support]
        rests_on = rationales(workspace(), judgments(), chosen, supporting)
        if question.perspectives:
            caution = fallibility(detector_against_gold(listings), grade_of(workspace(), chosen))
            said_by = f"{_SOURCES[shown]} the detector {detector_line(chosen)}"
            line = " ".join(filter(None, (missing_line(question, listings), without_labels(listings, shown), caution)))
            st.markdown(f":small[{line}]", help=f"{said_by} {_MARKED}")
            coverage_table(question, listings)
        _lists(question, listings, corpora, pipelines, k, rests_on.known)
        if waiting := [*unlabelled(listings), *rests_on.unlabelled]:
            label_the_rest(detector, waiting)


@st.fragment(run_every=0.1)
def label_the_rest(detector: str, pairs: Sequence[Pair]) -> None:
    """Label the pairs below the first screen behind it, some at a time, and draw the page again when all have labels."""
    with errors_in_place():
        found = opined(workspace(), parse_detector(detector, workspace()), pairs, at_most=AT_ONCE)
        left = sum(one.opinion == "not yet" for one in found)
        if not left:
            st.rerun()
        st.progress(1 - left / len(pairs), f"Labelling {left:,} more pairs…")


def _lists(
    question: Question,
    listings: Sequence[Listing],
    corpora: Sequence[str],
    pipelines: Sequence[str],
    k: int,
    rests_on: Mapping[str, Rationale],
) -> None:
    number = 0
    by_list = {(entry.corpus, entry.pipeline): entry for entry in listings}
    for line, pipeline in enumerate(pipelines):
        for place, (corpus, column) in enumerate(zip(corpora, st.columns(len(corpora)), strict=True)):
            with column:
                listing = by_list[corpus, pipeline]
                with st.container(horizontal=True, key=f"list-head-{line}-{place}"):
                    st.markdown(f"**{escaped(corpus)} · {escaped(pipeline)}**", width="content")
                    if measures := measures_line(listing, k):
                        st.markdown(measures, width="content")
                if not listing.hits:
                    st.info("No passage shares a word with this question.")
                for hit in listing.hits:
                    passage_card(
                        hit,
                        corpus,
                        question.text,
                        number,
                        rests_on,
                        can_judge=may_judge(),
                        flip=partial(flip, question, corpus),
                    )
                    number += 1


def _other_pages(question: Question) -> None:
    """Draw the buttons that lead to this question on other pages."""
    page_button(
        "perspectives",
        "Propose a missing perspective",
        key="propose-perspective",
        icon="forum",
        kind="tertiary",
        dataset=question.dataset,
        question=question.id,
    )
    page_button(
        "question",
        "This question in all runs",
        key="in-all-runs",
        icon="help",
        kind="tertiary",
        set=str(st.session_state["set"]),
        question=question.id,
    )


def page() -> None:
    """Draw the page."""
    if is_missing("corpus", also="Then ask it a question."):
        return
    left, middle, right = st.columns([1, 3, 1.9], vertical_alignment="bottom")
    question = chosen_question(left, middle)
    with right, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        with options("The corpora, the pipelines, k and the detector."):
            corpora, pipelines, k, detector = chosen_lists()
        if question is not None and question.dataset in workspace().datasets():
            with st.popover("More", icon=":material/more_horiz:", help="What else to do with this question."):
                _other_pages(question)
    if question is None:
        return
    if not corpora or not pipelines:
        st.info("Choose at least one corpus and one pipeline.")
        return
    with st.container(key="question-heading"):  # for screen readers: everyone else reads the question in its box
        st.header(escaped(question.text), anchor=False)
    results(question, corpora, pipelines, k, detector)


with errors_in_place():
    page()
