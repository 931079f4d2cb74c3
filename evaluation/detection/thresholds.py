"""Thresholds of detectors: choosing one on labelled pairs that are not used for testing, and the effect of a threshold on a run.

For the effect, MRecall@k and Precision@k at every threshold follow from the probabilities of the run's pairs: each question has a
highest threshold at which its top k still covers its perspectives, and each passage has one at which it still supports a
perspective. With these thresholds sorted, a binary search gives the measures at any threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import logit

from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.labelled_pairs import LabelledPair, file_hash
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.pairs import run_keys
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.base_rates import (
    estimated_base_rate,
    move_from_labels,
    moved,
    moved_threshold,
    threshold_of_share,
)
from berdseye.detectors.baselines import BASE_RATE
from berdseye.detectors.protocol import Detector, Floats, count_truncated, cut_function
from berdseye.detectors.quality import best_threshold, precision_recall_f1, rate_weights
from berdseye.detectors.thresholds import Tuned, TunedThreshold
from berdseye.evaluation.detection.operating_points import decisions_at
from berdseye.evaluation.detection.pairs import JudgedPairs, read_judged_pairs, rows_to_tune_on
from berdseye.evaluation.detection.scoring import timed_predictions
from berdseye.evaluation.labels.labelled_runs import keyed_run, with_labels
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.statistics.intervals import Estimate, mean_with_interval

Doubles = npt.NDArray[np.float64]

MOST_CALLED = 0.5
"""The largest share of a run's pairs that a moved threshold plausibly calls supporting."""
MOST_TIMES = 2.0
"""How many times as many, or as few, pairs a moved threshold plausibly calls supporting."""
ENOUGH_JUDGED = 30
"""The number of judged pairs from which a moved threshold is stored although its effect is implausible."""


def choose_threshold(
    detector: Detector, path: Path, *, at_base_rate: bool = False, made_by: str = "", progress: Progress = silent
) -> TunedThreshold:
    """Choose the threshold with the best F1 on a file: on its rows of the split dev, or on all rows of a file without splits.

    With `at_base_rate`, the rows are weighted so that 16.8% of them are positive, as among retrieved passages. Raises
    `BadInputError` without rows, or if all rows have one label.
    """
    all_rows = read_judged_pairs([path])
    rows = rows_to_tune_on(all_rows)
    if not rows:
        raise BadInputError(
            "The file has splits, but no row of the split 'dev'.",
            where=path,
            hint="Set the column split of some rows to 'dev'.",
        )
    pairs = [row.pair for row in rows]
    probabilities, _ = timed_predictions(detector, pairs, progress=progress)
    try:
        value, f1 = best_f1(rows, probabilities, at_base_rate=at_base_rate)
    except BadInputError as error:
        raise BadInputError(error.what, where=path, hint=error.hint) from error
    part = " (split dev)" if len(rows) < len(all_rows) else ""
    weighted = f" at {BASE_RATE:.1%} positive" if at_base_rate else ""
    return TunedThreshold(
        detector=detector.name,
        version=detector.version,
        value=value,
        data=f"{path.name}{part}{weighted}",
        data_hash=file_hash(path),
        n=len(rows),
        positives=sum(row.supports for row in rows),
        f1=f1,
        created=_now(),
        made_by=made_by,
        truncated=count_truncated(detector, pairs),
        **_change(detector, value, probabilities),
    )


def chosen_by_hand(
    detector: Detector, judged: JudgedPairs, probabilities: Floats, value: float, *, made_by: str = ""
) -> TunedThreshold:
    """Record a threshold that a person chose from its effect on `judged`, whose probabilities are float32[n].

    Raises `BadInputError` for a value outside [0, 1], and without pairs.
    """
    if not 0.0 <= value <= 1.0:
        raise BadInputError(f"The threshold must be between 0 and 1, got {value:g}.")
    truth = judged.truth
    if not len(truth):
        raise BadInputError("There is no pair to measure the threshold on.", hint="Choose pairs that have labels.")
    return TunedThreshold(
        detector=detector.name,
        version=detector.version,
        value=value,
        data=judged.name,
        data_hash=judged.hash,
        n=len(truth),
        positives=int(truth.sum()),
        f1=precision_recall_f1(truth, decisions_at(probabilities, value), np.ones(len(truth)))[2],
        created=_now(),
        made_by=made_by,
        by_hand=True,
        **_change(detector, value, probabilities),
    )


