"""The Compare page: compares two runs question by question, lists the perspectives that one loses against the other, and shows
how passages move between their rankings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.cached.overview import telling_run
from berdseye.app.cached.runs import labelled, pool, pool_runs, state
from berdseye.app.components.choices import chosen_run, chosen_source, chosen_version, one_of, options, topic_note
from berdseye.app.components.counting_rule import questions_that_count
from berdseye.app.components.downloads import downloads
from berdseye.app.components.missing import is_missing
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.two_lists import ListOf, two_lists
from berdseye.data.runs.stored import RunManifest, list_runs, load_run
from berdseye.data.texts.counts import counted
from berdseye.evaluation.failures.contrast import (
    LOSS,
    NO_VALUE,
    ONLY_FIRST,
    ONLY_SECOND,
    OUTCOMES,
    TIE,
    WIN,
    Contrast,
    contrast,
    contrast_table,
)
from berdseye.evaluation.failures.contrast_charts import difference_bars
from berdseye.evaluation.labels.sources import HUMAN
from berdseye.evaluation.measures import WHOLE_RUN, parse_measure, parse_measures
from berdseye.evaluation.measures.shown import FACTORS, scaled, shown
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.scores.unjudged import unjudged_of
from berdseye.evaluation.statistics.significance import CORRECTIONS, TESTS, Test

MEASURES = "MRecall@5 Precision@5 Coverage@5"
QUESTIONS, LOST, GAINED = LISTS = ("Questions", "Lost by B", "Gained by B")
OUTCOME_NAMES = {
    WIN: "B wins",
    LOSS: "B loses",
    TIE: "tie",
    NO_VALUE: "no value",
    ONLY_FIRST: "only in A",
    ONLY_SECOND: "only in B",
}


@dataclass(frozen=True)
class Side:
    """One side of the comparison: a run, the label source and the version of the data set it is scored with."""

    letter: str
    run: RunManifest
    source: str
    version: str

    @property
    def depth(self) -> int:
        return self.run.k

    def distinguishing_name(self, other: "Side") -> str:
        """Name this side by the choices in which it differs from the other side."""
        names = ("run.dataset", "run.corpus", "run.pipeline", "version", "source")
        own = (*(getattr(self.run, n.partition(".")[2]) for n in names[:3]), self.version, self.source)
        others = (*(getattr(other.run, n.partition(".")[2]) for n in names[:3]), other.version, other.source)
        differing = list(dict.fromkeys(a for a, b in zip(own, others, strict=True) if a != b))
        return f"{self.letter}: {' · '.join(differing) or self.run.pipeline}"


def counterpart(run: RunManifest, runs: list[RunManifest]) -> RunManifest:
    """Return the run that a person most likely compares this one with. Runs of the same data set come first, then runs over the
    same corpus, then a pipeline that extends this one with further stages, then one that ends with this pipeline."""
    others = [r for r in runs if r.name != run.name]

    def nearness(other: RunManifest) -> tuple[bool, ...]:
        same = (other.dataset == run.dataset, other.corpus == run.corpus)
        return (
            same[0],
            same[1],
            other.pipeline.startswith(f"{run.pipeline} >> "),
            other.pipeline.endswith(run.pipeline),
        )

    return max(others, key=nearness, default=run)


def chosen_side(
    letter: str,
    runs: list[RunManifest],
    row: Sequence[DeltaGenerator],
    more: DeltaGenerator,
    against: Side | None = None,
) -> Side:
    """Draw the widgets of one side and return the side: the run and the labels in two places of `row`, the version in `more`.
    `against` is the other side, which sets the defaults."""
    key = letter.lower()
    with row[0]:
        run = chosen_run(runs, letter, key, counterpart(against.run, runs).name if against else telling_run())
    with row[1]:
        source = chosen_source(
            workspace(), f"labels_{key}", f"Labels of {letter} from", against.source if against else ""
        )
    with more:
        version = chosen_version(workspace(), run, f"version_{key}", f"Version of {letter}")
    return Side(letter, run, source, version)


@st.cache_resource(max_entries=8, show_spinner="Comparing…")
def _contrasts(key: tuple[object, ...], _sides: tuple[Side, Side], measures: str, test: Test) -> list[Contrast]:
    del key  # the cache key: everything that the values depend on
    first, second = (labelled(s.run, s.source, s.version) for s in _sides)
    parsed = parse_measures(measures)
    one, other = (pool(s.run, s.source, s.version, labels=any(m.pooled for m in parsed)) for s in _sides)
    pools = None
    if one.qrels is not None and other.qrels is not None:
        pools = (
            one.qrels.support(load_run(workspace(), _sides[0].run.name).ids),
            other.qrels.support(load_run(workspace(), _sides[1].run.name).ids),
        )
    rule, floor = unjudged_of(workspace()), min_judged_of(workspace())
    counted = (replace(one.counted, unjudged=rule), replace(other.counted, unjudged=rule))
    return [
        contrast(first, second, m, counted, pools=pools if m.pooled else None, min_judged=floor, test=test)
        for m in parsed
    ]


@st.cache_resource(max_entries=8, show_spinner=False)
def _table(
    key: tuple[object, ...], _sides: tuple[Side, Side], measures: str, test: Test, correction: str
) -> pd.DataFrame:
    return contrast_table(_contrasts(key, _sides, measures, test), correction)


def contrasts_of(
    first: Side, second: Side, measures: str, test: Test, correction: str
) -> tuple[list[Contrast], pd.DataFrame]:
    """Compare both sides by each measure, and return the contrasts and their table. Both are cached: do not modify them."""
    key = tuple(
        (s.run.name, s.source, s.version, state(s.run, s.source, s.version), pool_runs(s.run)) for s in (first, second)
    )
    canonical_measures = " ".join(map(str, parse_measures(measures)))
    return _contrasts(key, (first, second), canonical_measures, test), _table(
        key, (first, second), canonical_measures, test, correction
    )


def draw_warnings(first: Side, second: Side, contrast_shown: Contrast) -> None:
    """Warn of everything that limits how the numbers can be read."""
    if (first.run, first.source, first.version) == (second.run, second.source, second.version):
        st.info("Both sides are identical. Choose another run, label source or version for one of them.")
    if first.source != second.source:
        st.warning("The labels of A and B come from different sources, so a difference may be due to the labels alone.")
    questions = contrast_shown.questions
    shared = ~questions["outcome"].isin([ONLY_FIRST, ONLY_SECOND])
    if not shared.any():
        st.warning("The two runs have no question in common. Choose runs of one data set.")
    for outcome, letter in ((ONLY_FIRST, "A"), (ONLY_SECOND, "B")):
        _missing(
            questions[questions["outcome"] == outcome], f"only in {letter}, so without a difference and not counted"
        )
    if contrast_shown.withheld:
        shares = " and ".join(f"{shown(s)} of {letter}" for s, letter in zip(contrast_shown.judged, "AB", strict=True))
        st.warning(
            f"No value of {contrast_shown.measure}: {contrast_shown.withheld} ({shares}). Choose another label source, judge "
            "more pairs, or lower the least judged share (`min_judged`) on the page Workspace."
        )
    else:
        why = "not counted: in one of the runs they have no perspective, or the label source has no label"
        _missing(questions[questions["outcome"] == NO_VALUE], why)
    for side in (first, second):
        if side.depth < contrast_shown.k < WHOLE_RUN:
            st.warning(
                f"{side.letter} has {side.depth} passages per question, fewer than {contrast_shown.measure} needs."
            )


def _missing(questions: pd.DataFrame, why: str) -> None:
    if len(questions):
        with st.expander(f"{counted(len(questions), 'question')} {why}"):
            st.dataframe(questions[["question_id", "question"]], hide_index=True)


def figures(table: pd.DataFrame, names: tuple[str, str], note: str) -> None:
    """Draw the table of the measures of both sides with intervals and p-values, and a note on the labels."""
    units = [parse_measure(str(name)).unit for name in table["measure"]]
    factors = [FACTORS[unit] for unit in units]
    frame = pd.DataFrame(
        {
            "measure": table["measure"],
            "A": table["first"] * factors,
            "B": table["second"] * factors,
            "B − A": table["difference"] * factors,
            "95% interval": [
                ""
                if np.isnan(low)
                else f"{shown(low, unit, signed=True, bare=True)} to {shown(high, unit, signed=True, bare=True)}"
                for low, high, unit in zip(table["low"], table["high"], units, strict=True)
            ],
            "p": table["p"],
            "adjusted p": table["adjusted p"],
            "B wins": table["wins"],
            "B loses": table["losses"],
            "ties": table["ties"],
            "n": table["n"],
            "judged@k A": 100 * table["judged first"],
            "judged@k B": 100 * table["judged second"],
        }
    )
    columns = {
        "measure": st.column_config.TextColumn(pinned=True),
        **{name: st.column_config.NumberColumn(format="%.1f") for name in ("A", "B", "judged@k A", "judged@k B")},
        "B − A": st.column_config.NumberColumn(format="%+.1f"),
        **{name: st.column_config.NumberColumn(format="%.4f") for name in ("p", "adjusted p")},
    }
    st.dataframe(frame, hide_index=True, key="figures", column_config=columns, placeholder="–")
    in_passages = [str(name) for name, unit in zip(table["measure"], units, strict=True) if unit == "passages"]
    passages = f" {escaped(', '.join(in_passages))}: passages." if in_passages else ""
    st.caption(
        f"Percent; differences in points.{passages} {questions_that_count(workspace())} Pairs without a label count as not "
        f"supporting.{note}"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escaped(verdict(table, names)))
        downloads("compared", table)


def verdict(table: pd.DataFrame, names: tuple[str, str]) -> str:
    """State which measures differ significantly, and whether an interval of one of them includes 0 nevertheless."""
    known = table[table["adjusted p"].notna()]
    if known.empty:
        return "Too few questions have a value on both sides to compare them."
    clear = known[known["adjusted p"] < 0.05]
    if clear.empty:
        return f"No difference between {names[0]} and {names[1]} is significant (adjusted p ≥ 0.05)."
    changes = (f"{row['measure']} {'higher' if row['difference'] > 0 else 'lower'}" for _, row in clear.iterrows())
    found = f"Significant differences (adjusted p < 0.05) of {names[1]} against {names[0]}: {', '.join(changes)}."
    if not ((clear["low"] <= 0) & (clear["high"] >= 0)).any():
        return found
    return (
        f"{found} An interval does not follow from the test: with few questions it is wider, and here one includes 0. Read the "
        "difference with caution."
    )


def chosen_question(contrast_shown: Contrast) -> str | None:
    """Draw the list of questions or of perspectives, and return the id of the question chosen in it or named in the
    address."""
    kind = one_of("List", LISTS, key="list", default=QUESTIONS)
    if kind == QUESTIONS:
        present = [OUTCOME_NAMES[o] for o in OUTCOMES if contrast_shown.count(o)]
        outcomes = st.pills("Outcome", present, selection_mode="multi", key="outcome", bind="query-params")
        frame = contrast_shown.questions.assign(outcome=contrast_shown.questions["outcome"].map(OUTCOME_NAMES))
        frame = frame[frame["outcome"].isin(outcomes)] if outcomes else frame
        listed = frame[["question_id", "question", "first", "second", "difference", "outcome"]].assign(
            lost=frame["lost"].map(len), gained=frame["gained"].map(len)
        )
        listed = listed.rename(columns={"first": "A", "second": "B", "difference": "B − A"})
    else:
        change = "lost" if kind == LOST else "gained"
        frame = contrast_shown.perspectives[contrast_shown.perspectives["change"] == change]
        covered_by = "A covers and B does not" if change == "lost" else "B covers and A does not"
        st.caption(
            f"{counted(len(frame), 'perspective')} that {covered_by} within {contrast_shown.k}, of the questions in both runs."
        )
        listed = frame[["question_id", "question", "place", "perspective", "stance", "first", "second"]].rename(
            columns={"place": "P", "first": "rank in A", "second": "rank in B"}
        )
    if listed.empty:
        st.info("There are none.")
        return st.query_params.get("question")
    question_id = st.query_params.get("question")
    at = np.flatnonzero(listed["question_id"].to_numpy() == question_id)[:1].tolist()
    figures_of = [name for name in ("A", "B", "B − A") if name in listed]
    event = st.dataframe(
        scaled(listed, figures_of, contrast_shown.measure.unit),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": at}},
        key=f"listed-{kind}-{len(listed)}-{listed['question_id'].iloc[0]}",
        height=min(320, 38 + 36 * len(listed)),
        column_config={
            "question_id": None,
            "question": st.column_config.TextColumn(width=300),
            "perspective": st.column_config.TextColumn(width=300),
            "P": st.column_config.NumberColumn(width=40),
            **{name: st.column_config.NumberColumn(format="%.1f", width=70) for name in ("A", "B")},
            "B − A": st.column_config.NumberColumn(format="%+.1f", width=70),
            **{name: st.column_config.NumberColumn(width=70) for name in ("lost", "gained")},
        },
    )
    downloads(f"{kind.lower().replace(' ', '-')}", listed)
    rows = event.selection.rows
    if rows and rows[0] < len(listed):
        question_id = str(listed["question_id"].iloc[rows[0]])
        st.query_params["question"] = question_id
    return question_id


def read(first: Side, second: Side, contrast_shown: Contrast, question: str) -> None:
    """Draw one question with the rankings of both sides."""
    rows = contrast_shown.questions[contrast_shown.questions["question_id"] == question]
    if rows.empty:
        st.warning("Neither side has the question that the address names.")
        return
    row = rows.iloc[0]
    st.subheader(escaped(str(row["question"])), anchor=False)
    places = (int(row["row_first"]), int(row["row_second"]))
    if min(places) < 0:
        st.info(f"This question is {OUTCOME_NAMES[str(row['outcome'])]}, so there is nothing to compare it with.")
        return
    one, other = (
        ListOf(s.letter, s.version, s.run.corpus, s.run.pipeline, s.source, labelled(s.run, s.source, s.version), place)
        for s, place in zip((first, second), places, strict=True)
    )
    unit = contrast_shown.measure.unit
    values = f"{contrast_shown.measure}: A {shown(row['first'], unit)}, B {shown(row['second'], unit)}"
    st.markdown(
        escaped(values if row["outcome"] != NO_VALUE else f"{contrast_shown.measure} has no value in one of them")
    )
    two_lists(workspace(), one, other, min(contrast_shown.k, max(s.depth for s in (first, second))))


def page() -> None:
    """Draw the page."""
    if is_missing("run", also="Run two pipelines, then compare them here."):
        return
    runs = list_runs(workspace())
    row = st.columns([3.2, 2.2, 3.2, 2.2, 2.1], vertical_alignment="bottom")
    with row[-1]:
        more = options("The measures, the paired test, its correction, and versions of the data set.")
    first = chosen_side("A", runs, row[:2], more)
    second = chosen_side("B", runs, row[2:], more, first)
    with more:
        measures = st.text_input("Measures", MEASURES, key="measures", bind="query-params") or MEASURES
        test = st.selectbox("Paired test", TESTS, key="test", bind="query-params")
        correction = st.selectbox("Correction", CORRECTIONS, key="correction", bind="query-params")
    contrasts, table = contrasts_of(first, second, measures, test or TESTS[0], correction or "holm")
    names = (first.distinguishing_name(second), second.distinguishing_name(first))
    figures(table, names, topic_note(workspace(), first.source, second.source))
    by_name = {str(c.measure): c for c in contrasts}
    contrast_shown = by_name[one_of("Question by question, by", by_name, key="by")]
    draw_warnings(first, second, contrast_shown)
    if HUMAN in (first.source, second.source) and not all(contrast_shown.judged):
        st.warning("Nobody has judged a pair in the top k of one side. Choose a detector, or human>embedded.")
    chart = difference_bars(contrast_shown.questions, contrast_shown.measure, ("A", "B"))
    if contrast_shown.questions["difference"].notna().any():
        st.altair_chart(
            chart,
            width="content",
            key="differences",
            alt=f"Questions by their difference in {contrast_shown.measure}, B minus A",
        )
        downloads("differences", contrast_shown.questions.drop(columns=["row_first", "row_second"]), chart)
    question = chosen_question(contrast_shown)
    if question is None:
        st.caption(
            "Choose a question in the list to read both rankings for it (with the keyboard: arrow keys, then Shift+Space)."
        )
        return
    read(first, second, contrast_shown, question)


with errors_in_place():
    page()
