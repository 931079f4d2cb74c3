"""Agreement: how far people agree with each other and with the detector, where they do not, and the exports."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st

from berdseye.annotation.batches.stored import list_batches, load_batch
from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.components.charts import counts_as_colours
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.detector_line import detector_line
from berdseye.app.components.downloads import download, downloads
from berdseye.app.components.plain_text import escaped
from berdseye.data.files.tables import to_csv, to_jsonl, to_parquet
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import adopted_detector, detector_names
from berdseye.evaluation.agreement.against_people import REFERENCES, Reference
from berdseye.evaluation.agreement.alignment import SKIPPED_RULES, UNSURE_RULES, Rule, SkippedRule, UnsureRule
from berdseye.evaluation.agreement.anchoring import arms_chart
from berdseye.evaluation.agreement.charts import coefficients_chart, matrix_chart, pairs_chart, time_chart
from berdseye.evaluation.agreement.exports import NOTES, TITLES, shown, to_html, to_latex
from berdseye.evaluation.agreement.labels import DETECTOR, adjudicated, agreement_labels
from berdseye.evaluation.agreement.pairwise import confusion
from berdseye.evaluation.agreement.report import AgreementReport, Choices, report
from berdseye.evaluation.agreement.slices import PERIODS, Period
from berdseye.evaluation.selection.decision import decides, deciding_batch, renew_order

_TEXTS = ["question", "perspective", "title", "passage"]
_LISTED = 200
MORE = ("time", "slices", "guidelines", "stance", "detection_slices")


class Asked(NamedTuple):
    """What is chosen above the page."""

    detector: str
    unsure: UnsureRule
    skipped: SkippedRule
    reference: Reference
    period: Period
    demo: bool
    over_questions: bool


@st.cache_resource(max_entries=5, show_spinner="Reading the labels…")
def labels_of(version: int, detector: str, demo: bool) -> pd.DataFrame:
    """Everyone's labels, the detector's among them; `version` is that of the judgments. Read only: a copy for each rerun of
    100,000 rows would take longer than all the statistics."""
    del version
    return agreement_labels(workspace(), judgments(), parse_detector(detector, workspace()), demo=demo)


@st.cache_resource(max_entries=10, show_spinner="Computing agreement…")
def computed(version: int, asked: Asked) -> AgreementReport:
    """The report; its tables are made when they are looked at."""
    choices = Choices(
        Rule(asked.unsure, asked.skipped),
        period=asked.period,
        reference=asked.reference,
        over_questions=asked.over_questions,
    )
    return report(labels_of(version, asked.detector, asked.demo), choices, adjudicated(judgments()))


def page() -> None:
    """The whole page."""
    asked = choices()
    found = computed(judgments().version(), asked)
    if not len(found.labels.items):
        st.info("Nobody has judged anything yet. Begin on the Annotate page, or correct a label on Explore.")
        return
    st.caption(f"The detector: {detector_line(parse_detector(asked.detector, workspace()))}")
    st.caption(escaped(found.said))
    together(found)
    st.subheader("Detectors against people", anchor=False)
    st.caption(
        f"In percent; right is what {escaped(asked.reference)} says. The rows below are those that BERDS prints."
    )
    table(found, "detection")
    more(found)
    anchored(found)
    disagreements(found)
    st.subheader("Exports", anchor=False)
    exports(found, asked)
    decisions()


def choices() -> Asked:
    """The row of choices."""
    first, second = st.columns([2, 1, 1]), st.columns([2, 1, 1])
    detector = first[0].selectbox(
        "Detector", detector_names(workspace()), key="detector", bind="query-params", accept_new_options=True
    )
    unsure = first[1].selectbox("Unsure is", UNSURE_RULES, key="unsure", bind="query-params")
    skipped = first[2].selectbox("Skipped is", SKIPPED_RULES, key="skipped", bind="query-params")
    reference = second[1].selectbox("Scored against", REFERENCES, key="reference", bind="query-params")
    period = second[2].selectbox("Over time by", PERIODS, index=1, key="period", bind="query-params")
    with second[0]:
        demo = st.toggle("With the made-up annotators of the demo", True, key="demo", bind="query-params")
        over_questions = st.toggle("Intervals over whole questions", False, key="over_questions", bind="query-params")
    return Asked(
        detector or adopted_detector(workspace()),
        unsure or UNSURE_RULES[0],
        skipped or SKIPPED_RULES[0],
        reference or REFERENCES[0],
        period or "week",
        demo,
        over_questions,
    )


def together(found: AgreementReport) -> None:
    """Everyone together, and each two."""
    parts, pairs = found.parts, found.parts["pairs"]
    st.subheader("Everyone together", anchor=False)
    if parts["together"]["value"].notna().any():
        charted("agreement-together", coefficients_chart(parts["together"]), parts["together"])
    table(found, "together")
    st.subheader("Each two, Cohen's kappa with its 95% interval", anchor=False)
    known = pairs[pairs["n"] > 0] if len(pairs) else pairs
    if not len(known) or not known["cohen_kappa"].notna().any():
        st.info("No two annotators have judged the same pairs yet.")
        return
    charted("agreement-pairs", pairs_chart(known), known)
    with st.expander("As a table", icon=":material/table:"):
        st.dataframe(known.rename(columns={"cohen_kappa": "kappa"}).round(3), hide_index=True)
        st.caption(NOTES["pairs"])
    if len(found.labels.raters) > 2:
        with st.expander("As a matrix", icon=":material/grid_on:"):
            charted("agreement-matrix", matrix_chart(known, list(found.labels.raters)), known, width="content")


def more(found: AgreementReport) -> None:
    """Time, slices, guidelines and stances, each behind its tab and computed when that is opened."""
    tabs = st.tabs([TITLES[name] for name in MORE], key="more", on_change="rerun", bind="query-params")
    for tab, name in zip(tabs, MORE, strict=True):
        if not tab.open:
            continue
        with tab:
            if not len(found.parts[name]):
                st.caption("Nothing here yet.")
                continue
            if name == "time" and found.parts[name]["part"].nunique() > 1:
                charted("agreement-time", time_chart(found.parts[name]), found.parts[name])
            table(found, name)


def anchored(found: AgreementReport) -> None:
    """The arms of experiments, where there were any."""
    if not len(found.parts["anchoring"]):
        return
    st.subheader("Does seeing the detector's label change what people say?", anchor=False)
    charted("agreement-anchoring", arms_chart(found.parts["anchoring"]), found.parts["anchoring"])
    table(found, "anchoring")


@st.cache_data(max_entries=20, show_spinner="Foretelling how many judgments are left…")
def standing(version: int, name: str) -> str:
    """How far a batch is that settles which of two runs is better; what is left of it is put in order anew."""
    del version
    batch = load_batch(judgments(), name)
    known = deciding_batch(workspace(), judgments(), batch)
    renew_order(judgments(), batch, known)
    return str(known.standing())


def decisions() -> None:
    """The open batches that decide between two runs. Not shown where people judge: who is ahead is not to sway them."""
    open_ones = [batch.name for batch in list_batches(judgments()) if batch.is_open and decides(batch)]
    if not open_ones:
        return
    st.subheader("Which system is better", anchor=False)
    for name in open_ones:
        with errors_in_place():
            st.markdown(f"**{escaped(name)}**: {escaped(standing(judgments().version(), name))}")


def charted(
    name: str,
    chart: alt.Chart | alt.LayerChart,
    frame: pd.DataFrame,
    *,
    width: Literal["stretch", "content"] = "stretch",
) -> None:
    """A chart with the buttons that take it and its data away."""
    st.altair_chart(chart, key=name, width=width, alt=name.replace("-", ": "))
    downloads(name, frame, chart)


def table(found: AgreementReport, name: str) -> None:
    """A table of the report as people read it."""
    st.dataframe(shown(found.parts[name]), hide_index=True, key=f"part-{name}")
    st.caption(NOTES[name])


def disagreements(found: AgreementReport) -> None:
    """The confusion table of two annotators, and the pairs on which they disagree."""
    shared = sorted(
        (p for p in found.agreement.pairs if p.n > 0),
        key=lambda p: (p.a.startswith(DETECTOR) or p.b.startswith(DETECTOR), -p.n),
    )
    if not shared:
        return
    named = {f"{p.a} and {p.b}": (p.a, p.b) for p in shared}
    a, b = named[selectbox_by_id("Two annotators", list(named), "two", str)]
    left, right = st.columns([2, 3])
    with left:
        counted = confusion(found.rows, a, b, found.labels.values)
        charted("agreement-confusion", counts_as_colours(counted), counted.reset_index())
    two = found.labels.of_raters((a, b))
    both = (two.codes >= 0).all(axis=1)
    differ = both & (two.codes[:, 0] != two.codes[:, 1])
    keys = two.of_items(differ).items
    records = judgments().pair_records(keys[:_LISTED])
    said = {key: [two.values[code] for code in codes] for key, codes in zip(keys, two.codes[differ], strict=True)}
    comments: dict[str, list[str]] = {}
    for word in judgments().present(keys[:_LISTED]):
        if word.comment:
            comments.setdefault(word.pair, []).append(word.comment)
    rows = [
        [*said[key], *(getattr(r, name) for name in _TEXTS), " / ".join(comments.get(key, []))]
        for key, r in records.items()
    ]
    with right:
        st.markdown(f"**{len(keys)} of {int(both.sum())} pairs are disagreed** by {escaped(a)} and {escaped(b)}")
        if len(keys) > _LISTED:
            st.caption(f"The first {_LISTED} of them:")
        # Somebody may be called as another column is.
        columns = [f"{a} says", f"{b} says", *_TEXTS, "comment"]
        st.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True)


def exports(found: AgreementReport, asked: Asked) -> None:
    """Files of what the page shows; each is made when its button is pressed."""

    def people() -> pd.DataFrame:
        frame = judgments().frame()
        return frame if asked.demo else frame[~frame["demo"].astype(bool)]

    def learned() -> pd.DataFrame:
        return training_data(judgments().frame(), include_demo=False, adjudicated=adjudicated_labels(judgments()))

    pairs = found.parts["pairs"].rename(columns={"cohen_kappa": "kappa"})
    with st.container(horizontal=True):
        files("AgreementReport", {"html": lambda: to_html(found)})
        files("Judgments", {"csv": lambda: to_csv(people()), "parquet": lambda: to_parquet(people())})
        files("Agreement", {"csv": lambda: to_csv(pairs), "parquet": lambda: to_parquet(pairs)})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Table", TITLES, format_func=lambda name: TITLES[name], key="part", width=380)
        files(
            chosen,
            {
                "csv": lambda: to_csv(found.parts[chosen]),
                "parquet": lambda: to_parquet(found.parts[chosen]),
                "tex": lambda: to_latex(found.parts[chosen], TITLES[chosen]).encode("utf-8"),
            },
        )
    st.caption(
        "Fine-tuning data: one row a judged pair, split by question so that no question stands in two splits; an adjudicator's "
        "word comes before the majority's, and made-up annotators have none."
    )
    with st.container(horizontal=True):
        files("Training data", {"jsonl": lambda: to_jsonl(learned()), "parquet": lambda: to_parquet(learned())})


def files(name: str, contents: dict[str, Callable[[], bytes]]) -> None:
    """A button for each ending."""
    for ending, content in contents.items():
        download(f"{name}.{ending}", content, f"{name.lower().replace(' ', '_')}.{ending}", key=f"{name}-{ending}")


with errors_in_place():
    page()