def doubt_of(tuned: TunedThreshold) -> str:
    """Return the sentence that says why a threshold moved to a base rate is implausible; empty if it is plausible, and for one
    of a given share.

    It is implausible if it calls more than half of the pairs supporting, or more than twice or less than half as many as the
    threshold in use: estimates of the base rate err that far where a detector is calibrated for other data.
    """
    before, called = tuned.called_before or 0.0, tuned.called_after or 0.0
    if tuned.base_rate is None or before / MOST_TIMES <= called <= min(MOST_TIMES * before, MOST_CALLED):
        return ""
    return (
        f"The estimated base rate of {tuned.n:,} pairs, {tuned.judged or 0:,} of them judged, is {tuned.base_rate:.1%}: the "
        f"threshold {tuned.value:g} calls {called:.1%} of them supporting, and the one in use {before:.1%}."
    )


def is_well_judged(tuned: TunedThreshold) -> bool:
    """Return whether people judged enough of the pairs (`ENOUGH_JUDGED`) for an estimated base rate to rest on them."""
    return (tuned.judged or 0) >= ENOUGH_JUDGED


def moved_to_run(
    workspace: Workspace,
    judgments: Judgments,
    detector: Detector,
    run: Run,
    k: int,
    *,
    share: float | None = None,
    made_by: str = "",
    progress: Progress = silent,
) -> TunedThreshold:
    """Move a detector's own threshold to the base rate of the top k of a run, or to where a `share` of its pairs reaches it.

    The base rate is estimated from the probabilities of all pairs (`berdseye.detectors.base_rates`), which should be calibrated
    for 16.8% supporting pairs, and corrected by people's judgments of some of them. A label is the
    adjudicated one, otherwise the majority of the people who are sure; the demo's simulated annotators do not vote, and
    `simulated` counts their judgments. Raises `BadInputError` for a run without pairs, and for a share outside (0, 1].
    """
    if share is not None and not 0 < share <= 1:
        raise BadInputError(f"The share must be above 0% and at most 100%, got {share:.1%}.")
    in_use, detector = detector, detector.detector if isinstance(detector, Tuned) else detector
    keyed = keyed_run(workspace, run, load_dataset(workspace, run.manifest.dataset), k)
    keys = keyed.keys[keyed.keys != b""].astype(str).tolist()
    if not keys:
        raise BadInputError(
            f"The run '{run.manifest.name}' has no pairs.", hint="Choose a run on questions with perspectives."
        )
    with_labels(workspace, judgments, keyed, parse_label_source(detector.name), progress=progress)
    store = LabelStore(workspace)
    p = store.get(detector.name, keys, detector.version)
    votes = judgments.present(sorted(set(keys)))
    by_people = [vote for vote in votes if not vote.annotator.demo]
    human = majority_labels(by_people, gold=adjudicated_labels(judgments, keys))
    labels = np.array([float(human.get(key, np.nan)) for key in keys])
    known = ~np.isnan(labels)
    rate = None
    if share is None:
        by = float(logit(estimated_base_rate(p, BASE_RATE)) - logit(BASE_RATE))
        if known.any():
            by = move_from_labels(p[known], labels[known] == 1, by)
        rate, value = round(float(moved(p, by).mean()), 4), round(moved_threshold(detector.threshold, by), 4)
    else:
        value = threshold_of_share(p, share)
    return TunedThreshold(
        detector=detector.name,
        version=detector.version,
        value=value,
        data=f"{run.manifest.name} at k={k}",
        data_hash=run.manifest.corpus_hash,
        n=len(keys),
        positives=int((labels == 1).sum()),
        f1=0.0,
        created=_now(),
        made_by=made_by,
        base_rate=rate,
        share=share,
        truncated=None if cut_function(detector) is None else store.count_cut(detector.name, keys, detector.version),
        judged=int(known.sum()),
        simulated=len(votes) - len(by_people),
        **_change(in_use, value, p),
    )


class _Change(TypedDict):
    """The threshold in use before, and the shares of pairs, from 0 to 1, that it and the new one call supporting."""

    before: float
    called_before: float
    called_after: float


