"""Several detectors as one: a combination of their values with the weights that make a corrected mean most precise.

The combination takes the place of the detector in a corrected mean. Its weights are fitted on labels, as those of a control
variate with several components (PPI++, Angelopoulos, Duchi and Zrnic, 2023, with a vector in place of lambda), and a proxy
that was fitted on the labels that it is compared with would look too good. Therefore they are cross-fitted (Zrnic and Candès,
"Cross-prediction-powered inference", PNAS 2024): the questions are divided into folds, whole, and the values of a fold are
combined with weights from the labels of the other folds. No question's error is measured with weights fitted on it.

The weights have the least squared error of the labels, each divided by the probability of its draw, about their mean. They are
not negative, sum to 1 at most, so that a combination is within the bounds of a detector's value, and are drawn towards equal
weights as if `PRIOR` more labels had shown these (ridge): few labels do not choose between detectors.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.statistics.drawn_sample import DrawnSample

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
FOLDS = 5
"""How many parts the questions are divided into; fewer if fewer questions have labels."""
PRIOR = 2.0
"""The number of labels that the equal weights count for."""


class Proxy(NamedTuple):
    """The combined values float64[n], and the mean over folds of the weights of the detectors, float64[n_detectors]."""

    values: Doubles
    weights: Doubles


def proxy_of_mean(people: Doubles, detectors: Doubles, *, seed: int = 0) -> Proxy:
    """Combine detectors' values of questions, `detectors` float64[n_detectors, n_questions], for a corrected mean.

    `people` float64[n_questions] is NaN where people did not judge; the judged questions must be drawn at random. One detector
    stays as it is.
    """
    if len(detectors) == 1:
        return Proxy(detectors[0], np.ones(1))
    known = ~np.isnan(detectors).any(axis=0)
    judged = np.flatnonzero(known & ~np.isnan(people))
    order = np.full(len(people), -1, dtype=np.int64)
    order[judged] = np.random.default_rng(seed).permutation(len(judged))
    folds = _folds(order, seed)
    weights = _fold_weights(people[judged], detectors[:, judged].T, folds[judged], int(folds.max(initial=0)) + 1)
    return _combined(detectors, weights, folds)


def proxy_of_total(sample: DrawnSample, detectors: Doubles, questions: Ints, *, seed: int = 0) -> Proxy:
    """Combine detectors' values of units, `detectors` float64[n_detectors, n_units], for the estimated total of a sample.

    `questions` int64[n_units] are the questions of the units. One detector stays as it is.
    """
    if len(detectors) == 1:
        return Proxy(detectors[0], np.ones(1))
    drawn = ~np.isnan(sample.chances)
    units = sample.sequence[drawn]
    names, of_unit = np.unique(questions, return_inverse=True)
    order = np.full(len(names), -1, dtype=np.int64)
    for place, question in zip(range(len(units))[::-1], of_unit[units][::-1].tolist(), strict=True):
        order[question] = place
    folds = _folds(order, seed)[of_unit]
    left = len(sample.detector) - np.flatnonzero(drawn)
    size = sample.chances[drawn] * left
    weights = _fold_weights(
        sample.people[units] / size, (detectors[:, units] / size).T, folds[units], int(folds.max(initial=0)) + 1
    )
    return _combined(detectors, weights, folds)


def _folds(order: Ints, seed: int) -> Ints:
    """Return the fold of each question, int64[n_questions]; `order` is when its first label was drawn (-1: never).

    Each run of questions in the order of the draws is spread over all folds, and so are the questions without a label.
    """
    random = np.random.default_rng([seed, 1])
    folds = np.zeros(len(order), dtype=np.int64)
    first = np.flatnonzero(order >= 0)
    first = first[np.argsort(order[first], kind="stable")]
    rest = random.permutation(np.flatnonzero(order < 0))
    count = max(1, min(FOLDS, len(first)))
    for places in (first, rest):
        blocks = -(-len(places) // count)
        dealt = np.concatenate([random.permutation(count) for _ in range(blocks)]) if blocks else places
        folds[places] = dealt[: len(places)]
    return folds


def _fold_weights(labels: Doubles, values: Doubles, folds: Ints, count: int) -> Doubles:
    """Return the weights for each fold from the labels float64[n] of the others, float64[count, n_detectors]."""
    return np.array([_weights(labels[folds != fold], values[folds != fold]) for fold in range(count)])


def _weights(labels: Doubles, values: Doubles) -> Doubles:
    """Return weights of `values` float64[n, n_detectors] that explain `labels` float64[n] best."""
    from scipy.optimize import nnls

    count = values.shape[1]
    if len(labels) < 2:
        return np.full(count, 1 / count)
    about = values - values.mean(axis=0)
    spread = np.sqrt((about**2).mean(axis=0))
    told = spread > 0  # a detector that says the same of everything explains nothing
    if not told.any():
        return np.full(count, 1 / count)
    prior, equal = np.sqrt(PRIOR) * spread[told], 1 / int(told.sum())
    rows = np.concatenate([about[:, told], np.diag(prior)])
    found, _ = nnls(rows, np.concatenate([labels - labels.mean(), prior * equal]))
    weights = np.zeros(count)
    weights[told] = found / max(1.0, float(found.sum()))
    return weights


def _combined(detectors: Doubles, weights: Doubles, folds: Ints) -> Proxy:
    return Proxy(np.einsum("dn,nd->n", detectors, weights[folds]), weights.mean(axis=0))


@dataclass(frozen=True)
class DetectedSample:
    """A sample with the values of several detectors: `detectors` float64[n_detectors, n_units]; `questions` int64[n_units].

    The values in `sample.detector` are their mean, which needs no label.
    """

    sample: DrawnSample
    detectors: Doubles
    questions: Ints

    def first_steps(self, steps: int) -> "DetectedSample":
        """Return the sample as it was after the first draws."""
        cut = replace(self.sample, sequence=self.sample.sequence[:steps], chances=self.sample.chances[:steps])
        return replace(self, sample=cut)

    def minus(self, other: "DetectedSample") -> "DetectedSample":
        """Return the sample of the difference of two totals over the same units."""
        return replace(self, sample=self.sample.minus(other.sample), detectors=self.detectors - other.detectors)

    def relevant(self, weights: Doubles | None) -> "DetectedSample":
        """Return the sample of the units that can contribute, where the weights float64[n_units] of the draws are known."""
        kept = self.sample.span > 0
        if weights is None or kept.all():
            return self
        return DetectedSample(self.sample.only(kept, weights), self.detectors[:, kept], self.questions[kept])

    def combined(self) -> tuple[DrawnSample, Doubles]:
        """Return the sample with the combination of the detectors, and the weights of these, float64[n_detectors]."""
        proxy = proxy_of_total(self.sample, self.detectors, self.questions)
        return replace(self.sample, detector=proxy.values), proxy.weights
