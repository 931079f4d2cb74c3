"""Facets above a list: a box to tick for each value, with how many items it would leave."""

from collections.abc import Mapping
from itertools import islice

import streamlit as st

from berdseye.app.components.plain_text import escaped
from berdseye.evaluation.facets import Values, facet_counts

_SHOWN = 12
_BETWEEN = "|"


def chosen_facets(values: Values) -> dict[str, list[str]]:
    """What is ticked, or at the first drawing what the address says; the address is kept up to date."""
    chosen: dict[str, list[str]] = {}
    for facet, of in values.items():
        known = dict.fromkeys(value for item in of for value in item)
        if f"facet-{facet}" not in st.session_state:
            st.session_state[f"facet-{facet}"] = True
            for value in st.query_params.get(facet, "").split(_BETWEEN):
                if value in known:
                    st.session_state[_key(facet, value)] = True
        chosen[facet] = [value for value in known if st.session_state.get(_key(facet, value))]
        if chosen[facet]:
            st.query_params[facet] = _BETWEEN.join(chosen[facet])
        elif facet in st.query_params:
            del st.query_params[facet]
    return chosen


def facet_boxes(values: Values, chosen: Mapping[str, list[str]], said: Mapping[str, str]) -> None:
    """Draw them; `said` has longer names for values. Of many values the commonest and the ticked ones are shown."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for facet, counts in facet_counts(values, chosen).items():
            if not counts:
                continue
            with st.popover(facet.capitalize(), icon=":material/filter_alt:"):
                shown = dict.fromkeys([*islice(counts, _SHOWN), *chosen[facet]])
                for value in shown:
                    name = f"{value} · {said[value]}" if value in said else value
                    st.checkbox(f"{escaped(name)} ({counts[value]})", key=_key(facet, value))
                if len(counts) > len(shown):
                    st.caption(f"and {len(counts) - len(shown)} more")
        for facet, ticked in chosen.items():
            if ticked:
                st.markdown(f":blue-badge[{facet}: {escaped(', '.join(ticked))}]")


def _key(facet: str, value: str) -> str:
    return f"facet-{facet}-{value}"
