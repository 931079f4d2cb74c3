"""The trust study: how reliable is the order of systems? Separability, probability of a wrong order, judgments that would settle
the order, and flip margins."""

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.power import TTestPower

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.enough_judged import below, enough_judged, min_judged_of, withheld
from berdseye.evaluation.scores.unjudged import Unjudged, unjudged_of
from berdseye.evaluation.statistics.intervals import Estimate, mean_with_interval
from berdseye.evaluation.statistics.significance import Comparison, compare, withheld_difference
from berdseye.evaluation.studies.result import StudyResult, Table
from berdseye.evaluation.trust.flip_margin import FLIPPABLE, FlipMargin, flip_margin
from berdseye.evaluation.trust.judging_plan import RISK, follow, judging_plan, needed
from berdseye.evaluation.trust.labelled_lists import Described, LabelledLists, check_drawable, labelled_lists
from berdseye.evaluation.trust.wrong_order import wrong_order

POWER = 0.8
_LEVEL = 0.05
_SHOWN, _LISTED = 50, 40
_SOURCES = ("questions", "labels", "both")
Cells = list[dict[str, Any]]
_TABLES = {
    "separability": (
        "Separability",
        "Separable: p of the randomisation test over questions, with Holm's correction, is below 0.05. The interval is from the "
        "bootstrap; the number of questions for 80% power is for a paired t-test and this effect.",
    ),
    "wrong-order": (
        "Probability of a wrong order",
        "The probability that the other system is better, with ties counting half, under other questions, under labels drawn by "
        "their probabilities where they are not settled, or under both. Empty if both systems are equal.",
    ),
    "judgments": (
        "Judgments that would settle the order on these questions",
        "To settle: judging question by question, the most informative first, until the probability of a wrong order because of "
        f"labels is at most {RISK:g}; median and 80% interval over labels drawn by their probabilities, which are assumed to be "
        "calibrated and independent.",
    ),
    "flip-margins": (
        "Flip margin",
        "The smallest number of labels that must change for the other system to be ahead; empty if no change achieves that.",
    ),
}


