"""Compare: two runs question by question, what one of them loses, and how passages move between their lists."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.cached.runs import labelled, pool, pool_runs, state
from berdseye.app.components.choices import chosen_run, chosen_source, chosen_version, one_of
from berdseye.app.components.downloads import downloads
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.two_lists import ListOf, two_lists
from berdseye.data.runs.stored import RunManifest, list_runs, load_run
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
from berdseye.evaluation.measures import WHOLE_RUN, parse_measures
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.statistics.significance import CORRECTIONS, TESTS, Test

MEASURES = "MRecall@5 Precision@5 Coverage@5"
QUESTIONS, LOST, GAINED = LISTS = ("Questions", "Lost by B", "Gained by B")
SAID = {
    WIN: "B wins",
    LOSS: "B loses",
    TIE: "tie",
    NO_VALUE: "no value",
    ONLY_FIRST: "only in A",
    ONLY_SECOND: "only in B",
}


@dataclass(frozen=True)
class Side:
    """What stands on one side."""

    letter: str
    run: RunManifest
    source: str
    version: str

    @property
    def depth(self) -> int:
        return self.run.k

    def told_apart(self, other: "Side") -> str:
        """What it is, by what differs from the other side."""
        names = ("run.dataset", "run.corpus", "run.pipeline", "version", "source")
        mine = (*(getattr(self.run, n.partition(".")[2]) for n in names[:3]), self.version, self.source)
        theirs = (*(getattr(other.run, n.partition(".")[2]) for n in names[:3]), other.version, other.source)
        said = list(dict.fromkeys(a for a, b in zip(mine, theirs, strict=True) if a != b))
        return f"{self.letter}: {' · '.join(said) or self.run.pipeline}"


def counterpart(run: RunManifest, runs: list[RunManifest]) -> RunManifest:
    """What a run is likely compared with: the same pipeline with more behind it, else another over the same corpus, else any
    run of the data set."""
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


def chosen_side(letter: str, runs: list[RunManifest], against: Side | None = None) -> Side:
    """One side's widgets, in a line."""
    key = letter.lower()
    columns = st.columns([5, 3, 2])
    with columns[0]:
        run = chosen_run(runs, letter, key, counterpart(against.run, runs).name if against else "")
    with columns[1]:
        source = chosen_source(
            workspace(), f"labels_{key}", f"Labels of {letter} from", against.source if against else ""
        )
    with columns[2]:
        version = chosen_version(workspace(), run, f"version_{key}", f"Version of {letter}")
    return Side(letter, run, source, version)


@st.cache_resource(max_entries=8, show_spinner="Comparing…")
def _contrasts(key: tuple[object, ...], _sides: tuple[Side, Side], measures: str, test: Test) -> list[Contrast]:
    del key  # all that the values depend on
    first, second = (labelled(s.run, s.source, s.version) for s in _sides)
    parsed = parse_measures(measures)
    one, other = (pool(s.run, s.source, s.version, labels=any(m.pooled for m in parsed)) for s in _sides)
    pools = None
    if one.qrels is not None and other.qrels is not None:
        pools = (
            one.qrels.support(load_run(workspace(), _sides[0].run.name).ids),
            other.qrels.support(load_run(workspace(), _sides[1].run.name).ids),
        )
    counted, floor = (one.counted, other.counted), min_judged_of(workspace())
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
    """Both sides compared by each measure, and the table of all; nobody changes what is given."""
    key = tuple(
        (s.run.name, s.source, s.version, state(s.run, s.source, s.version), pool_runs(s.run)) for s in (first, second)
    )
    asked = " ".join(map(str, parse_measures(measures)))
    return _contrasts(key, (first, second), asked, test), _table(key, (first, second), asked, test, correction)


