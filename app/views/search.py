"""Search: free text over all corpora, narrowed by facets, on a map, and by the words that set groups of passages apart."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

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
from berdseye.app.components.choices import chosen_source, one_of, selectbox_by_id
from berdseye.app.components.downloads import downloads
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.search_results import chosen_facets, facet_boxes, found_card
from berdseye.app.pipelines import pipeline_of
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import dataset_names
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question
from berdseye.evaluation.charts import CATEGORIES, perspective_colour
from berdseye.evaluation.exploration.contrasting_words import contrasting_words, most_telling, words_chart
from berdseye.evaluation.exploration.facets import Values, kept_items
from berdseye.evaluation.exploration.passage_map import METHODS, PICKED, Method, map_chart, mapped
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.lexical.query_words import unknown_words
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

NO_QUESTION = "no question"
VIEWS = ("one list", "side by side", "map", "words")
_AT_ONCE, _WORDS = 20, 12
_TABLE_HEIGHT, _READER_HEIGHT = 220, 330


def chosen_question() -> tuple[Question | None, str]:
    """The question whose perspectives colour what is found, if one is chosen, and the source of its labels."""
    left, middle, right = st.columns([2, 4, 2])
    dataset = left.selectbox(
        "Perspectives of", [NO_QUESTION, *dataset_names(workspace())], key="set", bind="query-params"
    )
    questions = {} if dataset in (None, NO_QUESTION) else questions_of(str(dataset))
    if not questions:
        return None, ""
    with middle:
        chosen = selectbox_by_id("Question", list(questions), "question", lambda i: questions[i].text)
    with right:
        return questions[chosen], chosen_source(workspace())


def chosen_lists() -> tuple[list[str], list[str]]:
    """Corpora and pipelines (canonical); corpora of the web, which cost a request, only where they are chosen."""
    names = workspace().corpora()
    if not names:
        raise BadInputError("The workspace holds no corpus.", hint="Add one with `berdseye corpus add NAME PATH`.")
    left, right = st.columns(2)
    usual = [name for name in names if open_corpus(workspace(), name).manifest.kind != "web"]
    corpora = left.multiselect("Corpora", names, default=usual, key="corpora", bind="query-params")
    pipelines = right.multiselect(
        "Pipelines",
        list(DEFAULT_PIPELINES),
        default=list(DEFAULT_PIPELINES[:1]),
        key="pipelines",
        bind="query-params",
        accept_new_options=True,
    )
    return corpora, list(dict.fromkeys(str(pipeline_of(workspace(), p)) for p in pipelines))


def ask_like(item: Item) -> None:
    """Go on with passages like this one."""
    st.query_params["like"] = f"{item.corpus}:{item.passage.id}"
    st.session_state["shown"] = _AT_ONCE


def ask_words(text: str) -> None:
    """Go on with these words."""
    st.session_state["q"] = text
    st.query_params.pop("like", None)


def place_of(written: str) -> tuple[str, int]:
    """Corpus and number of `web:12`; raises `BadInputError`."""
    corpus, _, number = written.rpartition(":")
    if not corpus or not number.isdecimal() or len(number) > 18:
        raise BadInputError(f"'{written}' is no passage.", hint="Write it like web:12, the corpus and the number.")
    return corpus, int(number)


def misspelt(text: str, corpora: Sequence[str]) -> None:
    """Words that no corpus holds, with the likest as buttons."""
    for word, near in unknown_words([open_corpus(workspace(), name) for name in corpora], text).items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"No passage has “{escaped(word)}”." + (" Did you mean" if near else ""))
            for other in near:
                changed = " ".join(other if w.strip(".,;:?!\"'()").lower() == word else w for w in text.split())
                st.button(other, key=f"meant-{word}-{other}", on_click=ask_words, args=(changed,))


class Found(NamedTuple):
    """What was found for a query, the places of it that the facets keep, and what is known of each."""

    items: Sequence[Item]
    kept: Sequence[int]
    values: Values
    labels: Labels | None
    query: str

    def card(self, place: int, number: int, key: str) -> None:
        """Draw the one at `place`."""
        own = {facet: list(of[place]) for facet, of in self.values.items()}
        supported = [] if self.labels is None else [n for n, said in enumerate(self.labels[place]) if said == 1]
        found_card(self.items[place], number, self.query, own, supported, key, ask_like)


def cards(found: Found) -> None:
    """What was found as one list, some at a time."""
    kept, shown = found.kept, int(st.session_state.setdefault("shown", _AT_ONCE))
    for place in kept[:shown]:
        found.card(place, place + 1, str(place))
    if len(kept) > shown and st.button(f"{min(_AT_ONCE, len(kept) - shown)} more", key="more"):
        st.session_state["shown"] = shown + _AT_ONCE
        st.rerun()


def columns(found: Found) -> None:
    """The lists of each corpus and pipeline beside each other, each in its own order."""
    items, kept = found.items, found.kept
    lists = dict.fromkeys((items[place].corpus, name) for place in kept for name in items[place].ranks)
    if not lists:
        cards(found)
        return
    for (corpus, pipeline), column in zip(lists, st.columns(len(lists)), strict=True):
        own = [p for p in kept if items[p].corpus == corpus and pipeline in items[p].ranks]
        with column:
            st.markdown(f"##### {escaped(corpus)} · {escaped(pipeline)}")
            for place in sorted(own, key=lambda p: items[p].ranks[pipeline])[:_AT_ONCE]:
                found.card(place, items[place].ranks[pipeline], f"{corpus}-{pipeline}-{place}")


def on_a_map(found: Found, method: Method) -> None:
    """The passages as points, coloured by perspective (or corpus); beside it a table that the keyboard walks, and the passage
    that is chosen."""
    items, kept, values = found.items, found.kept, found.values
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
                "Choose a point, or a row of the table, to read the passage. Near one another: alike in content."
            )
        else:
            found.card(chosen, chosen + 1, f"map-{chosen}")


def setting_apart(listed: Found, question: Question | None) -> None:
    """The words that set the passages of two perspectives (or corpora, domains …) apart."""
    items, kept, values, labels = listed.items, listed.kept, listed.values, listed.labels
    groups = {
        facet: {v: {p for p in kept if v in of[p]} for v in sorted({v for p in kept for v in of[p]})}
        for facet, of in values.items()
    }
    names: dict[str, str] = {}
    if question is not None and labels is not None:
        supported = {f"P{n + 1}": {p for p in kept if labels[p, n] == 1} for n in range(labels.shape[1])}
        alone = groups.pop(PERSPECTIVE)
        covered = {name: held for name, held in supported.items() if held}
        groups = {PERSPECTIVE: covered if len(covered) > 1 else alone, **groups}
        names = {f"P{n}": p.text for n, p in enumerate(question.perspectives, start=1)}
    useful = {facet: found for facet, found in groups.items() if len(found) > 1}
    if not useful:
        st.info("All of these passages are of one kind: choose a question above, or take back a facet.")
        return
    by, first, second = st.columns(3)
    facet = by.selectbox("Set apart by", list(useful), key="apart", bind="query-params") or next(iter(useful))
    found = useful.get(facet, next(iter(useful.values())))
    one = first.selectbox("First", list(found), key="one", bind="query-params") or next(iter(found))
    other = second.selectbox("Second", [v for v in found if v != one], key="other", bind="query-params")
    both = found[one] & found[str(other)]
    # Passages of both tell nothing; a group that lies within the other keeps its own.
    ours, theirs = found[one] - both or found[one], found[str(other)] - both or found[str(other)]
    if ours == theirs:
        st.info("Every passage of one of them is one of the other too: there is nothing to tell apart.")
        return

    def texts(places: set[int]) -> list[str]:
        return [items[p].passage.text for p in sorted(places)]

    words = contrasting_words(texts(ours), texts(theirs), texts(set(kept) - ours - theirs))
    shown = tuple(f"{v}: {names[v]}" if v in names else v for v in (one, str(other)))
    colours = tuple(
        perspective_colour(int(v[1:]) - 1) if v in names else CATEGORIES[place]
        for place, v in enumerate((one, str(other)))
    )
    telling = most_telling(words, _WORDS)
    chart = words_chart(telling, (shown[0], shown[1]), (colours[0], colours[1]))
    left, right = st.columns([3, 2])
    with left:
        st.altair_chart(chart, key="words-chart", alt=f"Words that set {shown[0]} apart from {shown[1]}")
        st.caption(
            f"{len(ours)} against {len(theirs)} passages; those of both are left out where others remain. "
            "z of the log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn, 2008)."
        )
        downloads("search-words", words, chart)
    with right:
        number = st.column_config.NumberColumn(format="%.2f")
        st.dataframe(
            telling.drop(columns="group"),
            hide_index=True,
            key="words-table",
            column_config={"z": number, "log_odds": number},
        )


def page() -> None:
    """The whole page."""
    asked = st.text_input(
        "Search",
        key="q",
        bind="query-params",
        placeholder="Words, or a whole question",
        icon=":material/search:",
        label_visibility="collapsed",
    )
    corpora, pipelines = chosen_lists()
    question, source = chosen_question()
    text = " ".join((asked or "").split()) or (question.text if question is not None else "")
    near = st.query_params.get("like", "")
    if not corpora or not (pipelines or near):
        st.info("Choose at least one corpus and one pipeline.")
        return
    if not text and not near:
        st.info(
            "Type what you look for. With a question of a data set, its perspectives colour what is found.",
            icon=":material/keyboard:",
        )
        return
    if near:
        passage, items = like(*place_of(near), corpora)
        st.markdown(f"Passages like **{escaped(passage.title) or 'untitled'}** ({escaped(near)})")
        st.button("Back to the words", icon=":material/undo:", on_click=ask_words, args=(asked or "",), key="back")
        text = passage.text
    else:
        items = together(lists_of(text, question, corpora, pipelines))
        misspelt(text, corpora)
    if not items:
        st.info("Nothing was found. Try other words, the pipeline dense(static), or more corpora.")
        return
    labels = None
    if question is not None and question.perspectives:
        labels = labels_of_items(question, items, source)
    values = facets_of(items, labels)
    chosen = chosen_facets(values)
    kept = kept_items(values, chosen)
    said = {f"P{n}": p.text for n, p in enumerate(question.perspectives, start=1)} if question is not None else {}
    facet_boxes(values, chosen, said)
    with st.container(horizontal=True, vertical_alignment="center"):
        view = one_of("View", VIEWS, key="view", named=False)
        method = one_of("Drawn by", METHODS, key="drawn-by", named=False) if view == "map" else METHODS[0]
        most = f"the first {MOST}" if len(items) == MOST else str(len(items))
        st.caption(f"{len(kept)} of {most} passages")
    if not kept:
        st.info("Nothing is left. Take back one of the facets.")
        return
    found = Found(items, kept, values, labels, text)
    match view:
        case "side by side":
            columns(found)
        case "map":
            on_a_map(found, method)
        case "words":
            setting_apart(found, question)
        case _:
            cards(found)
    rows = [{"number": p + 1, "corpus": items[p].corpus, **items[p].passage._asdict()} for p in kept]
    downloads("search", pd.DataFrame(rows))


with errors_in_place():
    page()