def _change(in_use: Detector, value: float, probabilities: Floats) -> _Change:
    called_before, called_after = (float(decisions_at(probabilities, t).mean()) for t in (in_use.threshold, value))
    return {"before": float(in_use.threshold), "called_before": called_before, "called_after": called_after}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def best_f1(rows: Sequence[LabelledPair], probabilities: Floats, *, at_base_rate: bool = False) -> tuple[float, float]:
    """Return the threshold with the best F1 of `probabilities` float32[n], and this F1; raises `BadInputError` without both
    labels."""
    truth = np.array([row.supports for row in rows], dtype=bool)
    if truth.all() or not truth.any():
        raise BadInputError(
            f"All {len(rows)} rows to choose a threshold on have the same label.", hint="Add rows of the other label."
        )
    weights = rate_weights(truth) if at_base_rate else np.ones(len(truth))
    value = best_threshold(truth, probabilities, weights)
    return value, precision_recall_f1(truth, probabilities.astype(np.float64) >= value, weights)[2]


@dataclass(frozen=True)
class RunProbabilities:
    """Probabilities of the pairs in a run's top k.

    `chances` float32[n_questions, k, m_max]: NaN if no probability is stored or there is no such pair; `there` bool[n_questions,
    k, m_max]: which pairs exist; `counts` int64[n_questions]: perspectives per question.
    """

    chances: Floats
    there: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]

    @property
    def missing(self) -> int:
        """The number of pairs without a stored probability."""
        return int((np.isnan(self.chances) & self.there).sum())


def run_probabilities(workspace: Workspace, run: Run, detector: Detector, k: int) -> RunProbabilities:
    """Return the stored probabilities of a detector for a run's top k; the detector is not run. Raises the `StaleError` of
    `run_keys`."""
    questions = load_dataset(workspace, run.manifest.dataset)
    keys = run_keys(workspace, run, questions, k)[1]
    there = keys != b""
    chances: Floats = np.full(keys.shape, np.nan, dtype=np.float32)
    chances[there] = LabelStore(workspace).get(detector.name, keys[there].astype(str).tolist(), detector.version)
    return RunProbabilities(chances, there, np.array([len(q.perspectives) for q in questions], dtype=np.int64))


def with_human_labels(probabilities: RunProbabilities, labels: Doubles) -> Floats:
    """Replace probabilities by people's labels: 1 becomes infinity, above every threshold, and 0 minus infinity, below.

    `labels` has the form of `LabelledRun.labels`, for the same top k or a deeper one.
    """
    top = labels[:, : probabilities.chances.shape[1], : probabilities.chances.shape[2]]
    return np.where(np.isnan(top), probabilities.chances, np.where(top == 1, np.inf, -np.inf)).astype(np.float32)


class RunEffects:
    """MRecall@k and Precision@k of a run at any threshold; a pair without a probability counts as not supporting.

    The values equal those of `evaluation.measures.measure` on the labels at the threshold; questions without perspectives do not
    count.
    """

    def __init__(self, chances: Floats, counts: npt.NDArray[np.int64], k: int) -> None:
        has_perspectives = counts > 0
        known = np.where(np.isnan(chances), -np.inf, chances)[has_perspectives, :k].astype(np.float32)
        needed = np.minimum(counts[has_perspectives], k)
        best = np.sort(known.max(axis=1, initial=-np.inf), axis=1)[
            :, ::-1
        ]  # the highest probability of each perspective
        self.k = k
        self.covered_up_to = (
            np.take_along_axis(best, needed[:, None] - 1, axis=1)[:, 0] if best.size else best.sum(axis=1)
        )
        self.supporting_up_to = known.max(axis=2, initial=-np.inf)
        self._passages = np.sort(self.supporting_up_to, axis=None)
        self._questions = np.sort(self.covered_up_to)

    def at(self, threshold: float) -> dict[str, Estimate]:
        """Return both measures at a threshold, with their intervals over questions."""
        edge = np.float32(threshold)
        supporting = (self.supporting_up_to >= edge).sum(axis=1) / self.k
        return {
            f"MRecall@{self.k}": mean_with_interval((self.covered_up_to >= edge).astype(np.float64)),
            f"Precision@{self.k}": mean_with_interval(supporting),
        }

    def curves(self, thresholds: Doubles) -> pd.DataFrame:
        """Return both measures at many thresholds float64[n]: columns threshold and one per measure; NaN if no question
        counts."""
        edges, n = thresholds.astype(np.float32), len(self._questions)
        return pd.DataFrame(
            {
                "threshold": thresholds,
                f"MRecall@{self.k}": _at_least(self._questions, edges) / (n or np.nan),
                f"Precision@{self.k}": _at_least(self._passages, edges) / (n * self.k or np.nan),
            }
        )


def _at_least(rising: Floats, edges: Floats) -> Doubles:
    return (len(rising) - np.searchsorted(rising, edges, side="left")).astype(np.float64)
