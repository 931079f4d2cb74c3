"""What people and figures say of the evidence of a constructed D-MERIT, on the Build page: `construct verify`, `audit` and
`figures`."""

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.app.access.session import errors_in_place, judgments, started_by, workspace
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.evaluation.construction.dmerit.audit import DEPTH, QUERIES, audited, begin_audit
from berdseye.evaluation.construction.dmerit.queries import NATURAL
from berdseye.evaluation.construction.dmerit.statistics import figures
from berdseye.evaluation.construction.dmerit.verification import (
    SAMPLE,
    begin_verification,
    verification_figures,
    verified,
)
from berdseye.evaluation.construction.stored import Construction


def draw_evidence_checks(construction: Construction) -> None:
    """Draw the verification of the model's decisions, the audit of what it missed, and the figures beside the paper's."""
    batches = [batch for batch in list_batches(judgments()) if _construction_of(batch) == construction.name]
    verifications = [batch for batch in batches if batch.task == "verify"]
    audits = [batch for batch in batches if batch.task != "verify"]
    with st.container(border=True):
        st.markdown("**Verify decisions of the language model**")
        st.caption("D-MERIT, section 2.3: a person agreed with 84.7% of 1,300 decisions")
        _draw_batches(verifications)
        with st.popover("Send to people", icon=":material/send:"), errors_in_place():
            _draw_verification(construction, len(verifications))
    with st.container(border=True):
        st.markdown("**Audit what the construction missed**")
        st.caption("D-MERIT, appendix E: 35 new passages among 2,018 that 12 systems found for 23 queries")
        _draw_batches(audits)
        with st.popover("Send to people", icon=":material/send:"), errors_in_place():
            _draw_audit(construction, len(audits))
    with st.expander("Figures beside the paper's", icon=":material/table:"), errors_in_place():
        rows = figures(construction.kept(NATURAL.name))
        rows += verification_figures(verified(judgments(), verifications[0])) if verifications else []
        if audits:
            found = audited(workspace(), judgments(), audits[0])
            rows += found.figures
            for number, chart in found.charts.items():
                st.altair_chart(chart, key=number)
        st.dataframe(
            pd.DataFrame([{"": row.name, "ours": row.ours, "paper": row.printed, "place": row.place} for row in rows]),
            hide_index=True,
        )


def _construction_of(batch: Batch) -> str:
    recipe = batch.recipe.get("audit", batch.recipe)
    return str(recipe.get("construction", "")) if batch.task == "verify" or "audit" in batch.recipe else ""


def _draw_batches(batches: list[Batch]) -> None:
    for batch in batches:
        if st.button(escaped(batch.name), icon=":material/inventory_2:", key=f"open-{batch.name}", type="tertiary"):
            open_page("batches", batch=batch.name)


def _draw_verification(construction: Construction, taken: int) -> None:
    name = _name("verification", f"{construction.name}-verified", taken)
    size = st.number_input(
        "Decisions", 2, None, SAMPLE, key="verification-size", help="Half for evidence, half against."
    )
    people = _people("verification")
    if st.button("Send", type="primary", icon=":material/send:", key="verification-send"):
        begin_verification(judgments(), construction, name, size=int(size), people=tuple(people), made_by=started_by())
        st.rerun()


def _draw_audit(construction: Construction, taken: int) -> None:
    name = _name("audit", f"{construction.name}-audited", taken)
    datasets = workspace().datasets()
    place = datasets.index(construction.name) if construction.name in datasets else 0
    dataset = st.selectbox("Data set of the construction", datasets, place, key="audit-dataset")
    k = st.number_input("Passages of each ranking", 2, None, DEPTH, key="audit-k")
    queries = st.number_input("Random queries", 1, None, QUERIES, key="audit-queries")
    people = _people("audit")
    if st.button("Send", type="primary", icon=":material/send:", key="audit-send", disabled=dataset is None):
        begin_audit(
            judgments(), construction, str(dataset), name,
            k=int(k), queries=int(queries), people=tuple(people), made_by=started_by(),
        )  # fmt: skip
        st.rerun()


def _name(key: str, base: str, taken: int) -> str:
    suggested = f"{base}-{taken + 1}" if taken else base
    return (st.text_input("Name of the batch", suggested, key=f"{key}-batch") or "").strip()


def _people(key: str) -> list[str]:
    names = [person.name for person in judgments().annotators() if not person.demo]
    return st.multiselect(
        "People", names, key=f"{key}-names", accept_new_options=True, placeholder="everyone", help="Empty: everyone."
    )
