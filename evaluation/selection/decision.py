"""Decision batches, which settle which of two systems is better: their pairs in the order of the value of a judgment, and their
progress."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from berdseye.annotation.batches.draws import Unit
from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import FIRST, WEIGHTS, Batch, Item, reorder_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batch_items
from berdseye.data.datasets.stored import split_unit
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.labels.sources import HUMAN, LabelSource
from berdseye.evaluation.measures import Measure, parse_measure
from berdseye.evaluation.scores.batch_draws import Draws, batch_draws, planned_draws
from berdseye.evaluation.selection.sampled_decision import SampledDecision, sampled_decision, unit_values
from berdseye.evaluation.statistics.drawn_sample import total
from berdseye.evaluation.trust.decision import OUTCOMES, Decision, compared_questions
from berdseye.evaluation.trust.judging_plan import RISK, Needed
from berdseye.evaluation.trust.labelled_lists import Described, check_drawable, labelled_lists

DECIDE = "decide"
"""The key of a batch's recipe that holds the names of the two runs."""


class DecisionState(NamedTuple):
    """Which system is ahead (None: neither), by how much, the probability of the other order, and the judgments still needed.

    `chance_of_other` assumes that the detector's probabilities are right. `error` assumes nothing of the detector: it is the
    largest probability with which the draws so far show this order, at any look, if it is wrong (None: the pairs were not drawn
    with known probabilities, and nothing is settled but by all judgments). `settled`: `error` is at most 5%.
    """

    ahead: str | None
    behind: str | None
    measure: str
    difference: float
    chance_of_other: float
    settled: bool
    needed: Needed
    error: float | None = None

    def __str__(self) -> str:
        if self.settled:
            ahead = f"{self.ahead} is ahead of {self.behind} on {self.measure}"
            return f"Settled: {ahead}, by about {self.difference:.3f}. {self._promise}"
        if self.ahead is None:
            now = f"Neither is ahead on {self.measure}."
        else:
            now = (
                f"{self.ahead} is ahead of {self.behind} on {self.measure} by {self.difference:.3f}; the probability of the "
                f"other order is {self.chance_of_other:.1%} if the detector's probabilities are right."
            )
        if self.error is not None and self.error < 1:
            now = f"{now} Not settled: {self._promise}"
        if not self.needed.all:
            return f"{now} None of the remaining judgments can settle this."
        more, sure = self.needed, self.needed.settled > 1 - RISK
        rest = "" if sure else f"; in {1 - more.settled:.0%} of simulations not even all {more.all} settle it"
        within = f"80% interval {more.low:.0f} to {more.high:.0f}{rest}"
        return f"{now} About {more.median:.0f} more judgments settle this ({within})."

    @property
    def _promise(self) -> str:
        if not self.error:
            return "Every pair that matters is judged."
        return (
            f"If this order is wrong, the judgments show it so clearly at any time with a probability of at most "
            f"{self.error:.1%}, however often you look and whatever the detector says."
        )


@dataclass(frozen=True)
class DecisionComparison:
    """The comparison of two runs by people's judgments so far; `keys` are the pair keys of the labels, in their order.

    `sampled` is the comparison by the draws of a batch, if its pairs are drawn with known probabilities; `draws` is its source.
    """

    decision: Decision
    described: Described
    measure: Measure
    keys: list[str]
    sampled: SampledDecision | None = None
    draws: Draws | None = None

    def values(self) -> dict[str, float]:
        """Return the value of a judgment of each pair; for a pair that occurs in several questions, the sum over them."""
        values: dict[str, float] = {}
        for label in np.flatnonzero(self.decision.open).tolist():
            key = self.keys[label]
            values[key] = values.get(key, 0.0) + float(self.decision.values[label])
        return values

    def standing(self) -> DecisionState:
        """Return the progress of the decision, by simulation of the remaining judgments."""
        state = self.decision
        first, second = self.described.lists.systems
        if self.sampled is not None:
            return self._sampled_standing(self.sampled)
        ahead, behind = (None, None) if state.order == 0 else (first, second) if state.order > 0 else (second, first)
        return DecisionState(
            ahead, behind, str(self.measure), abs(state.difference), state.chance_of_other,
            state.settled and not (state.values > 0).any(), state.needed(), None if (state.values > 0).any() else 0.0,
        )  # fmt: skip

    def _sampled_standing(self, sampled: SampledDecision) -> DecisionState:
        state, (first, second) = self.decision, self.described.lists.systems
        settled = sampled.error <= RISK
        order = sampled.order if settled else state.order
        ahead, behind = (None, None) if order == 0 else (first, second) if order > 0 else (second, first)
        by_judgments = total(sampled.sample).estimate.value
        difference = by_judgments if settled and np.isfinite(by_judgments) else state.difference
        error = sampled.error if sampled.order == order else 1.0
        needed = sampled.needed(self._outcomes(), seed=0)
        return DecisionState(
            ahead, behind, str(self.measure), abs(difference), state.chance_of_other, settled, needed, error
        )

    def _outcomes(self) -> npt.NDArray[np.float64]:
        """Return values of the units under labels drawn by their probabilities, float64[n_outcomes, n_units]."""
        assert self.draws is not None
        units = np.array([self.draws.units.get(key, -1) for key in self.keys], dtype=np.int64)
        labels, size = self.decision.drawn_labels(OUTCOMES), len(self.draws.numbers)
        parts = compared_questions(self.described.lists, self.measure)
        return unit_values(parts, self.measure, units, size, labels, labels)[:, :size]


