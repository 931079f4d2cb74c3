"""The annotator's desk: a pair from any queue with the buttons that judge it, the guidelines beside it with the changes since the
annotator last judged, and the annotator's progress and pace today."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from berdseye.annotation.batches.dealing import arm
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.runs_queue import RunsQueue
from berdseye.annotation.batches.stored import Batch, Task
from berdseye.annotation.checks import CheckForm
from berdseye.annotation.guidelines.versions import Guidelines, in_use, judged_by_before, load
from berdseye.annotation.judgments.log import Annotator, PairRecord
from berdseye.annotation.judgments.pace import Pace, first_event_since, midnight, pace
from berdseye.annotation.judgments.recent import own_judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails, last_undone
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.components.card_focus import mark_drawn, take_answer
from berdseye.app.components.guidelines_changes import differences
from berdseye.app.components.judging import beginning, keep_own, replaced
from berdseye.app.components.keys import FLAG, GUIDELINES, PAUSE, SKIP, UNDO
from berdseye.app.components.next_pair import next_pair
from berdseye.app.components.pair_card import (
    CARD_HEIGHT,
    answers_card,
    check_card,
    choices_of,
    pair_card,
    verdict_buttons,
)
from berdseye.app.components.passage_text import restore_evidence, taken_evidence
from berdseye.app.components.plain_text import escaped, without_pictures
from berdseye.app.components.swipe import SWIPED, swipe
from berdseye.app.components.training_feedback import draw_answers, feedback
from berdseye.app.components.working_time import WorkingTime, working_time
from berdseye.app.jobs.deciding import count_judgment
from berdseye.data.records import DetectorVersion, label_words

LAST_HEIGHT = 72
# The card, the buttons and the comment are visible together down to 1024 x 768: everything above and below them takes 23 rem.
_FITTING = """<style>
.stMainBlockContainer { padding-bottom: 1rem; }
.st-key-pair-card, .st-key-guidelines, :has(> .st-key-pair-card), :has(> .st-key-guidelines) {
  max-height: max(13rem, 100vh - 23rem - var(--tour-height, 0rem));
}
.st-key-guidelines { overflow-y: auto; }
@media (max-height: 540px) {  /* the page scrolls, and not a window of two lines within it */
  .st-key-pair-card, :has(> .st-key-pair-card) {
    height: auto; max-height: none; overflow: visible;
  }
}
</style>"""
_FLAG_HELP = (
    "Report that the perspective's text is unclear, mixes two views or expresses none. Give the reason in the comment "
    "first."
)
_CHECK_FLAG_HELP = "Mark this item as difficult. Give the reason in the comment first. The mark changes no verdict."
_LAST, _PAUSED, _HIDDEN, _DRAWN = "last_word", "paused_at", "guidelines_hidden", "pair_drawn"


def guidelines_panel(guidelines: Guidelines) -> None:
    """Draw the guidelines as Markdown. HTML in them is shown as text, and no picture is fetched."""
    with st.container(key="guidelines", height=CARD_HEIGHT, border=False):
        st.markdown(without_pictures(guidelines.text))
        st.caption(f"Guidelines {guidelines.version}")


def changed_guidelines(before: str, guidelines: Guidelines, read: str) -> None:
    """Announce that the guidelines changed, with the changes. `read` is the key of the session state that records which version
    the person has read."""
    st.warning("The guidelines changed since you last judged.", icon=":material/change_circle:")
    st.button(
        "Continue with these",
        icon=":material/play_arrow:",
        shortcut=PAUSE,
        key="guidelines-read",
        on_click=st.session_state.__setitem__,
        args=(read, guidelines.version),
    )
    changes, current = st.tabs(["Changes", "Current guidelines"])
    changes.markdown(differences(load(judgments(), before).text, guidelines.text))
    current.markdown(without_pictures(guidelines.text))


@st.cache_data(max_entries=20, show_spinner=False)
def _first_event(url: str, day: str) -> int:
    del url
    return first_event_since(judgments(), day)


def progress_line(person: Annotator, done: int, every: int) -> None:
    """Draw the bar of the queue's progress with the person's pace today."""
    day = midnight()
    today = pace(judgments(), person, day, _first_event(workspace().judgments_url, day))
    st.progress(done / every, text=" · ".join([f"{done} of {every} pairs", *pace_texts(today)]))


def pace_texts(today: Pace) -> list[str]:
    """Describe the pace of a day: pairs, median seconds and pairs per hour."""
    parts = [f"{today.pairs} today"]
    if today.median_seconds is not None:
        parts.append(f"median {today.median_seconds:.1f} s")
    if today.an_hour is not None and today.pairs > 1:
        parts.append(f"about {today.an_hour:,.0f} per hour")
    return parts


def break_reminder(clock: WorkingTime, after: float) -> None:
    """Suggest a break once the person has judged for `after` minutes. 0 turns the reminder off."""
    minutes = clock.minutes()
    if 0 < after <= minutes:
        st.info(f"You have judged for {minutes:.0f} minutes. Time for a break? Press P.", icon=":material/coffee:")


@dataclass(frozen=True)
class Desk:
    """A place to judge. `name` identifies the desk within a session; `opinion` returns a detector's label of a pair, shown once
    the pair is judged; `finished` draws what is shown when no pair is left."""

    name: str
    person: Annotator
    queue: BatchQueue | RunsQueue
    finished: Callable[[], None]
    batch: Batch | None = None
    opinion: Callable[[PairRecord], str] | None = None

    @property
    def task(self) -> Task:
        return "judge" if self.batch is None else self.batch.task

    @property
    def form(self) -> CheckForm | None:
        """The form of the checks of the batch; None for another task."""
        return None if self.batch is None else self.batch.check

    @property
    def read(self) -> str:
        """The key of the session state that records which version of the guidelines the person has read here."""
        return f"guidelines_read {self.name}"


@st.fragment
def draw_desk(desk: Desk) -> None:
    """Draw the card and its buttons as a fragment of fixed height, which is redrawn alone so that nothing on the page
    jumps."""
    st.html(_FITTING)
    with errors_in_place():
        if st.session_state.get(_PAUSED) == desk.name:
            st.info("Paused. Your pair is available to others again.", icon=":material/coffee:")
            st.button("Resume", icon=":material/play_arrow:", shortcut=PAUSE, key="go-on", on_click=_resume)
            return
        guidelines = in_use(judgments(), desk.task, desk.batch)
        if (before := _read_before(desk, guidelines)) is not None:
            changed_guidelines(before, guidelines, desk.read)
            return
        key = desk.queue.next(desk.person)
        _restore_undone(desk, key)
        progress_line(desk.person, *desk.queue.done(desk.person))
        hidden = st.session_state.get(_HIDDEN, False)
        card, side = (st.container(), None) if hidden else st.columns([9, 4])
        if side is not None:
            with side:
                guidelines_panel(guidelines)
        with card:
            if key is None:
                desk.finished()
                draw_answers(desk.batch, desk.person)
            else:
                _card(desk, key)
        if key is None:
            _undo_button(desk)
        else:
            _keys(desk, key, guidelines)
        break_reminder(working_time(), float(workspace().settings["judging"]["break_minutes"]))
        _draw_message(desk)


def _restore_undone(desk: Desk, key: str | None) -> None:
    """If the pair is back because the person has undone its judgment, here or on another page, restore the comment and the
    evidence, so that the person can change them instead of entering them again."""
    before, st.session_state[_DRAWN] = st.session_state.get(_DRAWN), key
    if key is None or key == before:
        return
    undone = last_undone(judgments(), desk.person, key)
    if undone is not None:
        if not st.session_state.get(_comment_key(key)):
            st.session_state[_comment_key(key)] = undone.comment
        restore_evidence(key, undone.evidence)


def _read_before(desk: Desk, guidelines: Guidelines) -> str | None:
    """Return the version that this person judged by before the current one, or None if they already know of the change."""
    if st.session_state.get(desk.read) == guidelines.version:
        return None
    before = judged_by_before(judgments(), desk.person, desk.task, desk.batch)
    if before is None or before == guidelines.version:
        st.session_state[desk.read] = guidelines.version
        return None
    return before


def _card(desk: Desk, key: str) -> None:
    record = desk.queue.record(key)
    if desk.form is not None:
        check_card(record, desk.form)
    elif desk.task == "prefer":
        answers_card(record)
    else:
        pair_card(record)
    working_time().show(key)
    following = desk.queue.after(desk.person, key) if desk.task == "judge" else None
    shown_alone = following is not None and _is_blind(desk, key) and _is_blind(desk, following)
    next_pair(key, desk.queue.record(following) if following is not None and shown_alone else None)


def _keys(desk: Desk, key: str, guidelines: Guidelines) -> None:
    """Draw two rows of buttons below the card and the guidelines: the verdicts, and all other actions."""
    mark_drawn(key)
    decision = _shown_label(desk, key)
    choices = choices_of(desk.task, decision=decision, form=desk.form)
    with st.container(horizontal=True, gap="small", key="verdicts"):
        if desk.task in SWIPED:
            swipe(choices)
        verdict_buttons(
            key,
            choices,
            lambda pair, verdict: _give(desk, pair, verdict, guidelines),
        )
        st.button(
            "Skip",
            icon=":material/skip_next:",
            shortcut=SKIP,
            key=f"skip-{key}",
            on_click=_skip,
            args=(desk, key, guidelines),
        )
        _undo_button(desk)
    with st.container(horizontal=True, gap="small"):
        with st.container(key="comment"):
            st.text_input(
                "Comment (stored with your next verdict)",
                key=_comment_key(key),
                max_chars=2000,
                placeholder="Comment (M): stored with your next verdict",
                label_visibility="collapsed",
            )
        st.button(
            "Difficult" if desk.form is not None else "Flag",
            icon=":material/flag:",
            shortcut=FLAG,
            key=f"flag-{key}",
            help=_CHECK_FLAG_HELP if desk.form is not None else _FLAG_HELP,
            on_click=_flag,
            args=(desk, key),
        )
        st.button("Pause", icon=":material/pause:", shortcut=PAUSE, key="pause", on_click=_pause, args=(desk,))
        st.button(
            "Guidelines", icon=":material/menu_book:", shortcut=GUIDELINES, key="guide", on_click=_toggle_guidelines
        )


def _shown_label(desk: Desk, key: str) -> bool:
    """Draw the detector's label of the pair if the annotator may see it before judging. Return whether the label is
    "supports"."""
    if not isinstance(desk.queue, BatchQueue) or _is_blind(desk, key):
        return False
    shown = desk.queue.item(key)
    if shown.decision is not None:
        if desk.task == "verify":
            # A decision to agree with is a verdict, whatever the detector's labels can mean.
            st.markdown(f"Decision: the passage **{label_words('stance', shown.decision)}** the perspective.")
        else:
            probability = "" if shown.probability is None else f", P(supports) = {shown.probability:.2f}"
            detector = DetectorVersion("detector") if desk.batch is None else desk.batch.detector
            says = detector.says(shown.probability, shown.decision)
            opinion = f"is **{says}**" if detector.grade == "topic" else f"**{says}** the perspective"
            says_that = "is **unsure**" if says == "unsure" else f"says that the passage {opinion}"
            st.markdown(f"The detector {says_that}{probability}.")
    return shown.decision is True


def _is_blind(desk: Desk, key: str) -> bool:
    """Return whether the annotator judges the pair without seeing the detector's label."""
    return desk.batch is None or arm(desk.batch, key, desk.person) == "blind"


