"""How reliable each person is and how certain each pair's label, by the model of Dawid and Skene (1979) for two labels.

Each person has a sensitivity (the chance of 'supports' where the passage supports the perspective) and a specificity (the chance
of 'does not support' where it does not). Given a pair's true label, people's labels are taken as independent. The fit is our own
because crowd-kit's has neither a prior nor intervals, for which all bootstrap samples are fitted at once; a test compares the
two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import expit, xlogy

from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
RESAMPLES = 200
PRIOR = 1.0
"""Labels added to each cell of a person's table of errors: the mode of the posterior under a Beta(2, 2) prior."""
GOOD = 0.5
"""The sensitivity + specificity - 1 (Youden's index, 1950) from which a person counts as good."""
CONTESTED = 1 / 3
"""The share of good people in the minority from which a pair counts as contested."""
_ITERATIONS, _TOLERANCE, _LOOSE = 500, 1e-7, 1e-3
_TINY = 1e-10
_AT_ONCE = 40


@dataclass(frozen=True)
class Reliability:
    """A fitted model: the probability float64[n_items] that each pair is positive, the share `positive` of positive pairs, and
    the sensitivity and specificity float64[n_raters] of each rater. `alike` says that all raters were given the same two;
    `converged` is False if the iterations ran out."""

    labels: Aligned
    probability: Doubles
    positive: float
    sensitivity: Doubles
    specificity: Doubles
    converged: bool
    alike: bool = False


@dataclass(frozen=True)
class Grouped:
    """Items with equal labels as one: `place` int64[n_items] is the group of each, `times` float64[n_groups] counts them; `yes`
    and `no` [n_groups, n_raters] say who gave which label."""

    place: Ints
    times: Doubles
    yes: csr_array
    no: csr_array

    def of_groups(self, values: Doubles) -> Doubles:
        """Return the value float64[n_groups] of each group, from those of the items, float64[n_items], equal within a group."""
        found: Doubles = np.zeros(len(self.times))
        found[self.place] = values
        return found


def dawid_skene(labels: Aligned, *, prior: float = PRIOR, alike: bool = False) -> Reliability:
    """Fit the model by expectation maximisation, which starts from the share of 'supports' of each pair.

    With `alike`, all raters have one sensitivity and one specificity, so that their votes count equally. `prior` is added to
    each cell of a person's errors; 0 gives the maximum likelihood of Dawid and Skene (Applied Statistics 28, 1979, equations
    2.3 to 2.5). The labels must be 'does not support' and 'supports'. Raises `BadInputError` for other labels, and if nobody
    labelled anything.
    """
    grouped = grouped_items(labels)
    p, positive, sensitivity, specificity, converged = _fit(
        grouped, grouped.times[:, None], _shares(grouped)[:, None], prior, _TOLERANCE, alike
    )
    return Reliability(
        labels, p[grouped.place, 0], float(positive[0]), sensitivity[:, 0], specificity[:, 0], converged, alike
    )


