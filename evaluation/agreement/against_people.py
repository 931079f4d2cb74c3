"""Detectors against people, in the layout of BERDS's detection table (version 2, table 4), with the row of another human.

What is right is chosen: `another person` scores each label against each other person's label on the same pair, these weighing
one together (with two people: BERDS's second human); `majority` against what most of the other people say, leaving ties out;
`adjudicated` against the adjudicators' words. A person is never among those that he or she is held against.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from berdseye.data.statistics import bootstrap_interval
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned, Ints
from berdseye.evaluation.agreement.coefficients import Doubles, Patterns, drawn, drawn_over_groups, patterns
from berdseye.evaluation.detection.tables import published_detectors

Reference = Literal["another person", "majority", "adjudicated"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)
ANOTHER = "another human"
FIGURES = ("pct_positive", "accuracy", "f1", "kappa")
COLUMNS = (
    "rater", "source", *FIGURES, *(f"{figure}_{end}" for figure in FIGURES for end in ("low", "high")), "n", "n_dropped",
)  # fmt: skip
OURS = "these judgments"
_RESAMPLES, _OF_A_PERSON = 500, 200


def against_people(
    labels: Aligned,
    people: Sequence[str],
    reference: Reference = "another person",
    *,
    gold: Mapping[str, bool] | None = None,
    each: bool = True,
    published: bool = True,
    questions: Ints | None = None,
) -> pd.DataFrame:
    """A row for people's own labels, for another human, for each person (`each`) and each other rater, and the published ones.

    Columns rater, source, pct_positive, accuracy and f1 in percent, kappa, their 95% intervals (bootstrap over pairs or, with
    `questions` int64[n_items], over whole questions), n labels scored, and n_dropped, those that nobody else's label stood
    beside. `gold` by item is what `adjudicated` needs.
    """
    if not {SUPPORTS, AGAINST} <= set(labels.values):
        return pd.DataFrame(columns=list(COLUMNS))
    yes = labels.codes == labels.values.index(SUPPORTS)
    no = labels.codes == labels.values.index(AGAINST)
    human = np.array([name in people for name in labels.raters], dtype=np.bool_)
    said = np.stack([yes[:, human].sum(axis=1), no[:, human].sum(axis=1)], axis=1)
    truth = np.array([-1 if gold is None or item not in gold else int(gold[item]) for item in labels.items])
    totals = said.sum(axis=0)
    rows = [
        {"rater": "people", "source": OURS, "pct_positive": _percent(totals[0], totals.sum()), "n": int(totals.sum())}
    ]

    def row(name: str, own: Ints, others: Ints, resamples: int = _RESAMPLES) -> dict[str, object]:
        """A rater who says `own` [n, 2] (yes, no) beside `others` [n, 2]."""
        known = own.sum(axis=1) > 0
        columns = (own[known], others[known], truth[known, None] + 1)
        found = patterns(np.concatenate(columns, axis=1).astype(np.int64))
        cells = _cells(found.counts, reference, pooled=name == ANOTHER)
        groups = None if questions is None else questions[known]
        return {"rater": name, "source": OURS, **_figures(cells, found, groups, int(own.sum()), resamples)}

    rows.append(row(ANOTHER, said, said))
    for place, name in enumerate(labels.raters):
        own = np.stack([yes[:, place], no[:, place]], axis=1).astype(np.int64)
        if human[place] and each:
            rows.append(row(name, own, said - own, _OF_A_PERSON))
        elif not human[place]:
            rows.append(row(name, own, said))
    table = pd.DataFrame(rows)
    if published:
        table = pd.concat([table, published_detectors().rename(columns={"detector": "rater"})], ignore_index=True)
    return table.reindex(columns=list(COLUMNS))


def _cells(counts: Ints, reference: Reference, *, pooled: bool) -> Doubles:
    """True and false positives, false and true negatives of each pattern (own yes, own no, others' yes, others' no, gold + 1).

    `pooled`: the others' labels are the own ones, and each of these is held against the rest.
    """
    own_yes, own_no, yes, no, gold = counts.T.astype(np.float64)
    right_yes, wrong_yes = _truth(yes - pooled, no, gold, reference)
    wrong_no, right_no = _truth(yes, no - pooled, gold, reference)
    return np.stack([own_yes * right_yes, own_yes * wrong_yes, own_no * wrong_no, own_no * right_no], axis=1)


def _truth(yes: Doubles, no: Doubles, gold: Doubles, reference: Reference) -> tuple[Doubles, Doubles]:
    """How far the reference says yes and no, shares that sum to one, or to zero where it says nothing."""
    if reference == "adjudicated":
        return (gold == 2).astype(np.float64), (gold == 1).astype(np.float64)
    if reference == "majority":
        return (yes > no).astype(np.float64), (yes < no).astype(np.float64)
    known = np.maximum(yes + no, 1)
    return np.maximum(yes, 0) / known, np.maximum(no, 0) / known


def _figures(cells: Doubles, found_in: Patterns, groups: Ints | None, labels: int, resamples: int) -> dict[str, object]:
    scored = cells.sum(axis=1) > 0
    cells, times = cells[scored], found_in.times[scored]
    n = round(float(times @ cells.sum(axis=1)))
    found: dict[str, object] = {"n": n, "n_dropped": labels - n}
    if n == 0:
        return found
    if groups is None:
        draws, units = drawn(times, resamples=resamples) @ cells, int(times.sum())
    else:
        draws = drawn_over_groups(found_in.of_item, groups, resamples=resamples)[:, scored] @ cells
        units = len(np.unique(groups))
    values, resampled = _rates(times.astype(np.float64) @ cells), _rates(draws)
    for figure in FIGURES:
        found[figure] = float(values[figure])
        found[f"{figure}_low"], found[f"{figure}_high"] = bootstrap_interval(resampled[figure], units)
    return found


def _rates(sums: Doubles) -> dict[str, Doubles]:
    hit, false, missed, rejected = np.moveaxis(sums, -1, 0)
    n = hit + false + missed + rejected
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracy = (hit + rejected) / n
        chance = ((hit + false) * (hit + missed) + (rejected + false) * (rejected + missed)) / n**2
        return {
            "pct_positive": 100 * (hit + false) / n,
            "accuracy": 100 * accuracy,
            "f1": 100 * 2 * hit / (2 * hit + false + missed),
            "kappa": (accuracy - chance) / (1 - chance),
        }


def _percent(part: float, whole: float) -> float:
    return 100 * float(part) / float(whole) if whole else float("nan")
