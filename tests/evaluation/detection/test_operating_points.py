"""Figures at a threshold against scikit-learn's, and what a threshold does to a run against the measures themselves."""

from time import perf_counter

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_recall_curve, precision_score, recall_score

from berdseye.evaluation.detection.operating_points import cells_by_group, decisions_at, figures, precision_recall
from berdseye.evaluation.detection.thresholds import RunEffects, RunProbabilities, with_human_labels
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import mrecall, precision

RNG = np.random.default_rng(2)
P = RNG.beta(0.6, 1.2, 2_000).astype(np.float32)
TRUE = RNG.random(2_000) < P
QUESTIONS = RNG.integers(0, 100, 2_000)


@pytest.mark.parametrize("threshold", [0.05, 0.4726, 0.9, float(P[7])])
def test_figures_are_those_of_scikit_learn(threshold: float) -> None:
    said = np.float32(threshold) <= P
    found = figures(cells_by_group(TRUE, decisions_at(P, threshold), QUESTIONS))
    expected = {
        "precision": precision_score(TRUE, said),
        "recall": recall_score(TRUE, said),
        "f1": f1_score(TRUE, said),
        "accuracy": accuracy_score(TRUE, said),
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value)
        assert found[name].low < value < found[name].high
        assert found[name].n == 100


def test_precision_without_predictions_is_undefined() -> None:
    nothing_said = figures(cells_by_group(np.array([True, False]), np.array([False, False]), np.array([0, 1])))
    assert np.isnan(nothing_said["precision"].value)
    assert nothing_said["recall"].value == 0


def test_the_curve_is_that_of_scikit_learn() -> None:
    few = slice(0, 300)
    found = precision_recall(TRUE[few], P[few])
    known_precision, known_recall, thresholds = precision_recall_curve(TRUE[few], P[few])
    assert found["threshold"].tolist() == pytest.approx(thresholds.tolist())
    assert found["precision"].tolist() == pytest.approx(known_precision[:-1].tolist())
    assert found["recall"].tolist() == pytest.approx(known_recall[:-1].tolist())
    thinned = precision_recall(TRUE, P)
    assert len(thinned) == 400
    row = thinned.iloc[123]
    assert row["f1"] == pytest.approx(f1_score(TRUE, P.astype(np.float64) >= row["threshold"]))
    assert precision_recall(np.ones(3, dtype=bool), P[:3]).empty


def random_run() -> tuple[np.ndarray, np.ndarray]:
    """Chances of 40 questions of 0 to 4 perspectives, 8 ranks; some rankings are short, some pairs without a label."""
    counts = RNG.integers(0, 5, 40)
    chances = RNG.random((40, 8, 4)).astype(np.float32)
    chances[np.broadcast_to(np.arange(4) >= counts[:, None, None], chances.shape)] = np.nan
    chances[3, 5:] = np.nan
    chances[RNG.random(chances.shape) < 0.1] = np.nan
    return chances, counts.astype(np.int64)


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_measures_at_every_threshold_are_those_of_the_labels_it_gives(k: int) -> None:
    chances, counts = random_run()
    effects = RunEffects(chances, counts, k)
    thresholds = np.append(np.linspace(0, 1, 9), float(chances[5, 0, 0]) if counts[5] else 0.5)
    curves = effects.curves(thresholds)
    asked = counts > 0
    for row, threshold in enumerate(thresholds.tolist()):
        said = np.nan_to_num(chances, nan=-1.0) >= np.float32(threshold)
        support = Support(said, counts, np.full(40, 8), ~np.isnan(chances))
        expected = {
            f"MRecall@{k}": mrecall(support, k)[asked].mean(),
            f"Precision@{k}": precision(support, k)[asked].mean(),
        }
        for name, value in expected.items():
            assert curves[name][row] == pytest.approx(value)
            assert effects.at(threshold)[name].value == pytest.approx(value)


def test_more_perspectives_than_k_ask_for_k_of_them() -> None:
    chances = np.array([[[0.9, 0.2, 0.6]], [[0.1, 0.2, 0.3]]], dtype=np.float32)
    effects = RunEffects(chances, np.array([3, 3]), 1)
    assert effects.covered_up_to.tolist() == pytest.approx([0.9, 0.3])


def test_peoples_words_hold_at_every_threshold() -> None:
    held = RunProbabilities(np.array([[[0.9, 0.2]]], dtype=np.float32), np.ones((1, 1, 2), dtype=bool), np.array([2]))
    words = np.array([[[0.0, np.nan]]])
    effects = RunEffects(with_human_labels(held, words), held.counts, 1)
    assert effects.curves(np.array([0.0, 0.1, 0.5]))["Precision@1"].tolist() == [1.0, 1.0, 0.0]
    assert held.missing == 0


def test_a_run_without_questions_that_count_has_no_value() -> None:
    effects = RunEffects(np.zeros((2, 3, 0), dtype=np.float32), np.zeros(2, dtype=np.int64), 3)
    assert np.isnan(effects.at(0.5)["MRecall@3"].value)
    assert effects.curves(np.array([0.5])).iloc[0, 1:].isna().all()


def test_300_000_pairs_answer_at_once() -> None:
    """The bar is a second; on a quiet machine it takes a tenth of that."""
    chances = RNG.random((3_000, 50, 2)).astype(np.float32)
    began = perf_counter()
    effects = RunEffects(chances, np.full(3_000, 2, dtype=np.int64), 5)
    effects.curves(np.linspace(0, 1, 400))
    effects.at(0.5)
    assert perf_counter() - began < 1.0
