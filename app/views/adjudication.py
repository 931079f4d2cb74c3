"""Adjudication: pairs that people judge differently, with everyone's votes beside them, decided one by one."""

from random import Random

import streamlit as st

from annotation.adjudication import Dispute, adjudicate, disputes, take_back
from annotation.batches import list_batches
from annotation.judgments import Annotator, Judgment, Verdict
from app.components.pair_card import pair_card
from app.components.plain_text import escaped
from app.session import annotator, errors_in_place, judgments

EVERYTHING = "all judgments"
KEYS: dict[str, tuple[Verdict, str]] = {
    "1": ("supports", ":material/check:"),
    "2": ("does not support", ":material/close:"),
    "3": ("unsure", ":material/question_mark:"),
}
ICONS = dict(KEYS.values())


def voices(dispute: Dispute, *, hidden: bool) -> list[tuple[str, Judgment]]:
    """Who said what. Hidden names are letters, shuffled for each pair, so that nobody is known by their place."""
    if not hidden:
        return [(vote.annotator.name, vote) for vote in dispute.votes]
    votes = list(dispute.votes)
    Random(dispute.key).shuffle(votes)
    return [(f"Person {_letter(place)}", vote) for place, vote in enumerate(votes)]


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def decide(person: Annotator, key: str, verdict: Verdict) -> None:
    """Record a decision with the comment that stands in the box."""
    with errors_in_place():
        adjudicate(judgments(), person, key, verdict, comment=st.session_state.get(f"decision-{key}") or "")
        st.session_state.setdefault("decided", []).append(key)


def undo(person: Annotator) -> None:
    """Take back the last decision of this session; its pair comes first again."""
    with errors_in_place():
        if decided := st.session_state.get("decided"):
            key = decided.pop()
            take_back(judgments(), person, key)
            st.session_state["dispute"] = key


def chosen(found: list[Dispute]) -> Dispute:
    """The dispute of the widget; the one just undone, else the first, until one is chosen."""
    titles = {d.key: f"{'✓ ' if d.decision else ''}{d.record.perspective[:90]}" for d in found}
    if st.session_state.get("dispute") not in titles:
        st.session_state["dispute"] = found[0].key
    key = st.selectbox("Pair", list(titles), format_func=lambda k: titles[k], key="dispute")
    return next(d for d in found if d.key == key)


def votes(dispute: Dispute, *, hidden: bool) -> None:
    """Everyone's word and comment."""
    for name, vote in voices(dispute, hidden=hidden):
        with st.container(border=True):
            st.markdown(f"{ICONS[vote.verdict]} **{vote.verdict}** · {escaped(name)}")
            if vote.comment:
                st.markdown(escaped(vote.comment))
    if dispute.decision is not None:
        by = "" if hidden else f" by {escaped(dispute.decision.by)}"
        st.success(f"Decided{by}: **{dispute.decision.verdict}**. {escaped(dispute.decision.comment)}")


def keys(person: Annotator, key: str) -> None:
    """The buttons that decide."""
    with st.container(horizontal=True):
        for shortcut, (verdict, icon) in KEYS.items():
            st.button(
                verdict.capitalize(),
                icon=icon,
                shortcut=shortcut,
                key=f"decide-{shortcut}",
                on_click=decide,
                args=(person, key, verdict),
            )
        st.button("Undo", icon=":material/undo:", shortcut="u", key="undo", on_click=undo, args=(person,))
    st.text_input("Reason (kept with the decision)", key=f"decision-{key}", max_chars=2000)


def page() -> None:
    """The whole page."""
    person = annotator()
    if person is None:
        st.info("Enter your name in the sidebar to begin.", icon=":material/person:")
        return
    batches = {b.name: b for b in list_batches(judgments())}
    left, *options = st.columns([3, 1, 1, 1], vertical_alignment="bottom")
    name = left.selectbox("Judgments of", [*batches, EVERYTHING], key="of", bind="query-params")
    hidden = options[0].toggle("Hide names", value=True, key="hidden")
    unsure = options[1].toggle("Unsure counts", key="unsure", help="Someone unsure differs from someone sure.")
    decided = options[2].toggle("With decided", key="with_decided")
    found = disputes(judgments(), batches.get(name), unsure=unsure, decided=decided)
    if not found:
        st.success("Nobody disagrees here, or all of it is decided.")
        if st.session_state.get("decided"):
            st.button("Undo", icon=":material/undo:", shortcut="u", key="undo", on_click=undo, args=(person,))
        return
    st.caption(f"{sum(d.decision is None for d in found)} pairs to decide")
    dispute = chosen(found)
    card, side = st.columns([3, 2])
    with card:
        pair_card(dispute.record, key="dispute-card")
        keys(person, dispute.key)
    with side:
        votes(dispute, hidden=hidden)


with errors_in_place():
    page()
