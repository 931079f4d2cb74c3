"""Simulation of judging orders on gold labels: how many judgments the order by value saves, and how often its result is wrong."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import Run
from berdseye.data.statistics import bootstrap_interval
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.labels.sources import HUMAN, LabelSource
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.result import StudyResult, Table
from berdseye.evaluation.trust.decision import Decision
from berdseye.evaluation.trust.judging_plan import RISK, Outcome, judging_plan
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists, check_drawable, labelled_lists

Ints = npt.NDArray[np.int64]
AT_RANDOM = "pairs at random"
BY_VALUE = "pairs by value, renewed after each"
RENEWED = 10
_DRAWS, _RESAMPLES = 300, 2000


class _Trial(NamedTuple):
    """A sample of the questions and two of the systems, with the gold labels that simulated annotators give."""

    state: Decision
    lists: LabelledLists
    measure: Measure
    systems: tuple[int, int]
    truth: Bools
    random: np.random.Generator


def _at_random(trial: _Trial) -> Outcome:
    return _in_order(trial, trial.random.permutation(trial.state.ranked()))


def _questions_at_random(trial: _Trial) -> Outcome:
    return _by_question(trial, trial.random.permutation(len(trial.lists.questions)))


def _questions_by_value(trial: _Trial) -> Outcome:
    drawn = trial.state.drawn_differences()
    both = np.stack([drawn, np.zeros_like(drawn)], axis=1)
    first, second = trial.systems
    two = replace(trial.lists, ids=trial.lists.ids[[first, second]], places=trial.lists.places[[first, second]])
    return _by_question(trial, judging_plan(two, trial.measure, both, 0, 1).order)


def _by_value_once(trial: _Trial) -> Outcome:
    return _in_order(trial, trial.state.ranked())


ORDERS: dict[str, Callable[[_Trial], Outcome]] = {
    AT_RANDOM: _at_random,
    "questions at random": _questions_at_random,
    "questions by value": _questions_by_value,
    "pairs by value, once": _by_value_once,
    f"pairs by value, renewed after {RENEWED}": lambda trial: trial.state.followed(trial.truth, every=RENEWED),
    BY_VALUE: lambda trial: trial.state.followed(trial.truth),
}
"""The orders of judging; all use the same stopping rule."""


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
    random = np.random.default_rng(seed)
    pairs = list(combinations(range(len(runs)), 2))
    rows: list[dict[str, Any]] = []
    predicted = 0
    for number in range(trials):
        systems = pairs[int(random.integers(len(pairs)))]
        chosen = np.sort(random.permutation(within)[:questions])
        values = np.nan_to_num(lists.values(measure, truth)[:, chosen])
        real = int(np.sign(round(float((values[systems[0]] - values[systems[1]]).sum()), 9)))
        some = _of_questions(lists, chosen)
        state = Decision(some, measure, *systems, draws=_DRAWS, seed=number)
        prediction = state.needed() if predicted < predicted_trials and not state.settled else None
        predicted += prediction is not None
        for name, follow in ORDERS.items():
            trial = _Trial(state, some, measure, systems, truth, np.random.default_rng([seed, number]))
            end = follow(trial)
            compared = prediction is not None and name == BY_VALUE
            within_interval = (
                float(prediction.low <= end.judgments <= prediction.high) if prediction and compared else np.nan
            )
            rows.append(
                {
                    "trial": number,
                    "order": name,
                    "judgments": end.judgments,
                    "all": int((state.values > 0).sum()),
                    "wrong": np.nan if real == 0 else float(end.order != real),
                    "as predicted": within_interval,
                    "nothing to judge": float(state.settled),
                }
            )
        progress(number + 1, "trials", trials)
    results = pd.DataFrame(rows)
    settings = {
        "dataset": runs[0].manifest.dataset, "corpus": runs[0].manifest.corpus, "measure": str(measure),
        "detector": detector.name, "detector_version": detector.version, "trials": trials,
        "questions": min(questions, len(within)), "seed": seed, "systems": list(lists.systems),
    }  # fmt: skip
    setting = f"{settings['dataset']} over {settings['corpus']}, {measure}, {settings['questions']} questions per trial"
    tables = [
        Table("decision-orders", f"Judgments until it is settled which of two systems is better: {setting}",
              _cells(results, detector.version), ("order",), ("figure",), 1)
    ]  # fmt: skip
    notes = (
        f"The order is settled when the probability of the other order is at most {RISK:.0%}, or when no further judgment can "
        "change the result. Intervals are over trials, which share questions; they do not generalise to other questions.",
        f"In {int(results.groupby('trial')['nothing to judge'].first().sum())} of {trials} trials the detector's probabilities "
        "alone settled the order, before any judgment. Wrong orders leave out trials in which both systems are equal.",
        f"{len(within)} of {len(lists.questions)} questions have gold labels for all retrieved passages. "
        f"{described.notes[0][:1].upper()}{described.notes[0][1:]}",
    )
    return StudyResult("decision", settings, tables, {"decision-orders": _chart(results)}, notes)


def _of_questions(lists: LabelledLists, chosen: Ints) -> LabelledLists:
    return replace(
        lists,
        questions=tuple(lists.questions[q] for q in chosen.tolist()),
        ids=lists.ids[:, chosen],
        places=lists.places[:, chosen],
        counts=lists.counts[chosen],
    )


def _by_question(trial: _Trial, questions: Ints) -> Outcome:
    places = [np.unique(trial.lists.places[list(trial.systems), q, : trial.measure.k]) for q in questions.tolist()]
    return _in_order(
        trial, np.concatenate([labels[labels >= 0] for labels in places]) if places else np.zeros(0, np.int64)
    )


def _in_order(trial: _Trial, labels: Ints) -> Outcome:
    """Judge the open labels in a fixed order, and skip labels that can no longer change the result."""
    state, judgments = trial.state.copied(), 0
    for label in labels.tolist():
        if state.settled:
            break
        if state.values[label] > 0:
            state.set_label(label, bool(trial.truth[label]))
            judgments += 1
    return Outcome(judgments, state.order)


def _cells(results: pd.DataFrame, version: str) -> pd.DataFrame:
    by_order = {name: rows.set_index("trial") for name, rows in results.groupby("order", sort=False)}
    base = by_order[AT_RANDOM]["judgments"].to_numpy(dtype=np.float64)
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
            {"order": name, "figure": "saved against random (%)", "value": saved, "low": ends[0], "high": ends[1],
             "n": len(judgments)},
        ]  # fmt: skip
        for figure, column in (("wrong orders (%)", "wrong"), ("within the predicted interval (%)", "as predicted")):
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
            color=alt.Color("order:N", title=None, sort=list(ORDERS), legend=alt.Legend(labelLimit=300)),
        )
    )
    return chart
