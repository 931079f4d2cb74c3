"""Measures of a whole data set, as ratios in one run: ours against a plain loop, and against pytrec_eval called directly."""

import time
from collections.abc import Callable

import numpy as np
import pytest
import pytrec_eval

from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import parse_measures, values_of

pytestmark = pytest.mark.benchmark

QUESTIONS, DEPTH, PERSPECTIVES, BEYOND = 3000, 100, 3, 200
BERDS_BAR, CLASSIC_BAR = 0.1, 1.2


@pytest.fixture(scope="module")
def support() -> Support:
    rng = np.random.default_rng(0)
    labels = (rng.random((QUESTIONS, DEPTH, PERSPECTIVES)) < 0.1).astype(float)
    rest = (rng.random((QUESTIONS, BEYOND, PERSPECTIVES)) < 0.02).astype(float)
    return Support.of(list(labels), list(rest))


def fastest(work: Callable[[], object], times: int = 7) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent)


def loop(labels: list[list[list[bool]]], k: int) -> tuple[list[float], list[float]]:
    """MRecall@k and Precision@k written plainly."""
    mrecall, precision = [], []
    for passages in labels:
        top = passages[:k]
        covered = sum(any(p[place] for p in top) for place in range(len(top[0])))
        mrecall.append(float(covered >= min(len(top[0]), k)))
        precision.append(sum(any(p) for p in top) / k)
    return mrecall, precision


def test_mrecall_and_precision(support: Support) -> None:
    lists = support.supports.tolist()
    ours = plain = 0.0
    for k in (5, 10, 100):
        measures = parse_measures(f"MRecall@{k} Precision@{k}")
        np.testing.assert_allclose(values_of(measures, support), loop(lists, k))
        ours += fastest(lambda measures=measures: values_of(measures, support))
        plain += fastest(lambda k=k: loop(lists, k), 3)
    print(
        f"\nMRecall, Precision at 5, 10, 100: {1000 * ours:.1f} ms, a plain loop {1000 * plain:.0f} ms, {plain / ours:.0f} x"
    )
    assert ours < BERDS_BAR


def test_classic_measures(support: Support) -> None:
    """Per-question values; pytrec_eval is given its dictionaries ready, ours makes its own from the arrays."""
    assert support.rest is not None
    relevant, beyond = support.supports.any(axis=2).tolist(), support.rest.any(axis=2).tolist()
    run = {f"q{q}": {f"d{d:04d}": float(DEPTH - d) for d in range(DEPTH)} for q in range(QUESTIONS)}
    qrels = {
        f"q{q}": {f"d{d:04d}": int(v) for d, v in enumerate(relevant[q])}
        | {f"e{d:04d}": int(v) for d, v in enumerate(beyond[q])}
        for q in range(QUESTIONS)
    }
    measures = parse_measures("Recall@20 nDCG@20 AP@20 Rprec")
    names = ["recall_20", "ndcg_cut_20", "map_cut_20", "Rprec"]

    def direct() -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(qrels, {"recall.20", "ndcg_cut.20", "map_cut.20", "Rprec"}).evaluate(run)

    peer = direct()
    for values, name in zip(values_of(measures, support), names, strict=True):
        np.testing.assert_allclose(values, [peer[f"q{q}"][name] for q in range(QUESTIONS)])
    # Turn about, so that both see the same machine.
    pairs = [(fastest(lambda: values_of(measures, support), 2), fastest(direct, 2)) for _ in range(5)]
    ours, theirs = (min(column) for column in zip(*pairs, strict=True))
    print(
        f"\nRecall, nDCG, AP, Rprec: {1000 * ours:.0f} ms, pytrec_eval {1000 * theirs:.0f} ms, ratio {ours / theirs:.2f}"
    )
    assert ours < CLASSIC_BAR * theirs
