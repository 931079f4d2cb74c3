"""The consensus of people's judgments as labels, with the uncertainty that the judgments leave.

`consensus(dawid-skene)` gives each person a sensitivity and a specificity, `consensus(majority)` gives everyone the same two,
so that votes count equally; the probability of each pair and the draws of its label are those of
`evaluation.agreement.label_draws`. The label of a pair is 'supports' if its probability is at least one half. A verdict of an
adjudicator replaces the probability and is taken as certain; a pair adjudicated as unsure has no label. 'unsure' judgments are
left out.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError

CONSENSUS = "consensus"
Method = Literal["dawid-skene", "majority"]
METHODS: tuple[Method, ...] = get_args(Method)
DRAWS = 100
"""Draws of the labels of all pairs, from which measures get their interval."""
_SURE = 0.5


@dataclass(frozen=True)
class Consensus:
    """The consensus on all pairs that people judged: `keys` bytes[n_pairs], ascending, the `probability` float64[n_pairs] of
    'supports', and `draws` bool[DRAWS, n_pairs] of the true labels."""

    keys: npt.NDArray[np.bytes_]
    probability: npt.NDArray[np.float64]
    draws: npt.NDArray[np.bool_]

    def places(self, keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.int64]:
        """Return the place of each key among the pairs, in the shape of `keys`; -1 for pairs without a consensus."""
        if not len(self.keys):
            return np.full(keys.shape, -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[found] == keys, found, -1).astype(np.int64)

    def labels(self, keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.float64]:
        """Return the label of each key, float64 in the shape of `keys`: 1, 0 or NaN (no consensus)."""
        places = self.places(keys)
        labels = np.where(places >= 0, np.append(self.probability, 0.0)[places] >= _SURE, np.nan)
        return np.asarray(labels, dtype=np.float64)

    def as_dict(self) -> dict[str, bool]:
        """Return whether each pair supports, by its key."""
        return dict(zip(self.keys.astype(str).tolist(), (self.probability >= _SURE).tolist(), strict=True))


def consensus_of(judgments: Judgments, method: Method) -> Consensus:
    """Return the consensus of the present judgments of everyone, the simulated annotators of the demo included.

    Raises `BadInputError` if no pair was judged by two people: people's errors cannot be estimated then.
    """
    return _consensus(judgments, judgments.version(), method)


@lru_cache(maxsize=4)
def _consensus(judgments: Judgments, version: int, method: Method) -> Consensus:
    from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, UNSURE, Rule, aligned, counted
    from berdseye.evaluation.agreement.label_draws import label_draws
    from berdseye.evaluation.agreement.labels import stored_labels
    from berdseye.evaluation.agreement.reliability import dawid_skene

    del version
    votes = aligned(counted(stored_labels(judgments), Rule()).labels, (AGAINST, SUPPORTS))
    if not ((votes.codes >= 0).sum(axis=1) > 1).any():
        raise BadInputError(
            f"{CONSENSUS}({method}) needs pairs that at least two people judged, and there are none.",
            hint="Use human, or send a batch in which several people judge the same pairs.",
        )
    found = label_draws(dawid_skene(votes, alike=method == "majority"), DRAWS)
    probability = dict(zip(votes.items, found.probability.tolist(), strict=True))
    decided = adjudicated_labels(judgments)
    probability |= {key: float(verdict == SUPPORTS) for key, verdict in decided.items()}
    keys = sorted(key for key in probability if decided.get(key) != UNSURE)
    draws = np.repeat(np.array([[probability[key] >= _SURE for key in keys]], dtype=np.bool_), DRAWS, axis=0)
    place = {key: n for n, key in enumerate(keys)}
    open_to = [(n, place[key]) for n, key in enumerate(votes.items) if key in place and key not in decided]
    source, target = np.array(open_to, dtype=np.int64).reshape(-1, 2).T
    draws[:, target] = found.draws[:, source]
    return Consensus(np.array(keys, dtype="S32"), np.array([probability[key] for key in keys]), draws)
