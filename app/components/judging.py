"""Judging on the pages where people read: the line above the passages with the focus, undo, the last action and the keys, and
what a key or a click records. A judgment is on disk before the page is drawn again, and can be undone step by step."""

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.annotation.judgments.log import Annotator, PairRecord, Source, Verdict
from berdseye.annotation.judgments.recent import OwnJudgment, own_judgments
from berdseye.annotation.judgments.recorded import last_undone
from berdseye.app.access.roles import check, may
from berdseye.app.access.session import annotator, errors_in_place, judgments, role
from berdseye.app.components.card_focus import card_focus
from berdseye.app.components.keys import UNDO, Binding, key_list, keyboard
from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.records import Passage, Perspective, Question
from berdseye.data.texts.counts import counted
from berdseye.evaluation.labels.sources import HUMAN, parse_label_source

_VIEW, _LAST, _GIVEN = "judging_view", "last_action", "own_events"
LINE = "judging"
"""The key of the container that stays in sight above the passages."""
NAMELESS = "Enter your name in the sidebar to correct labels."
PLACES: dict[str, str] = {
    "annotate": "Annotate",
    "explore": "Explore",
    "search": "Search",
    "compare": "Compare",
    "failures": "Failures",
    "passage": "Passage",
    "lab": "Detector lab",
    "recent": "the list of last judgments",
    "label-studio": "Label Studio",
    "import": "an imported file",
    "demo": "the demo",
}
"""The names of the sources of judgments on screens."""


def may_judge() -> bool:
    """Whether the person has a name and a role that may judge."""
    return annotator() is not None and may(role(), "judge")


def why_not() -> str:
    """Return what to do to be able to judge, or an empty text for a person who can."""
    if annotator() is None:
        return NAMELESS
    return "" if may(role(), "judge") else "Your role does not include judging."


def judging_line(
    bindings: Sequence[Binding],
    view: str,
    *,
    answers: str,
    idle: str,
    into: DeltaGenerator | None = None,
    reads: str = "",
    perspectives: Sequence[Perspective] = (),
) -> None:
    """Draw the buttons that move the focus, undo, the list of keys, and the last action or the text `idle`, in one row that stays
    in sight, with the `perspectives` that the numbers stand for.

    `view` identifies what the cards show, and `answers` the buttons that the digits press: see `card_focus`, also for `reads`.
    `into` is a row inside a container with the key `LINE` in which the page has drawn something already.
    """
    stays = into or st.container(key=LINE, gap="xsmall")
    row = into or stays.container(horizontal=True, vertical_alignment="center")
    st.session_state[_VIEW] = view
    refusal = why_not()
    with row:
        with st.container(width="content"):
            card_focus(view, answers=answers, refusal=refusal, reads=reads)
        st.button("Undo", icon=":material/undo:", shortcut=UNDO, on_click=undo, disabled=bool(refusal))
        key_list(tuple(bindings))
        of, text = st.session_state.get(_LAST, ("", ""))
        if text and of == view:
            st.markdown(escaped(text), width="stretch")
        else:
            with st.container(key="judging-refused" if refusal else "judging-idle"):
                st.markdown(f":orange[{refusal}]" if refusal else idle)
    with stays:
        for place, perspective in enumerate(perspectives):
            st.caption(f"{perspective_mark(place)}{side_badge(perspective)} {escaped(perspective.text)}")
    keyboard(tuple(bindings))


def correct(question: Question, place: int, corpus: str, passage: Passage, verdict: Verdict, source: Source) -> None:
    """Record the person's judgment of a passage and the perspective at `place` (from 1), made with the labels on screen.

    `source` is the page. Nothing is recorded if the person has no name or has already given this verdict: a key pressed twice
    before the page is drawn again counts once.
    """
    person = annotator()
    if person is None:
        return
    check(role(), "judge", person.name)
    [pair] = judgments().add_pairs([PairRecord.of(question, question.perspectives[place - 1], corpus, passage)])
    before = own_judgments(judgments(), person, [pair]).get(pair)
    if before is None or before.verdict != verdict:
        keep_own(judgments().judge(person, pair, verdict, source=source, shown=True))
    say(f"P{place} of “{passage.title or 'untitled'}”: {verdict}.{replaced(before, verdict)}")


def undo() -> None:
    """Undo the person's last action on any page, and say what it was."""
    person = annotator()
    if person is None:
        return
    with errors_in_place():
        check(role(), "judge", person.name)
        say(undo_last(person))


def undo_last(person: Annotator) -> str:
    """Undo a person's last action on any page. Return what was undone, as a sentence."""
    pair = judgments().undo(person)
    undone = last_undone(judgments(), person) if pair else None
    if undone is None:
        return "There is nothing to undo."
    text = beginning(judgments().pair_records([undone.pair])[undone.pair].perspective)
    return f"Undone: “{undone.verdict}” for “{text}”." if undone.verdict else f"Undone: the last action on “{text}”."


def say(text: str) -> None:
    """Show a text as the last action, until the page shows other passages."""
    st.session_state[_LAST] = (st.session_state.get(_VIEW, ""), text)


def keep_own(event: int) -> None:
    """Remember that this window gave the judgment."""
    st.session_state.setdefault(_GIVEN, set()).add(event)


def replaced(before: OwnJudgment | None, verdict: str) -> str:
    """Return what a new verdict replaces, with a leading space, or an empty text: the person's own other verdict, which another
    window may have given. In that case a toast says so, too."""
    if before is None or before.verdict == verdict:
        return ""
    text = f"It replaces your verdict “{before.verdict}”"
    if before.event in st.session_state.get(_GIVEN, ()):
        return f" {text}."
    text += f" of {age(before.at)} ({PLACES.get(before.source, before.source)})."
    st.toast(escaped(text), icon=":material/sync_problem:")
    return f" {text}"


def beginning(text: str, most: int = 60) -> str:
    """Return at most about so many characters of a text, cut between words."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def age(at: str, now: datetime | None = None) -> str:
    """Return how long ago a time of the log was: "a moment ago", "2 min ago", "3 h ago" or "4 days ago"."""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(at)).total_seconds()
    if seconds < 60:
        return "a moment ago"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 86_400:
        return f"{seconds // 3600:.0f} h ago"
    return f"{counted(int(seconds // 86_400), 'day')} ago"


def offer_people_first(source: str, note: str, *, key: str = "labels") -> None:
    """If people's judgments are not part of the label source, say with `note` what judgments do not change, and offer to prefer
    them. `key` is that of the choice of the source."""
    parsed = parse_label_source(source)
    if HUMAN in parsed.parts or parsed.consensus is not None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(note)
        st.button(
            "Prefer people's judgments",
            type="tertiary",
            key=f"people-first-{key}",
            on_click=st.session_state.__setitem__,
            args=(key, f"{HUMAN}>{source}"),
        )
