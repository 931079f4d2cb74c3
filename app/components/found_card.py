"""A passage that a search found: where it is from, what is said of it, its text, and the way on from it."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from berdseye.app.components.addresses import passage_address
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.app.components.plain_text import escaped, highlighted, web_address
from berdseye.app.searching import NO_ADDRESS, Item
from berdseye.retrieval.matching import matched_spans

_COLOURS = {"supports": "green", "does not support": "gray", "disputed": "orange", "unsure": "gray"}


def found_card(
    item: Item,
    number: int,
    query: str,
    facets: Mapping[str, Sequence[str]],
    supported: Sequence[int],
    key: str,
    more: Callable[[Item], None],
) -> None:
    """Draw one; `facets` are its values of each facet, `supported` the perspectives (from 0) that it supports, `more` is called
    for more like it."""
    with st.container(border=True):
        title = escaped(item.passage.title) or "untitled"
        badges = [f":{_COLOURS.get(word, 'gray')}-badge[people: {word}]" for word in facets.get("verdict", ())]
        badges += [perspective_mark(place) for place in supported]
        st.markdown(f"**{number}. [{title}]({passage_address(item.corpus, item.passage.id)})** {' '.join(badges)}")
        ranks = ", ".join(f"{escaped(name)} rank {rank}" for name, rank in item.ranks.items())
        how = ranks or f"similarity {item.score:.3f}"
        address, [domain] = web_address(item.passage.url), facets.get("domain", [NO_ADDRESS])
        source = f" · [{escaped(domain)}]({address})" if address else ""
        st.caption(f"{escaped(item.corpus)} · {how}{source}")
        st.markdown(highlighted(item.passage.text, matched_spans(item.passage.text, query)))
        st.button(
            "More like this",
            key=f"like-{key}",
            icon=":material/hub:",
            type="tertiary",
            on_click=more,
            args=(item,),
        )
