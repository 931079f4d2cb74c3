"""Simulation of decision batches on gold labels: how many judgments settle which of two systems is better, and how often wrongly.

The draws and the rule for stopping are those of `berdseye batch create --decide`: what the measure needs as a whole is drawn with
known probabilities, and the order is settled when bets on the draws have shown it at 5%, at any look, whatever the detector says
(`evaluation.selection.sampled_decision`). The rule is applied after every draw.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.batches.draws import unit_weights
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import Run
from berdseye.data.statistics import bootstrap_interval
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import version_in_use
from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.labels.sources import HUMAN, LabelSource
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.batch_draws import Draws
from berdseye.evaluation.scores.measured_parts import part_of
from berdseye.evaluation.selection.sampled_decision import SampledDecision, sampled_decision, unit_values
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.result import StudyResult, Table
from berdseye.evaluation.trust.decision import OUTCOMES, Decision, compared_questions
from berdseye.evaluation.trust.judging_plan import RISK
from berdseye.evaluation.trust.labelled_lists import Bools, Doubles, LabelledLists, check_drawable, labelled_lists

Ints = npt.NDArray[np.int64]
ALONE = "at random, without a detector"
AT_RANDOM = "at random"
BY_VALUE = "by value, as --decide"
ORDERS = (ALONE, AT_RANDOM, BY_VALUE)
"""The orders of drawing; all use the same rule for stopping."""
SAVED = "saved against random without a detector (%)"
_DRAWS, _RESAMPLES = 300, 2000


class _Trial(NamedTuple):
    """A sample of the questions and two systems: what each order draws, and the values of its units by gold labels."""

    sampled: dict[str, SampledDecision]
    truth: Doubles
    outcomes: Doubles


def _trial(lists: LabelledLists, state: Decision, measure: Measure, truth: Bools, said: Bools) -> _Trial:
    """Prepare a trial of the two systems of `lists`; `truth` and `said` bool[n_labels] are gold labels and the detector's."""
    open_ones = np.flatnonzero(state.open)
    names = _unit_names(lists, measure)
    wanted = [names[label] for label in open_ones.tolist()]
    weights = unit_weights(wanted, state.values[open_ones].tolist())
    number = {name: place for place, name in enumerate(weights)}
    units = {str(label): number[name] for label, name in zip(open_ones.tolist(), wanted, strict=True)}
    size, keys = len(weights), [str(label) for label in range(len(truth))]
    by_value, alike = np.array(list(weights.values())), np.ones(size)
    sampled = {}
    for order, of_order, detector in (
        (ALONE, alike, np.zeros_like(said)), (AT_RANDOM, alike, said), (BY_VALUE, by_value, said),
    ):  # fmt: skip
        draws = Draws(units, np.zeros(size, dtype=np.int64), np.full(size, np.nan), of_order)
        found = sampled_decision(lists, measure, keys, detector, draws, np.full(len(truth), np.nan))
        assert found is not None  # a unit holds what the measure needs
        sampled[order] = found
    parts = compared_questions(lists, measure)
    places = np.array([units.get(key, -1) for key in keys], dtype=np.int64)
    drawn = np.concatenate([truth[None], state.drawn_labels(OUTCOMES)])
    values = unit_values(parts, measure, places, size, drawn, drawn)[:, :size]
    return _Trial(sampled, values[0], values[1:])


def _unit_names(lists: LabelledLists, measure: Measure) -> dict[int, tuple[int, int]]:
    """Return what the label of each pair is drawn with: its question, and for measures of passages its passage."""
    names: dict[int, tuple[int, int]] = {}
    for system, question, rank, perspective in np.argwhere(lists.places >= 0).tolist():
        passage = int(lists.ids[system, question, rank]) if part_of(measure) == "passage" else -1
        names.setdefault(int(lists.places[system, question, rank, perspective]), (question, passage))
    return names


