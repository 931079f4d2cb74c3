"""The desk of an annotator: a pair, the keys that judge it, and the guidelines beside it, whatever queue it comes from.

The guidelines beside the pair, and what changed in them since their reader last judged.

How far a person is in a queue, and at which pace today.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import ndiff

import streamlit as st

from berdseye.annotation.batches.dealing import arm
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.runs_queue import RunsQueue
from berdseye.annotation.batches.stored import Batch, Task
from berdseye.annotation.guidelines.versions import Guidelines, in_use, judged_by_before, load
from berdseye.annotation.judgments.log import Annotator, PairRecord
from berdseye.annotation.judgments.pace import Pace, first_event_since, midnight, pace
from berdseye.annotation.judgments.recorded import JudgmentDetails, last_undone
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.components.card_focus import put_in_sight, take_answer
from berdseye.app.components.keys import FLAG, GUIDELINES, PAUSE, SKIP, UNDO
from berdseye.app.components.pair_card import CARD_HEIGHT, answers_card, choices_of, pair_card, verdict_buttons
from berdseye.app.components.passage_text import restore_evidence, taken_evidence
from berdseye.app.components.plain_text import escaped, without_pictures
from berdseye.app.components.working_time import WorkingTime, working_time
from berdseye.app.jobs.deciding import word_given


def guidelines_panel(told: Guidelines) -> None:
    """Draw them; whoever wrote them may use Markdown; HTML in it is shown as text, and no picture is fetched."""
    with st.container(key="guidelines", height=CARD_HEIGHT, border=False):
        st.markdown(without_pictures(told.text))
        st.caption(f"Guidelines {told.version}")


def changed_guidelines(before: str, told: Guidelines, read: str) -> None:
    """Say so, with the changes; `read` is the place in the session that keeps that they were read."""
    st.warning("The guidelines changed since you last judged.", icon=":material/change_circle:")
    st.button(
        "Go on with these",
        icon=":material/play_arrow:",
        shortcut=PAUSE,
        key="guidelines-read",
        on_click=st.session_state.__setitem__,
        args=(read, told.version),
    )
    changes, whole = st.tabs(["What changed", "As they are now"])
    changes.markdown(differences(load(judgments(), before).text, told.text))
    whole.markdown(without_pictures(told.text))


def differences(before: str, after: str) -> str:
    """Paragraph by paragraph: what went is struck through, what came is on a coloured ground."""
    lines = []
    old, new = ([line for line in text.splitlines() if line.strip()] for text in (before, after))
    for line in ndiff(old, new):
        kind, text = line[:2], escaped(line[2:].strip())
        if kind == "- ":
            lines.append(f":red[~~{text}~~]")
        elif kind == "+ ":
            lines.append(f":green-background[{text}]")
        elif kind == "  ":
            lines.append(text)
    return "\n\n".join(lines)


@st.cache_data(max_entries=20, show_spinner=False)
def _first_event(url: str, day: str) -> int:
    del url
    return first_event_since(judgments(), day)


def progress_line(person: Annotator, done: int, every: int) -> None:
    """The bar with both."""
    day = midnight()
    today = pace(judgments(), person, day, _first_event(workspace().judgments_url, day))
    st.progress(done / every, text=" · ".join([f"{done} of {every} pairs", *pace_words(today)]))


def pace_words(today: Pace) -> list[str]:
    """What is known of a day, in words."""
    words = [f"{today.pairs} today"]
    if today.median_seconds is not None:
        words.append(f"median {today.median_seconds:.1f} s")
    if today.an_hour is not None and today.pairs > 1:
        words.append(f"about {today.an_hour:,.0f} an hour")
    return words


def break_reminder(clock: WorkingTime, after: float) -> None:
    """A gentle word once someone has judged for `after` minutes; 0: never."""
    minutes = clock.minutes()
    if 0 < after <= minutes:
        st.info(f"You have judged for {minutes:.0f} minutes: time for a break? Press P.", icon=":material/coffee:")


LAST_HEIGHT = 72
# Card, keys and comment are in sight together down to 1024 x 768: what is above and below them takes 23 rem.
_FITTING = """<style>
.stMainBlockContainer { padding-bottom: 1rem; }
.st-key-pair-card, .st-key-guidelines, :has(> .st-key-pair-card), :has(> .st-key-guidelines) {
  max-height: max(13rem, 100vh - 23rem - var(--tour-height, 0rem));
}
.st-key-guidelines { overflow-y: auto; }
</style>"""
_LAST, _PAUSED, _HIDDEN = "last_word", "paused_at", "guidelines_hidden"


@dataclass(frozen=True)
class Desk:
    """Where someone judges. `name` tells desks of a session apart; `opinion` is what a detector says of a pair once it is
    judged; `finished` is said when nothing is left."""

    name: str
    person: Annotator
    queue: BatchQueue | RunsQueue
    finished: str
    batch: Batch | None = None
    opinion: Callable[[PairRecord], str] | None = None

    @property
    def task(self) -> Task:
        return "judge" if self.batch is None else self.batch.task

    @property
    def read(self) -> str:
        """Where the session keeps which version of the guidelines was read here."""
        return f"guidelines_read {self.name}"


@st.fragment
def draw_desk(desk: Desk) -> None:
    """The card and its keys; drawn again alone, at a fixed height, so that nothing jumps."""
    st.html(_FITTING)
    with errors_in_place():
        if st.session_state.get(_PAUSED) == desk.name:
            st.info("A break. Your pair is free for others again.", icon=":material/coffee:")
            st.button("Go on", icon=":material/play_arrow:", shortcut=PAUSE, key="go-on", on_click=_go_on)
            return
        told = in_use(judgments(), desk.task, desk.batch)
        if (before := _read_before(desk, told)) is not None:
            changed_guidelines(before, told, desk.read)
            return
        key = desk.queue.next(desk.person)
        progress_line(desk.person, *desk.queue.done(desk.person))
        hidden = st.session_state.get(_HIDDEN, False)
        card, side = (st.container(), None) if hidden else st.columns([9, 4])
        if side is not None:
            with side:
                guidelines_panel(told)
        with card:
            if key is None:
                st.success(desk.finished)
            else:
                _card(desk, key)
        if key is None:
            _undo_button(desk)
        else:
            _keys(desk, key, told)
        break_reminder(working_time(), float(workspace().settings["judging"]["break_minutes"]))
        _last(desk)


def _read_before(desk: Desk, told: Guidelines) -> str | None:
    """The version that this person read before the present one, unless they know that it changed."""
    if st.session_state.get(desk.read) == told.version:
        return None
    before = judged_by_before(judgments(), desk.person, desk.task, desk.batch)
    if before is None or before == told.version:
        st.session_state[desk.read] = told.version
        return None
    return before


def _card(desk: Desk, key: str) -> None:
    record = desk.queue.record(key)
    answers_card(record) if desk.task == "prefer" else pair_card(record)
    working_time().show(key)


def _keys(desk: Desk, key: str, told: Guidelines) -> None:
    """Two rows below card and guidelines: what is said of the pair, and all else."""
    put_in_sight(key)
    decision = _shown_label(desk, key)
    with st.container(horizontal=True, gap="small"):
        verdict_buttons(
            key,
            choices_of(desk.task, decision=decision),
            lambda pair, verdict: _give(desk, pair, verdict, told),
        )
        st.button(
            "Skip",
            icon=":material/skip_next:",
            shortcut=SKIP,
            key=f"skip-{key}",
            on_click=_skip,
            args=(desk, key, told),
        )
        _undo_button(desk)
    with st.container(horizontal=True, gap="small"):
        with st.container(key="comment"):
            st.text_input(
                "Comment (kept with the verdict you give next)",
                key=_comment_key(key),
                max_chars=2000,
                placeholder="Comment (M): kept with the verdict you give next",
                label_visibility="collapsed",
            )
        st.button(
            "Flag",
            icon=":material/flag:",
            shortcut=FLAG,
            key=f"flag-{key}",
            help="The perspective's text is no good: unclear, two views in one, or none. Say why in the comment first.",
            on_click=_flag,
            args=(desk, key),
        )
        st.button("Pause", icon=":material/pause:", shortcut=PAUSE, key="pause", on_click=_pause, args=(desk,))
        st.button("Guidelines", icon=":material/menu_book:", shortcut=GUIDELINES, key="guide", on_click=_turn)


def _shown_label(desk: Desk, key: str) -> bool:
    """Draw what a detector says of the pair, where it is to be seen before the word; returns its decision."""
    if not isinstance(desk.queue, BatchQueue) or arm(desk.queue.batch, key, desk.person) == "blind":
        return False
    shown = desk.queue.item(key)
    if shown.decision is not None:
        chance = "" if shown.probability is None or desk.task == "verify" else f" (P = {shown.probability:.2f})"
        says = "supports" if shown.decision else "does not support"
        st.markdown(f"The detector says that the passage **{says}** it{chance}.")
    return shown.decision is True


def _undo_button(desk: Desk) -> None:
    st.button("Undo", icon=":material/undo:", shortcut=UNDO, key="undo", on_click=_undo, args=(desk,))


def _comment_key(pair: str) -> str:
    return f"comment-{pair}"


def _beside(pair: str, seconds: float, told: Guidelines) -> JudgmentDetails:
    comment = str(st.session_state.get(_comment_key(pair)) or "")
    return JudgmentDetails(comment, seconds, taken_evidence(pair), told.version)


def _give(desk: Desk, pair: str, verdict: str, told: Guidelines) -> None:
    """Record a word; it is on disk when the next pair is drawn."""
    if (taken := working_time().take(pair)) is None:
        return  # a key hit twice before the next pair was drawn
    seconds, uid = taken
    with errors_in_place():
        given = desk.queue.give(desk.person, pair, verdict, _beside(pair, seconds, told), uid=uid)
        word_given(workspace(), judgments(), desk.batch)
        late = " Someone else has taken this pair over meanwhile; your word is kept as well." if given.late else ""
        _said(desk, pair, verdict, late)


def _skip(desk: Desk, pair: str, told: Guidelines) -> None:
    if (taken := working_time().take(pair)) is None:
        return
    with errors_in_place():
        desk.queue.skip(desk.person, pair, _beside(pair, taken[0], told))
        _said(desk, pair, "skipped")


def _undo(desk: Desk) -> None:
    with errors_in_place():
        pair = desk.queue.undo(desk.person)
        if pair is not None and (undone := last_undone(judgments(), desk.person)) is not None:
            # What the person wrote beside it is theirs to change, not to write again.
            if not st.session_state.get(_comment_key(pair)):
                st.session_state[_comment_key(pair)] = undone.comment
            restore_evidence(pair, undone.evidence)
        working_time().restart()
        _tell(desk, "Undone." if pair else "There is nothing to undo.")


def _flag(desk: Desk, pair: str) -> None:
    if not take_answer(pair):
        return
    with errors_in_place():
        record = desk.queue.record(pair)
        judgments().add_pairs([record])
        comment = str(st.session_state.get(_comment_key(pair)) or "")
        judgments().flag(desk.person, pair, source="annotate", comment=comment)
        _tell(desk, f"Flagged: “{escaped(record.perspective)}”. You can still judge or skip it.")


def _pause(desk: Desk) -> None:
    with errors_in_place():
        desk.queue.leave(desk.person)
        working_time().rest()
        st.session_state[_PAUSED] = desk.name


def _go_on() -> None:
    st.session_state.pop(_PAUSED, None)


def _turn() -> None:
    st.session_state[_HIDDEN] = not st.session_state.get(_HIDDEN, False)


def _said(desk: Desk, pair: str, word: str, more: str = "") -> None:
    record = desk.queue.record(pair)
    what = record.question if desk.task == "prefer" else record.perspective
    opinion = f"; {desk.opinion(record)}" if desk.opinion is not None else ""
    _tell(desk, f"Before: “{escaped(what)}” — you: **{escaped(word)}**{opinion}.{more}")


def _tell(desk: Desk, text: str) -> None:
    st.session_state[_LAST] = (desk.name, text)


def _last(desk: Desk) -> None:
    with st.container(height=LAST_HEIGHT, border=False):
        name, text = st.session_state.get(_LAST, ("", ""))
        if name == desk.name:
            st.caption(text)
