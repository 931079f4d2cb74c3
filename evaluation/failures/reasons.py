"""Why a perspective is missing from a top k: each is given one reason, by rules that are asked in turn.

1. `flagged`: people say that the text of the perspective is no good, so that nothing follows from its absence.
2. `detector against people`: a passage of the top k supports it by people's word, and the labels say that it does not.
3. `disputed`: people disagree about a passage of the top k, and no adjudicator has decided.
4. `unjudged`: a passage of the top k has no label, and none that has one supports it.
5. `below k`: this run ranks a supporting passage, below k.
6. `another pipeline`: another run over the same corpus has a supporting passage among its first passages (100, unless told).
7. `not in the pool`: no run over this corpus has one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

Reason = Literal[
    "flagged",
    "detector against people",
    "disputed",
    "unjudged",
    "below k",
    "another pipeline",
    "not in the pool",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
Bools = npt.NDArray[np.bool_]
Ranks = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Circumstances:
    """What the rules ask of each perspective of each question; all [n_questions, m_max].

    `ranks` the first rank of this run that covers it (0: none, -1: there is no such perspective), `elsewhere` the best rank of
    another run over the same corpus (0: none); `flagged`; and of its pairs in the top k: `contradicted` (one supports by
    people's word and does not by the labels), `disputed` (people disagree about one, undecided), `unjudged` (one has no label).
    """

    ranks: Ranks
    elsewhere: Ranks
    flagged: Bools
    contradicted: Bools
    disputed: Bools
    unjudged: Bools


def attribute(circumstances: Circumstances, k: int) -> npt.NDArray[np.object_]:
    """The reason of each perspective that is not covered within k, object[n_questions, m_max]; None for all others."""
    ranks = circumstances.ranks
    missing = (ranks == 0) | (ranks > k)
    rules = (
        circumstances.flagged,
        circumstances.contradicted,
        circumstances.disputed,
        circumstances.unjudged,
        ranks > k,
        circumstances.elsewhere > 0,
    )
    found = np.select(rules, REASONS[: len(rules)], default=REASONS[-1]).astype(object)
    found[~missing] = None
    return found


def reason_counts(holes: pd.DataFrame, by: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    """How many holes each reason has: a row for each of the `groups`, values of the columns `by`, 0 where it has none; a column
    a reason, in the order of the rules, and `holes`, their sum."""
    counts = holes.groupby([*by, "reason"]).size().to_dict()
    rows = [
        {**dict(zip(by, group, strict=True)), **{reason: int(counts.get((*group, reason), 0)) for reason in REASONS}}
        for group in groups
    ]
    table = pd.DataFrame(rows, columns=[*by, *REASONS])
    return table.assign(holes=table[list(REASONS)].sum(axis=1))