def decision_study(
    workspace: Workspace,
    runs: Sequence[Run],
    detector: Detector,
    measure: Measure,
    *,
    trials: int = 100,
    questions: int = 50,
    predicted_trials: int = 20,
    seed: int = 0,
    progress: Progress = silent,
) -> StudyResult:
    """Simulate trials, each with two runs drawn from `runs` and questions drawn from those whose pairs all have gold labels.

    A trial starts without judgments; probabilities are those of the detector, uncorrected. The first `predicted_trials` trials
    in which there is something to judge also compare the number of judgments with its prediction. Raises `BadInputError` if fewer
    than two questions have gold labels for all of their pairs.
    """
    check_drawable(measure)
    judgments = Judgments.open("sqlite://")  # empty: gold labels stand in for judgments
    described = labelled_lists(
        workspace, judgments, runs, LabelSource((HUMAN,)), detector, measure.k, progress=progress
    )
    lists, truth = described.lists, described.gold == 1
    known = ~np.isnan(np.append(described.gold, 0.0))[lists.places].transpose(1, 0, 2, 3).reshape(
        len(lists.questions), -1
    )
    within = np.flatnonzero(known.all(axis=1) & (lists.counts > 0))
    if len(within) < 2:
        raise BadInputError(
            f"Only {len(within)} questions have gold labels for all retrieved passages; at least 2 are needed.",
            hint=f"Import labels of the source '{GOLD}'.",
        )
    said = lists.chance >= detector.threshold
    random = np.random.default_rng(seed)
    pairs = list(combinations(range(len(runs)), 2))
    rows: list[dict[str, Any]] = []
    predicted = 0
    for number in range(trials):
        systems = pairs[int(random.integers(len(pairs)))]
        chosen = np.sort(random.permutation(within)[:questions])
        values = np.nan_to_num(lists.values(measure, truth)[:, chosen])
        real = int(np.sign(round(float((values[systems[0]] - values[systems[1]]).sum()), 9)))
        some = _of_questions(lists, chosen, systems)
        state = Decision(some, measure, 0, 1, draws=_DRAWS, seed=number)
        if not state.open.any():
            continue
        trial = _trial(some, state, measure, truth, said)
        prediction = trial.sampled[BY_VALUE].needed(trial.outcomes) if predicted < predicted_trials else None
        predicted += prediction is not None
        for name in ORDERS:
            sampled = trial.sampled[name]
            end = sampled.followed(trial.truth, np.random.default_rng([seed, number]))
            most = int(sampled.costs.sum())
            within_interval = np.nan
            if prediction is not None and name == BY_VALUE:
                within_interval = float(prediction.low <= end.judgments <= prediction.high)
            rows.append(
                {
                    "trial": number,
                    "order": name,
                    "judgments": end.judgments,
                    "all": most,
                    "early": float(end.judgments < most),
                    "wrong": np.nan if real == 0 else float(end.order == -real),
                    "as predicted": within_interval,
                }
            )
        progress(number + 1, "trials", trials)
    if not rows:
        raise BadInputError(
            "In no trial can a judgment change which of two systems is better.", hint="Name runs that differ."
        )
    results = pd.DataFrame(rows)
    settings = {
        "dataset": runs[0].manifest.dataset, "corpus": runs[0].manifest.corpus, "measure": str(measure),
        "detector": detector.name, "detector_version": version_in_use(detector), "trials": trials,
        "questions": min(questions, len(within)), "seed": seed, "systems": list(lists.systems),
    }  # fmt: skip
    setting = f"{settings['dataset']} over {settings['corpus']}, {measure}, {settings['questions']} questions per trial"
    tables = [
        Table("decision-orders", f"Judgments until it is settled which of two systems is better: {setting}",
              _cells(results, version_in_use(detector)), ("order",), ("figure",), 1)
    ]  # fmt: skip
    skipped = trials - int(results["trial"].nunique())
    notes = (
        "The order is settled when the judgments show it so clearly that they would do so with a probability of at most "
        f"{RISK:.0%} if it were wrong, at any look and whatever the detector says; otherwise all pairs are judged. Wrong orders "
        "leave out trials in which both systems are equal. Intervals are over trials, which share questions; they do not "
        "generalise to other questions.",
        f"In {skipped} of {trials} trials both systems rank the same passages, so that nothing is judged.",
        f"{len(within)} of {len(lists.questions)} questions have gold labels for all retrieved passages. "
        f"{described.notes[0][:1].upper()}{described.notes[0][1:]}",
    )
    return StudyResult("decision", settings, tables, {"decision-orders": _chart(results)}, notes)


def _of_questions(lists: LabelledLists, chosen: Ints, systems: tuple[int, int]) -> LabelledLists:
    """Return some questions of two systems."""
    two = list(systems)
    return replace(
        lists,
        systems=tuple(lists.systems[system] for system in two),
        questions=tuple(lists.questions[q] for q in chosen.tolist()),
        ids=lists.ids[two][:, chosen],
        places=lists.places[two][:, chosen],
        counts=lists.counts[chosen],
    )


def _cells(results: pd.DataFrame, version: str) -> pd.DataFrame:
    by_order = {name: rows.set_index("trial") for name, rows in results.groupby("order", sort=False)}
    base = by_order[ALONE]["judgments"].to_numpy(dtype=np.float64)
    drawn = np.random.default_rng(0).multinomial(len(base), np.full(len(base), 1 / len(base)), size=_RESAMPLES)
    cells: list[dict[str, Any]] = []
    for name, rows in by_order.items():
        judgments = rows["judgments"].to_numpy(dtype=np.float64)
        mean = mean_with_interval(judgments, bounds=None)
        saved = 100 * (1 - judgments.sum() / base.sum()) if base.any() else np.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = (
                bootstrap_interval(100 * (1 - (drawn @ judgments) / (drawn @ base)), len(judgments))
                if base.any()
                else (np.nan,) * 2
            )
        cells += [
            {"order": name, "figure": "judgments", **mean._asdict()},
            {"order": name, "figure": "median", "value": float(np.median(judgments)), "n": len(judgments)},
            {"order": name, "figure": SAVED, "value": saved, "low": ends[0], "high": ends[1], "n": len(judgments)},
        ]  # fmt: skip
        for figure, column in (
            ("settled before all (%)", "early"),
            ("wrong orders (%)", "wrong"),
            ("within the predicted interval (%)", "as predicted"),
        ):
            share = mean_with_interval(rows[column].to_numpy(dtype=np.float64))
            if share.n:
                percent = {end: 100 * getattr(share, end) for end in ("value", "low", "high")}
                cells.append({"order": name, "figure": figure, **percent, "n": share.n})
    return pd.DataFrame(cells).assign(labels=GOLD, detector_version=version)


def _chart(results: pd.DataFrame) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(results[["order", "judgments"]], title="Share of trials settled by number of judgments", width=520)
        .transform_window(rank="rank()", sort=[alt.SortField("judgments")], groupby=["order"], frame=[None, 0])
        .transform_joinaggregate(trials="count()", groupby=["order"])
        .transform_calculate(share="datum.rank / datum.trials")
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("judgments:Q", title="judgments"),
            y=alt.Y("share:Q", title="share of trials", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("order:N", title=None, sort=list(ORDERS), legend=legend_below(ORDERS)),
        )
    )
    return chart
