"""The questions that retrieve a passage, each as a card with a row for each perspective: its label on the passage as on Explore,
which a key or a click flips."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import annotator, judgments, role, workspace
from berdseye.app.components.card_focus import CARD
from berdseye.app.components.choices import question_address
from berdseye.app.components.detector_line import fallibility
from berdseye.app.components.judging import LINE, correct, judging_line, may_judge
from berdseye.app.components.keys import PASSAGE
from berdseye.app.components.passage_card import CHIPS_OF_A_CARD, chip_button, opposite
from berdseye.app.components.perspective_mark import side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.corpora import Corpus
from berdseye.data.records import Passage, Question, Ranking
from berdseye.data.texts.counts import counted
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import grade_of
from berdseye.detectors.trained import adopted_detector
from berdseye.evaluation.exploration.inspection import Chip, Hit, Listing, detector_against_gold, inspect_question

READ = "passage-read"
"""The key of the container with the passage's text: a key judges only what is on the screen."""
_AT_ONCE = 5
_SHOWN = "questions_shown"


def passage_read(passage: Passage) -> DeltaGenerator:
    """Draw the text of a passage, which stays in sight. Return the row below it, for the line that judges it."""
    stays = st.container(key=LINE, gap="small")
    with stays.container(border=True, key=READ):
        st.markdown(escaped(passage.text))
    return stays.container(horizontal=True, vertical_alignment="center")


def question_cards(corpus: Corpus, passage: Passage, ranks: Mapping[Question, int], line: DeltaGenerator) -> None:
    """Draw the questions with perspectives, and in the row `line` what judges them. `ranks` has the best rank of the passage for
    each question; the questions that rank it highest come first."""
    asked = sorted((q for q in ranks if q.perspectives), key=lambda q: ranks[q])
    if not asked:
        st.info("No stored run ranks this passage for a question with perspectives, so there is nothing to judge here.")
        return
    shown = asked[: int(st.session_state.get(_SHOWN, _AT_ONCE))]
    listings = [_listing(corpus, passage, question, ranks[question]) for question in shown]
    idle = "**1**–**9** flip the label in that row of the focused question."
    judging_line(PASSAGE, f"{corpus.name} {passage.id}", answers=CHIPS_OF_A_CARD, idle=idle, into=line, reads=READ)
    detector = parse_detector(adopted_detector(workspace()), workspace())
    if any(chip.by == "detector" for listing in listings for chip in listing.hits[0].chips):
        st.markdown(fallibility(detector_against_gold(listings), grade_of(workspace(), detector)))
    for number, (question, listing) in enumerate(zip(shown, listings, strict=True)):
        _card(corpus.name, question, listing.hits[0], number)
    if len(asked) > len(shown):
        left = len(asked) - len(shown)
        st.button(
            counted(min(left, _AT_ONCE), "more question"),
            key="more-questions",
            on_click=st.session_state.__setitem__,
            args=(_SHOWN, len(shown) + _AT_ONCE),
        )


def _listing(corpus: Corpus, passage: Passage, question: Question, rank: int) -> Listing:
    """Return the passage as the only one of a list, with the labels of the question's perspectives."""
    detector = parse_detector(adopted_detector(workspace()), workspace())
    alone = {(corpus.name, ""): (Ranking(np.array([passage.id]), np.zeros(1, np.float32)), [passage])}
    [listing] = inspect_question(workspace(), judgments(), detector, question, alone, rank, annotator())
    return listing


def _card(corpus: str, question: Question, hit: Hit, number: int) -> None:
    with st.container(border=True, key=f"{CARD}{number}"):
        title = escaped(question.text)
        if may(role(), right_of_page("question")):
            title = f"[{title}]({question_address(question.dataset, question.id)})"
        st.markdown(f"**{title}**")
        for place, (perspective, chip) in enumerate(zip(question.perspectives, hit.chips, strict=True)):
            label, text = st.columns([1, 3], vertical_alignment="center")
            with label:
                flip = partial(_flip, question, place + 1, corpus)
                chip_button(chip, hit, place, number, can_judge=may_judge(), flip=flip)
            text.markdown(f"{escaped(perspective.text)}{side_badge(perspective)}")


def _flip(question: Question, place: int, corpus: str, chip: Chip, hit: Hit) -> None:
    correct(question, place, corpus, hit.passage, opposite(chip), "passage")
