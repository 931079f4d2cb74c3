"""The tab Health of the Workspace page: what the checks of files, judgments, settings and disk have found, with their repairs."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

import streamlit as st

from berdseye.annotation.doctor.examine import fix_all
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.label_studio.drift import check_health
from berdseye.app.access.roles import check
from berdseye.app.access.session import judgments, role, started_by, workspace
from berdseye.app.components.plain_text import escaped, with_code
from berdseye.app.components.reader_time import shown_moment
from berdseye.app.jobs.examining import STORES, Comparison, Fault, compare_files, examine_judgments
from berdseye.data.disk_use import PARTS, folder_bytes, shown_size
from berdseye.data.errors import BerdseyeError
from berdseye.data.settings_file import read_settings
from berdseye.data.texts.counts import counted, plural

State = Literal["problem", "warning", "not checked", "ok"]
MARKS: dict[State, str] = {
    "problem": ":red[:material/error:]",
    "warning": ":orange[:material/warning:]",
    "not checked": ":gray[:material/do_not_disturb_on:]",
    "ok": ":green[:material/check_circle:]",
}
"""The mark of each state, the most urgent first."""
_AT_ONCE_BYTES = 64_000_000
"""Files of fewer bytes are compared when the tab opens, without a button."""
_LEAST_FREE = 0.05
_RESULT, _DONE = "health-result", "health-done"


class Row(NamedTuple):
    """One line of the list: what was examined, its state, what was found, what to do, and the name of its repair."""

    about: str
    state: State
    text: str
    remedy: str = ""
    repair: Literal["", "record", "fix"] = ""


class Health(NamedTuple):
    """The result of one examination, with its time."""

    at: datetime
    files: Comparison
    findings: list[Finding]
    label_studio: str
    settings: str
    free: float


def health_panel() -> None:
    """Draw the list of what was examined, and the buttons that examine and repair."""
    if done := st.session_state.pop(_DONE, ""):
        st.success(escaped(done), icon=":material/check_circle:")
    size = sum(folder_bytes(workspace().folder / store) for store in STORES)
    known: Health | None = st.session_state.get(_RESULT)
    pressed = st.button(
        "Check again" if known else "Check the workspace", icon=":material/health_and_safety:", key="health-check"
    )
    if pressed or (known is None and size < _AT_ONCE_BYTES):
        known = examine()
        st.session_state[_RESULT] = known
        st.rerun()
    if known is None:
        st.caption(
            escaped(f"The check reads every stored file ({shown_size(size)}) and the judgments. It changes nothing.")
        )
        return
    rows = list(health_rows(known))
    problems, warnings = (sum(row.state == state for row in rows) for state in ("problem", "warning"))
    summary = f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}"
    st.caption(
        escaped(
            f"{summary}. {counted(known.files.files, 'file')}, {shown_size(known.files.bytes)}, checked {shown_moment(known.at)}."
        )
    )
    order = list(MARKS)
    with st.container(gap="small", key="health-rows"):
        for number, row in enumerate(sorted(rows, key=lambda row: order.index(row.state))):
            draw_row(row, number)
    with st.expander("Report", icon=":material/content_copy:", key="health-report"):
        st.caption("Copy the report with the button at its upper right corner.")
        st.code(report(known, rows), language=None, wrap_lines=True)


def examine() -> Health:
    """Examine everything, with progress on the page. Another click interrupts the examination and changes nothing."""
    with st.status("Checking the workspace…", expanded=True) as status:
        bar = st.progress(0.0, text="Comparing files with their checksums")
        drawn_at = 0.0

        def progress(done: int, what: str, total: int | None = None, /) -> None:
            nonlocal drawn_at
            if time.monotonic() - drawn_at > 0.2:
                drawn_at = time.monotonic()
                bar.progress(min(1.0, done / total) if total else 0.0, text=f"{done:,} of {total or 0:,} {what}")

        files = compare_files(workspace(), progress=progress)
        bar.progress(1.0, text="Examining the judgments")
        findings, unreached = examine_judgments(workspace()), ""
        if not any(finding.check == "database" for finding in findings):
            findings, unreached = check_health(workspace(), judgments())
        try:
            read_settings(workspace())
            settings = ""
        except BerdseyeError as error:
            settings = str(error)
        disk = shutil.disk_usage(workspace().folder)
        status.update(label="Checked", state="complete")
    return Health(datetime.now().astimezone(), files, findings, unreached, settings, disk.free / disk.total)


def health_rows(health: Health) -> Iterator[Row]:
    """Yield a line for each fault, and one for each part without faults."""
    if health.settings:
        yield Row("Settings", "problem", health.settings)
    else:
        yield Row("Settings", "ok", "berdseye.toml is valid.")
    yield from _file_rows(health.files)
    for one in health.findings:
        yield Row("Judgments", "problem", one.text, f"{one.check}: {one.remedy}", "fix" if one.fix else "")
    if not health.findings:
        yield Row("Judgments", "ok", "The database has no faults.")
    if health.label_studio:
        yield Row("Label Studio", "not checked", "The judgments there were not compared.", health.label_studio)
    else:
        yield Row("Label Studio", "ok", "Label Studio was checked with the judgments.")
    if health.free < _LEAST_FREE:
        yield Row("Disk", "warning", f"Only {health.free:.0%} of the disk is free.", "Delete what you do not need.")
    else:
        yield Row("Disk", "ok", f"{health.free:.0%} of the disk is free.")


def _file_rows(files: Comparison) -> Iterator[Row]:
    def store(fault: Fault) -> str:
        return PARTS[fault.file.partition("/")[0]]

    for fault in files.damaged:
        yield Row(store(fault), "problem", f"{fault.file}: {fault.what}", fault.remedy)
    for fault in files.unexpected:
        yield Row(store(fault), "warning", f"{fault.file}: {fault.what}", fault.remedy)
    faulty = Counter(store(fault) for fault in (*files.damaged, *files.unexpected))
    for name in STORES:
        if not faulty[PARTS[name]]:
            yield Row(PARTS[name], "ok", "No file is damaged or missing.")
    if unrecorded := len(files.unrecorded):
        yield Row(
            "Checksums",
            "warning",
            f"{counted(unrecorded, 'set')} of files {plural(unrecorded, 'has', 'have')} no checksums.",
            "An older version wrote these files. Recorded checksums show later damage, but not earlier damage.",
            "record",
        )


def draw_row(row: Row, number: int) -> None:
    """Draw one line with its mark and its repair."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"health-{number}"):
        with st.container(gap=None):
            st.markdown(f"{MARKS[row.state]} **{escaped(row.about)}** · {row.state} · {escaped(row.text)}")
            if row.remedy:
                st.caption(with_code(row.remedy))
        if row.repair == "record" and st.button("Record checksums", key=f"repair-{number}"):
            _record()
        if row.repair == "fix" and st.button("Fix", key=f"repair-{number}", help="Fixes all faults of the judgments."):
            _fix()


def _record() -> None:
    check(role(), "administer", started_by() or "this person")
    recorded = len(compare_files(workspace(), record=True).recorded)
    _examined_again(f"Recorded the present checksums of {counted(recorded, 'set')} of files.")


def _fix() -> None:
    check(role(), "administer", started_by() or "this person")
    fixed, left = fix_all(judgments(), lambda: check_health(workspace(), judgments())[0])
    _examined_again(f"{counted(len(fixed), 'fault')} fixed; {counted(len(left), 'fault')} left.")


def _examined_again(done: str) -> None:
    st.session_state.pop(_RESULT, None)
    st.session_state[_RESULT] = examine()
    st.session_state[_DONE] = done
    st.rerun()


def report(health: Health, rows: list[Row]) -> str:
    """Return the whole list as text, for an e-mail or an issue."""
    lines = [f"{row.state}\t{row.about}\t{row.text}{f' {row.remedy}' if row.remedy else ''}" for row in rows]
    head = (
        f"Berdseye workspace {workspace().folder.name}, checked {health.at:%Y-%m-%d %H:%M %z}: "
        f"{counted(health.files.files, 'file')}, {shown_size(health.files.bytes)}"
    )
    return "\n".join([head, *lines])
