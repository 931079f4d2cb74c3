"""Learning curves: what judgments are worth to `stance` and `embedded`, which are trained again after every batch of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets.labelled_pairs import LabelledPair, Split, file_hash, read_labelled_pairs
from berdseye.data.datasets.stored import same_question, split_of
from berdseye.data.errors import BadInputError
from berdseye.data.extras import require
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.detectors.embedded import EmbeddedDetector, Logistic
from berdseye.detectors.features import features
from berdseye.detectors.labelling import predict_all
from berdseye.detectors.protocol import UNTUNED, Detector, Floats, count_truncated
from berdseye.detectors.quality import Truth, auroc, best_threshold, precision_recall_f1, rate_weights
from berdseye.detectors.stance.adaptation import Adaptation
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.thresholds import Tuned
from berdseye.detectors.training.head import PRIOR, fit_head, truth
from berdseye.detectors.training.settings import STANCE_NEEDS
from berdseye.detectors.training.training_set import group, training_set
from berdseye.detectors.training.written_passages import other_perspectives

UNCERTAIN, RANDOM, ALL = STRATEGIES = ("uncertain", "random", "all")
HeldOutBy = Literal["questions", "passages"]
GAIN = 0.1
FIGURES = ("auroc", "f1")
_SHARE_OF_GROUPS = 2 / 3

Rows = npt.NDArray[np.int64]


class _Split(NamedTuple):
    """What a learner reads of pairs, an array of n rows, labels bool[n], and the number of each pair's question or passage,
    int64[n]."""

    values: npt.NDArray[Any]
    truth: Truth
    groups: Rows


class _Extra(NamedTuple):
    """What a learner reads of the pairs that are always trained on, an array of n rows, and their probabilities, float32[n]."""

    values: npt.NDArray[Any]
    targets: Floats


_Model = Callable[[npt.NDArray[Any]], Floats]
"""Returns P(supports), float32[n], of what `_Learner.encoded` returns."""


class _Learner(Protocol):
    """A detector that can be trained again from its start."""

    def encoded(self, pairs: Sequence[Pair]) -> npt.NDArray[Any]: ...
    def fitted(self, values: npt.NDArray[Any], targets: Floats) -> _Model: ...


@dataclass(frozen=True)
class _Head:
    start: Logistic
    prior: float

    def encoded(self, pairs: Sequence[Pair]) -> Floats:
        return features(pairs)

    def fitted(self, values: Floats, targets: Floats) -> _Model:
        return fit_head(values, targets.astype(np.float64), self.start, self.prior).probabilities


@dataclass(frozen=True)
class _Stance:
    start: StanceDetector

    def encoded(self, pairs: Sequence[Pair]) -> npt.NDArray[Any]:
        out = np.empty(len(pairs), dtype=object)
        for place, pair in enumerate(pairs):
            out[place] = pair
        return out

    def fitted(self, values: npt.NDArray[Any], targets: Floats) -> _Model:
        if not len(values):
            return self._judge(self.start)
        from berdseye.detectors.training.stance import numbers_learned  # needs PyTorch

        adaptation = Adaptation(
            self.start.version, numbers_learned(self.start, values.tolist(), targets), self.start.threshold, UNTUNED
        )
        return self._judge(StanceDetector(self.start.folder, adaptation))

    @staticmethod
    def _judge(detector: StanceDetector) -> _Model:
        return lambda values: detector.predict(list(values))


class LearningCurve(NamedTuple):
    """A learning curve as a table, and the number of distinct pairs with a text that the detector cut (None: it does not report
    this)."""

    table: pd.DataFrame
    truncated: int | None


def learning_curve(
    detector: Detector,
    path: Path,
    *,
    batch: int = 50,
    rounds: int = 20,
    seeds: int = 3,
    prior: float = PRIOR,
    held_out: HeldOutBy = "questions",
    written: Path | None = None,
    strategies: Sequence[str] = STRATEGIES,
    progress: Progress = silent,
) -> LearningCurve:
    """Measure a detector on the test split of a file after 0, `batch`, 2 * `batch`, .. corrections from its train split.

    Corrections are chosen by uncertainty (probability closest to the threshold) and at random; each seed uses a different two
    thirds of the train questions. With `held_out="passages"`, dev and test are other passages, a tenth each, of the same
    questions, and seeds differ in passages: the case of a person who goes on judging the same questions. The pairs of the file
    `written`, such as `detector adapt` writes, are trained on in every round, but for those of questions in dev or test, and
    `stance` keeps its opinion of their passages with other perspectives (`other_perspectives`). The strategy `all` uses every
    train pair, the upper limit for this file; `strategies` says which of the three are measured. Columns: corrections,
    strategy, and auroc and f1, shares from 0 to 1, as means over seeds with `_low` and `_high`, the lowest and the highest
    seed. F1 is for 16.8% positive pairs; its threshold is chosen on the dev split before the first round and after each round.
    `prior` is that of `embedded`. Pairs of all splits and of `written` count as cut. A training of `embedded` takes seconds,
    one of `stance` a minute or more for every 250 pairs.

    Raises `BadInputError` for a detector other than `stance` and `embedded`, and for a file whose splits are unsuitable for
    training and testing.
    """
    learner = _learner(detector, prior)
    pairs = read_labelled_pairs(path)
    if held_out == "passages":
        pairs = [p._replace(split=cast(Split, split_of(p.pair.passage)), question=p.pair.passage) for p in pairs]
    splits = training_set(pairs, path, file_hash(path))
    test_labels = truth(splits.test)
    if test_labels.all() or not test_labels.any():
        raise BadInputError(
            "The test split needs pairs of both labels.", where=path, hint=f"Add pairs of more {held_out}."
        )
    held_out_groups = {group(p) for p in (*splits.dev, *splits.test)}
    further = [p for p in ([] if written is None else read_labelled_pairs(written)) if group(p) not in held_out_groups]
    others = other_perspectives(further) if isinstance(learner, _Stance) else []
    extra = _Extra(
        learner.encoded([row.pair for row in (*further, *others)]),
        np.concatenate([truth(further).astype(np.float32), predict_all(detector, [row.pair for row in others])]),
    )
    pool, dev, test = (_encoded(learner, pairs) for pairs in (splits.train, splits.dev, splits.test))
    training = _Training(learner, pool, extra, dev)
    walks = [(strategy, seed) for strategy in (UNCERTAIN, RANDOM) if strategy in strategies for seed in range(seeds)]
    trainings = len(walks) * (rounds + 1) + (ALL in strategies)
    rows: list[dict[str, float | str]] = []
    progress(0, "trainings", trainings)
    for number, (strategy, seed) in enumerate(walks, start=1):
        for corrections, fitted in training.walk(strategy, np.random.default_rng(seed), batch, rounds):
            rows.append({"corrections": corrections, "strategy": strategy, **_figures(fitted, test)})
            progress(len(rows), "trainings", trainings)
        trainings = len(rows) + (len(walks) - number) * (rounds + 1) + (ALL in strategies)  # a pool may be used up
    if ALL in strategies:
        full = training.fitted(np.arange(len(pool.truth)))
        rows.append({"corrections": len(pool.truth), "strategy": ALL, **_figures(full, test)})
        progress(len(rows), "trainings", trainings)
    read = [row.pair for row in (*splits.train, *splits.dev, *splits.test, *further, *others)]
    return LearningCurve(_over_seeds(pd.DataFrame(rows)), count_truncated(detector, read))


def corrections_for_gain(curve: pd.DataFrame, figure: str, gain: float = GAIN) -> Mapping[str, int | None]:
    """Return, by strategy, the fewest corrections with which the mean of a figure is `gain` above its start; None if none
    suffice, or if the curve has no start."""
    starts = curve.loc[curve["corrections"] == 0, figure]
    start = float(starts.iloc[0]) if len(starts) else float("nan")
    fewest: dict[str, int | None] = {}
    for strategy, part in curve.groupby("strategy", sort=False):
        enough = part.loc[part[figure] >= start + gain, "corrections"]
        fewest[str(strategy)] = int(enough.min()) if len(enough) else None
    return fewest


def _learner(detector: Detector, prior: float) -> _Learner:
    base = detector.detector if isinstance(detector, Tuned) else detector
    if isinstance(base, EmbeddedDetector):
        return _Head(base.model, prior)
    if isinstance(base, StanceDetector) and base.adaptation is None:
        require("A learning curve of stance", *STANCE_NEEDS)
        return _Stance(base)
    raise BadInputError(
        f"'{detector.name}' cannot be trained again from its start, which a learning curve needs.",
        hint="Use stance, embedded, or embedded(NAME) trained in the workspace.",
    )


def _encoded(learner: _Learner, pairs: Sequence[LabelledPair]) -> _Split:
    groups = [same_question(p.question or p.pair.perspective) for p in pairs]
    return _Split(
        learner.encoded([p.pair for p in pairs]),
        truth(pairs),
        np.unique(groups, return_inverse=True)[1].astype(np.int64),
    )


class _Fitted(NamedTuple):
    model: _Model
    threshold: float


@dataclass(frozen=True)
class _Training:
    """A learner, the pairs that may be corrected, the pairs that are always trained on, and those that choose thresholds."""

    learner: _Learner
    pool: _Split
    extra: _Extra
    dev: _Split

    def walk(self, strategy: str, rng: np.random.Generator, batch: int, rounds: int) -> Iterator[tuple[int, _Fitted]]:
        """Yield the model before the first and after each batch of corrections, until the pool is used up."""
        groups = np.unique(self.pool.groups)
        seen = rng.permutation(groups)[: max(1, round(_SHARE_OF_GROUPS * len(groups)))]
        left = rng.permutation(np.flatnonzero(np.isin(self.pool.groups, seen)))
        corrected = np.array([], dtype=np.int64)
        fitted = self.fitted(corrected)
        yield 0, fitted
        for _ in range(rounds):
            if not len(left):
                return
            if strategy == UNCERTAIN:
                distance = np.abs(fitted.model(self.pool.values[left]) - fitted.threshold)
                left = left[np.argsort(distance, kind="stable")]
            corrected, left = np.append(corrected, left[:batch]), left[batch:]
            fitted = self.fitted(corrected)
            yield len(corrected), fitted

    def fitted(self, rows: Rows) -> _Fitted:
        """Train on the written pairs and on these rows of the pool."""
        values = np.concatenate([self.extra.values, self.pool.values[rows]])
        targets = np.concatenate([self.extra.targets, self.pool.truth[rows].astype(np.float32)])
        model = self.learner.fitted(values, targets)
        return _Fitted(model, best_threshold(self.dev.truth, model(self.dev.values), rate_weights(self.dev.truth)))


def _figures(fitted: _Fitted, test: _Split) -> dict[str, float]:
    scores = fitted.model(test.values).astype(np.float64)
    f1 = precision_recall_f1(test.truth, scores >= fitted.threshold, rate_weights(test.truth))[2]
    return {"auroc": auroc(test.truth, scores), "f1": f1}


def _over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    means: list[dict[str, object]] = []
    for (strategy, corrections), part in rows.groupby(["strategy", "corrections"], sort=False):
        row: dict[str, object] = {"corrections": corrections, "strategy": strategy}
        for figure in FIGURES:
            row |= {
                figure: part[figure].mean(),
                f"{figure}_low": part[figure].min(),
                f"{figure}_high": part[figure].max(),
            }
        means.append(row)
    return pd.DataFrame(means)
