"""The Agreement page: the agreement of people with each other and with the detector, the pairs on which they disagree, and the
exports."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st

from berdseye.annotation.batches.check_outcomes import check_outcomes, form_of_batch, outcome_text
from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.stored import Batch, batch_pairs, list_batches, load_batch
from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.components.charts import counts_as_colours
from berdseye.app.components.choices import options, selectbox_by_id
from berdseye.app.components.detector_line import detector_line
from berdseye.app.components.downloads import download, downloads
from berdseye.app.components.first_steps import noting
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.reliability_panel import draw_reliability
from berdseye.data.files.tables import to_csv, to_jsonl, to_parquet
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import adopted_detector, detector_names
from berdseye.evaluation.agreement.against_people import REFERENCES, Reference
from berdseye.evaluation.agreement.alignment import SKIPPED_RULES, UNSURE_RULES, Rule, SkippedRule, UnsureRule
from berdseye.evaluation.agreement.anchoring import arms_chart
from berdseye.evaluation.agreement.charts import coefficients_chart, matrix_chart, pairs_chart, time_chart
from berdseye.evaluation.agreement.exports import NOTES, TITLES, shown, to_html, to_latex
from berdseye.evaluation.agreement.labels import DETECTOR, adjudicated, agreement_labels, labels_among
from berdseye.evaluation.agreement.pairwise import confusion
from berdseye.evaluation.agreement.report import AgreementReport, Choices, report
from berdseye.evaluation.agreement.report_input import report_input
from berdseye.evaluation.agreement.slices import PERIODS, Period
from berdseye.evaluation.labels.sources import default_source, parse_label_source
from berdseye.evaluation.measures import DEFAULT_MEASURES, parse_measures
from berdseye.evaluation.methods.report import methods_report
from berdseye.evaluation.methods.wording import MethodsReport
from berdseye.evaluation.selection.decision import decides, deciding_batch, renew_order

_TEXTS = ["question", "perspective", "title", "passage"]
_LISTED = 200
MORE = ("time", "slices", "guidelines", "stance", "detection_slices")


class PageChoices(NamedTuple):
    """The choices at the top of the page."""

    detector: str
    unsure: UnsureRule
    skipped: SkippedRule
    reference: Reference
    period: Period
    demo: bool
    over_questions: bool
    batch: str = ""
    people: tuple[str, ...] = ()


@st.cache_resource(max_entries=5, show_spinner="Reading the labels…")
def labels_of(version: int, detector: str, demo: bool) -> pd.DataFrame:
    """Return the labels of all raters, the detector included. `version` is that of the judgments. The frame is shared and must
    not be modified: copying 100,000 rows at each rerun would take longer than all the statistics."""
    del version
    return agreement_labels(workspace(), judgments(), parse_detector(detector, workspace()), demo=demo)


@st.cache_resource(max_entries=10, show_spinner="Computing agreement…")
def computed(version: int, chosen: PageChoices) -> AgreementReport:
    """Return the agreement report. It computes each table when it is first read."""
    choices = Choices(
        Rule(chosen.unsure, chosen.skipped),
        period=chosen.period,
        reference=chosen.reference,
        over_questions=chosen.over_questions,
    )
    if (batch := _checks_of(chosen)) is not None:
        given = report_input(workspace(), judgments(), None, choices, batch=batch)
        return report(labels_among(given.labels, None, chosen.people), given.choices)
    labels = labels_of(version, chosen.detector, chosen.demo)
    if chosen.batch or chosen.people:
        labels = labels_among(labels, _pairs_of(chosen), chosen.people)
    return report(labels, choices, adjudicated(judgments()))


def _checks_of(chosen: PageChoices) -> Batch | None:
    """Return the chosen batch if it is one of checks, otherwise None."""
    batch = load_batch(judgments(), chosen.batch) if chosen.batch else None
    return batch if batch is not None and batch.check is not None else None


def _pairs_of(chosen: PageChoices) -> list[str] | None:
    """Return the pairs of the chosen batch, or None for all pairs."""
    return batch_pairs(judgments(), load_batch(judgments(), chosen.batch)) if chosen.batch else None


def page() -> None:
    """Draw the page."""
    chosen = choices()
    agreement_report = computed(judgments().version(), chosen)
    if not len(agreement_report.labels.items) and (chosen.batch or chosen.people):
        st.info("Nobody of these people has judged a pair of this batch yet. Choose another batch or other people.")
        return
    if not len(agreement_report.labels.items):
        st.info(
            "Nobody has judged a pair yet. Judge some on the Annotate page, or correct a label on the Explore page."
        )
        return
    if (checks := _checks_of(chosen)) is not None:
        st.caption(escaped(agreement_report.summary))
        draw_outcomes(checks)
        draw_together(agreement_report)
    else:
        detector = parse_detector(chosen.detector, workspace())
        st.caption(escaped(agreement_report.summary), help=f"Detector: {detector_line(detector)}")
        draw_together(agreement_report)
        st.subheader("Detectors against people", anchor=False)
        st.caption(f"In percent, scored against {escaped(chosen.reference)}, in the layout of BERDS's detection table.")
        draw_table(agreement_report, "detection")
    draw_tabs(agreement_report)
    draw_anchoring(agreement_report)
    if checks is None:
        draw_reliability(judgments().version(), demo=chosen.demo)
    draw_disagreements(agreement_report, checks)
    st.subheader("Exports", anchor=False)
    draw_exports(agreement_report, chosen)
    draw_decisions()


def draw_outcomes(batch: Batch) -> None:
    """Draw what people decided in a batch of checks."""
    form = form_of_batch(batch)
    st.markdown(f"**{escaped(form.question)}** {escaped(outcome_text(form, check_outcomes(judgments(), batch)))}")


def choices() -> PageChoices:
    """Draw the choices at the top of the page and return them."""
    batches = [batch.name for batch in list_batches(judgments()) if batch.task != "prefer"]
    names = [person.name for person in judgments().annotators()]
    batch: str | None = None
    people: list[str] = []
    row = st.columns([2, 2, 2, 2, 1.6], vertical_alignment="bottom")
    detector = row[0].selectbox(
        "Detector", detector_names(workspace()), key="detector", bind="query-params", accept_new_options=True
    )
    reference = row[1].selectbox("Scored against", REFERENCES, key="reference", bind="query-params")
    if batches or len(names) > 2:
        batch = row[2].selectbox(
            "Pairs of the batch", batches, index=None, key="batch", bind="query-params", placeholder="All pairs"
        )
        people = row[3].multiselect("Raters", names, key="raters", bind="query-params", placeholder="Everyone")
    with row[-1], options("How unsure and skipped pairs count, the period, simulated annotators, and the intervals."):
        unsure = st.selectbox("Count unsure as", UNSURE_RULES, key="unsure", bind="query-params")
        skipped = st.selectbox("Count skipped as", SKIPPED_RULES, key="skipped", bind="query-params")
        period = st.selectbox("Period over time", PERIODS, index=1, key="period", bind="query-params")
        demo = st.toggle("Include the simulated annotators of the demo", True, key="demo", bind="query-params")
        over_questions = st.toggle(
            "Resample whole questions for the intervals", False, key="over_questions", bind="query-params"
        )
    return PageChoices(
        detector or adopted_detector(workspace()),
        unsure or UNSURE_RULES[0],
        skipped or SKIPPED_RULES[0],
        reference or REFERENCES[0],
        period or "week",
        demo,
        over_questions,
        batch or "",
        tuple(people),
    )


def draw_together(agreement_report: AgreementReport) -> None:
    """Draw the agreement of all raters together and of each pair of raters."""
    parts, pairs = agreement_report.parts, agreement_report.parts["pairs"]
    st.subheader("All raters together", anchor=False)
    if parts["together"]["value"].notna().any():
        draw_chart("agreement-together", coefficients_chart(parts["together"]), parts["together"])
    draw_table(agreement_report, "together")
    st.subheader("Pairs of raters: Cohen's kappa with its 95% interval", anchor=False)
    shared_pairs = pairs[pairs["n"] > 0] if len(pairs) else pairs
    if not len(shared_pairs) or not shared_pairs["cohen_kappa"].notna().any():
        st.info("No two annotators have judged the same pairs yet.")
        return
    draw_chart("agreement-pairs", pairs_chart(shared_pairs), shared_pairs)
    with st.expander("As a table", icon=":material/table:"):
        st.dataframe(shared_pairs.rename(columns={"cohen_kappa": "kappa"}).round(3), hide_index=True)
        st.caption(NOTES["pairs"])
    if len(agreement_report.labels.raters) > 2:
        with st.expander("As a matrix", icon=":material/grid_on:"):
            draw_chart(
                "agreement-matrix",
                matrix_chart(shared_pairs, list(agreement_report.labels.raters)),
                shared_pairs,
                width="content",
            )


def draw_tabs(agreement_report: AgreementReport) -> None:
    """Draw a tab each for time, slices, guidelines and stances. A tab is computed when it is opened."""
    tabs = st.tabs([TITLES[name] for name in MORE], key="more", on_change="rerun", bind="query-params")
    for tab, name in zip(tabs, MORE, strict=True):
        if not tab.open:
            continue
        with tab:
            if not len(agreement_report.parts[name]):
                st.caption("No data yet.")
                continue
            if name == "time" and agreement_report.parts[name]["part"].nunique() > 1:
                draw_chart("agreement-time", time_chart(agreement_report.parts[name]), agreement_report.parts[name])
            draw_table(agreement_report, name)


def draw_anchoring(agreement_report: AgreementReport) -> None:
    """Draw the arms of anchoring experiments, if there are any."""
    if not len(agreement_report.parts["anchoring"]):
        return
    st.subheader("Does seeing the detector's label change judgments?", anchor=False)
    draw_chart(
        "agreement-anchoring", arms_chart(agreement_report.parts["anchoring"]), agreement_report.parts["anchoring"]
    )
    draw_table(agreement_report, "anchoring")


@st.cache_data(max_entries=20, show_spinner="Estimating how many judgments are left…")
def standing(version: int, name: str) -> str:
    """Return the progress of a batch that decides which of two runs is better, and update the order of its remaining
    pairs."""
    del version
    batch = load_batch(judgments(), name)
    deciding = deciding_batch(workspace(), judgments(), batch)
    renew_order(judgments(), batch, deciding)
    return str(deciding.standing())


def draw_decisions() -> None:
    """Draw the open batches that decide between two runs. Annotators do not see this, so that the leading run does not
    sway them."""
    open_ones = [batch.name for batch in list_batches(judgments()) if batch.is_open and decides(batch)]
    if not open_ones:
        return
    st.subheader("Which system is better", anchor=False)
    for name in open_ones:
        with errors_in_place():
            st.markdown(f"**{escaped(name)}**: {escaped(standing(judgments().version(), name))}")


def draw_chart(
    name: str,
    chart: alt.Chart | alt.LayerChart,
    frame: pd.DataFrame,
    *,
    width: Literal["stretch", "content"] = "stretch",
) -> None:
    """Draw a chart with the buttons that download it and its data."""
    st.altair_chart(chart, key=name, width=width, alt=name.replace("-", ": "))
    downloads(name, frame, chart)


def draw_table(agreement_report: AgreementReport, name: str) -> None:
    """Draw a table of the report with its note."""
    # Streamlit measures a column by its first rows, and the first row has no kappa.
    columns = {"kappa": st.column_config.TextColumn(width=170)}
    st.dataframe(shown(agreement_report.parts[name]), hide_index=True, key=f"part-{name}", column_config=columns)
    st.caption(NOTES[name])


def draw_disagreements(agreement_report: AgreementReport, checks: Batch | None) -> None:
    """Draw the confusion table of two raters and the pairs on which they disagree, or the items of a batch of `checks`."""
    shared = sorted(
        (p for p in agreement_report.agreement.pairs if p.n > 0),
        key=lambda p: (p.a.startswith(DETECTOR) or p.b.startswith(DETECTOR), -p.n),
    )
    if not shared:
        return
    by_names = {f"{p.a} and {p.b}": (p.a, p.b) for p in shared}
    a, b = by_names[selectbox_by_id("Two raters", list(by_names), "two", str, noun="pair of raters")]
    left, right = st.columns([2, 3])
    with left:
        counted = confusion(agreement_report.rows, a, b, agreement_report.labels.values)
        draw_chart("agreement-confusion", counts_as_colours(counted), counted.add_prefix(f"{b}: ").reset_index())
    two = agreement_report.labels.of_raters((a, b))
    both = (two.codes >= 0).all(axis=1)
    differ = both & (two.codes[:, 0] != two.codes[:, 1])
    keys = two.of_items(differ).items
    records = judgments().pair_records(keys[:_LISTED])
    verdicts = {key: [two.values[code] for code in codes] for key, codes in zip(keys, two.codes[differ], strict=True)}
    comments: dict[str, list[str]] = {}
    for pair, comment in _comments(keys[:_LISTED], checks):
        comments.setdefault(pair, []).append(comment)
    rows = [
        [*verdicts[key], *(getattr(r, name) for name in _TEXTS), " / ".join(comments.get(key, []))]
        for key, r in records.items()
    ]
    with right:
        st.markdown(f"{escaped(a)} and {escaped(b)} disagree on **{len(keys)} of {int(both.sum())} pairs**.")
        if len(keys) > _LISTED:
            st.caption(f"The first {_LISTED}:")
        # A rater's name may equal the name of another column.
        columns = [f"{a} says", f"{b} says", *_TEXTS, "comment"]
        st.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True)


def _comments(keys: Sequence[str], checks: Batch | None) -> list[tuple[str, str]]:
    """Return the comments on these pairs, each with its pair."""
    if checks is None:
        return [(judgment.pair, judgment.comment) for judgment in judgments().present(keys) if judgment.comment]
    frame = batch_frame(judgments(), checks)
    frame = frame[frame["pair"].isin(list(keys)) & frame["comment"].fillna("").astype(bool)]
    return list(zip(frame["pair"], frame["comment"], strict=True))


def draw_exports(agreement_report: AgreementReport, page_choices: PageChoices) -> None:
    """Draw the buttons for the files of what the page shows. A file is written when its button is pressed."""

    def people() -> pd.DataFrame:
        checks = _checks_of(page_choices)
        frame = judgments().frame() if checks is None else batch_frame(judgments(), checks).dropna(subset=["verdict"])
        if page_choices.people:
            frame = frame[frame["annotator"].isin(page_choices.people)]
        if (wanted := _pairs_of(page_choices)) is not None:
            frame = frame[frame["pair"].isin(wanted)]
        return frame if page_choices.demo or checks is not None else frame[~frame["demo"].astype(bool)]

    def fine_tuning_data() -> pd.DataFrame:
        return training_data(judgments().frame(), include_demo=False, adjudicated=adjudicated_labels(judgments()))

    pairs = agreement_report.parts["pairs"].rename(columns={"cohen_kappa": "kappa"})
    with st.container(horizontal=True):
        draw_buttons("AgreementReport", {"html": lambda: to_html(agreement_report)})
        draw_buttons("Judgments", {"csv": lambda: to_csv(people()), "parquet": lambda: to_parquet(people())})
        draw_buttons("Agreement", {"csv": lambda: to_csv(pairs), "parquet": lambda: to_parquet(pairs)})
        draw_buttons(
            "Methods", {"md": lambda: methods().markdown().encode(), "tex": lambda: methods().latex().encode()}
        )
    st.caption(
        "Methods: what a paper must state about its annotation and evaluation, from all judgments and runs of the workspace, "
        f"with labels from {escaped(default_source(workspace()))}. `berdseye report methods` takes other choices."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Table", TITLES, format_func=lambda name: TITLES[name], key="part", width=380)
        draw_buttons(
            chosen,
            {
                "csv": lambda: to_csv(agreement_report.parts[chosen]),
                "parquet": lambda: to_parquet(agreement_report.parts[chosen]),
                "tex": noting(
                    lambda: to_latex(agreement_report.parts[chosen], TITLES[chosen]).encode("utf-8"), "agreement table"
                ),
            },
        )
    st.caption(
        "Fine-tuning data: one row per judged pair, split by question so that no question is in two splits. An adjudicated label "
        "overrides the majority label, and simulated annotators do not vote."
    )
    with st.container(horizontal=True):
        draw_buttons(
            "Training data",
            {"jsonl": lambda: to_jsonl(fine_tuning_data()), "parquet": lambda: to_parquet(fine_tuning_data())},
        )


def methods() -> MethodsReport:
    """Return the methods report with the workspace's label source."""
    held, measures = workspace(), parse_measures(" ".join(DEFAULT_MEASURES))
    return methods_report(held, judgments(), parse_label_source(default_source(held)), measures)


def draw_buttons(name: str, contents: dict[str, Callable[[], bytes]]) -> None:
    """Draw a download button for each file format."""
    for ending, content in contents.items():
        download(f"{name}.{ending}", content, f"{name.lower().replace(' ', '_')}.{ending}", key=f"{name}-{ending}")


with errors_in_place():
    page()
