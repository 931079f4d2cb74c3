"""The passages around a hole: what a run ranks for a question, with what is said of one of its perspectives."""

from urllib.parse import urlencode

import streamlit as st

from app.components.addresses import passage_address, question_address
from app.components.plain_text import escaped, highlighted
from app.session import judgments, workspace
from data.corpora import open_corpus
from data.datasets import GOLD, load_dataset
from data.runs import Run
from evaluation.label_sources import DERIVED, HUMAN, parse_label_source
from evaluation.labelled_runs import labelled_ranking
from retrieval.matching import matched_spans

_SAID = {1.0: ":green-badge[supports]", 0.0: ":gray-badge[does not support]"}


_MOST_IN_EXPLORE = 20


def _address(run: Run, question: str, source: str, k: int) -> str:
    """Of Explore: this question, corpus, pipeline, k and detector, and no others."""
    query = {
        "set": run.manifest.dataset,
        "question": question,
        "corpora": run.manifest.corpus,
        "pipelines": run.manifest.pipeline,
        "k": min(k, _MOST_IN_EXPLORE),
    }
    last = parse_label_source(source).parts[-1]
    return urlencode(query if last in (HUMAN, GOLD, DERIVED) else {**query, "detector": last})


def hole_reader(run: Run, row: int, place: int, source: str, k: int) -> None:
    """Draw the top k of question `row` (in the data set), and the first passage below it that supports perspective `place`
    (from 1); all perspectives of the question stand above."""
    question = load_dataset(workspace(), run.manifest.dataset)[row]
    opened = open_corpus(workspace(), run.manifest.corpus)
    ids = run.ids[row : row + 1]
    labelled = labelled_ranking(workspace(), judgments(), opened, [question], ids, parse_label_source(source))
    labels, perspective = labelled.labels[0][:, place - 1], question.perspectives[place - 1]
    st.subheader(escaped(question.text), anchor=False)
    st.markdown(f"**P{place}** {escaped(perspective.text)}")
    st.markdown(
        f"[Open in Explore, to correct labels](./?{_address(run, question.id, source, k)}) · "
        f"[This question in all runs]({question_address(run.manifest.dataset, question.id)})"
    )
    first = int(labelled.first_ranks()[0, place - 1])
    shown = [*range(min(k, int((ids >= 0).sum()))), *([first - 1] if first > k else [])]
    passages = opened.passages(ids[0][shown].tolist())
    for rank, passage in zip(shown, passages, strict=True):
        if rank >= k:
            st.caption(f"… the first that supports it, at rank {rank + 1}:")
        with st.container(border=True):
            said = _SAID.get(float(labels[rank]), ":orange-badge[nobody said]")
            title = f"[{escaped(passage.title) or 'untitled'}]({passage_address(opened.name, passage.id)})"
            st.markdown(f"**{rank + 1}. {title}** {said}")
            st.markdown(highlighted(passage.text, matched_spans(passage.text, perspective.text)))
    if not shown:
        st.info("Nothing was found for this question.")
