"""Adding a data set on the Data page: upload a file and see how it will be read, write questions, or fetch a published one."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from berdseye.app.access.roles import may
from berdseye.app.access.session import errors_in_place, role, started_by, workspace
from berdseye.app.components.data.sources import chosen_file, chosen_name, chosen_way, name_of_file
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import start_job
from berdseye.data.datasets.layouts import Imported, read_dataset
from berdseye.data.datasets.layouts.rows import perspectives_of_lines
from berdseye.data.datasets.published import GROUPS, SETS
from berdseye.data.datasets.stored import keep_imported, save_dataset
from berdseye.data.errors import BadInputError, BadRowsError
from berdseye.data.records import Question
from berdseye.data.texts.counts import counted
from berdseye.data.texts.passages import clean

WRITE, PUBLISHED = "Write questions", "Published data set"
_ENDINGS = "CSV or TSV with a row per perspective, JSON Lines, JSON, Parquet"
_SIGNS = {"supporting": "+ ", "opposing": "- ", None: ""}
PUBLISHED_SETS = {
    "berds": "BERDS: contentious questions from ArguAna, Kialo and OpinionQA, with perspectives (development parts)",
    "pir": "PIR: all of its tasks, whose queries differ by perspective, with gold labels and their corpora",
    "debateqa": "DebateQA: debatable questions with partial answers, and its questions on dispute awareness",
    "perspectrum": "Perspectrum: claims with perspectives and evidence that people labelled",
    "dmerit": "D-MERIT: queries with sets of evidence in Wikipedia",
}
"""What the published data sets are, by the beginning of their names."""


def new_dataset() -> None:
    """Draw the form."""
    way = chosen_way("dataset", (WRITE, PUBLISHED))
    if way == WRITE:
        _written()
    elif way == PUBLISHED:
        _published()
    else:
        _from_file(way)


def _from_file(way: str) -> None:
    path = chosen_file("dataset", way, _ENDINGS)
    if path is None:
        with st.expander("What a file looks like", icon=":material/help:"):
            st.caption("A table, as any spreadsheet saves it (CSV UTF-8): a row for each perspective.")
            st.code(
                "question,perspective,stance\n"
                "Should cities ban private cars?,Cars make cities loud and dangerous.,supporting\n"
                "Should cities ban private cars?,Many people depend on their cars.,opposing",
                language=None,
            )
            st.caption("Or JSON Lines: a question on each line.")
            st.code(
                '{"question": "Should cities ban private cars?", "perspectives": [{"text": "Cars make cities loud and '
                'dangerous.", "stance": "supporting"}]}',
                language=None,
                wrap_lines=True,
            )
            st.caption("The released files of BERDS, PIR, DebateQA and Perspectrum are read as they are.")
        return
    try:
        found = read_dataset(path)
    except BadRowsError as error:
        number = len(error.faults)
        st.error(
            f"{counted(number, 'row')} cannot be read. Correct the file, and choose it again.",
            icon=":material/error:",
        )
        rows = [{"line": fault.line, "reason": fault.what} for fault in error.faults]
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            height=min(38 + 35 * len(rows), 300),
            column_config={"line": st.column_config.NumberColumn(width="small")},
        )
        return
    name = chosen_name("data set", name_of_file(path), workspace().datasets())
    _draw_counts(found)
    if st.button("Add the data set", type="primary", icon=":material/add:", disabled=name is None) and name:
        keep_imported(workspace(), name, found)
        _added(name, len(found.questions))
    questions_table(found.questions[:50])


def _held(questions: Sequence[Question]) -> str:
    perspectives = sum(len(question.perspectives) for question in questions)
    return f"{counted(len(questions), 'question')}, {counted(perspectives, 'perspective')}"


def _draw_counts(found: Imported) -> None:
    held = _held(found.questions)
    gold = f", {counted(len(found.gold), 'gold label')}" if found.gold else ""
    layout = {"JSONL": "JSON Lines", "table": "Table"}.get(found.layout, found.layout)
    st.markdown(f"**{escaped(layout)}**: {held}{gold}.")


def questions_table(questions: Sequence[Question]) -> None:
    """Draw questions with their perspectives, each with the sign of its side."""
    rows = [
        {
            "question": question.text,
            "perspectives": [f"{_SIGNS[p.stance]}{p.text}" for p in question.perspectives],
            "id": question.id,
        }
        for question in questions
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height=min(38 + 35 * len(rows), 400),
        column_config={
            "question": st.column_config.TextColumn(width="large"),
            "perspectives": st.column_config.ListColumn(width="large"),
        },
    )


def _written() -> None:
    """Draw a box in which questions and their perspectives are written, one per line."""
    st.caption(
        "A line for each question, and below it a line for each of its perspectives: begin it with + if it answers yes, with - "
        "if it answers no, with = if it takes no side. A blank line separates questions."
    )
    text = st.text_area(
        "Questions and perspectives",
        key="dataset-text",
        height=220,
        label_visibility="collapsed",
        placeholder="Should cities ban private cars?\n+ Cars make cities loud and dangerous.\n- Many people depend on "
        "their cars.",
    )
    questions = written_questions(text or "")
    name = chosen_name("data set", "my-questions", workspace().datasets())
    if questions:
        st.caption(f"{_held(questions)}.")
    ready = bool(questions) and name is not None
    if st.button("Add the data set", type="primary", icon=":material/add:", disabled=not ready) and name:
        save_dataset(workspace(), name, questions)
        st.session_state.pop("dataset-text", None)
        _added(name, len(questions))


def written_questions(text: str) -> list[Question]:
    """Parse questions written one per block of lines: the question, then a line for each perspective.

    Raises `BadInputError` for a block that begins with a perspective.
    """
    questions: list[Question] = []
    for block in clean(text.replace("\r", "")).split("\n\n"):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        if lines[0][:2] in ("+ ", "- ", "= "):
            raise BadInputError(
                f"The perspective “{lines[0][:60]}” has no question above it.", hint="Write its question first."
            )
        perspectives = perspectives_of_lines("\n".join(lines[1:]))
        questions.append(Question(str(len(questions) + 1), "", lines[0], perspectives))
    return questions


def _published() -> None:
    """Draw the choice of a published data set, which a job fetches and checks."""
    names = [*GROUPS, *SETS]
    left, right = st.columns(2)
    name = left.selectbox("Data set", names, key="published-name")
    st.caption(PUBLISHED_SETS.get((name or "").split("-")[0], ""))
    folder = ""
    if may(role(), "administer"):
        folder = right.text_input(
            "Folder with copies (optional)",
            key="published-folder",
            help="A folder on this machine with the released files, instead of a download.",
        )
    if st.button("Fetch", type="primary", icon=":material/download:", disabled=not name) and name:
        source = ("--from", str(Path(folder).expanduser())) if folder.strip() else ()
        with errors_in_place():
            start_job(workspace(), ("dataset", "fetch", name, *source), person=started_by())
            st.rerun()
    st.caption("Downloads are checked against their known checksums, and the counts against those in the paper.")


def _added(name: str, questions: int) -> None:
    st.toast(escaped(f"Added {name}: {counted(questions, 'question')}."))
    st.session_state["dataset"] = name
    st.rerun()
