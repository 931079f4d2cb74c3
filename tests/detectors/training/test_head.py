"""A head between what it was and what its labels say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_training import made_set

from berdseye.detectors.embedded import Logistic, shipped_weights
from berdseye.detectors.features import features
from berdseye.detectors.quality import best_threshold
from berdseye.detectors.training.head import PRIOR, fit_head, train_head, truth

START = Logistic((0.0, 1.0), (1.0, 2.0), (1.0, -0.5), -0.3, 0.4)


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows that the contrary of START made."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0.0, 2.0, (n, 2)).astype(np.float32)
    return values, (rng.random(n) < 1 - START.probabilities(values)).astype(np.float64)


def moved(model: Logistic) -> float:
    return float(np.abs(np.array(model.coefficients) - np.array(START.coefficients)).max())


def test_without_labels_nothing_moves() -> None:
    assert fit_head(np.empty((0, 2), np.float32), np.empty(0), START) == START


def test_twenty_labels_move_it_a_little_and_thousands_all_the_way() -> None:
    few, many, most = (fit_head(*rows(n), START) for n in (20, 2_000, 50_000))
    assert 0 < moved(few) < 0.4
    assert moved(few) < moved(many) < moved(most)
    np.testing.assert_allclose(most.coefficients, [-1.0, 0.5], atol=0.1)
    assert (most.mean, most.scale, most.threshold) == (START.mean, START.scale, START.threshold)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 200), st.integers(0, 1000), st.floats(1.0, 300.0))
def test_no_neighbour_is_more_probable(n: int, seed: int, prior: float) -> None:
    values, wanted = rows(n, seed)

    def surprise(model: Logistic) -> float:
        p = model.probabilities(values).astype(np.float64).clip(1e-9, 1 - 1e-9)
        off = np.array(model.coefficients) - np.array(START.coefficients)
        likelihood = -(wanted * np.log(p) + (1 - wanted) * np.log1p(-p)).sum()
        return float(likelihood + prior / 2 * (off @ off) + prior / 20 * (model.intercept - START.intercept) ** 2)

    found = fit_head(values, wanted, START, prior)
    for step in (-0.05, 0.05):
        assert surprise(found) < surprise(replace(found, intercept=found.intercept + step))
        first, second = found.coefficients
        assert surprise(found) < surprise(replace(found, coefficients=(first + step, second)))
        assert surprise(found) < surprise(replace(found, coefficients=(first, second + step)))


def test_the_threshold_is_the_best_on_dev_and_stays_where_dev_has_no_support() -> None:
    made = made_set()
    weights = train_head(made.train, made.dev)
    scores = weights.embedded.probabilities(features([p.pair for p in made.dev]))
    assert weights.embedded.threshold == best_threshold(truth(made.dev), scores)
    assert weights.card["threshold_source"] == "best F1 on 8 dev pairs"
    assert weights.card["start"] == shipped_weights().embedded.version
    without = train_head(made.train, [p for p in made.dev if not p.supports])
    assert without.embedded.threshold == shipped_weights().embedded.threshold
    assert without.embedded.version != shipped_weights().embedded.version


def test_a_teachers_probabilities_are_learned_in_place_of_labels() -> None:
    made = made_set()
    values = features([p.pair for p in made.train])
    sure = train_head(made.train, made.dev, targets=np.full(len(made.train), 0.9, np.float32), prior=PRIOR / 50)
    assert float(sure.embedded.probabilities(values).mean()) == pytest.approx(0.9, abs=0.05)