def trust_study(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    detector: Detector,
    measure: Measure,
    *,
    draws: int = 1000,
    seed: int = 0,
    min_judged: float | None = None,
    unjudged: Unjudged | str | None = None,
    progress: Progress = silent,
) -> StudyResult:
    """Create tables of systems, of every pair of systems, and of the labels of each flip margin, and a chart of the
    probabilities.

    `detector` gives the probabilities of labels that `source` leaves open or takes from a detector. The measure is one of
    perspectives (MRecall, Precision, Coverage); flip margins exist for MRecall and Precision. Raises `BadInputError` for others.
    If less than a share `min_judged` of a system's pairs have labels, its mean and the differences from it are withheld; the
    probabilities of a wrong order are not, because they draw the missing labels. `unjudged` is the rule for questions without a
    label in a system's top k (None: the workspace's setting).
    """
    check_drawable(measure)
    floor = min_judged_of(workspace, min_judged)
    rule = unjudged_of(workspace, unjudged)
    described = labelled_lists(workspace, judgments, runs, source, detector, measure.k, progress=progress)
    described = replace(described, lists=replace(described.lists, unjudged=rule))
    lists = described.lists
    now = lists.values_now(measure)
    order = np.argsort(
        -np.nan_to_num(np.array([mean_with_interval(v).value for v in now]), nan=-1), kind="stable"
    ).tolist()
    drawn = lists.drawn(measure, draws, seed)
    judged = lists.judged(now)
    enough = [enough_judged(share, floor) for share in judged]
    version = detector.version
    stamp = {"labels": str(source), "detector_version": version, "judged": float((~np.isnan(lists.labels)).mean())}
    means = [withheld(mean_with_interval(now[s], bounds=measure.bounds), judged[s], floor) for s in range(len(now))]
    tests = {
        (c.a, c.b): (c, t.p)
        for c, t in zip(
            compare(
                {lists.systems[s]: now[s] for s in order}, test="randomisation", bounds=measure.differences, seed=seed
            ),
            compare({lists.systems[s]: now[s] for s in order}, test="t", seed=seed),
            strict=True,
        )
    }
    pairs: Cells = []
    flips: Cells = []
    count = len(order) * (len(order) - 1) // 2
    turned = 0
    for done, (first, second) in enumerate(combinations(order, 2), start=1):
        comparison, p_t = tests[lists.systems[first], lists.systems[second]]
        if comparison.difference < 0:  # over the questions for which both have a value, the other system leads
            first, second, turned = second, first, turned + 1
            comparison = comparison.reversed
        both = np.where(np.isnan(now[first] - now[second]), np.nan, now)
        together = [lists.judged(both)[system] for system in (first, second)]
        if not (enough[first] and enough[second] and all(enough_judged(share, floor) for share in together)):
            comparison, p_t = withheld_difference(comparison), np.nan
        margin = flip_margin(lists, measure, first, second) if measure.name in FLIPPABLE else None
        figures = _figures(described, measure, now, drawn, first, second, comparison, p_t, margin, seed)
        names = {"better": lists.systems[first], "worse": lists.systems[second]}
        pairs += [{**names, "n": comparison.n, **stamp, **figure} for figure in figures]
        if margin is not None and margin.changes:
            flips += [{**row, **stamp} for row in _listed(described, names, margin)]
        progress(done, "pairs of systems", count)
    tables = [
        Table("trust-systems", f"{measure} by system: {_setting(runs)}",
              _systems(lists.systems, means, judged, order, stamp, measure),
              ("system",), ("measure",), 3),
        *(
            Table(f"trust-{name}", f"{caption}, by {measure}, the better system first: {_setting(runs)}",
                  pd.DataFrame([row for row in pairs if row["table"] == name]).drop(columns="table"),
                  ("better", "worse"), ("figure",), 3, (note,))
            for name, (caption, note) in _TABLES.items()
            if any(row["table"] == name for row in pairs)
        ),
    ]  # fmt: skip
    if flips:
        tables.append(
            Table("trust-flips", "The labels of the flip margins, now and after the change",
                  pd.DataFrame(flips), ("better", "worse", "question", "perspective", "passage", "pair"), ("label",), 0)
        )  # fmt: skip
    charts = {"trust-wrong-order": _chart(pd.DataFrame(pairs))}
    notes = [*described.notes, *_notes(described, source, measure)]
    if not all(enough):
        hidden = ", ".join(name for name, shown in zip(lists.systems, enough, strict=True) if not shown)
        notes.append(f"The means of {hidden}, and differences from them, are withheld: {below(floor)}.")
    if turned:
        notes.append(
            f"{turned} pairs of systems have a different order over the questions for which both have a value; they are compared "
            "in that order."
        )
    settings = {
        "dataset": runs[0].manifest.dataset, "corpus": runs[0].manifest.corpus, "measure": str(measure), "labels": str(source),
        "detector": detector.name, "detector_version": version, "draws": draws, "seed": seed, "systems": list(lists.systems),
    }  # fmt: skip
    return StudyResult("trust", settings, tables, charts, tuple(notes)).scored_with(floor, rule)


def _figures(
    described: Described, measure: Measure, now: npt.NDArray[np.float64], drawn: npt.NDArray[np.float64], first: int,
    second: int, comparison: Comparison, p_t: float, margin: FlipMargin | None, seed: int,
) -> Cells:  # fmt: skip
    lists = described.lists
    chances = wrong_order(now, drawn, first, second, seed=seed)
    plan = judging_plan(lists, measure, drawn, first, second)
    more = needed(plan)
    cells: Cells = [
        _figure("separability", "difference", comparison.difference, low=comparison.low, high=comparison.high),
        _figure("separability", "p (t-test)", p_t),
        _figure("separability", "p (randomisation)", comparison.p),
        _figure("separability", "p (Holm)", comparison.adjusted),
        _figure("separability", "separable", float(comparison.significant)),
        _figure("separability", "questions for 80% power", _questions_for_power(now[first] - now[second])),
        *(_figure("wrong-order", name, value) for name, value in chances._asdict().items()),
        _figure("judgments", "to settle", more.median, low=more.low, high=more.high),
        _figure("judgments", "that matter", float(more.all)),
        _figure("judgments", "settled before all are made", more.settled),
    ]
    if margin is not None:
        free = flip_margin(lists, measure, first, second, changeable=~lists.settled)
        cells += [
            _figure("flip-margins", "any label", margin.size),
            _figure("flip-margins", "unsettled labels", free.size),
            _figure("flip-margins", "labels in all", float(_labels_of(lists, first, second))),
        ]
    return cells + _checked_on_gold(described, measure, drawn, first, second)


