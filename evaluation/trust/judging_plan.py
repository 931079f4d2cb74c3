"""Judging plans: how many more judgments settle which of two systems is better on these questions, and in which order to judge.

The rule: judge whole questions, first those whose labels change the difference most per judgment (variance over cost), and stop
when the probability that the other system is better, given all judgments so far, is at most 5%. Labels that are not settled are
assumed to be independent, each 1 with its probability. `follow` applies the rule to known labels, to check the rule and the
assumption.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.measures import Measure
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists

Doubles = npt.NDArray[np.float64]
RISK = 0.05
_DIGITS = 9


@dataclass(frozen=True)
class JudgingPlan:
    """Questions in the order in which to judge them, with the distribution of their differences.

    `order` int64[n_steps]: the questions; `costs` int64[n_steps]: the judgments of each; `deltas` float64[n_draws, n_steps]: the
    difference of the two systems on each under drawn labels; `fixed`: the difference on all other questions, which no label
    changes.
    """

    order: npt.NDArray[np.int64]
    costs: npt.NDArray[np.int64]
    deltas: Doubles
    fixed: float


class Needed(NamedTuple):
    """Judgments until the order is settled: the median and an 80% interval over possible outcomes of the labels.

    `all` is the number of all judgments that matter; `settled` is the share of outcomes that are settled before all are made.
    """

    median: float
    low: float
    high: float
    all: int
    settled: float


class Outcome(NamedTuple):
    """One application of a rule: the number of judgments, and the resulting order (1: the first system, -1: the second, 0:
    tied)."""

    judgments: int
    order: int


def judging_plan(
    lists: LabelledLists, measure: Measure, drawn: Doubles, first: int, second: int, *, within: Bools | None = None
) -> JudgingPlan:
    """Create the plan for two systems from `drawn`, the measure under drawn labels, float64[n_draws, n_systems, n_questions].

    `within` bool[n_questions] restricts the plan to some of the questions.
    """
    deltas = np.nan_to_num(drawn[:, first] - drawn[:, second])
    if within is not None:
        deltas = np.where(within, deltas, 0.0)
    costs = _costs(lists, measure, first, second)
    variances = deltas.var(axis=0)
    open_ones = np.flatnonzero((variances > 0) & (costs > 0))
    order = open_ones[np.argsort(-variances[open_ones] / costs[open_ones], kind="stable")]
    rest = np.setdiff1d(np.arange(deltas.shape[1]), order)
    return JudgingPlan(order, costs[order], deltas[:, order], float(deltas[:, rest].mean(axis=0).sum()))


def needed(plan: JudgingPlan, risk: float = RISK) -> Needed:
    """Return the number of judgments under the rule, over the drawn outcomes."""
    stops = _stops(plan, plan.deltas, risk)
    counts = np.concatenate([[0], np.cumsum(plan.costs)])[stops]
    low, median, high = np.quantile(counts, [0.1, 0.5, 0.9], method="nearest") if len(counts) else (0, 0, 0)
    return Needed(
        float(median), float(low), float(high), int(plan.costs.sum()), float((stops < len(plan.order)).mean())
    )


def follow(plan: JudgingPlan, truth: Doubles, risk: float = RISK) -> Outcome:
    """Apply the rule to known differences of the questions: `truth` float64[n_questions], first minus second."""
    known = np.nan_to_num(truth)[plan.order][None, :]
    stop = int(_stops(plan, known, risk)[0])
    ahead = plan.fixed + known[0, :stop].sum() + plan.deltas[:, stop:].mean(axis=0).sum()
    return Outcome(int(plan.costs[:stop].sum()), int(np.sign(round(float(ahead), _DIGITS))))


def _stops(plan: JudgingPlan, outcomes: Doubles, risk: float) -> npt.NDArray[np.int64]:
    """Return after how many questions each outcome float64[n, n_steps] is settled, int64[n]; n_steps if only after all."""
    steps = len(plan.order)
    stops: npt.NDArray[np.int64] = np.full(len(outcomes), steps, dtype=np.int64)
    waiting = np.ones(len(outcomes), dtype=bool)
    revealed: Doubles = np.full(len(outcomes), plan.fixed)
    remaining = plan.deltas.sum(axis=1)
    for step in range(steps):
        # The open questions have the distribution of the draws: how often do they reverse the order?
        still = np.sort(np.round(remaining, _DIGITS))
        ahead = np.round(revealed + remaining.mean(), _DIGITS)
        turning = np.round(-revealed, _DIGITS)
        below, to = np.searchsorted(still, turning, "left"), np.searchsorted(still, turning, "right")
        tied = (to - below) / 2
        against = np.where(ahead > 0, below + tied, len(still) - to + tied) / len(still)
        done = waiting & (ahead != 0) & (against <= risk)
        stops[done] = step
        waiting &= ~done
        if not waiting.any():
            break
        revealed = revealed + outcomes[:, step]
        remaining = remaining - plan.deltas[:, step]
    return stops


def _costs(lists: LabelledLists, measure: Measure, first: int, second: int) -> npt.NDArray[np.int64]:
    """Count the labels of each question that are not settled and can change the difference, int64[n_questions].

    Passages that both systems rank within k contribute equally to the Precision of both and are not counted.
    """
    k = measure.k
    ids = lists.ids[[first, second], :, :k]
    costs = np.zeros(len(lists.questions), dtype=np.int64)
    for question in range(len(lists.questions)):
        shared = set(ids[0, question].tolist()) & set(ids[1, question].tolist())
        asked: set[int] = set()
        for place, system in enumerate((first, second)):
            for rank, passage in enumerate(ids[place, question].tolist()):
                if passage >= 0 and not (measure.name == "Precision" and passage in shared):
                    asked |= {n for n in lists.places[system, question, rank].tolist() if n >= 0}
        costs[question] = sum(not lists.settled[n] for n in asked)
    return costs
