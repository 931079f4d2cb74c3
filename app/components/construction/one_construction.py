"""One construction on the Build page: its funnel, the rows that it rejected with their reasons, what people overrule, and the
data set that it gives."""

import json
from functools import partial

import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.components.construction.checks import draw_checks
from berdseye.app.components.construction.evidence_checks import draw_evidence_checks
from berdseye.app.components.construction.new_construction import dry_run_table
from berdseye.app.components.data.new_dataset import questions_table
from berdseye.app.components.downloads import download
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import Job, list_jobs, start_job
from berdseye.data.files.tables import to_csv
from berdseye.data.texts.counts import counted
from berdseye.evaluation.construction.charts import funnel_chart
from berdseye.evaluation.construction.debateqa.kind import DEBATEQA
from berdseye.evaluation.construction.dmerit.kind import DMERIT
from berdseye.evaluation.construction.finishing import finish
from berdseye.evaluation.construction.opening import remove_construction
from berdseye.evaluation.construction.reporting import Stage, funnel, reasons, rejections, spent, spent_text
from berdseye.evaluation.construction.running import is_complete
from berdseye.evaluation.construction.stored import Construction

_SHOWN_ROWS = 50
_MISSING_VIEWS = """berdseye construct missing-views {name} views.jsonl
berdseye construct propose-views {name} views.jsonl"""


def draw_construction(construction: Construction) -> None:
    """Draw the construction with its jobs, its funnel, and what can be done next."""
    stages = funnel(construction)
    ended = not any(_of(construction, job) and job.runs for job in list_jobs(workspace()))
    complete = ended and is_complete(construction)
    _buttons(construction, running=not ended, complete=complete)
    draw_unfinished_jobs(f"construction {construction.name}", partial(_of, construction))
    if st.session_state.get("dry-run") == construction.name:
        dry_run_table(construction)
    if all(stage.rows is None for stage in stages):
        return
    st.altair_chart(funnel_chart(stages), key="funnel")
    _draw_counts(construction, stages)
    if construction.kind.report is not None:
        with st.expander("Report", icon=":material/description:"), errors_in_place():
            st.code("\n".join(construction.kind.report(construction)), language=None, wrap_lines=True)
    last = [stage.step for stage in stages if stage.rows is not None][-1]
    rejected, made, checks = st.tabs(["Rejected rows", "Rows so far", "Checks by people"])
    with rejected, errors_in_place():
        _draw_rejected(construction)
    with made, errors_in_place():
        _draw_rows(construction, last, complete=complete)
    with checks, errors_in_place():
        draw_checks(construction)
        if construction.kind.name == DMERIT.name and complete:
            draw_evidence_checks(construction)
    if construction.kind.name == DEBATEQA.name:
        with st.expander("When systems have answered the questions", icon=":material/terminal:"):
            st.markdown("Two commands find views that the data set lacks, and propose them on the page *Perspectives*:")
            name = next((n for n in workspace().datasets() if n == f"{construction.name}-test"), construction.name)
            st.code(_MISSING_VIEWS.format(name=name), language=None, wrap_lines=True)


def _of(construction: Construction, job: Job) -> bool:
    return job.arguments[:1] == ("construct",) and construction.name in job.arguments