def _undo_button(desk: Desk) -> None:
    st.button("Undo", icon=":material/undo:", shortcut=UNDO, key="undo", on_click=_undo, args=(desk,))


def _comment_key(pair: str) -> str:
    return f"comment-{pair}"


def _details(pair: str, seconds: float, guidelines: Guidelines) -> JudgmentDetails:
    comment = str(st.session_state.get(_comment_key(pair)) or "")
    return JudgmentDetails(comment, seconds, taken_evidence(pair), guidelines.version)


def _give(desk: Desk, pair: str, verdict: str, guidelines: Guidelines) -> None:
    """Record a judgment. It is on disk before the next pair is drawn."""
    if (taken := working_time().take(pair)) is None:
        return  # the key was pressed twice before the next pair was drawn
    seconds, uid = taken
    with errors_in_place():
        before = own_judgments(judgments(), desk.person, [pair]).get(pair)
        receipt = desk.queue.give(desk.person, pair, verdict, _details(pair, seconds, guidelines), uid=uid)
        keep_own(receipt.event)
        count_judgment(workspace(), judgments(), desk.batch)
        late = (
            " Another annotator has taken over this pair in the meantime; your judgment is stored as well."
            if receipt.late
            else ""
        )
        _summarize(desk, pair, verdict, escaped(replaced(before, verdict)) + late)


