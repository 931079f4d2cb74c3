"""A detector's total, corrected by labels of units that were drawn one after another with known probabilities.

Before draw t, let the labels of the earlier draws be known. Then Z_t = (labels of the known units) + lambda (detector's values
of the n_t other units) + (label - lambda detector's value of the drawn unit) / q_t has the true total as its expectation, if
the unit was drawn with probability q_t among the n_t: active statistical inference (Zrnic and Candès, ICML 2024) for a
sampling without replacement, as the estimator of active testing (Farquhar, Gal and Rainforth, ICLR 2021; Kossen et al., ICML
2021). The Z_t are combined with weights in proportion to 1 / (n_t (n_t - 1)), which are those of active testing and optimal
for draws with equal probabilities.

lambda is that of PPI++ (Angelopoulos, Duchi and Zrnic, 2023): the one with the least variance in the sample, between 0 and 1.
With a fixed lambda the estimate is unbiased for every number of draws; the tuned one adds a bias of order 1/n.

Two readings of what is not known yet give `low` and `high`: the interval covers both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.statistics.intervals import Estimate

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_ADDED, _SHARE = 2, 0.7
HEAVIEST = 0.05
"""The share of the draws whose part of all weight is reported."""


@dataclass(frozen=True)
class DrawnSample:
    """A finite population of units of which some were drawn; what a sample estimates is the sum of the labels of all units.

    By unit, float64[n_units]: `detector`, the detector's values; `people`, the values by people's labels, with `low` and
    `high` as the least and the largest value that missing labels allow; `least` and `most`, the bounds of the unit's value
    under any labels. `sequence` int64[n_steps]: the units in the order they were drawn; `chances` float64[n_steps]: the
    probability of each draw (NaN: the unit became known otherwise). `fixed`: the known part of the total beside the units
    (people's reading, least, largest). Values of units that were not drawn, other than the detector's, have no effect.
    """

    detector: Doubles
    people: Doubles
    low: Doubles
    high: Doubles
    least: Doubles
    most: Doubles
    sequence: Ints
    chances: Doubles
    fixed: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def draws(self) -> int:
        """The number of draws with a known probability."""
        return int((~np.isnan(self.chances)).sum())

    @property
    def span(self) -> Doubles:
        """The largest difference between two values of each unit, float64[n_units]."""
        return self.most - self.least

    def steps(self, labels: Doubles) -> tuple[Doubles, Doubles, Ints, Doubles]:
        """Return, of each draw, Z at lambda 0, by how much each lambda lowers it, n, and q: float64, int64[n_draws].

        `labels` float64[n_units] are one of the readings.
        """
        order = self.sequence
        label, said = labels[order], self.detector[order]
        known = np.concatenate([[0.0], np.cumsum(label)[:-1]]) if len(order) else np.zeros(0)
        rest = self.detector.sum() - (np.concatenate([[0.0], np.cumsum(said)[:-1]]) if len(order) else np.zeros(0))
        drawn = ~np.isnan(self.chances)
        q, n = self.chances[drawn], (len(self.detector) - np.arange(len(order)))[drawn]
        return known[drawn] + label[drawn] / q, said[drawn] / q - rest[drawn], n.astype(np.int64), q

    def minus(self, other: "DrawnSample") -> "DrawnSample":
        """Return the sample of the difference of two totals over the same units."""
        a, b = self.fixed, other.fixed
        return replace(
            self,
            detector=self.detector - other.detector,
            people=self.people - other.people,
            low=self.low - other.high,
            high=self.high - other.low,
            least=self.least - other.most,
            most=self.most - other.least,
            fixed=(a[0] - b[0], a[1] - b[2], a[2] - b[1]),
        )

    def only(self, relevant: npt.NDArray[np.bool_], weights: Doubles | None) -> "DrawnSample":
        """Return the sample of the units bool[n_units] that can contribute; the draws of these alone are a sampling too.

        Without the weights float64[n_units] behind all draws, the probabilities of draws among fewer units are not known, and
        all units stay.
        """
        if weights is None or relevant.all():
            return self
        place = np.cumsum(relevant) - 1
        kept = relevant[self.sequence]
        order = self.sequence[kept]
        before = np.concatenate([[0.0], np.cumsum(weights[order])[:-1]]) if len(order) else np.zeros(0)
        chances = weights[order] / (weights[relevant].sum() - before)
        return replace(
            self,
            **{name: getattr(self, name)[relevant] for name in ("detector", "people", "low", "high", "least", "most")},
            sequence=place[order].astype(np.int64),
            chances=np.where(np.isnan(self.chances[kept]), np.nan, np.minimum(chances, 1.0)),
        )


class Total(NamedTuple):
    """An estimated total with its interval; `n` of the estimate is the number of draws.

    `weight` is lambda. `effective` is the number of equally weighted draws with the same sum of squared weights (Kish, 1965),
    and `heaviest` the share of all weight on the heaviest 5% of the draws.
    """

    estimate: Estimate
    weight: float
    standard_error: float
    freedom: int
    effective: float
    heaviest: float

    @property
    def p(self) -> float:
        """Two-sided p of a total of 0, for differences."""
        if not np.isfinite(self.standard_error) or self.freedom < 1:
            return float("nan")
        from scipy.special import stdtr

        if self.standard_error == 0:
            return float(self.estimate.value == 0)
        return float(2 * stdtr(self.freedom, -abs(self.estimate.value) / self.standard_error))


def total(sample: DrawnSample, *, weight: float | None = None, confidence: float = 0.95) -> Total:
    """Estimate the sum of the labels of all units; `weight` is lambda (None: tuned).

    The interval is Student's, with two draws added whose errors are 0.7 of the largest possible error, one in each direction
    (following Agresti and Coull, 1998): a good detector's errors are rare, and few draws may show none. `tests/benchmarks/
    bench_sampled_labels.py` measures its coverage. If every unit is known, the interval has no width. With fewer than two draws
    there is no interval, with none no value.
    """
    return sum_of_totals([sample], weight=weight, confidence=confidence)


def sum_of_totals(samples: Sequence[DrawnSample], *, weight: float | None = None, confidence: float = 0.95) -> Total:
    """Estimate the sum of the totals of several samples, as `total` does for one.

    Each sample was drawn for itself: given all draws before, of any sample, the probability of a draw is the stored one.
    Deviations of single draws are then uncorrelated between samples too, and their squares add. `weight` of the result is the
    mean lambda over draws.
    """
    fits = [_readings(sample, weight) for sample in samples]
    draws = sum(sample.draws for sample in samples)
    value = sum(people.value for people, _, _ in fits)
    lambdas = sum(people.weight * max(sample.draws, 1) for (people, _, _), sample in zip(fits, samples, strict=True))
    mean = lambdas / max(sum(max(sample.draws, 1) for sample in samples), 1)
    error = float(np.sqrt(sum(people.error**2 for people, _, _ in fits)))
    shares = [_weights(sample) if sample.draws else (0.0, HEAVIEST) for sample in samples]
    effective, heaviest = sum(one for one, _ in shares), max(one for _, one in shares)
    if all(_complete(sample) for sample in samples):
        low, high = sum(least.value for _, least, _ in fits), sum(most.value for _, _, most in fits)
        return Total(Estimate(value, low, high, draws), 1.0, 0.0, max(draws - 1, 0), float(draws), HEAVIEST)
    if np.isnan(value) or np.isnan(error):
        nothing = float("nan")
        counted = 0 if np.isnan(value) else draws
        return Total(Estimate(value, nothing, nothing, counted), mean, nothing, 0, effective, heaviest)
    from scipy.special import stdtrit

    freedom = draws + _ADDED - 1
    factor = float(stdtrit(freedom, (1 + confidence) / 2))
    low, high = (
        sum(fit[place].value for fit in fits)
        + sign * factor * float(np.sqrt(sum(fit[place].error ** 2 for fit in fits)))
        for place, sign in ((1, -1), (2, 1))
    )
    estimate = Estimate(value, min(low, value), max(high, value), draws)
    return Total(estimate, mean, error, freedom, effective, heaviest)


def _complete(sample: DrawnSample) -> bool:
    return len(sample.sequence) == len(sample.detector)


def _readings(sample: DrawnSample, weight: float | None) -> "tuple[_Fitted, _Fitted, _Fitted]":
    """Return the fit of people's labels, and of the least and the largest labels with the same lambda."""
    readings = (sample.people, sample.low, sample.high)
    if _complete(sample):
        first, second, third = (
            _Fitted(float(labels.sum()) + at, 1.0, 0.0) for labels, at in zip(readings, sample.fixed, strict=True)
        )
        return first, second, third
    if sample.draws == 0:
        nothing = _Fitted(float("nan"), 0.0, float("nan"))
        return nothing, nothing, nothing
    people = _fit(sample, sample.people, weight)
    others = (_fit(sample, labels, people.weight) for labels in readings[1:])
    first, second, third = (
        fit._replace(value=fit.value + at) for fit, at in zip((people, *others), sample.fixed, strict=True)
    )
    return first, second, third


class _Fitted(NamedTuple):
    value: float
    weight: float
    error: float


def _fit(sample: DrawnSample, labels: Doubles, weight: float | None) -> _Fitted:
    at_zero, lowers, n, _ = sample.steps(labels)
    a = _combining(n)
    if weight is None:
        spread = float((a**2 * lowers**2).sum())
        with_detector = float((a**2 * (at_zero - a @ at_zero) * lowers).sum())
        weight = float(np.clip(with_detector / spread, 0.0, 1.0)) if spread > 0 else 0.0
    z = at_zero - weight * lowers
    value = float(a @ z)
    draws = len(n)
    if draws < 2:
        return _Fitted(value, weight, float("nan"))
    largest = _SHARE * float(np.sqrt((sample.span**2).mean()))
    squares = (
        float((a**2 * (z - value) ** 2).sum()) + _ADDED * float((a**2 * n.astype(np.float64) ** 2).mean()) * largest**2
    )
    shrunk = (draws / (draws + _ADDED)) ** 2
    return _Fitted(value, weight, float(np.sqrt(squares * shrunk * (draws + _ADDED) / (draws + _ADDED - 1))))


def _combining(n: Ints) -> Doubles:
    raw = 1.0 / (n * np.maximum(n - 1.0, 1e-9))
    return np.asarray(raw / raw.sum(), dtype=np.float64)


def _weights(sample: DrawnSample) -> tuple[float, float]:
    """Return the effective number of draws, and the share of the weight on the heaviest."""
    _, _, n, q = sample.steps(sample.people)
    a = _combining(n)
    weights = a / q + (a.sum() - np.cumsum(a))
    heaviest = max(1, round(HEAVIEST * len(weights)))
    top = np.sort(weights)[::-1][:heaviest].sum()
    return float(weights.sum() ** 2 / (weights**2).sum()), float(top / weights.sum())
