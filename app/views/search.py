"""The Search page: free-text search over all corpora. Facets narrow the results; they are shown as a list, side by side, on a
map, or by the words that distinguish groups of passages."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.cached.questions import questions_of
from berdseye.app.cached.searching import (
    MOST,
    PERSPECTIVE,
    Item,
    Labels,
    facets_of,
    labels_of_items,
    like,
    lists_of,
    together,
)
from berdseye.app.components.choices import chosen_source, one_of, options, selectbox_by_id, topic_note
from berdseye.app.components.downloads import downloads
from berdseye.app.components.judging import judging_line, offer_people_first
from berdseye.app.components.keys import SEARCH
from berdseye.app.components.label_chips import LabelledPassage, Standing, label_chips, standing_of
from berdseye.app.components.missing import is_missing
from berdseye.app.components.perspective_mark import CHIP
from berdseye.app.components.pipeline_builder import offered_pipelines
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.search_results import chosen_facets, facet_boxes, result_card, results_table
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import dataset_names
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question
from berdseye.evaluation.charts import CATEGORIES, perspective_colour
from berdseye.evaluation.exploration.contrasting_words import (
    UNLIKELY_Z,
    contrasting_words,
    most_typical,
    words_chart,
)
from berdseye.evaluation.exploration.facets import Values, kept_items
from berdseye.evaluation.exploration.passage_map import METHODS, PICKED, Method, map_chart, mapped
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.lexical.query_words import unknown_words
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

NO_QUESTION = "no question"
VIEWS = ("one list", "side by side", "map", "words")
_AT_ONCE, _WORDS = 20, 12
_TABLE_HEIGHT, _READER_HEIGHT = 220, 330


def chosen_question(place: DeltaGenerator) -> tuple[Question | None, str]:
    """Draw the choice of a question, whose perspectives colour the results: its data set at a place, and the question below.
    Return the question, or None, and the label source."""
    dataset = place.selectbox(
        "Perspectives of", [NO_QUESTION, *dataset_names(workspace())], key="set", bind="query-params"
    )
    questions = {} if dataset in (None, NO_QUESTION) else questions_of(str(dataset))
    if not questions:
        return None, ""
    left, right = st.columns([4, 1.5])
    with left:
        chosen = selectbox_by_id("Question", list(questions), "question", lambda i: questions[i].text)
    with right:
        return questions[chosen], chosen_source(workspace())


def chosen_lists() -> tuple[list[str], list[str]]:
    """Draw the choice of corpora and pipelines and return both, the pipelines in canonical form. Web corpora, which cost a
    request, are not chosen by default."""
    names = workspace().corpora()
    local_corpora = [name for name in names if open_corpus(workspace(), name).manifest.kind != "web"]
    corpora = st.multiselect("Corpora", names, default=local_corpora, key="corpora", bind="query-params")
    pipelines = st.multiselect(
        "Pipelines",
        offered_pipelines(),
        default=list(DEFAULT_PIPELINES[:1]),
        key="pipelines",
        bind="query-params",
        accept_new_options=True,
    )
    return corpora, list(dict.fromkeys(str(pipeline_of(workspace(), p)) for p in pipelines))


def search_similar(item: Item) -> None:
    """Search for passages similar to this one."""
    st.query_params["like"] = f"{item.corpus}:{item.passage.id}"
    st.session_state["shown"] = _AT_ONCE


def search_text(text: str) -> None:
    """Search for this text."""
    st.session_state["q"] = text
    st.query_params.pop("like", None)


def parse_address(written: str) -> tuple[str, int]:
    """Parse a passage address such as `web:12` into the corpus and the passage number. Raises `BadInputError`."""
    corpus, _, number = written.rpartition(":")
    if not corpus or not number.isdecimal() or len(number) > 18:
        raise BadInputError(
            f"'{written}' is not the address of a passage.", hint="Write the corpus and the number, for example web:12."
        )
    return corpus, int(number)


def suggest_spellings(text: str, corpora: Sequence[str]) -> None:
    """List the words of the query that no corpus contains, each with buttons for the most similar words."""
    for word, similar_words in unknown_words([open_corpus(workspace(), name) for name in corpora], text).items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"No passage contains “{escaped(word)}”." + (" Did you mean" if similar_words else ""))
            for other in similar_words:
                changed = " ".join(other if w.strip(".,;:?!\"'()").lower() == word else w for w in text.split())
                st.button(other, key=f"meant-{word}-{other}", on_click=search_text, args=(changed,))


class Shown(NamedTuple):
    """A card of the page: the place of its item in the results, the number on the card, and the key of its button."""

    place: int
    number: int
    key: str


class Results(NamedTuple):
    """The search results: `items`, the places in them that the facets keep, and the facet values of each item.

    With a question, also the labels of each item and their source.
    """

    items: Sequence[Item]
    kept: Sequence[int]
    values: Values
    labels: Labels | None
    query: str
    question: Question | None
    source: str

    def cards(self, shown: Sequence[Shown]) -> list[Callable[[], None]]:
        """Return what draws each of the cards that the page shows, in the order in which the focus moves over them."""
        labelled = {place: self._labelled(place) for place in dict.fromkeys(one.place for one in shown)}
        standing = standing_of([each for each in labelled.values() if each is not None])
        return [partial(self._card, one, card, labelled[one.place], standing) for card, one in enumerate(shown)]

    def _labelled(self, place: int) -> LabelledPassage | None:
        if self.question is None or self.labels is None:
            return None
        item = self.items[place]
        return LabelledPassage(
            self.question, item.corpus, item.passage, self.labels.values[place].tolist(), self.source
        )

    def _card(self, one: Shown, card: int, labelled: LabelledPassage | None, standing: Standing) -> None:
        own = {facet: list(of[one.place]) for facet, of in self.values.items()}

        def chips(number: int) -> None:
            if labelled is not None:
                label_chips(labelled, number, standing, "search")

        result_card(self.items[one.place], one.number, self.query, own, one.key, search_similar, chips, card)


def draw_judging(results: Results, view: str) -> None:
    """Draw the line that judges the passages of `view`, and what judgments do not change."""
    assert results.question is not None
    idle = "**1**–**9** flip a label of the focused passage."
    view = f"{results.question.dataset} {results.question.id} {view}"
    judging_line(SEARCH, view, answers=CHIP, idle=idle, perspectives=results.question.perspectives)
    offer_people_first(
        results.source, f"Labels are from {escaped(results.source)} only: your judgments do not change them."
    )


def draw_list(results: Results) -> None:
    """Draw the results as one list, 20 more at each press of a button."""
    kept, shown = results.kept, int(st.session_state.setdefault("shown", _AT_ONCE))
    for card in results.cards([Shown(place, place + 1, str(place)) for place in kept[:shown]]):
        card()
    if len(kept) > shown and st.button(f"{min(_AT_ONCE, len(kept) - shown)} more", key="more"):
        st.session_state["shown"] = shown + _AT_ONCE
        st.rerun()


def draw_columns(results: Results) -> None:
    """Draw the rankings of every corpus and pipeline side by side, each in its own order."""
    items, kept = results.items, results.kept
    lists = dict.fromkeys((items[place].corpus, name) for place in kept for name in items[place].ranks)
    if not lists:
        draw_list(results)
        return
    columns: list[list[Shown]] = []
    for corpus, pipeline in lists:
        ranks = {p: items[p].ranks[pipeline] for p in kept if items[p].corpus == corpus and pipeline in items[p].ranks}
        own = sorted(ranks, key=lambda p: ranks[p])[:_AT_ONCE]
        columns.append([Shown(place, ranks[place], f"{corpus}-{pipeline}-{place}") for place in own])
    cards = iter(results.cards([one for own in columns for one in own]))
    for (corpus, pipeline), column, own_cards in zip(lists, st.columns(len(lists)), columns, strict=True):
        with column:
            st.markdown(f"##### {escaped(corpus)} · {escaped(pipeline)}")
            for card in islice(cards, len(own_cards)):
                card()


def draw_map(results: Results, method: Method) -> None:
    """Draw the passages as points coloured by perspective (or corpus), with a table for the keyboard and the chosen passage
    beside them."""
    items, kept, values = results.items, results.kept, results.values
    points = mapped(open_encoder("static").encode_passages([items[p].passage for p in kept]), method)
    by = PERSPECTIVE if PERSPECTIVE in values else "corpus"
    frame = pd.DataFrame(
        {
            "x": points[:, 0],
            "y": points[:, 1],
            "number": [p + 1 for p in kept],
            "title": [items[p].passage.title or "untitled" for p in kept],
            "group": [values[by][p][0] for p in kept],
            "corpus": [items[p].corpus for p in kept],
            "text": [items[p].passage.text for p in kept],
        }
    )
    chart = map_chart(frame.drop(columns="text"), sorted(set(frame["group"])))
    left, right = st.columns([3, 2])
    with left:
        event = st.altair_chart(chart, on_select="rerun", selection_mode=PICKED, key="map", alt="A map of the passages")
        downloads("search-map", frame, chart)
    with right:
        table = st.dataframe(
            frame[["number", "group", "title", "corpus"]],
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            key="map-table",
            height=_TABLE_HEIGHT,
        )
    picked = event.selection.get(PICKED, [])
    rows = table.selection.rows
    if rows:
        chosen: int | None = kept[rows[0]]
    elif picked and int(picked[0]["number"]) - 1 in kept:
        chosen = int(picked[0]["number"]) - 1
    else:
        chosen = None
    with right, st.container(height=_READER_HEIGHT, border=False):
        if chosen is None:
            st.caption(
                "Choose a point, or a row of the table, to read the passage. Points close together are similar in content."
            )
        else:
            [card] = results.cards([Shown(chosen, chosen + 1, f"map-{chosen}")])
            card()


def draw_words(results: Results, question: Question | None) -> None:
    """Draw the words that distinguish the passages of two groups: perspectives, corpora, domains …"""
    items, kept, values, labels = results.items, results.kept, results.values, results.labels
    groups = {
        facet: {v: {p for p in kept if v in of[p]} for v in sorted({v for p in kept for v in of[p]})}
        for facet, of in values.items()
    }
    names: dict[str, str] = {}
    if question is not None and labels is not None:
        supporting = labels.supporting
        supported = {f"P{n + 1}": {p for p in kept if supporting[p, n]} for n in range(supporting.shape[1])}
        alone = groups.pop(PERSPECTIVE)
        covered = {name: members for name, members in supported.items() if members}
        groups = {PERSPECTIVE: covered if len(covered) > 1 else alone, **groups}
        names = {f"P{n}": p.text for n, p in enumerate(question.perspectives, start=1)}
    useful = {facet: members for facet, members in groups.items() if len(members) > 1}
    if not useful:
        st.info("All of these passages belong to one group. Choose a question above, or remove a facet.")
        return
    by, first, second = st.columns(3)
    facet = by.selectbox("Compare by", list(useful), key="apart", bind="query-params") or next(iter(useful))
    by_value = useful.get(facet, next(iter(useful.values())))
    one = first.selectbox("First", list(by_value), key="one", bind="query-params") or next(iter(by_value))
    other = second.selectbox("Second", [v for v in by_value if v != one], key="other", bind="query-params")
    both = by_value[one] & by_value[str(other)]
    # Passages in both groups distinguish nothing, but a group inside the other keeps all of its passages.
    first_places, second_places = (
        by_value[one] - both or by_value[one],
        by_value[str(other)] - both or by_value[str(other)],
    )
    if first_places == second_places:
        st.info("Both groups hold the same passages, so no word distinguishes them.")
        return

    def texts(places: set[int]) -> list[str]:
        return [items[p].passage.text for p in sorted(places)]

    words = contrasting_words(
        texts(first_places), texts(second_places), texts(set(kept) - first_places - second_places)
    )
    shown = tuple(f"{v}: {names[v]}" if v in names else v for v in (one, str(other)))
    colours = tuple(
        perspective_colour(int(v[1:]) - 1) if v in names else CATEGORIES[place]
        for place, v in enumerate((one, str(other)))
    )
    top_words = most_typical(words, _WORDS)
    chart = words_chart(top_words, (shown[0], shown[1]), (colours[0], colours[1]))
    left, right = st.columns([3, 2])
    with left:
        if words["z"].abs().max() < UNLIKELY_Z:
            st.caption(f"These words may be chance: no |z| reaches {UNLIKELY_Z}.")
        st.altair_chart(chart, key="words-chart", alt=f"Words that distinguish {shown[0]} from {shown[1]}")
        st.caption(
            f"Passages: {len(first_places)} and {len(second_places)}; those in both groups are omitted where others remain. "
            "z is the z-score of the log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn, 2008)."
        )
        downloads("search-words", words, chart)
    with right:
        number = st.column_config.NumberColumn(format="%.2f")
        st.dataframe(
            top_words.drop(columns="group"),
            hide_index=True,
            key="words-table",
            column_config={"z": number, "log_odds": number},
        )


def page() -> None:
    """Draw the page."""
    if is_missing("corpus", also="Then search it."):
        return
    left, middle, right = st.columns([5, 1.75, 1.5], vertical_alignment="bottom")
    query = left.text_input(
        "Search",
        key="q",
        bind="query-params",
        placeholder="Enter words or a whole question",
        icon=":material/search:",
        label_visibility="collapsed",
    )
    with right, options("The corpora and the pipelines that are searched."):
        corpora, pipelines = chosen_lists()
    question, source = chosen_question(middle)
    text = " ".join((query or "").split()) or (question.text if question is not None else "")
    similar_to = st.query_params.get("like", "")
    if not corpora or not (pipelines or similar_to):
        st.info("Choose at least one corpus and one pipeline.")
        return
    if not text and not similar_to:
        st.info(
            "Enter what you want to find. If you choose a question of a data set, its perspectives colour the results.",
            icon=":material/keyboard:",
        )
        return
    if similar_to:
        passage, items = like(*parse_address(similar_to), corpora)
        st.markdown(f"Passages similar to **{escaped(passage.title) or 'untitled'}** ({escaped(similar_to)})")
        st.button(
            "Back to the text query", icon=":material/undo:", on_click=search_text, args=(query or "",), key="back"
        )
        text = passage.text
    else:
        items = together(lists_of(text, question, corpora, pipelines))
        suggest_spellings(text, corpora)
    if not items:
        st.info("No passage matches. Try other words, the pipeline `dense(static)`, or more corpora.")
        return
    labels = None
    if question is not None and question.perspectives:
        labels = labels_of_items(question, items, source)
    values = facets_of(items, labels)
    chosen = chosen_facets(values)
    kept = kept_items(values, chosen)
    texts = {f"P{n}": p.text for n, p in enumerate(question.perspectives, start=1)} if question is not None else {}
    facet_boxes(values, chosen, texts)
    with st.container(horizontal=True, vertical_alignment="center"):
        view = one_of("View", VIEWS, key="view", named=False)
        method = one_of("Drawn by", METHODS, key="drawn-by", named=False) if view == "map" else METHODS[0]
        total = f"the first {MOST}" if len(items) == MOST else str(len(items))
        note = topic_note(workspace(), source) if labels is not None else ""
        st.caption(f"{len(kept)} of {total} {'passage' if total == '1' else 'passages'}{note}")
    if not kept:
        st.info("No passage matches these facets. Remove one of them.")
        return
    results = Results(items, kept, values, labels, text, question, source)
    if labels is not None and view != "words":
        draw_judging(results, " ".join([text, similar_to, view, *corpora, *pipelines]))
    match view:
        case "side by side":
            draw_columns(results)
        case "map":
            draw_map(results, method)
        case "words":
            draw_words(results, question)
        case _:
            draw_list(results)
    downloads("search", results_table(items, kept, labels))


with errors_in_place():
    page()
