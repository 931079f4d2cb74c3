"""The totals of several batches of draws together: unbiased, and intervals that cover, also where one batch skips what another
has drawn."""

import numpy as np
import pytest

from berdseye.evaluation.statistics.drawn_sample import DrawnSample, sum_of_totals, total

UNITS = 60


def drawn(
    random: np.random.Generator, weights: np.ndarray, known: np.ndarray, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sequence of a batch, and its chances; the units int64 `known` left it before its first draw."""
    left = np.setdiff1d(np.arange(len(weights)), known)
    order = left[np.argsort(random.exponential(size=len(left)) / weights[left])]
    chances = weights[order] / np.cumsum(weights[order][::-1])[::-1]
    return np.concatenate([known, order[:draws]]), np.concatenate([np.full(len(known), np.nan), chances[:draws]])


def sample(
    people: np.ndarray, detector: np.ndarray, share: np.ndarray, sequence: np.ndarray, chances: np.ndarray
) -> DrawnSample:
    value = share * people
    return DrawnSample(share * detector, value, value, value, np.zeros(UNITS), share, sequence, chances)


def two_batches(random: np.random.Generator, *, overlapping: bool) -> tuple[list[DrawnSample], float]:
    """Two batches of 12 draws each: on the same units, or on 40 each of which 20 are both's."""
    people = (random.random(UNITS) < 0.4).astype(float)
    detector = np.where(random.random(UNITS) < 0.8, people, 1 - people)
    held = [np.arange(40), np.arange(20, 60)] if overlapping else [np.arange(UNITS)] * 2
    times = sum(np.isin(np.arange(UNITS), one) for one in held)
    samples, judged = [], np.zeros(0, dtype=np.int64)
    for units in held:
        weights = random.uniform(0.2, 1, len(units))
        known = np.flatnonzero(np.isin(units, judged))
        places, chances = drawn(random, weights, known, 12)
        share = np.where(np.isin(np.arange(UNITS), units), 1 / times, 0.0)
        whole = sample(people, detector, share, units[places], chances)
        inside = np.isin(np.arange(UNITS), units)
        place = np.cumsum(inside) - 1
        cut = {name: getattr(whole, name)[inside] for name in ("detector", "people", "low", "high", "least", "most")}
        samples.append(DrawnSample(**cut, sequence=place[whole.sequence].astype(np.int64), chances=chances))
        judged = np.union1d(judged, units[places])
    return samples, float(people.sum())


@pytest.mark.parametrize("overlapping", [False, True])
def test_the_sum_is_unbiased_and_its_interval_covers(overlapping: bool) -> None:
    random, errors, held, widths, alone = np.random.default_rng(0), [], 0, [], []
    for _ in range(1500):
        samples, truth = two_batches(random, overlapping=overlapping)
        errors.append(sum_of_totals(samples, weight=1.0).estimate.value - truth)
        estimate = sum_of_totals(samples).estimate
        held += estimate.low <= truth <= estimate.high
        widths.append(estimate.high - estimate.low)
        if not overlapping:
            first = total(samples[0]).estimate
            alone.append(2 * (first.high - first.low))  # its shares are one half
    assert abs(np.mean(errors)) < 3 * np.std(errors) / 1500**0.5
    assert held / 1500 >= 0.92
    if alone:
        assert np.mean(widths) < 0.8 * np.mean(alone)


def test_one_sample_is_what_it_was() -> None:
    samples, _ = two_batches(np.random.default_rng(1), overlapping=False)
    assert sum_of_totals(samples[:1]) == total(samples[0])


def test_a_sample_without_draws_leaves_no_value() -> None:
    samples, _ = two_batches(np.random.default_rng(1), overlapping=False)
    empty = DrawnSample(
        *(getattr(samples[1], name) for name in ("detector", "people", "low", "high", "least", "most")),
        np.zeros(0, dtype=np.int64), np.zeros(0),
    )  # fmt: skip
    assert np.isnan(sum_of_totals([samples[0], empty]).estimate.value)
