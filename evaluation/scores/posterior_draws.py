"""Measures under uncertain labels: their values under draws of the labels, and their mean with an interval.

A label source that begins with `consensus(...)` is uncertain about each pair. A measure is computed under each draw of all labels
(`evaluation.labels.consensus`), so that it need not be a mean over pairs, and labels that are uncertain together count as such.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.records import Ids
from berdseye.evaluation.labels.consensus import Consensus
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.labels.qrels import Qrels
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure, values_of
from berdseye.evaluation.statistics.intervals import Estimate, mean_with_interval

Values = npt.NDArray[np.float64]


def posterior_values(
    measures: Sequence[Measure], consensus: Consensus, labelled: LabelledRun | Qrels, ids: Ids, known: Support
) -> list[Values]:
    """Return the values of a ranking by each measure under each draw, float64[n_draws, n_questions].

    `labelled` holds its labels and the keys of its pairs, `ids` int64[n_questions, k] the ranking, and `known` its support by the
    labels themselves. Only questions with a pair that people judged are computed for each draw.
    """
    raw = values_of(measures, known)
    drawn = [np.repeat(values[None], len(consensus.draws), axis=0) for values in raw]
    rows, supports = (
        _run_rows(labelled, ids, consensus)
        if isinstance(labelled, LabelledRun)
        else _pool_rows(labelled, ids, consensus)
    )
    if len(rows):
        for number, support in enumerate(supports):
            for values, under in zip(drawn, values_of(measures, support), strict=True):
                values[number, rows] = under
    return drawn


def mean_of_draws(draws: Values, bounds: tuple[float, float] | None) -> Estimate:
    """Return the mean over questions and draws, with a 95% interval for questions and labels together.

    `draws` float64[n_draws, n_questions] holds values (NaN: none). The value of a question is its mean over draws. The interval
    adds two errors: that of the questions (`mean_with_interval` of these values) and that of the labels (the 2.5% and 97.5%
    quantiles of the mean under each draw), as the distances of independent errors add (MOVER; Zou and Donner, Statistics in
    Medicine 27, 2008). By the law of total variance, the two are the variance of the mean.
    """
    expected = expected_values(draws)
    estimate = mean_with_interval(expected, bounds=bounds)
    if estimate.n == 0 or not np.isfinite(estimate.low):
        return estimate
    known = draws[:, ~np.isnan(expected)]
    means = np.where(np.isnan(known), expected[~np.isnan(expected)], known).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    value, lowest, highest = estimate.value, *(bounds or (-np.inf, np.inf))
    below = float(np.hypot(value - estimate.low, max(value - low, 0.0)))
    above = float(np.hypot(estimate.high - value, max(high - value, 0.0)))
    return Estimate(value, max(value - below, lowest), min(value + above, highest), estimate.n)


def expected_values(draws: Values) -> Values:
    """Return the mean over draws of each question, float64[n_questions], NaN if it has a value in no draw."""
    known = ~np.isnan(draws)
    n = known.sum(axis=0)
    return np.where(n > 0, np.where(known, draws, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)


def _run_rows(run: LabelledRun, ids: Ids, consensus: Consensus) -> tuple[npt.NDArray[np.intp], Iterator[Support]]:
    """Return the questions of a run with a pair that people judged, and their support under each draw."""
    places = consensus.places(run.keys)
    rows = np.flatnonzero((places >= 0).any(axis=(1, 2)))
    questions = [run.questions[row] for row in rows.tolist()]
    relabelled = _relabelled(consensus, places[rows], run.labels[rows])
    return rows, (LabelledRun(questions, ids[rows], run.keys[rows], labels).support for labels in relabelled)


def _pool_rows(pool: Qrels, ids: Ids, consensus: Consensus) -> tuple[npt.NDArray[np.intp], Iterator[Support]]:
    """Return the questions of a pool with a pair that people judged, and the support of a ranking under each draw."""
    places = [consensus.places(keys) for keys in pool.keys]
    chosen = [row for row, found in enumerate(places) if (found >= 0).any()]
    rows = np.array(chosen, dtype=np.intp)
    names, passages = [pool.question_ids[row] for row in chosen], [pool.passages[row] for row in chosen]
    relabelled = zip(*(_relabelled(consensus, places[row], pool.labels[row]) for row in chosen), strict=True)
    return rows, (Qrels(names, passages, list(labels)).support(ids[rows]) for labels in relabelled)


def _relabelled(consensus: Consensus, places: npt.NDArray[np.int64], labels: Values) -> Iterator[Values]:
    """Yield the labels with those drawn in place of people's, for each draw."""
    for drawn in consensus.draws:
        yield np.where(places >= 0, drawn[places], labels)