def _skip(desk: Desk, pair: str, guidelines: Guidelines) -> None:
    if (taken := working_time().take(pair)) is None:
        return
    with errors_in_place():
        desk.queue.skip(desk.person, pair, _details(pair, taken[0], guidelines))
        _summarize(desk, pair, "skipped")


def _undo(desk: Desk) -> None:
    with errors_in_place():
        pair = desk.queue.undo(desk.person)
        working_time().restart()
        _set_message(desk, "Undone." if pair else "There is nothing to undo.")


def _flag(desk: Desk, pair: str) -> None:
    if not take_answer(pair):
        return
    with errors_in_place():
        record = desk.queue.record(pair)
        judgments().add_pairs([record])
        comment = str(st.session_state.get(_comment_key(pair)) or "")
        judgments().flag(desk.person, pair, source="annotate", comment=comment)
        done = "Flagged" if desk.form is None else "Marked as difficult"
        _set_message(desk, f"{done}: “{escaped(_name(desk, record))}” — you can still judge or skip it.")


def _pause(desk: Desk) -> None:
    with errors_in_place():
        desk.queue.leave(desk.person)
        working_time().rest()
        st.session_state[_PAUSED] = desk.name


def _resume() -> None:
    st.session_state.pop(_PAUSED, None)


def _toggle_guidelines() -> None:
    st.session_state[_HIDDEN] = not st.session_state.get(_HIDDEN, False)


def _summarize(desk: Desk, pair: str, verdict: str, addition: str = "") -> None:
    record = desk.queue.record(pair)
    opinion = f"; {desk.opinion(record)}" if desk.opinion is not None else ""
    told = feedback(desk.batch, pair, verdict) if verdict != "skipped" else ""
    _set_message(
        desk, f"Last pair: “{escaped(_name(desk, record))}” — you: **{escaped(verdict)}**{told}{opinion}.{addition}"
    )


def _name(desk: Desk, record: PairRecord) -> str:
    """Return the text by which a message names a pair; the statement of a check may be long."""
    if desk.task == "prefer":
        return record.question
    return record.perspective if desk.form is None else beginning(record.perspective)


def _set_message(desk: Desk, text: str) -> None:
    st.session_state[_LAST] = (desk.name, text)


def _draw_message(desk: Desk) -> None:
    with st.container(height=LAST_HEIGHT, border=False):
        name, text = st.session_state.get(_LAST, ("", ""))
        if name == desk.name:
            st.caption(text)