def _checked_on_gold(
    described: Described, measure: Measure, drawn: npt.NDArray[np.float64], first: int, second: int
) -> Cells:
    """Follow the stopping rule on gold labels, over the questions for which all pairs of both lists have a gold label."""
    lists = described.lists
    places = lists.places[[first, second]]
    known = ~np.isnan(np.append(described.gold, 0.0))[places].transpose(1, 0, 2, 3).reshape(len(lists.questions), -1)
    within = known.all(axis=1) & (lists.counts > 0)
    if not within.any() or np.isnan(described.gold).all():
        return []
    truth = lists.values(measure, described.gold == 1)
    difference = np.where(within, np.nan_to_num(truth[first] - truth[second]), 0.0)
    followed = follow(judging_plan(lists, measure, drawn, first, second, within=within), difference)
    right = followed.order == int(np.sign(np.round(difference.sum(), 9)))
    return [
        _figure("judgments", "questions with gold", float(within.sum())),
        _figure("judgments", "made, with gold labels", float(followed.judgments)),
        _figure("judgments", "order then right", float(right)),
    ]


def _figure(table: str, name: str, value: float | None, low: float = np.nan, high: float = np.nan) -> dict[str, Any]:
    return {"table": table, "figure": name, "value": value, "low": low, "high": high}


def _labels_of(lists: LabelledLists, first: int, second: int) -> int:
    numbers = np.unique(lists.places[[first, second]])
    return int((numbers >= 0).sum())


def _questions_for_power(differences: npt.NDArray[np.float64]) -> float | None:
    """Return the number of questions with which a paired t-test at the 5% level finds this effect with a power of 80%; None if
    there is no effect or no variation."""
    known = differences[~np.isnan(differences)]
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    if spread == 0 or abs(known.mean()) < 1e-12:
        return None
    size = abs(float(known.mean())) / spread
    questions = TTestPower().solve_power(effect_size=size, alpha=_LEVEL, power=POWER, alternative="two-sided")
    return float(np.ceil(np.max(questions)))


def _listed(described: Described, names: dict[str, str], margin: FlipMargin) -> Cells:
    rows: Cells = []
    for change in (margin.changes or ())[:_LISTED]:
        pair, question = described.pairs[change.label], described.questions[int(described.asked_of[change.label])]
        place = {
            "question": question.id,
            "perspective": textwrap.shorten(pair.perspective, _SHOWN, placeholder=" …"),
            "passage": textwrap.shorten(pair.passage, _SHOWN, placeholder=" …"),
            "pair": pair.key,
        }
        current = described.lists.labels[change.label]
        cells = {
            "now": None if np.isnan(current) else float(current),
            "changed": float(change.to),
            "settled": float(described.lists.settled[change.label]),
        }
        rows += [{**names, **place, "label": label, "value": value} for label, value in cells.items()]
    return rows


def _systems(
    names: tuple[str, ...], means: Sequence[Estimate], judged: Sequence[float], order: list[int], stamp: dict[str, Any],
    measure: Measure,
) -> pd.DataFrame:  # fmt: skip
    return pd.DataFrame(
        [
            {"system": names[s], "measure": str(measure), **means[s]._asdict(), **stamp, "judged": judged[s]}
            for s in order
        ]
    )


def _setting(runs: Sequence[Run]) -> str:
    return f"{runs[0].manifest.dataset} over {runs[0].manifest.corpus}"


def _notes(described: Described, source: LabelSource, measure: Measure) -> list[str]:
    lists = described.lists
    notes = [
        f"{int(lists.settled.sum()):,} of {len(lists.labels):,} labels in the top {measure.k} are settled (people's or gold "
        f"labels, by '{source}')."
    ]
    recurring = len(described.pairs) - len({p.key for p in described.pairs})
    if recurring:
        notes.append(f"{recurring} pairs occur in several questions; each is counted and drawn once per question.")
    if np.isnan(described.gold).any():
        notes.append("The stopping rule is checked only over questions whose pairs all have gold labels.")
    if measure.name not in FLIPPABLE:
        notes.append(f"Flip margins exist for {' and '.join(FLIPPABLE)}, not for {measure.name}.")
    notes.append(f"At most {_LISTED} labels of each flip margin are listed.")
    return notes


def _chart(pairs: pd.DataFrame) -> alt.Chart:
    shown = pairs[pairs["table"] == "wrong-order"].dropna(subset=["value"])
    shown = shown.assign(source=shown["figure"], pair=shown["better"] + " > " + shown["worse"])
    chart: alt.Chart = (
        alt.Chart(shown, title="Probability of a wrong order")
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X("value:Q", title="probability", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=400)),
            color=alt.Color("source:N", title="because of", sort=list(_SOURCES), legend=legend_below(_SOURCES)),
            tooltip=["pair:N", "source:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    return chart
