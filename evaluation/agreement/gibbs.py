"""The posterior of the model of Dawid and Skene for two labels, by Gibbs sampling: labels given people, people given labels.

The model of reliability.py in its Bayesian form (Kim and Ghahramani, Bayesian Classifier Combination, AISTATS 2012; Paun and
others, TACL 6, 2018), with Beta priors of the sensitivities and specificities, and a uniform one of the share of positive pairs.
The libraries among our dependencies have no sampler for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import expit

from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
_TINY = 1e-6


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


class Step(NamedTuple):
    """The states of all chains: the probability `p` float32[n_groups, n_chains] that the items of a group are positive given the
    rates, and the rates themselves, `sensitivity` and `specificity` float64[n_raters, n_chains]."""

    p: Singles
    sensitivity: Doubles
    specificity: Doubles


def gibbs_steps(
    grouped: Grouped,
    start: Doubles,
    random: np.random.Generator,
    *,
    prior: tuple[float, float],
    chains: int,
    alike: bool = False,
    circle: Ints | None = None,
) -> Iterator[Step]:
    """Yield one step of all chains after the other, without end.

    All chains start from the probabilities `start` float64[n_groups]. `prior` is the Beta prior of a sensitivity and a
    specificity, in labels that are right and wrong; with `alike`, all raters have the same two. `circle` int64[n_raters] numbers
    the circles of raters, each of which is held better than chance: the sum of sensitivity + specificity - 1 over all labels of
    a circle is positive. A draw of a circle's rates that breaks this is refused and its last rates stay, which leaves the
    posterior under the constraint invariant (Metropolis and Hastings). A symmetric prior needs it, because all labels could
    otherwise be exchanged.
    """
    yes, no = grouped.yes.astype(np.float32), grouped.no.astype(np.float32)
    times = grouped.times[:, None].astype(np.int64)
    several = np.flatnonzero(grouped.times > 1)
    n = int(grouped.times.sum())
    yes_t, no_t = yes.T.tocsr(), no.T.tocsr()
    yes_all, no_all = (grouped.yes.T @ times, grouped.no.T @ times)
    p: Singles = np.asarray(np.repeat(start[:, None], chains, axis=1), dtype=np.float32)
    up: Doubles = np.full((yes.shape[1], chains), 0.75)
    down = up
    of_circle = None if circle is None else csr_array(((yes_all + no_all)[:, 0], (circle, np.arange(len(circle)))))
    while True:
        held = (random.random(p.shape, dtype=np.float32) < p).astype(np.float32)
        held[several] = random.binomial(times[several], p[several])
        total = held.sum(axis=0, dtype=np.float64)
        positive = random.beta(1 + total, 1 + n - total)
        yes_up, no_up = yes_t @ held, no_t @ held
        last = up, down
        up = _rates(yes_up, no_up, random, prior, alike=alike)
        down = _rates(no_all - no_up, yes_all - yes_up, random, prior, alike=alike)
        if of_circle is not None:
            refused = (of_circle @ (up + down - 1) < 0)[circle]
            up, down = np.where(refused, last[0], up), np.where(refused, last[1], down)
        odds = yes @ np.log(up / (1 - down)).astype(np.float32) + no @ np.log((1 - up) / down).astype(np.float32)
        odds += np.log(positive / (1 - positive)).astype(np.float32)
        p = np.asarray(expit(odds))
        yield Step(p, up, down)


def _rates(
    right: npt.NDArray[np.floating],
    wrong: Doubles,
    random: np.random.Generator,
    prior: tuple[float, float],
    *,
    alike: bool,
) -> Doubles:
    """Draw the chance of a right label [n_raters, n_chains] of each rater, or one for all if they are alike."""
    raters = len(right)
    if alike:
        right, wrong = right.sum(axis=0, keepdims=True), wrong.sum(axis=0, keepdims=True)
    shares = np.clip(random.beta(prior[0] + right, prior[1] + wrong), _TINY, 1 - _TINY)
    return np.asarray(np.broadcast_to(shares, (raters, shares.shape[1])), dtype=np.float64)
