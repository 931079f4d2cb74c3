"""BERDS' measures of a ranking's top k, computed in NumPy from what each passage supports."""

import numpy as np

from berdseye.evaluation.measures.measure import Values
from berdseye.evaluation.support import Support


def mrecall(support: Support, k: int) -> Values:
    """MRecall@k (Min et al., 2021; BERDS, section 2.2): 1 where the top k supports every perspective, or, where there are
    more than k perspectives, at least k of them; else 0."""
    covered = support.top(k).any(axis=1).sum(axis=1)
    return np.asarray(covered >= np.minimum(support.counts, k), dtype=np.float64)


def precision(support: Support, k: int) -> Values:
    """Precision@k (BERDS, section 2.2): the share of k passages that support at least one perspective; a ranking shorter
    than k is still divided by k, as in the released evaluator."""
    return np.asarray(support.top(k).any(axis=2).sum(axis=1) / k)


def coverage(support: Support, k: int) -> Values:
    """Coverage@k: the share of a question's perspectives that the top k supports (subtopic recall, Zhai et al., 2003)."""
    return np.asarray(support.top(k).any(axis=1).sum(axis=1) / np.maximum(support.counts, 1))