def _buttons(construction: Construction, *, running: bool, complete: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{escaped(construction.kind.title)}** · {escaped(str(construction.settings['model']))}")
        if not running and not complete:
            if st.button("Run the remaining steps", icon=":material/play_arrow:", type="primary"):
                st.session_state.pop("dry-run", None)
                start_job(workspace(), ("construct", "resume", construction.name), person=started_by())
                st.rerun()
            if st.button("Dry run", icon=":material/calculate:", key="dry-run-again"):
                st.session_state["dry-run"] = construction.name
        if complete:
            with st.popover("Add the data set", icon=":material/add:", type="primary"), errors_in_place():
                _draw_finish(construction)
        with st.popover("Delete", icon=":material/delete:", type="tertiary"):
            st.markdown(
                "Deletes the rows of this construction. Data sets that were made from it, and completions, stay."
            )
            if st.button("Delete it", icon=":material/delete:", type="primary", disabled=running):
                remove_construction(workspace(), construction.name)
                st.rerun()


def _draw_finish(construction: Construction) -> None:
    name = (st.text_input("Name of the data set", construction.name, key="finished-name") or "").strip()
    kinds = "data sets" if construction.kind.finish is None else "data sets and a corpus"
    divided = construction.kind.finish is None
    share = st.number_input("Share for dev", 0.0, 0.9, 0.0, 0.05, key="dev-share") if divided else 0.0
    replaces = st.toggle("Replace what exists", key="finished-replaces", help=f"Replaces {kinds} of this name.")
    if st.button("Add", type="primary", icon=":material/add:", key="finish"):
        for line in finish(construction, name, dev_share=float(share), replacing=replaces):
            st.success(escaped(line), icon=":material/check:")
        st.session_state["finished-dataset"] = next(
            (made for made in (name, f"{name}-test") if made in workspace().datasets()), name
        )
    if (done := st.session_state.get("finished-dataset")) and st.button("Open it on Data", icon=":material/database:"):
        open_page("data", show="Data sets", dataset=done)


def _draw_counts(construction: Construction, stages: list[Stage]) -> None:
    printed = [s for s in stages if s.printed is not None]
    papers = "; ".join(f"{s.place}: {s.printed:,.0f} {s.title}" for s in printed)
    parts = [text] if (text := spent_text(spent(construction))) else []
    if overruled := sum(s.overruled or 0 for s in stages):
        parts.append(f"{counted(overruled, 'row')} decided by people")
    if papers:
        parts.append(f"the paper: {papers}")
    if parts:
        st.caption(escaped(" · ".join(parts)))


def _draw_rejected(construction: Construction) -> None:
    by_step = reasons(construction)
    found = rejections(construction)
    if not found:
        st.info("No row was rejected.", icon=":material/check:")
        return
    st.caption(
        escaped(
            "; ".join(
                f"{step}: {count:,} × {reason}" for step, counts in by_step.items() for reason, count in counts.items()
            )
        )
    )
    table = pd.DataFrame(found)
    chosen = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key="rejected-rows",
        column_config={
            "text": st.column_config.TextColumn(width="large"),
            "row": st.column_config.TextColumn(width="small"),
        },
    )
    rows = [found[place] for place in chosen.selection.rows if place < len(found)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        why = st.text_input("Why they are kept", key="why-kept", placeholder="optional") or ""
        if st.button(
            f"Keep {len(rows) or ''} chosen rows".replace("  ", " "),
            icon=":material/undo:",
            disabled=not rows,
            key="keep-rows",
        ):
            for step in dict.fromkeys(row.step for row in rows):
                here = {row.row: why for row in rows if row.step == step}
                construction.overrule(step, here, keep=True, made_by=started_by())
            st.rerun()
        download("CSV", partial(to_csv, table), f"{construction.name}-rejected.csv", key="rejected-csv")


def _draw_rows(construction: Construction, step: str, *, complete: bool) -> None:
    rows = construction.kept(step)
    st.caption(
        f"{counted(len(rows), 'row')} of the step {escaped(step)}{'; the first 50 are shown' if len(rows) > _SHOWN_ROWS else ''}."
    )
    if complete and construction.kind.finish is None:
        questions_table(construction.kind.questions(rows[:_SHOWN_ROWS]))
    else:
        shown = [
            {"row": row.id} | {name: _cell(value) for name, value in row.fields.items()} for row in rows[:_SHOWN_ROWS]
        ]
        st.dataframe(pd.DataFrame(shown), hide_index=True)
    with st.popover("Origin of a row", icon=":material/history:"):
        chosen = st.selectbox("Row", [row.id for row in rows], key="origin-row")
        for row in rows:
            if row.id == chosen:
                st.json(dict(row.origin), expanded=2)
    with st.popover("Drop rows", icon=":material/remove:"):
        dropped = st.multiselect("Rows", [row.id for row in rows], key="dropped-rows")
        why = st.text_input("Why", key="why-dropped") or ""
        if st.button("Drop them", key="drop-rows", disabled=not dropped):
            construction.overrule(step, dict.fromkeys(dropped, why), keep=False, made_by=started_by())
            st.rerun()


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
