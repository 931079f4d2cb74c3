"""Labels of perspectives that were merged or reworded, derived from what was said of the old ones.

The rule: a passage supports the new perspective where it supports any of those whose place that took; it does not where all of
them have a label and none is supported; else nothing is known. Nothing is derived for the parts of a split: who supports
the whole may mean either part. Such labels are no judgments: they are never stored, and count only where the label source
names `derived`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from berdseye.data.dataset_versions import parts_of_perspectives
from berdseye.data.records import Pair, pair_key
from berdseye.data.workspace import Workspace

Values = npt.NDArray[np.float64]
Parts = list[tuple[str, ...]]


def derived_labels(workspace: Workspace, pairs: Sequence[Pair], said: Callable[[Sequence[str]], Values]) -> Values:
    """1, 0 or NaN of each pair, float64[n_pairs], by the rule above over all versions of all data sets.

    `said` gives what is known of pairs, by their keys. Of several edits that brought one text, the newest that tells counts;
    where an old perspective came of an edit itself and nothing was said of it, the rule is applied to that too.
    """
    parts = parts_of_perspectives(workspace)
    places = [n for n, pair in enumerate(pairs) if pair.perspective in parts]
    keys = {
        (pairs[n].passage, text): pair_key(pairs[n].passage, text)
        for n in places
        for text in _all_parts(pairs[n].perspective, parts)
    }
    labels = dict(zip(keys, said(list(keys.values())).tolist() if keys else [], strict=True))
    found: Values = np.full(len(pairs), np.nan)
    for n in places:
        found[n] = _derived(pairs[n].passage, pairs[n].perspective, parts, labels, frozenset())
    return found


def _all_parts(text: str, parts: Mapping[str, Parts]) -> set[str]:
    """The texts that a perspective came of, at any remove."""
    found: set[str] = set()
    waiting = [text]
    while waiting:
        new = set(chain.from_iterable(parts.get(waiting.pop(), []))) - found
        found |= new
        waiting += new
    return found


def _derived(
    passage: str,
    text: str,
    parts: Mapping[str, Parts],
    labels: Mapping[tuple[str, str], float],
    above: frozenset[str],
) -> float:
    for edit in parts.get(text, []) if text not in above else []:
        values = []
        for part in edit:
            label = labels[passage, part]
            values.append(_derived(passage, part, parts, labels, above | {text}) if np.isnan(label) else label)
        if 1.0 in values or not np.isnan(values).any():
            return float(1.0 in values)
    return np.nan
