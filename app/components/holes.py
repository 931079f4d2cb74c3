"""The hole map with its legend and its clicked cell, and the passages around a hole: the top of a run's ranking for a question
with the labels of one perspective, which a person can correct."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

import altair as alt
import pandas as pd
import streamlit as st

from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgment, Verdict
from berdseye.app.access.session import annotator, judgments, workspace
from berdseye.app.components.card_focus import CARD
from berdseye.app.components.choices import passage_address, question_address
from berdseye.app.components.first_steps import note_step
from berdseye.app.components.judging import correct, judging_line, may_judge, offer_people_first
from berdseye.app.components.keys import FAILURES
from berdseye.app.components.pair_card import GIVE, choices_of, verdict_buttons
from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped, highlighted
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.records import Passage, Question
from berdseye.data.runs.stored import Run
from berdseye.evaluation.failures.charts import PICKED, hole_chart, legend
from berdseye.evaluation.labels.labelled_runs import labelled_ranking
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.retrieval.lexical.query_words import matched_spans

ANCHOR = "passages"
"""The anchor of the passages in the page's address."""
_LABEL_BADGES = {1.0: ":green-badge[supports]", 0.0: ":gray-badge[does not support]"}
_MOST_IN_EXPLORE = 20
_IDLE = "Judge the focused passage with **1**, **2**, **3**."


def clickable_holes(
    frame: pd.DataFrame, k: int, description: str
) -> tuple[alt.Chart | alt.LayerChart, Mapping[str, Any] | None]:
    """Draw the map of first ranks with its legend. Return the chart, and the row and place of the clicked cell or None.
    `description` is for screen readers."""
    legend_html = "".join(f'<span><span style="color:{colour}">■</span> {text}</span>' for text, colour in legend(k))
    st.html(
        f'<div style="font-size:0.875rem; display:flex; flex-wrap:wrap; gap:0 1.25rem" aria-hidden="true">{legend_html}</div>'
    )
    chart = hole_chart(frame, k)
    event = st.altair_chart(
        chart, on_select="rerun", selection_mode=PICKED, key="hole-map", width="content", alt=description
    )
    picked = event.selection.get(PICKED, [])
    return chart, picked[0] if picked else None


def hole_reader(run: Run, row: int, place: int, source: str, k: int) -> None:
    """Draw the top k of question `row` (its place in the data set) and the first passage below it that supports perspective
    `place` (from 1), with buttons for the person's own judgment."""
    question = load_dataset(workspace(), run.manifest.dataset)[row]
    opened = open_corpus(workspace(), run.manifest.corpus)
    ids = run.ids[row : row + 1]
    labelled = labelled_ranking(workspace(), judgments(), opened, [question], ids, parse_label_source(source))
    labels, perspective = labelled.labels[0][:, place - 1], question.perspectives[place - 1]
    st.subheader(escaped(question.text), anchor=ANCHOR)
    st.markdown(f"{perspective_mark(place - 1)}{side_badge(perspective)} {escaped(perspective.text)}")
    st.markdown(
        f"[Open in Explore](explore?{_address(run, question.id, source, k)}) · "
        f"[This question in all runs]({question_address(run.manifest.dataset, question.id)})"
    )
    first = int(labelled.first_ranks()[0, place - 1])
    shown = [*range(min(k, int((ids >= 0).sum()))), *([first - 1] if first > k else [])]
    if not shown:
        st.info("The run retrieved no passage for this question.")
        return
    keys = [labelled.keys[0][rank, place - 1].decode() for rank in shown]
    by_pair, adjudicated = _judgments_of(keys), adjudicated_labels(judgments(), keys)
    judging_line(FAILURES, f"{run.manifest.name} {question.id} {place}", answers=GIVE, idle=_IDLE)
    offer_people_first(
        source, f"The map shows labels from {escaped(source)} only; your judgments change the reasons but not the map."
    )
    passages = opened.passages(ids[0][shown].tolist())
    for rank, passage, key in zip(shown, passages, keys, strict=True):
        if rank >= k:
            st.caption(f"… the first supporting passage, at rank {rank + 1}:")
        with st.container(border=True, key=f"{CARD}{rank}"):
            badge = _LABEL_BADGES.get(float(labels[rank]), ":orange-badge[no label]")
            title = f"[{escaped(passage.title) or 'untitled'}]({passage_address(opened.name, passage.id)})"
            st.markdown(f"**{rank + 1}. {title}** {badge}")
            st.markdown(highlighted(passage.text, matched_spans(passage.text, perspective.text)))
            _verdict(question, place, opened.name, passage, key, by_pair.get(key, ()), adjudicated.get(key), rank)


def _verdict(
    question: Question,
    place: int,
    corpus: str,
    passage: Passage,
    key: str,
    present: Sequence[Judgment],
    decided: Verdict | None,
    rank: int,
) -> None:
    """Draw people's judgments of the passage and the buttons for the person's own. An adjudicated verdict cannot be
    changed here."""
    person = annotator()
    own = next((each.verdict for each in present if person is not None and each.annotator.id == person.id), "")

    def record(_: str, verdict: str) -> None:
        correct(question, place, corpus, passage, cast(Verdict, verdict), "failures")
        note_step("judged beside a hole")

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if may_judge() and decided is None:
            verdict_buttons(
                key,
                choices_of("judge"),
                record,
                at=f"-{rank}",
                keys=False,
                earlier=own,
            )
        if decided is not None:
            st.markdown(f":material/gavel: adjudicated: **{decided}**")
        elif others := [each.verdict for each in present if person is None or each.annotator.id != person.id]:
            counts = (f"{others.count(verdict)} {verdict}" for verdict in dict.fromkeys(others))
            st.caption(f":material/group: {'others' if own else 'people'}: {', '.join(counts)}")


def _judgments_of(keys: Sequence[str]) -> dict[str, list[Judgment]]:
    """Return everyone's current judgments of the pairs, by pair."""
    by_pair: dict[str, list[Judgment]] = {}
    for judgment in judgments().present(list(dict.fromkeys(keys))):
        by_pair.setdefault(judgment.pair, []).append(judgment)
    return by_pair


def _address(run: Run, question: str, source: str, k: int) -> str:
    """Return the query of Explore's address for this question, corpus, pipeline, k and detector."""
    query = {
        "set": run.manifest.dataset,
        "question": question,
        "corpora": run.manifest.corpus,
        "pipelines": run.manifest.pipeline,
        "k": min(k, _MOST_IN_EXPLORE),
    }
    parsed = parse_label_source(source)
    return urlencode({**query, "detector": parsed.parts[-1]} if parsed.asks_detector else query)
