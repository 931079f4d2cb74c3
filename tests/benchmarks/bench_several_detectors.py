"""Several detectors in one corrected mean: coverage, and width of the interval beside that of the best detector alone.

Seeded; BERDSEYE_BENCH_TRIALS trials for each cell, 2,000 unless it is set. Data sets and draws are those of
`bench_sampled_labels.py`; detectors err independently given the labels.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.statistics.drawn_sample import DrawnSample, total
from berdseye.evaluation.statistics.proxies import DetectedSample
from tests.benchmarks.bench_sampled_labels import (
    QUESTIONS,
    SHARPNESS,
    TRIALS,
    World,
    drawn,
    mrecall,
    precision,
    weights_of,
    world,
)

Doubles = npt.NDArray[np.float64]
TOGETHER = (("good", "good"), ("good", "poor"), ("good", "useless"), ("poor", "poor", "poor", "useless"))
_DEPTH = 5


def chances(random: np.random.Generator, seen: World, detector: str) -> Doubles:
    """Another detector's probabilities of the same pairs."""
    sharp = SHARPNESS[detector]
    score = sharp * (2 * seen.truth - 1) + random.normal(size=seen.truth.shape)
    return np.asarray(1 / (1 + np.exp(-(2 * sharp * score + np.log(0.2 / 0.8)))))


def trial(random: np.random.Generator, names: tuple[str, ...], *, questions: bool) -> tuple[World, Doubles, Doubles]:
    """Return a data set with the first detector, people's values and those of all detectors, [n] and [n_detectors, n]."""
    seen = world(random, names[0])
    found = [seen.chance, *(chances(random, seen, name) for name in names[1:])]

    def value(labels: npt.NDArray[np.bool_]) -> Doubles:
        return mrecall(labels, seen.real) if questions else precision(labels)

    return seen, value(seen.truth), np.array([value((chance >= 0.5) & seen.real) for chance in found])


def held_by_draws(names: tuple[str, ...], order: str, draws: int, *, questions: bool) -> tuple[float, float, float]:
    """Return the share of intervals with the true value, their mean width, and that of the first detector alone."""
    random, held, widths, alone = np.random.default_rng(5), 0, [], []
    of_unit = np.arange(QUESTIONS) if questions else np.repeat(np.arange(QUESTIONS), _DEPTH)
    for _ in range(TRIALS):
        seen, people, said = trial(random, names, questions=questions)
        sample: DrawnSample = drawn(random, people, said[0], weights_of(order, seen, questions=questions), draws)
        estimate = total(DetectedSample(sample, said, of_unit).combined()[0]).estimate
        held += estimate.low <= people.sum() <= estimate.high
        widths.append((estimate.high - estimate.low) / len(people))
        first = total(replace(sample, detector=said[0])).estimate
        alone.append((first.high - first.low) / len(people))
    return held / TRIALS, float(np.mean(widths)), float(np.mean(alone))


def held_at_random(names: tuple[str, ...], judged: int, *, questions: bool) -> tuple[float, float, float]:
    """Return the same figures for randomly drawn questions, of the mean over questions that are still to come."""
    random, held, widths, alone = np.random.default_rng(6), 0, [], []
    truth = np.mean([_by_question(trial(random, names, questions=questions)[1]).mean() for _ in range(400)])
    for _ in range(TRIALS):
        _, people, said = trial(random, names, questions=questions)
        people, said = _by_question(people), np.array([_by_question(one) for one in said])
        people[judged:] = np.nan
        for detectors, found in ((said, widths), (said[:1], alone)):
            estimate = corrected_mean(people, detectors).estimate
            found.append(estimate.high - estimate.low)
            held += len(detectors) > 1 and estimate.low <= truth <= estimate.high
    return held / TRIALS, float(np.mean(widths)), float(np.mean(alone))


def _by_question(values: Doubles) -> Doubles:
    return values.reshape(QUESTIONS, -1).mean(axis=1)


@pytest.mark.benchmark
@pytest.mark.parametrize("questions", [False, True])
def test_coverage_with_several_detectors(questions: bool) -> None:
    print(f"\n{'MRecall@5 by questions' if questions else 'Precision@5 by passages'}, {TRIALS} trials")
    print("detectors                order        labels  covered  width  first detector alone")
    for names in TOGETHER:
        for order in ("random", "uncertainty", "random questions"):
            for draws in (50, 100) if questions or order == "random questions" else (50, 200):
                if order == "random questions":
                    covered, width, alone = held_at_random(names, draws, questions=questions)
                else:
                    covered, width, alone = held_by_draws(names, order, draws, questions=questions)
                print(f"{' '.join(names):24} {order:16}  {draws:4d}  {covered:7.1%}  {width:5.3f}  {alone:5.3f}")
                assert covered > 0.93 - 2 * (0.05 / TRIALS) ** 0.5
