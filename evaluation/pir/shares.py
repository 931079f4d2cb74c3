"""Which perspectives a ranking favours when none is asked for (PIR, tables 3 and 10)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.bootstrap import bootstrap_interval
from berdseye.data.pir_tasks import PirTask
from berdseye.data.records import Ids
from berdseye.evaluation.intervals import Estimate, resampled_means

_UMBRELLA = "general"
"""Perspectrum's label of queries for which every passage of the root is relevant, whatever its side."""
_RESAMPLES = 2000


class Share(NamedTuple):
    """Of the relevant passages that root queries found, the share with this label, beside its share of all relevant ones."""

    label: str
    found: Estimate
    corpus: float


def perspective_shares(task: PirTask, roots: list[str], ids: Ids, *, seed: int = 0) -> list[Share]:
    """One share a label; `ids` int64[n_roots, k] are the passages found for the text of each root.

    A passage of the top k counts for the label of the query of this root that it is relevant to. Shares are of all passages
    so found, with a 95% percentile bootstrap over roots (2,000 resamples, seeded); `n` counts the roots that found any. All
    values are NaN where none did.
    """
    labels = labels_with_sides(task)
    found, held = np.zeros((len(roots), len(labels))), np.zeros(len(labels))
    relevant = _relevant(task, labels)
    for row, (root, places) in enumerate(zip(roots, ids.tolist(), strict=True)):
        for column in range(len(labels)):
            gold = relevant.get((root, column), set())
            found[row, column] = len(gold.intersection(places))
            held[column] += len(gold)
    return [
        Share(label, share, float(held[i] / held.sum()))
        for i, (label, share) in enumerate(zip(labels, shares_over_roots(found, seed=seed), strict=True))
    ]


def shares_over_roots(found: npt.NDArray[np.float64], *, seed: int = 0) -> list[Estimate]:
    """The share of each label in all that was found, from counts float64[n_roots, n_labels], with a 95% percentile bootstrap over
    roots (2,000 resamples, seeded; `data.bootstrap`); `n` counts the roots that found any. NaN throughout where none did."""
    n, labels = int(found.any(axis=1).sum()), found.shape[1]
    if not n:
        return [Estimate(np.nan, np.nan, np.nan, 0)] * labels
    whole = _shares(found.sum(axis=0)[None, :])[0]
    drawn = _shares(resampled_means(found, _RESAMPLES, np.random.default_rng(seed)))
    return [Estimate(float(whole[i]), *bootstrap_interval(drawn[:, i], n), n) for i in range(labels)]


def labels_with_sides(task: PirTask) -> list[str]:
    """The labels a passage can favour, in the order of the file."""
    return [label for label in dict.fromkeys(q.label for q in task.queries) if label != _UMBRELLA]


def _relevant(task: PirTask, labels: list[str]) -> dict[tuple[str, int], set[int]]:
    columns, held = {label: n for n, label in enumerate(labels)}, dict[tuple[str, int], set[int]]()
    for query in task.queries:
        if query.label in columns:
            held.setdefault((query.root, columns[query.label]), set()).update(query.relevant)
    return held


def _shares(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    totals = counts.sum(axis=1, keepdims=True)
    shares: npt.NDArray[np.float64] = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return shares
