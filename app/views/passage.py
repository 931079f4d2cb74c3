"""The Passage page: everything that the workspace stores about one passage: its text, the runs that rank it, its labels and
judgments, its nearest neighbours and its copies."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.annotation.judgments.verdict_counts import passage_history
from berdseye.app.access.roles import may
from berdseye.app.access.session import annotator, errors_in_place, judgments, role, workspace
from berdseye.app.cached.questions import questions_of
from berdseye.app.components.choices import passage_address, question_address
from berdseye.app.components.downloads import downloads
from berdseye.app.components.missing import is_missing
from berdseye.app.components.passage_questions import passage_read, question_cards
from berdseye.app.components.plain_text import escaped, web_address
from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.corpora.corpus import ids_of_text
from berdseye.data.datasets.stored import GOLD
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Passage, Question, pair_keys
from berdseye.data.runs.stored import Place, list_runs, places_of
from berdseye.data.texts.counts import counted
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD, resemblance
from berdseye.data.workspace import file_stem
from berdseye.detectors.trained import detector_names
from berdseye.retrieval.dense.ranker import has_neighbours, neighbours

NEIGHBOURS = 10
LARGEST_READ = 1_000_000
_EXCERPT = 240


def chosen_passage() -> tuple[Corpus, Passage] | None:
    """Draw the choice of a passage and return it with its corpus, or None until a number is entered. Raises
    `BadInputError`."""
    names = workspace().corpora()
    if is_missing("corpus"):
        return None
    left, right = st.columns([1, 1])
    name = left.selectbox("Corpus", names, key="corpus", bind="query-params")
    written = right.text_input("Passage number", key="id", bind="query-params", placeholder="0")
    opened = open_corpus(workspace(), name or names[0])
    if not (written or "").strip():
        st.info("Enter the number of a passage, or click the title of a passage on Search, Explore or Failures.")
        return None
    if not str(written).strip().isdecimal() or len(str(written).strip()) > 18:
        raise BadInputError(f"'{written}' is not a passage number.", hint="Enter a whole number, 0 or above.")
    return opened, opened.passages([int(str(written).strip())])[0]


def draw_text(corpus: Corpus, passage: Passage) -> DeltaGenerator:
    """Draw the title, source, address and text. Return the row below the text."""
    st.header(escaped(passage.title) or "untitled", anchor=False)
    address = web_address(passage.url)
    source = f" · [{escaped(address)}]({address})" if address else (f" · {escaped(passage.url)}" if passage.url else "")
    st.caption(f"{escaped(corpus.name)} · number {passage.id} · {escaped(passage.source_id)}{source}")
    return passage_read(passage)


@st.cache_data(max_entries=200, show_spinner="Searching the runs…")
def ranked(corpus: str, passage: int, runs: tuple[tuple[str, str], ...]) -> list[Place]:
    """Return the places of the passage in the runs of these names and creation times."""
    created = dict(runs)
    return places_of(
        workspace(), [r for r in list_runs(workspace()) if r.name in created and r.corpus == corpus], passage
    )


def asked_questions(places: Sequence[Place]) -> dict[tuple[str, str], Question]:
    """Return the questions of these places by data set and id, without those of data sets that are gone."""
    questions = {}
    for dataset in dict.fromkeys(place.run.dataset for place in places):
        try:
            in_dataset = questions_of(dataset)
        except UnknownNameError:
            continue
        for place in places:
            if place.run.dataset == dataset and place.question_id in in_dataset:
                questions[dataset, place.question_id] = in_dataset[place.question_id]
    return questions


def best_ranks(places: Sequence[Place], questions: dict[tuple[str, str], Question]) -> dict[Question, int]:
    """Return the best rank of the passage for each question."""
    ranks: dict[Question, int] = {}
    for place in sorted(places, key=lambda each: each.rank):
        if (question := questions.get((place.run.dataset, place.question_id))) is not None:
            ranks.setdefault(question, place.rank)
    return ranks


def draw_places(places: Sequence[Place], questions: dict[tuple[str, str], Question], stale: int) -> None:
    """Draw the table of the runs and questions that rank the passage, with its rank."""
    if stale:
        st.caption(f"Skipped {counted(stale, 'run')} of an older state of this corpus.")
    if not places:
        st.info("No stored run over this corpus ranks this passage.")
        return
    rows = [
        {
            "rank": place.rank,
            "question": question.text
            if (question := questions.get((place.run.dataset, place.question_id)))
            else "(gone)",
            "data set": place.run.dataset,
            "pipeline": place.run.pipeline,
            "score": place.score,
            "open": question_address(place.run.dataset, place.question_id),
        }
        for place in places
    ]
    frame = pd.DataFrame(rows)
    st.dataframe(
        frame, hide_index=True, key="places", column_config={"open": st.column_config.LinkColumn(display_text="open")}
    )
    downloads("passage-in-runs", frame.drop(columns="open"))


def draw_labels(passage: Passage, questions: dict[tuple[str, str], Question]) -> None:
    """Draw the stored labels of the passage with the perspectives of the questions that retrieve it: the detectors' and the
    gold labels."""
    texts = {(text, q.text): key for q in questions.values() for text, key in keys_by_text(passage, q)}
    stored_labels = LabelStore(workspace()).by_source(list(dict.fromkeys(texts.values())))
    names = {file_stem(name): name for name in [*detector_names(workspace()), GOLD]}
    by_key: dict[str, list[tuple[str, str, float]]] = {}
    for source, version, key, probability in stored_labels:
        by_key.setdefault(key, []).append((names.get(source, source), version, probability))
    rows = [
        {"perspective": perspective, "question": question, "labels from": source, "version": version, "P(supports)": p}
        for (perspective, question), key in texts.items()
        for source, version, p in by_key.get(key, [])
    ]
    if not rows:
        st.caption("No label of this passage is stored. The pages Explore and Runs store labels.")
        return
    st.subheader("Stored labels", anchor=False)
    frame = pd.DataFrame(rows).sort_values("P(supports)", ascending=False, kind="stable")
    bar = st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.2f")
    wide = st.column_config.TextColumn(width=320)
    st.dataframe(
        frame,
        hide_index=True,
        key="labels",
        column_order=["P(supports)", "labels from", "perspective", "question", "version"],
        column_config={"P(supports)": bar, "perspective": wide, "question": wide},
    )
    downloads("passage-labels", frame)


def keys_by_text(passage: Passage, question: Question) -> list[tuple[str, str]]:
    """Return the perspectives of a question, each with the key of its pair with the passage."""
    texts = [p.text for p in question.perspectives]
    return list(zip(texts, pair_keys(passage.text, texts), strict=True))


def draw_judgments(passage: Passage) -> None:
    """Draw the judgments of the passage with their comments and evidence. A person who may not analyse sees only their
    own."""
    frame = passage_history(judgments(), passage.text)
    if not may(role(), "analyse"):
        person = annotator()
        frame = frame[frame["annotator"] == (person.name if person else "")]
        st.caption("You see only your own judgments.")
    if frame.empty:
        st.info("Nobody has judged this passage.")
        return
    shown = frame.drop(columns="pair").assign(at=frame["at"].str[:16].str.replace("T", " "))
    st.dataframe(shown, hide_index=True, key="words")
    downloads("passage-judgments", frame)


def draw_neighbours(corpus: Corpus, passage: Passage) -> None:
    """Draw the nearest passages of its corpus by the vectors of the static embedding, near-duplicates included."""
    if corpus.manifest.kind != "passages":
        st.info("Web pages are split into passages again for each question, so these passages have no index.")
        return
    if not has_neighbours(corpus) and not st.button("Index this corpus now", icon=":material/build:", key="index"):
        st.info("This corpus has no dense index yet. The button above builds it.")
        return
    nearest = neighbours(corpus, passage, NEIGHBOURS)
    passages = corpus.passages(nearest.ids.tolist())
    rows = [
        {
            "similarity": float(score),
            "words shared": resemblance(passage.text, other.text),
            "near-duplicate": resemblance(passage.text, other.text) >= DEFAULT_THRESHOLD,
            "title": other.title,
            "text": other.text[:_EXCERPT],
            "open": passage_address(corpus.name, other.id),
        }
        for score, other in zip(nearest.scores.tolist(), passages, strict=True)
    ]
    if not rows:
        st.info("The corpus has no other passage.")
        return
    frame = pd.DataFrame(rows)
    st.dataframe(
        frame,
        hide_index=True,
        key="near",
        column_config={
            "similarity": st.column_config.NumberColumn(
                format="%.3f", help="Cosine similarity of the static embedding's vectors."
            ),
            "words shared": st.column_config.NumberColumn(
                format="%.2f", help=f"Jaccard similarity of word 5-grams; near-duplicates reach {DEFAULT_THRESHOLD:g}."
            ),
            "open": st.column_config.LinkColumn(display_text="open"),
        },
    )
    st.markdown(f"[Similar passages in every corpus](search?like={corpus.name}:{passage.id})")


@st.cache_data(max_entries=200, show_spinner="Searching the corpora…")
def same_text(corpus: str, corpus_hash: str, text: str) -> list[int]:
    """Return the ids of the passages of a corpus that have this text."""
    del corpus_hash  # part of the cache key
    return ids_of_text(open_corpus(workspace(), corpus), text)


def draw_copies(corpus: Corpus, passage: Passage) -> None:
    """List the other passages with this text in every corpus, this one included."""
    lines, unread = [], []
    for name in workspace().corpora():
        other = open_corpus(workspace(), name)
        if other.manifest.kind != "passages" or other.manifest.count > LARGEST_READ:
            unread.append(name)
            continue
        for number in same_text(name, other.manifest.hash, passage.text):
            if (name, number) != (corpus.name, passage.id):
                lines.append(f"- [{escaped(name)} · number {number}]({passage_address(name, number)})")
    st.markdown("\n".join(lines) if lines else "No other passage has the same text.")
    if unread:
        st.caption(f"Not searched: {escaped(', '.join(unread))} (web pages, or more than {LARGEST_READ:,} passages).")


def page() -> None:
    """Draw the page."""
    chosen = chosen_passage()
    if chosen is None:
        return
    corpus, passage = chosen
    line = draw_text(corpus, passage)
    runs = [run for run in list_runs(workspace()) if run.corpus == corpus.name]
    current = [run for run in runs if run.corpus_hash == corpus.manifest.hash]
    places = ranked(corpus.name, passage.id, tuple((run.name, run.created) for run in current))
    questions = asked_questions(places)
    names = ["Labels", "Runs", "Judgments", "Neighbours", "Same text"]
    tabs = st.tabs(names, key="part", on_change="rerun", bind="query-params")
    part = next(n for n, tab in enumerate(tabs) if tab.open)
    with tabs[part], errors_in_place():
        match names[part]:
            case "Runs":
                draw_places(places, questions, len(runs) - len(current))
            case "Labels":
                question_cards(corpus, passage, best_ranks(places, questions), line)
                draw_labels(passage, questions)
            case "Judgments":
                draw_judgments(passage)
            case "Neighbours":
                draw_neighbours(corpus, passage)
            case _:
                draw_copies(corpus, passage)


with errors_in_place():
    page()
