"""Items by the pattern of their labels, and resamples of items drawn as counts of patterns.

What raters in their totality say of an item is how many gave each value; two or three raters leave a dozen patterns, however many
items there are, and every coefficient is a function of sums over patterns. A bootstrap that draws how often each pattern comes up
(a multinomial) is the bootstrap over items, at a cost that does not grow with them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.annotation.agreement.alignment import Ints

Doubles = npt.NDArray[np.float64]
RESAMPLES = 1000
_MANY = 20


class Patterns(NamedTuple):
    """Distinct rows `counts` int64[n_patterns, n_values], in their order; `times` each occurs; `of_item` is an item's place."""

    counts: Ints
    times: Ints
    of_item: Ints


def patterns(counts: Ints) -> Patterns:
    """The patterns of items, int64[n_items, n_values]."""
    base = int(counts.max(initial=0)) + 1
    if base ** counts.shape[1] < 2**62:  # one number an item sorts many times faster than a row
        codes = counts @ (base ** np.arange(counts.shape[1], dtype=np.int64))
        _, first, of_item, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return Patterns(counts[first], times, of_item)
    distinct, of_item, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    return Patterns(distinct, times, of_item.reshape(-1))


def drawn(times: Ints, *, resamples: int = RESAMPLES, seed: int = 0) -> Doubles:
    """How often each pattern comes up in resamples of the items, float64[resamples, n_patterns]."""
    rng = np.random.default_rng(seed)
    n = int(times.sum())
    if n >= _MANY * len(times):
        return rng.multinomial(n, times / n, size=resamples).astype(np.float64)
    of_item = np.repeat(np.arange(len(times)), times)
    return np.array(
        [np.bincount(of_item[rng.integers(n, size=n)], minlength=len(times)) for _ in range(resamples)],
        dtype=np.float64,
    )


def drawn_over_groups(of_item: Ints, groups: Ints, *, resamples: int = RESAMPLES, seed: int = 0) -> Doubles:
    """The same when whole groups of items (questions) are drawn: `groups` int64[n_items]."""
    names, place = np.unique(groups, return_inverse=True)
    inside = np.zeros((len(names), int(of_item.max(initial=-1)) + 1))
    np.add.at(inside, (place, of_item), 1.0)
    return drawn(np.ones(len(names), dtype=np.int64), resamples=resamples, seed=seed) @ inside