def deciding(
    workspace: Workspace,
    judgments: Judgments,
    runs: tuple[str, str],
    measure: Measure,
    detector: Detector,
    *,
    askable: set[str] | None = None,
    batch: Batch | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> DecisionComparison:
    """Compare two stored runs by people's labels and, for pairs without a label, the detector's probabilities.

    `askable` holds the keys of pairs that can still be judged (None: all). `batch` is the batch that draws them. Raises
    `BadInputError` for equal runs, for runs of different data sets or corpora, and for measures that cannot be computed label
    by label.
    """
    check_drawable(measure)
    if runs[0] == runs[1]:
        raise BadInputError(f"Both runs are '{runs[0]}'.", hint="Name two different runs.")
    loaded = [load_run(workspace, name) for name in runs]
    described = labelled_lists(
        workspace, judgments, loaded, LabelSource((HUMAN,)), detector, measure.k, progress=progress
    )
    keys = [pair.key for pair in described.pairs]
    closed = None if askable is None else np.array([key not in askable for key in keys], dtype=np.bool_)
    decision = Decision(described.lists, measure, 0, 1, closed=closed, seed=seed)
    known = DecisionComparison(decision, described, measure, keys)
    if batch is None or batch.drawn_by is None:
        return known
    return _with_draws(workspace, known, detector, batch_draws(judgments, batch))


def _with_draws(
    workspace: Workspace, known: DecisionComparison, detector: Detector, draws: Draws
) -> DecisionComparison:
    lists = known.described.lists
    said = LabelStore(workspace).get(detector.name, known.keys, detector.version) >= detector.threshold
    people = np.where(lists.settled, lists.chance, np.nan)
    sampled = sampled_decision(lists, known.measure, known.keys, said, draws, people)
    return replace(known, sampled=sampled, draws=draws)


def decision_items(
    workspace: Workspace,
    judgments: Judgments,
    runs: tuple[str, str],
    measure: Measure,
    detector: Detector,
    *,
    seed: int = 0,
    drawn_by: Unit = "question",
    without: frozenset[str] = frozenset(),
    progress: Progress = silent,
) -> tuple[list[Item], dict[str, Any]]:
    """Return every pair that can still be judged, with its value, the most informative first; and the recipe of the batch.

    `drawn_by` is what the batch draws as a whole. Pairs of the questions `without` (as `split_unit` writes them) are not sent
    out: the detector's labels count there.
    """
    records = pairs_of_runs(workspace, runs, measure.k)
    askable = {key for key, one in records.items() if split_unit(one.question, one.perspective) not in without}
    state = deciding(
        workspace,
        judgments,
        runs,
        measure,
        detector,
        askable=askable if without else None,
        seed=seed,
        progress=progress,
    )
    values = state.values()
    if not values:
        raise BadInputError("There is no pair left to judge for this decision.", hint=str(state.standing()))
    items = [Item(records[key], value=values[key]) for key in sorted(values, key=lambda key: -values[key])]
    now = _with_draws(workspace, state, detector, planned_draws(items, drawn_by, seed)).standing()
    recipe = {
        DECIDE: list(runs),
        "measure": str(measure),
        "k": measure.k,
        "expected": now.needed._asdict(),
        "chance_of_other": now.chance_of_other,
        "ahead": now.ahead,
        WEIGHTS: FIRST,
    }
    return items, recipe


def decides(batch: Batch) -> bool:
    """Whether the batch is a decision batch, which settles which of two runs is better."""
    return DECIDE in batch.recipe


def deciding_batch(workspace: Workspace, judgments: Judgments, batch: Batch) -> DecisionComparison:
    """Compare the two runs of a decision batch; pairs that the batch no longer sends out cannot be judged."""
    recipe: Mapping[str, Any] = batch.recipe
    measure = parse_measure(recipe["measure"])
    first, second = recipe[DECIDE]
    query = select(batch_items.c.pair).where(
        batch_items.c.batch_id == batch.id, batch_items.c.judged < batch_items.c.wanted
    )
    with judgments.reading() as connection:
        askable = set(connection.execute(query).scalars())
    detector = parse_detector(recipe["detector"], workspace)
    return deciding(
        workspace, judgments, (first, second), measure, detector, askable=askable, batch=batch, seed=batch.seed
    )


def renew_order(judgments: Judgments, batch: Batch, known: DecisionComparison) -> None:
    """Sort the remaining pairs of a batch of an earlier version by the current value of a judgment.

    Newer batches keep their first weights: fixed weights allow larger bets, because nothing less probable can be drawn later.
    """
    if not batch.keeps_weights:
        reorder_batch(judgments, batch, known.values())


def decision_standing(workspace: Workspace, judgments: Judgments, batch: Batch) -> DecisionState | None:
    """Return the progress of a decision batch, None for other batches. The order of one of an earlier version is renewed."""
    if not decides(batch):
        return None
    known = deciding_batch(workspace, judgments, batch)
    renew_order(judgments, batch, known)
    return known.standing()