def people_table(fit: Reliability, *, prior: float = PRIOR, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """Return the sensitivity, specificity and their 95% intervals of each rater, one row each, the most reliable first.

    The intervals are the 2.5% and 97.5% percentiles of fits to bootstrap samples of the pairs; each fit starts from the fit to
    all pairs, so that they tell nothing of other local maxima. A sample in which a rater has no label counts with the prior
    alone. `youden` is sensitivity + specificity - 1: 0 for chance, 1 for no error. `n` counts the labels.
    """
    grouped = grouped_items(fit.labels)
    up, down = _resampled(fit, grouped, prior, resamples, np.random.default_rng(seed))
    ends = [np.quantile(values, (0.025, 0.975), axis=1) for values in (up, down)]
    youden = fit.sensitivity + fit.specificity - 1
    table = pd.DataFrame(
        {
            "annotator": fit.labels.raters,
            "n": (fit.labels.codes >= 0).sum(axis=0),
            "sensitivity": fit.sensitivity,
            "sensitivity_low": np.minimum(ends[0][0], fit.sensitivity),
            "sensitivity_high": np.maximum(ends[0][1], fit.sensitivity),
            "specificity": fit.specificity,
            "specificity_low": np.minimum(ends[1][0], fit.specificity),
            "specificity_high": np.maximum(ends[1][1], fit.specificity),
            "youden": youden,
        }
    )
    return table.sort_values("youden", ascending=False, kind="stable").reset_index(drop=True)


def _resampled(
    fit: Reliability, grouped: Grouped, prior: float, resamples: int, random: np.random.Generator
) -> tuple[Doubles, Doubles]:
    """Return the sensitivities and specificities [n_raters, resamples] of fits to bootstrap samples of the items.

    Single precision, which is far finer than the tolerance, and few fits at once, so that they stay in the processor's cache.
    """
    n, groups = len(grouped.place), len(grouped.times)
    start = grouped.of_groups(fit.probability).astype(np.float32)[:, None]
    found = []
    for first in range(0, resamples, _AT_ONCE):
        fits = min(_AT_ONCE, resamples - first)
        drawn = np.empty((groups, fits), dtype=np.float32)
        for column in drawn.T:
            column[:] = np.bincount(grouped.place[random.integers(n, size=n)], minlength=groups)
        _, _, up, down, _ = _fit(grouped, drawn, np.repeat(start, fits, axis=1), prior, _LOOSE, fit.alike)
        found.append((up, down))
    return np.hstack([up for up, _ in found]), np.hstack([down for _, down in found])


def pairs_table(fit: Reliability) -> pd.DataFrame:
    """Return each pair's probability, its entropy, and whom to ask next, one row each; the most valuable next label first.

    `entropy` (bits) is the uncertainty that the labels leave. `ask` is the rater who has not labelled the pair and whose label
    is expected to reduce the entropy most; `gain` is that reduction in bits, the mutual information of label and truth (Lindley,
    1956). Where everyone labelled the pair, `ask` is None and `gain` 0. `contested` marks pairs on which at least three good
    raters (`GOOD`) disagree, at least a third of them in the minority: there the guidelines or the wording may be at fault.
    """
    p = fit.probability
    entropy = _entropy(p)
    gain, ask = np.zeros(len(p)), np.full(len(p), -1)
    for rater, (up, down) in enumerate(zip(fit.sensitivity, fit.specificity, strict=True)):
        says = p * up + (1 - p) * (1 - down)
        noise = p * _entropy(up) + (1 - p) * _entropy(down)
        found = np.where(fit.labels.codes[:, rater] < 0, _entropy(says) - noise, 0.0)
        better = found > gain
        gain[better], ask[better] = found[better], rater
    good = fit.labels.codes[:, fit.sensitivity + fit.specificity - 1 >= GOOD]
    yes, asked = (good == fit.labels.values.index(SUPPORTS)).sum(axis=1), (good >= 0).sum(axis=1)
    table = pd.DataFrame(
        {
            "item": fit.labels.items,
            "n": (fit.labels.codes >= 0).sum(axis=1),
            "probability": p,
            "entropy": entropy,
            "ask": [None if rater < 0 else fit.labels.raters[rater] for rater in ask.tolist()],
            "gain": gain,
            "contested": (asked >= 3) & (np.minimum(yes, asked - yes) >= CONTESTED * asked - _TINY),
        }
    )
    return table.sort_values("gain", ascending=False, kind="stable").reset_index(drop=True)


def grouped_items(labels: Aligned) -> Grouped:
    """Group the items with equal labels; raises `BadInputError` for other labels than these two, and if there are none."""
    if set(labels.values) != {AGAINST, SUPPORTS}:
        raise BadInputError(
            f"The model needs the labels '{SUPPORTS}' and '{AGAINST}', and no others.",
            hint="Leave out 'unsure', or count it as 'does not support'.",
        )
    if not (labels.codes >= 0).any():
        raise BadInputError("There are no labels.", hint="Judge some pairs first.")
    item, rater = np.nonzero(labels.codes >= 0)
    label = labels.codes[item, rater] == labels.values.index(SUPPORTS)
    # Items have equal labels if the sums of random numbers of their (rater, label) are equal: 2^-64 a pair of items otherwise.
    numbers = np.random.default_rng(0).integers(0, 2**63, size=(len(labels.raters), 2), dtype=np.uint64)
    sums = np.zeros(len(labels.items), dtype=np.uint64)
    np.add.at(sums, item, numbers[rater, label.astype(np.int64)])
    _, first, place, times = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    codes = labels.codes[first]
    yes = codes == labels.values.index(SUPPORTS)
    no = (codes >= 0) & ~yes
    return Grouped(
        place.astype(np.int64), times.astype(np.float64), csr_array(yes.astype(float)), csr_array(no.astype(float))
    )


def _shares(grouped: Grouped) -> Doubles:
    yes, no = (np.asarray(votes.sum(axis=1), dtype=np.float64) for votes in (grouped.yes, grouped.no))
    return np.asarray(np.where(yes + no > 0, yes / np.maximum(yes + no, 1), 0.5), dtype=np.float64)


def _fit(
    grouped: Grouped, weights: Floats, start: Floats, prior: float, tolerance: float, alike: bool
) -> tuple[Floats, Doubles, Doubles, Doubles, bool]:
    """Fit the model for each column of `weights` and `start` [n_groups, n_fits] at once, until no parameter moves by more.

    Arrays by group have the precision of `weights`, and parameters double precision.
    """
    p, kind = start, weights.dtype
    yes, no = grouped.yes.astype(kind), grouped.no.astype(kind)
    yes_t, no_t = csr_array(yes.T), csr_array(no.T)
    yes_all, no_all = yes_t @ weights, no_t @ weights
    total = weights.sum(axis=0, dtype=np.float64)
    before: Doubles = np.zeros((2 * yes.shape[1] + 1, weights.shape[1]))
    converged = False
    for _ in range(_ITERATIONS):
        held = weights * p
        positive = np.clip(held.sum(axis=0, dtype=np.float64) / total, _TINY, 1 - _TINY)
        yes_up, no_up = yes_t @ held, no_t @ held
        up = _share(yes_up, no_up, prior, alike)
        down = _share(no_all - no_up, yes_all - yes_up, prior, alike)
        odds = yes @ np.log(up / (1 - down)).astype(kind) + no @ np.log((1 - up) / down).astype(kind)
        odds += np.log(positive / (1 - positive)).astype(kind)
        p = expit(odds, out=odds)
        now: Doubles = np.vstack([positive, up, down])
        converged = float(np.abs(now - before).max()) < tolerance
        if converged:
            break
        before = now
    return p, positive, up, down, converged


def _share(right: Floats, wrong: Floats, prior: float, alike: bool) -> Doubles:
    """The shares of right labels [n_raters, n_fits]: of each rater, or, if they are alike, of all together."""
    if alike:
        right, wrong = (np.repeat(x.sum(axis=0, keepdims=True), len(x), axis=0) for x in (right, wrong))
    right, wrong = right.astype(np.float64), wrong.astype(np.float64)
    n = right + wrong + 2 * prior
    shares = np.where(n > _TINY, (right + prior) / np.maximum(n, _TINY), 0.5)
    return np.asarray(np.clip(shares, _TINY, 1 - _TINY), dtype=np.float64)


def _entropy(p: Doubles | float) -> Doubles:
    """The entropy of a coin in bits."""
    values = np.asarray(p, dtype=np.float64)
    return np.asarray(-(xlogy(values, values) + xlogy(1 - values, 1 - values)) / np.log(2), dtype=np.float64)
