"""The guidelines of a task for those who may change them: the version in use, the other versions with their differences, and the
editor with its preview."""

import streamlit as st

from berdseye.annotation.batches.stored import TASKS, Task, list_batches
from berdseye.annotation.guidelines.versions import PACKAGED, in_use, load, packaged, use, uses
from berdseye.app.access.roles import check, right_of_command
from berdseye.app.access.session import acting_person, errors_in_place, judgments, role, started_by
from berdseye.app.components.choices import one_of
from berdseye.app.components.guidelines_changes import differences
from berdseye.app.components.plain_text import escaped, without_pictures

TASK_TITLES: dict[Task, str] = {
    "judge": "Judge a pair",
    "verify": "Verify a decision",
    "prefer": "Prefer an answer",
    "check": "Check constructed data",
}
_EDITED, _MESSAGE = "guidelines_edited", "guidelines_message"
_BOX, _EDITOR = 460, 380


def draw_guidelines() -> None:
    """Draw the guidelines of a task, or their editor."""
    task = one_of("Task", TASKS, key="guidelines_of", shown=TASK_TITLES.__getitem__, named=False)
    if message := st.session_state.pop(_MESSAGE, ""):
        st.success(escaped(message), icon=":material/check:")
    if st.session_state.get(_EDITED) == task:
        _draw_editor(task)
        return
    versions = versions_of(task)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_in_use(task)
    with right:
        _draw_versions(task, versions)


def versions_of(task: Task) -> dict[str, str]:
    """Return a title with date and author for each version that was in use for a task, by version, and for the packaged one.

    The version in use is the first.
    """
    titles: dict[str, str] = {}
    for one in uses(judgments(), task):
        titles.setdefault(one.version, f"{one.version} · {one.at[:10]}{f' · {one.made_by}' if one.made_by else ''}")
    own = packaged(task).version
    return titles | {own: f"{own} · {PACKAGED} with Berdseye"}


def who_sees(task: Task) -> str:
    """Say who will see a new version for a task, and which open batches keep guidelines of their own."""
    kept = [b.name for b in list_batches(judgments()) if b.is_open and b.task == task and b.guidelines is not None]
    seen = "People see the new text with their next pair of this task. Those who judged by another version see the changes first."
    if not kept:
        return seen
    return f"{seen} Batches with guidelines of their own keep them: {', '.join(kept)}."


def _draw_in_use(task: Task) -> None:
    guidelines = in_use(judgments(), task)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**In use** · {guidelines.version}", width="content")
        st.button("Edit", icon=":material/edit:", key="edit-guidelines", on_click=_edit, args=(task, guidelines.text))
    with st.container(border=True, height=_BOX, key="guidelines-in-use"):
        st.markdown(without_pictures(guidelines.text))


def _draw_versions(task: Task, titles: dict[str, str]) -> None:
    present = in_use(judgments(), task).version
    others = [version for version in titles if version != present]
    st.markdown(f"**Versions** · {len(titles)}")
    st.caption(f"In use: {escaped(titles.get(present, present))}")
    if not others:
        st.caption("No other version was in use for this task.")
        return
    chosen = st.selectbox("Compare with", others, format_func=titles.__getitem__, key=f"compare-{task}")
    changes, whole = st.tabs(["Changes", "Whole text"])
    own = packaged(task)
    before = own if chosen == own.version else load(judgments(), chosen)
    with changes, st.container(height=_BOX - 150, border=True):
        st.caption("From that version to the one in use: removed text is struck through, added text has a background.")
        st.markdown(differences(before.text, in_use(judgments(), task).text))
    with whole, st.container(height=_BOX - 150, border=True):
        st.markdown(without_pictures(before.text))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use this version again",
            icon=":material/history:",
            key="use-again",
            help=who_sees(task),
            on_click=put_in_use,
            args=(task, None if chosen == own.version else before.text),
        )


def _draw_editor(task: Task) -> None:
    text_key = f"guidelines-text-{task}"
    left, right = st.columns(2, gap="large")
    with left:
        text = (
            st.text_area(
                "Guidelines, in Markdown", key=text_key, height=_EDITOR, help="Press Ctrl+Enter to update the preview."
            )
            or ""
        )
    with right:
        st.markdown("Preview")
        preview, changes = st.tabs(["Text", "Changes"])
        with preview, st.container(border=True, height=_EDITOR - 60, key="guidelines-preview"):
            st.markdown(without_pictures(text))
        with changes, st.container(border=True, height=_EDITOR - 60):
            st.markdown(differences(in_use(judgments(), task).text, text))
    st.caption(escaped(who_sees(task)))
    with st.container(horizontal=True):
        st.button(
            "Use from now on",
            type="primary",
            icon=":material/check:",
            key="use-guidelines",
            disabled=not text.strip() or text.strip() == in_use(judgments(), task).text,
            on_click=put_in_use,
            args=(task, text),
        )
        st.button("Discard changes", key="leave-guidelines", on_click=st.session_state.pop, args=(_EDITED, None))


def _edit(task: Task, text: str) -> None:
    st.session_state[_EDITED] = task
    st.session_state[f"guidelines-text-{task}"] = text


def put_in_use(task: Task, text: str | None) -> None:
    """Put a text in use (None: the packaged one), and leave the editor unless that fails."""
    with errors_in_place():
        check(role(), right_of_command(("guidelines", "set")), started_by() or "this person")
        used = use(judgments(), text, task=task, made_by=acting_person())
        st.session_state.pop(_EDITED, None)
        st.session_state[_MESSAGE] = f"Version {used.version} is now in use for the task {task}."
