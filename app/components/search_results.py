"""The facets above a list of search results, with a checkbox and a count for each value; the card of a result, and the table."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import pandas as pd
import streamlit as st

from berdseye.app.cached.searching import NO_ADDRESS, Item, Labels
from berdseye.app.components.card_focus import CARD
from berdseye.app.components.choices import passage_address
from berdseye.app.components.plain_text import escaped, highlighted, web_address
from berdseye.evaluation.exploration.facets import Values, facet_counts
from berdseye.retrieval.lexical.query_words import matched_spans

_SHOWN = 12
_BETWEEN = "|"
_COLOURS = {"supports": "green", "does not support": "gray", "disputed": "orange", "unsure": "gray"}


def chosen_facets(values: Values) -> dict[str, list[str]]:
    """Return the ticked values of each facet. When first drawn they come from the address, which is then kept up to date."""
    chosen: dict[str, list[str]] = {}
    for facet, of in values.items():
        existing = dict.fromkeys(value for item in of for value in item)
        if f"facet-{facet}" not in st.session_state:
            st.session_state[f"facet-{facet}"] = True
            for value in st.query_params.get(facet, "").split(_BETWEEN):
                if value in existing:
                    st.session_state[_key(facet, value)] = True
        chosen[facet] = [value for value in existing if st.session_state.get(_key(facet, value))]
        if chosen[facet]:
            st.query_params[facet] = _BETWEEN.join(chosen[facet])
        elif facet in st.query_params:
            del st.query_params[facet]
    return chosen


def facet_boxes(values: Values, chosen: Mapping[str, list[str]], long_names: Mapping[str, str]) -> None:
    """Draw the checkboxes of the facets. `long_names` has longer names for some values. Of many values, the most frequent and
    the ticked ones are shown."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for facet, counts in facet_counts(values, chosen).items():
            if not counts:
                continue
            with st.popover(facet.capitalize(), icon=":material/filter_alt:"):
                shown = dict.fromkeys([*islice(counts, _SHOWN), *chosen[facet]])
                for value in shown:
                    name = f"{value} · {long_names[value]}" if value in long_names else value
                    st.checkbox(f"{escaped(name)} ({counts[value]})", key=_key(facet, value))
                if len(counts) > len(shown):
                    st.caption(f"and {len(counts) - len(shown)} more")
        for facet, ticked in chosen.items():
            if ticked:
                st.markdown(f":blue-badge[{facet}: {escaped(', '.join(ticked))}]")


def results_table(items: Sequence[Item], kept: Sequence[int], labels: Labels | None) -> pd.DataFrame:
    """Return the results as rows: number, corpus, the rank by each pipeline (empty: it did not find the passage), with `labels`
    those of each perspective (P1, P2, ...; 1, 0, unsure, or empty), and the fields of the passage."""
    pipelines = dict.fromkeys(name for place in kept for name in items[place].ranks)
    rows = []
    for place in kept:
        item = items[place]
        ranks = {f"rank {name}": item.ranks.get(name) for name in pipelines}
        said = {} if labels is None else {f"P{n}": one for n, one in enumerate(labels.written(place), start=1)}
        rows.append({"number": place + 1, "corpus": item.corpus, **ranks, **said, **item.passage._asdict()})
    ranked = {f"rank {name}": "Int64" for name in pipelines}
    return pd.DataFrame(rows).astype(ranked) if rows else pd.DataFrame(rows)


def _key(facet: str, value: str) -> str:
    return f"facet-{facet}-{value}"


def result_card(
    item: Item,
    number: int,
    query: str,
    facets: Mapping[str, Sequence[str]],
    key: str,
    more: Callable[[Item], None],
    chips: Callable[[int], None],
    place: int,
) -> None:
    """Draw the card of a search result as card `place` (from 0) of the page. `facets` are its values of each facet; `more` is
    called to search for similar passages, and `chips` to draw the labels of the card."""
    with st.container(border=True, key=f"{CARD}{place}"):
        title = escaped(item.passage.title) or "untitled"
        badges = [f":{_COLOURS.get(word, 'gray')}-badge[people: {word}]" for word in facets.get("verdict", ())]
        st.markdown(f"**{number}. [{title}]({passage_address(item.corpus, item.passage.id)})** {' '.join(badges)}")
        ranks = ", ".join(f"{escaped(name)} rank {rank}" for name, rank in item.ranks.items())
        how = ranks or f"similarity {item.score:.3f}"
        address, [domain] = web_address(item.passage.url), facets.get("domain", [NO_ADDRESS])
        source = f" · [{escaped(domain)}]({address})" if address else ""
        st.caption(f"{escaped(item.corpus)} · {how}{source}")
        st.markdown(highlighted(item.passage.text, matched_spans(item.passage.text, query)))
        chips(place)
        st.button(
            "Similar passages",
            key=f"like-{key}",
            icon=":material/hub:",
            type="tertiary",
            on_click=more,
            args=(item,),
        )
