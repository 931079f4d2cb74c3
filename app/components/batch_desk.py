"""Judging within a batch: the pair that the queue reserves, and its keys."""

import time
from importlib.resources import files
from uuid import uuid4

import streamlit as st

from annotation.batch_queue import BatchQueue
from annotation.batches import Batch, Task
from annotation.judgments import Annotator, PairRecord
from app.components.pair_card import answers_card, pair_card
from app.components.plain_text import escaped
from app.session import errors_in_place, judgments

LAST_HEIGHT = 96
Key = tuple[str, str, str]
"""What is said, what the button says, its icon."""
_JUDGE: dict[str, Key] = {
    "1": ("supports", "Supports", ":material/check:"),
    "2": ("does not support", "Does not support", ":material/close:"),
    "3": ("unsure", "Unsure", ":material/question_mark:"),
}
_PREFER: dict[str, Key] = {
    "1": ("first", "First", ":material/looks_one:"),
    "2": ("second", "Second", ":material/looks_two:"),
    "3": ("neither", "Neither", ":material/balance:"),
}
SKIP, UNDO, FLAG = "x", "u", "f"


def keys_of(task: Task, *, decision: bool = False) -> dict[str, Key]:
    """The keys of a task; of verifying they agree or disagree with the decision that is shown."""
    if task == "prefer":
        return _PREFER
    if task == "judge":
        return _JUDGE
    yes, no = ("supports", "does not support") if decision else ("does not support", "supports")
    return {
        "1": (yes, "Agree", ":material/check:"),
        "2": (no, "Disagree", ":material/close:"),
        "3": ("unsure", "Unsure", ":material/question_mark:"),
    }


@st.fragment
def batch_desk(person: Annotator, batch: Batch) -> None:
    """The card and its keys; drawn again alone, at a fixed height, so that nothing jumps."""
    with errors_in_place():
        queue = BatchQueue(judgments(), batch)
        key = queue.next(person)
        done, every = queue.done(person)
        st.progress(done / every, text=f"{done} of {every} pairs are done by you")
        card, side = st.columns([3, 1])
        with side:
            st.markdown((files("annotation") / "guidelines.md").read_text(encoding="utf-8"))
        with card:
            if key is None:
                _nothing_left(batch)
                st.button("Undo", icon=":material/undo:", shortcut=UNDO, on_click=_undo, args=(queue, person))
            else:
                record = judgments().pair_records([key])[key]
                answers_card(record) if batch.task == "prefer" else pair_card(record)
                _keys(queue, person, key, record)
            _last()


def _nothing_left(batch: Batch) -> None:
    if batch.is_open:
        st.success("No pair of this batch needs you now. What others have open comes back if they leave it.")
    else:
        st.info("This batch is closed.")


def _keys(queue: BatchQueue, person: Annotator, key: str, record: PairRecord) -> None:
    shown = st.session_state.setdefault("pair_shown", {})
    shown.setdefault(key, (time.monotonic(), str(uuid4())))
    decision = queue.item(key).decision is True
    if queue.batch.task == "verify":
        st.markdown(f"The detector says that the passage **{'supports' if decision else 'does not support'}** it.")
    with st.container(horizontal=True):
        for shortcut, (verdict, name, icon) in keys_of(queue.batch.task, decision=decision).items():
            st.button(
                name,
                icon=icon,
                shortcut=shortcut,
                key=f"give-{shortcut}",
                on_click=_give,
                args=(queue, person, key, verdict),
            )
        st.button("Skip", icon=":material/skip_next:", shortcut=SKIP, on_click=_skip, args=(queue, person, key))
        st.button("Undo", icon=":material/undo:", shortcut=UNDO, on_click=_undo, args=(queue, person))
        st.button(
            "Flag the perspective",
            icon=":material/flag:",
            shortcut=FLAG,
            key="flag",
            help="Its text is no good: unclear, two views in one, or none. Say why in the comment first.",
            on_click=_flag,
            args=(person, key, record),
        )
        st.button("Pause", icon=":material/pause:", key="leave", on_click=_leave, args=(queue, person))
    st.text_input("Comment (kept with what you say next)", key=f"comment-{key}", max_chars=2000)


def _comment(key: str) -> str:
    return str(st.session_state.get(f"comment-{key}") or "")


def _since(key: str) -> tuple[float | None, str | None]:
    """Seconds since the pair was drawn, and the mark by which a key that is hit twice counts once."""
    started, uid = st.session_state.get("pair_shown", {}).pop(key, (None, None))
    return (None if started is None else round(time.monotonic() - started, 2)), uid


def _give(queue: BatchQueue, person: Annotator, key: str, verdict: str) -> None:
    """Record a word; it is on disk when the next pair is drawn."""
    seconds, uid = _since(key)
    if uid is None:
        return  # a key hit twice before the next pair was drawn
    with errors_in_place():
        given = queue.give(person, key, verdict, comment=_comment(key), seconds=seconds, uid=uid)
        late = " Someone else has taken this pair over meanwhile; your word is kept as well." if given.late else ""
        st.session_state["batch_last"] = f"Before: **{escaped(verdict)}**.{late}"


def _skip(queue: BatchQueue, person: Annotator, key: str) -> None:
    seconds, uid = _since(key)
    if uid is None:
        return
    with errors_in_place():
        queue.skip(person, key, comment=_comment(key), seconds=seconds)
        st.session_state["batch_last"] = "Before: skipped."


def _undo(queue: BatchQueue, person: Annotator) -> None:
    with errors_in_place():
        pair = queue.undo(person)
        st.session_state.pop("pair_shown", None)  # the time is taken anew
        st.session_state["batch_last"] = "Undone." if pair else "There is nothing to undo."


def _flag(person: Annotator, key: str, record: PairRecord) -> None:
    with errors_in_place():
        judgments().flag(person, key, source="annotate", comment=_comment(key))
        st.session_state["batch_last"] = f"Flagged: “{escaped(record.perspective)}”. You can still judge or skip it."


def _leave(queue: BatchQueue, person: Annotator) -> None:
    with errors_in_place():
        queue.leave(person)
        st.session_state.pop("pair_shown", None)
        st.session_state["batch_paused"] = queue.batch.name


def _last() -> None:
    with st.container(height=LAST_HEIGHT, border=False):
        if said := st.session_state.get("batch_last"):
            st.caption(said)