def say_what_hinders(first: Side, second: Side, held: Contrast) -> None:
    """What keeps the numbers from meaning what they seem to."""
    if (first.run, first.source, first.version) == (second.run, second.source, second.version):
        st.info("Both sides are the same. Choose another run, label source or version for one of them.")
    if first.source != second.source:
        st.warning("The labels of A and B come from different sources: a difference may be the labels' alone.")
    questions = held.questions
    shared = ~questions["outcome"].isin([ONLY_FIRST, ONLY_SECOND])
    if not shared.any():
        st.warning("The two have no question in common. Choose runs of one data set.")
    for outcome, letter in ((ONLY_FIRST, "A"), (ONLY_SECOND, "B")):
        _missing(questions[questions["outcome"] == outcome], f"only in {letter}: no difference, and counted nowhere")
    if held.withheld:
        shares = " and ".join(f"{s:.0%} of {letter}" for s, letter in zip(held.judged, "AB", strict=True))
        st.warning(
            f"No value by {held.measure}: {held.withheld} ({shares}). Choose another label source, judge more, or lower "
            "`min_judged` under [measures] of berdseye.toml."
        )
    else:
        why = "do not count for one of them (no perspective, or no passage of any run has a label), and count nowhere"
        _missing(questions[questions["outcome"] == NO_VALUE], why)
    for side in (first, second):
        if side.depth < held.k < WHOLE_RUN:
            st.warning(f"{side.letter} has {side.depth} passages a question; {held.measure} looks deeper.")


def _missing(questions: pd.DataFrame, why: str) -> None:
    if len(questions):
        with st.expander(f"{len(questions):,} question{'s' if len(questions) > 1 else ''} {why}"):
            st.dataframe(questions[["question_id", "question"]], hide_index=True)


def figures(table: pd.DataFrame, names: tuple[str, str]) -> None:
    """The measures of both with what is chance, as a table."""
    shown = pd.DataFrame(
        {
            "measure": table["measure"],
            "A": table["first"],
            "B": table["second"],
            "B − A": table["difference"],
            "95% interval": [
                "" if np.isnan(low) else f"{low:+.3f} to {high:+.3f}"
                for low, high in zip(table["low"], table["high"], strict=True)
            ],
            "p": table["p"],
            "adjusted p": table["adjusted p"],
            "B wins": table["wins"],
            "B loses": table["losses"],
            "ties": table["ties"],
            "n": table["n"],
            "judged@k A": table["judged first"],
            "judged@k B": table["judged second"],
        }
    )
    number = {name: st.column_config.NumberColumn(format="%.3f") for name in ("A", "B")}
    told = {
        "measure": st.column_config.TextColumn(pinned=True),
        **number,
        "B − A": st.column_config.NumberColumn(format="%+.3f"),
        **{name: st.column_config.NumberColumn(format="%.4f") for name in ("p", "adjusted p")},
        **{name: st.column_config.NumberColumn(format="percent") for name in ("judged@k A", "judged@k B")},
    }
    st.dataframe(shown, hide_index=True, key="figures", column_config=told)
    st.caption(
        "A question counts for both where the labels know something of it: where a passage of any run has a label. "
        "Pairs without one count as not supporting."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escaped(verdict(table, names)))
        downloads("compared", table)


def verdict(table: pd.DataFrame, names: tuple[str, str]) -> str:
    """Which measures differ beyond chance, in a sentence."""
    known = table[table["adjusted p"].notna()]
    if known.empty:
        return "Too few questions have a value for both: nothing can be said."
    clear = known[known["adjusted p"] < 0.05]
    if clear.empty:
        return f"No difference between {names[0]} and {names[1]} is beyond chance (adjusted p at least 0.05)."
    said = (f"{row['measure']} {'higher' if row['difference'] > 0 else 'lower'}" for _, row in clear.iterrows())
    return f"Beyond chance, {names[1]} against {names[0]}: {', '.join(said)}."


