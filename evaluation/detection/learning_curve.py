"""Learning curves: the detector `embedded`, retrained after every batch of corrections and measured on held-out questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets.labelled_pairs import LabelledPair, file_hash, read_labelled_pairs
from berdseye.data.datasets.stored import same_question
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.detectors.embedded import EmbeddedDetector, Logistic
from berdseye.detectors.features import features
from berdseye.detectors.protocol import Detector, Floats
from berdseye.detectors.quality import Truth, auroc, best_threshold, precision_recall_f1, rate_weights
from berdseye.detectors.thresholds import Tuned
from berdseye.detectors.training.head import PRIOR, fit_head, truth
from berdseye.detectors.training.training_set import training_set
from berdseye.evaluation.statistics.intervals import mean_with_interval

UNCERTAIN, RANDOM, ALL = "uncertain", "random", "all"
GAIN = 0.1
FIGURES = ("auroc", "f1")
_SHARE_OF_QUESTIONS = 2 / 3

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Split:
    """Features float32[n, n_features], labels bool[n] and question numbers int64[n] of pairs."""

    values: Floats
    truth: Truth
    questions: Rows


def learning_curve(
    detector: Detector,
    path: Path,
    *,
    batch: int = 50,
    rounds: int = 20,
    seeds: int = 3,
    prior: float = PRIOR,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Measure a detector on the test split of a file after 0, `batch`, 2 * `batch`, .. corrections from its train split.

    Corrections are chosen by uncertainty (probability closest to the threshold) and at random; each seed uses a different two
    thirds of the train questions. The strategy `all` uses every train pair, the upper limit for this file. Columns: corrections,
    strategy, and auroc and f1, shares from 0 to 1, as means over seeds with `_low` and `_high`, 95% intervals over seeds only. F1
    is for 16.8% positive pairs; its threshold is chosen on the dev split before the first round and after each round.

    Raises `BadInputError` for a detector other than `embedded`, and for a file whose splits are unsuitable for training and
    testing.
    """
    start = _start(detector)
    splits = training_set(read_labelled_pairs(path), path, file_hash(path))
    test_labels = truth(splits.test)
    if test_labels.all() or not test_labels.any():
        raise BadInputError(
            "The test split needs pairs of both labels.", where=path, hint="Add pairs of more questions."
        )
    pool, dev, test = (_encoded(pairs) for pairs in (splits.train, splits.dev, splits.test))
    progress(0, "batches", 2 * rounds * seeds)
    rows: list[dict[str, float | str]] = []
    walks = [(strategy, seed) for strategy in (UNCERTAIN, RANDOM) for seed in range(seeds)]
    for done, (strategy, seed) in enumerate(walks, start=1):
        for corrections, model in _walk(start, pool, dev, strategy, np.random.default_rng(seed), batch, rounds, prior):
            rows.append({"corrections": corrections, "strategy": strategy, **_figures(model, test)})
        progress(done * rounds, "batches", len(walks) * rounds)
    full = _fitted(start, pool, np.arange(len(pool.truth)), dev, prior)
    rows.append({"corrections": len(pool.truth), "strategy": ALL, **_figures(full, test)})
    return _over_seeds(pd.DataFrame(rows))


def corrections_for_gain(curve: pd.DataFrame, figure: str, gain: float = GAIN) -> Mapping[str, int | None]:
    """Return, by strategy, the fewest corrections with which the mean of a figure is `gain` above its start; None if none
    suffice."""
    start = float(curve.loc[curve["corrections"] == 0, figure].iloc[0])
    fewest: dict[str, int | None] = {}
    for strategy, part in curve.groupby("strategy", sort=False):
        enough = part.loc[part[figure] >= start + gain, "corrections"]
        fewest[str(strategy)] = int(enough.min()) if len(enough) else None
    return fewest


def _start(detector: Detector) -> Logistic:
    base = detector.detector if isinstance(detector, Tuned) else detector
    if not isinstance(base, EmbeddedDetector):
        raise BadInputError(
            f"'{detector.name}' cannot be retrained in seconds, which a learning curve needs.",
            hint="Use embedded, or embedded(NAME) trained in the workspace.",
        )
    return base.model


def _encoded(pairs: Sequence[LabelledPair]) -> _Split:
    questions = [same_question(p.question or p.pair.perspective) for p in pairs]
    return _Split(features([p.pair for p in pairs]), truth(pairs), np.unique(questions, return_inverse=True)[1])


def _walk(
    start: Logistic,
    pool: _Split,
    dev: _Split,
    strategy: str,
    rng: np.random.Generator,
    batch: int,
    rounds: int,
    prior: float,
) -> Iterator[tuple[int, Logistic]]:
    """Yield the model before the first and after each batch of corrections, until the pool is used up."""
    questions = np.unique(pool.questions)
    seen = rng.permutation(questions)[: max(1, round(_SHARE_OF_QUESTIONS * len(questions)))]
    left = rng.permutation(np.flatnonzero(np.isin(pool.questions, seen)))
    corrected = np.array([], dtype=np.int64)
    model = _fitted(start, pool, corrected, dev, prior)
    yield 0, model
    for _ in range(rounds):
        if not len(left):
            return
        if strategy == UNCERTAIN:
            distance = np.abs(model.probabilities(pool.values[left]) - model.threshold)
            left = left[np.argsort(distance, kind="stable")]
        corrected, left = np.append(corrected, left[:batch]), left[batch:]
        model = _fitted(start, pool, corrected, dev, prior)
        yield len(corrected), model


def _fitted(start: Logistic, pool: _Split, rows: Rows, dev: _Split, prior: float) -> Logistic:
    model = fit_head(pool.values[rows], pool.truth[rows].astype(np.float64), start, prior)
    threshold = best_threshold(dev.truth, model.probabilities(dev.values), rate_weights(dev.truth))
    return replace(model, threshold=threshold)


def _figures(model: Logistic, test: _Split) -> dict[str, float]:
    scores = model.probabilities(test.values).astype(np.float64)
    f1 = precision_recall_f1(test.truth, scores >= model.threshold, rate_weights(test.truth))[2]
    return {"auroc": auroc(test.truth, scores), "f1": f1}


def _over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    means: list[dict[str, object]] = []
    for (strategy, corrections), part in rows.groupby(["strategy", "corrections"], sort=False):
        row: dict[str, object] = {"corrections": corrections, "strategy": strategy}
        for figure in FIGURES:
            row[figure], row[f"{figure}_low"], row[f"{figure}_high"], _ = mean_with_interval(part[figure].to_numpy())
        means.append(row)
    return pd.DataFrame(means)
