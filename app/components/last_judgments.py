"""A person's last judgments, in a list that opens on every page: each with its verdict, which can be changed or undone there, and
the way to its passage. Nothing is read before the list opens."""

import streamlit as st

from berdseye.annotation.judgments.log import PairRecord
from berdseye.annotation.judgments.recent import OwnJudgment, change_judgment, last_judgments, own_judgments
from berdseye.app.access.roles import check
from berdseye.app.access.session import annotator, errors_in_place, judgments, role, workspace
from berdseye.app.components.card_focus import card_focus
from berdseye.app.components.judging import PLACES, age, beginning, keep_own, may_judge, undo_last
from berdseye.app.components.keys import LAST, UNDO
from berdseye.app.components.page_button import open_page
from berdseye.app.components.pair_card import GIVE, choices_of, verdict_buttons
from berdseye.app.components.plain_text import escaped
from berdseye.data.corpora import open_corpus
from berdseye.data.corpora.corpus import ids_of_text

MOST = 10
ROWS = "own-"
"""The prefix of the keys of the list's rows."""
UNDO_HERE = "undo-own"
_OPENED, _SAID, _CHANGES, _GOES_TO = "own_opened", "own_said", "own_changes", "own_goes_to"
_PASSAGE = 160
LARGEST_SEARCHED = 1_000_000
"""The passages of the largest corpus in which the passage of a judgment is searched by its text."""


@st.fragment
def last_judgments_button(here: str) -> None:
    """Draw the button that opens the list, on the page `here`, for a person who may judge. It is redrawn alone, so that the page
    stays as it is."""
    if not may_judge():
        return
    with st.container(horizontal_alignment="right"):
        pressed = st.button(
            "Last judgments",
            icon=":material/history:",
            type="tertiary",
            shortcut=LAST,
            key="last-judgments",
            help="Your last ten judgments. You can change each of them.",
        )
    person = annotator()
    if pressed and person is not None:
        st.session_state[_OPENED] = last_judgments(judgments(), person, MOST)
        st.session_state[_CHANGES] = 0
        st.session_state.pop(_SAID, None)
        _list(here)


@st.dialog("Your last judgments", width=600, position="right", on_dismiss="rerun")
def _list(here: str) -> None:
    with errors_in_place():
        person, opened = annotator(), st.session_state.get(_OPENED, [])
        if person is None:
            return
        if (goes_to := st.session_state.pop(_GOES_TO, None)) is not None:
            if here == "passage":
                st.rerun()  # the page's choices, which its address follows, are set already
            open_page("passage", **goes_to)
        if not opened:
            st.info("You have not judged a pair yet. What you judge on any page appears here.")
            return
        _line(opened)
        present = own_judgments(judgments(), person, [own.pair for own in opened])
        for place, own in enumerate(opened):
            _row(own, present.get(own.pair), place, here)


def _line(opened: list[OwnJudgment]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="content"):
            presses = {UNDO: f".st-key-{UNDO_HERE} button", LAST: '[aria-label="Close"]'}
            card_focus(str(opened[0].event), answers=GIVE, cards=ROWS, presses=presses)
        st.button(
            "Undo",
            icon=":material/undo:",
            key=UNDO_HERE,
            disabled=not st.session_state.get(_CHANGES),
            help="Undo the changes made here, the last one first.",
            on_click=_undo,
        )
    st.markdown(
        escaped(st.session_state.get(_SAID, ""))
        or "**1**, **2** and **3** change the verdict of the judgment in focus."
    )


def _row(own: OwnJudgment, now: OwnJudgment | None, place: int, here: str) -> None:
    """Draw a judgment that was listed when the list opened, as it is `now` (None: it was undone since)."""
    prefer = own.kind == "prefer"
    with st.container(border=True, key=f"{ROWS}{place}", gap="xsmall"):
        st.markdown(f"**{escaped(own.record.question if prefer else own.record.perspective)}**")
        st.markdown(escaped(beginning(own.record.passage, _PASSAGE)))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            verdict_buttons(
                own.pair,
                choices_of(own.task, form=own.form),
                lambda _, verdict: _change(own, verdict),
                at="-own",
                keys=False,
                earlier="" if now is None else now.verdict,
            )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(_where(own, now), width="content")
            if own.form is None:
                st.button(
                    "Open the passage",
                    type="tertiary",
                    key=f"open-own-{own.pair}",
                    on_click=_find_passage,
                    args=(own.record, here),
                )


def _where(own: OwnJudgment, now: OwnJudgment | None) -> str:
    if now is None:
        return "Undone since this list was opened."
    place = "changed here" if now.source == "recent" else PLACES.get(now.source, now.source)
    comment = f" · comment: {escaped(beginning(now.comment))}" if now.comment else ""
    return f"{own.record.title and escaped(beginning(own.record.title)) + ' · '}{place} · {age(now.at)}{comment}"


def _change(own: OwnJudgment, verdict: str) -> None:
    """Record another verdict, unless it is the present one: a key pressed twice before the list is drawn again counts once."""
    person = annotator()
    if person is None:
        return
    with errors_in_place():
        check(role(), "judge", person.name)
        text = f"“{beginning(own.record.question if own.kind == 'prefer' else own.record.perspective)}”: {verdict}."
        event = change_judgment(judgments(), person, own, verdict)
        if event is not None:
            keep_own(event)
            st.session_state[_CHANGES] = st.session_state.get(_CHANGES, 0) + 1
        st.session_state[_SAID] = text


def _undo() -> None:
    """Undo the last change made in the list. Other judgments are undone on the pages: on Annotate, an undone pair comes back."""
    person = annotator()
    if person is None or not st.session_state.get(_CHANGES):
        return
    with errors_in_place():
        check(role(), "judge", person.name)
        st.session_state[_CHANGES] -= 1
        st.session_state[_SAID] = undo_last(person)


def _find_passage(record: PairRecord, here: str) -> None:
    """Find the passage of a judgment in its corpus by its text, to be shown on the Passage page; if there is none, say so."""
    with errors_in_place():
        corpus = open_corpus(workspace(), record.corpus)
        if corpus.manifest.count > LARGEST_SEARCHED:
            st.session_state[_SAID] = (
                f"{record.corpus} has more than {LARGEST_SEARCHED:,} passages. Find this one on Search."
            )
        elif not (found := ids_of_text(corpus, record.passage)):
            st.session_state[_SAID] = f"{record.corpus} has no passage with this text now."
        else:
            address = {"corpus": record.corpus, "id": str(found[0])}
            st.session_state[_GOES_TO] = address
            if here == "passage":
                st.session_state.update(address)
