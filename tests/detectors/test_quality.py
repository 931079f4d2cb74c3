"""Figures of detection under weights, against scikit-learn's, and their intervals against draws of rows."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from berdseye.detectors.quality import Ranked, quality

PAIRS = st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=25)


@settings(deadline=None, max_examples=150)
@given(PAIRS)
def test_ranked_figures_are_those_of_scikit_learn(pairs: list[tuple[bool, int, int]]) -> None:
    """With ties, with pairs that were not drawn, and where a label is missing."""
    truth, scores = np.array([p[0] for p in pairs]), np.array([p[1] / 4 for p in pairs])
    weights = np.array([float(p[2]) for p in pairs])
    ranked = Ranked(truth, scores)
    supporting, other = weights[truth].sum() > 0, weights[~truth].sum() > 0
    auroc, precision = ranked.auroc(weights), ranked.average_precision(weights)
    if supporting:
        assert precision == pytest.approx(average_precision_score(truth, scores, sample_weight=weights))
    if supporting and other:
        assert auroc == pytest.approx(roc_auc_score(truth, scores, sample_weight=weights))
    assert np.isnan(precision) == (not supporting)
    assert np.isnan(auroc) == (not (supporting and other))


def test_intervals_are_those_of_whole_questions_drawn_row_by_row() -> None:
    rng = np.random.default_rng(3)
    p = np.round(rng.random(400), 2).astype(np.float32)
    truth, questions = rng.random(400) < p, rng.integers(0, 30, 400)
    found = quality(truth, p, 0.5, questions.tolist(), resamples=60, seed=5)
    rng = np.random.default_rng(5)
    known = np.unique(questions.astype(str))
    drawn = []
    for _ in range(60):
        rows = np.concatenate([np.flatnonzero(questions.astype(str) == known[i]) for i in rng.integers(30, size=30)])
        drawn.append(
            (
                roc_auc_score(truth[rows], p[rows]),
                average_precision_score(truth[rows], p[rows]),
                f1_score(truth[rows], p[rows] >= np.float32(0.5)),
            )
        )
    # Hesterberg (2015): Student's quantile of 29 degrees, 2.04523, times sqrt(30 / 29) in place of 1.96.
    tail = 100 * NormalDist().cdf(-2.0452296 * (30 / 29) ** 0.5)
    for name, values in zip(("auroc", "average_precision", "f1"), np.array(drawn).T, strict=True):
        assert found.intervals[name] == pytest.approx(tuple(np.percentile(values, [tail, 100 - tail])))