def chosen_question(held: Contrast) -> str | None:
    """The lists of questions and of perspectives; the id of the question that is chosen in them, or in the address."""
    kind = one_of("List", LISTS, key="list", default=QUESTIONS)
    if kind == QUESTIONS:
        present = [SAID[o] for o in OUTCOMES if held.count(o)]
        outcomes = st.pills("Outcome", present, selection_mode="multi", key="outcome", bind="query-params")
        frame = held.questions.assign(outcome=held.questions["outcome"].map(SAID))
        frame = frame[frame["outcome"].isin(outcomes)] if outcomes else frame
        shown = frame[["question_id", "question", "first", "second", "difference", "outcome"]].assign(
            lost=frame["lost"].map(len), gained=frame["gained"].map(len)
        )
        shown = shown.rename(columns={"first": "A", "second": "B", "difference": "B − A"})
    else:
        change = "lost" if kind == LOST else "gained"
        frame = held.perspectives[held.perspectives["change"] == change]
        whose = "A covers and B does not" if change == "lost" else "B covers and A does not"
        st.caption(f"{len(frame):,} perspectives that {whose} within {held.k}, of the questions that both have.")
        shown = frame[["question_id", "question", "place", "perspective", "stance", "first", "second"]].rename(
            columns={"place": "P", "first": "rank in A", "second": "rank in B"}
        )
    if shown.empty:
        st.info("There is none.")
        return st.query_params.get("question")
    asked = st.query_params.get("question")
    at = np.flatnonzero(shown["question_id"].to_numpy() == asked)[:1].tolist()
    event = st.dataframe(
        shown,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": at}},
        key=f"listed-{kind}-{len(shown)}-{shown['question_id'].iloc[0]}",
        height=min(320, 38 + 36 * len(shown)),
        column_config={
            "question_id": None,
            "question": st.column_config.TextColumn(width=300),
            "perspective": st.column_config.TextColumn(width=300),
            "P": st.column_config.NumberColumn(width=40),
            **{name: st.column_config.NumberColumn(format="%.3g", width=70) for name in ("A", "B", "B − A")},
            **{name: st.column_config.NumberColumn(width=70) for name in ("lost", "gained")},
        },
    )
    downloads(f"{kind.lower().replace(' ', '-')}", shown)
    rows = event.selection.rows
    if rows and rows[0] < len(shown):
        asked = str(shown["question_id"].iloc[rows[0]])
        st.query_params["question"] = asked
    return asked


def read(first: Side, second: Side, held: Contrast, question: str) -> None:
    """One question of both sides."""
    found = held.questions[held.questions["question_id"] == question]
    if found.empty:
        st.warning("Neither side has the question of this address.")
        return
    row = found.iloc[0]
    st.subheader(escaped(str(row["question"])), anchor=False)
    places = (int(row["row_first"]), int(row["row_second"]))
    if min(places) < 0:
        st.info(f"The question is {SAID[str(row['outcome'])]}: there is nothing to compare it with.")
        return
    one, other = (
        ListOf(s.letter, s.version, s.run.corpus, s.run.pipeline, labelled(s.run, s.source, s.version), place)
        for s, place in zip((first, second), places, strict=True)
    )
    told = f"{held.measure}: A {row['first']:.3g}, B {row['second']:.3g}"
    st.markdown(escaped(told if row["outcome"] != NO_VALUE else f"{held.measure} has no value in one of them"))
    two_lists(workspace(), one, other, min(held.k, max(s.depth for s in (first, second))))


def page() -> None:
    """The whole page."""
    runs = list_runs(workspace())
    if not runs:
        st.info("There is no run yet. Run a pipeline on the Runs page, then another, and compare them here.")
        return
    first = chosen_side("A", runs)
    second = chosen_side("B", runs, first)
    columns = st.columns([5, 3, 2])
    measures = columns[0].text_input("Measures", MEASURES, key="measures", bind="query-params") or MEASURES
    test = columns[1].selectbox(
        "Paired test", TESTS, index=TESTS.index("randomisation"), key="test", bind="query-params"
    )
    correction = columns[2].selectbox("Correction", CORRECTIONS, key="correction", bind="query-params")
    contrasts, table = contrasts_of(first, second, measures, test or "randomisation", correction or "holm")
    names = (first.told_apart(second), second.told_apart(first))
    figures(table, names)
    by_name = {str(c.measure): c for c in contrasts}
    held = by_name[one_of("Question by question, by", by_name, key="by")]
    say_what_hinders(first, second, held)
    if HUMAN in (first.source, second.source) and not all(held.judged):
        st.warning("People judged nothing of the top k of one side. Choose a detector, or human>embedded.")
    chart = difference_bars(held.questions, str(held.measure), ("A", "B"))
    if held.questions["difference"].notna().any():
        st.altair_chart(chart, key="differences", alt=f"Questions by their difference in {held.measure}, B minus A")
        downloads("differences", held.questions.drop(columns=["row_first", "row_second"]), chart)
    question = chosen_question(held)
    if question is None:
        st.caption("Choose a question of the list to read what both rank for it (by keys: arrows, then Shift+Space).")
        return
    read(first, second, held, question)


with errors_in_place():
    page()
