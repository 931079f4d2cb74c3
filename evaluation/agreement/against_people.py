"""Detectors scored against people, in the layout of BERDS's detection table (version 2, table 4), with a row for another human.

The reference is a choice. `another person` scores each label against the label of each other person on the same pair, with a
total weight of one per label (with two people: BERDS's second human). `majority` scores it against the majority of the other
people, without ties. `adjudicated` scores it against the adjudicated labels. The reference for a person never includes that
person's own labels.
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
    """Return the detection table: rows for people's labels, another human, each person (if `each`), each detector, and BERDS.

    Columns: rater, source, pct_positive, accuracy and f1 in percent, kappa, their 95% intervals (bootstrap over pairs or, with
    `questions` int64[n_items], over whole questions), n (labels scored) and n_dropped (labels of pairs without a reference).
    `gold` holds the adjudicated label by item, which the reference `adjudicated` needs; `published` adds the rows of the paper.
    """
    if not {SUPPORTS, AGAINST} <= set(labels.values):
        return pd.DataFrame(columns=list(COLUMNS))
    yes = labels.codes == labels.values.index(SUPPORTS)
    no = labels.codes == labels.values.index(AGAINST)
    human = np.array([name in people for name in labels.raters], dtype=np.bool_)
    votes = np.stack([yes[:, human].sum(axis=1), no[:, human].sum(axis=1)], axis=1)
    truth = np.array([-1 if gold is None or item not in gold else int(gold[item]) for item in labels.items])
    totals = votes.sum(axis=0)
    rows = [
        {"rater": "people", "source": OURS, "pct_positive": _percent(totals[0], totals.sum()), "n": int(totals.sum())}
    ]

    def row(name: str, own: Ints, others: Ints, resamples: int = _RESAMPLES) -> dict[str, object]:
        """Return the row of a rater with the labels `own` [n, 2] (yes, no), scored against `others` [n, 2]."""
        labelled = own.sum(axis=1) > 0
        columns = (own[labelled], others[labelled], truth[labelled, None] + 1)
        grouped = patterns(np.concatenate(columns, axis=1).astype(np.int64))
        cells = _cells(grouped.counts, reference, pooled=name == ANOTHER)
        groups = None if questions is None else questions[labelled]
        return {"rater": name, "source": OURS, **_figures(cells, grouped, groups, int(own.sum()), resamples)}

    rows.append(row(ANOTHER, votes, votes))
    for place, name in enumerate(labels.raters):
        own = np.stack([yes[:, place], no[:, place]], axis=1).astype(np.int64)
        if human[place] and each:
            rows.append(row(name, own, votes - own, _OF_A_PERSON))
        elif not human[place]:
            rows.append(row(name, own, votes))
    table = pd.DataFrame(rows)
    if published:
        table = pd.concat([table, published_detectors().rename(columns={"detector": "rater"})], ignore_index=True)
    # Whole numbers that can be missing: as floats, a table would show a count of one as 1.000.
    return table.reindex(columns=list(COLUMNS)).astype({"n": "Int64", "n_dropped": "Int64"})


def _cells(counts: Ints, reference: Reference, *, pooled: bool) -> Doubles:
    """Return true and false positives, false and true negatives of each pattern (own yes, own no, others' yes, others' no, gold +
    1).

    `pooled`: the others' labels are the own labels, and each of them is scored against the rest.
    """
    own_yes, own_no, yes, no, gold = counts.T.astype(np.float64)
    right_yes, wrong_yes = _truth(yes - pooled, no, gold, reference)
    wrong_no, right_no = _truth(yes, no - pooled, gold, reference)
    return np.stack([own_yes * right_yes, own_yes * wrong_yes, own_no * wrong_no, own_no * right_no], axis=1)


def _truth(yes: Doubles, no: Doubles, gold: Doubles, reference: Reference) -> tuple[Doubles, Doubles]:
    """Return the shares of yes and no in the reference; they sum to one, or to zero where there is no reference label."""
    if reference == "adjudicated":
        return (gold == 2).astype(np.float64), (gold == 1).astype(np.float64)
    if reference == "majority":
        return (yes > no).astype(np.float64), (yes < no).astype(np.float64)
    known = np.maximum(yes + no, 1)
    return np.maximum(yes, 0) / known, np.maximum(no, 0) / known


def _figures(cells: Doubles, grouped: Patterns, groups: Ints | None, labels: int, resamples: int) -> dict[str, object]:
    scored = cells.sum(axis=1) > 0
    cells, times = cells[scored], grouped.times[scored]
    n = round(float(times @ cells.sum(axis=1)))
    row: dict[str, object] = {"n": n, "n_dropped": labels - n}
    if n == 0:
        return row
    if groups is None:
        draws, units = drawn(times, resamples=resamples) @ cells, int(times.sum())
    else:
        draws = drawn_over_groups(grouped.of_item, groups, resamples=resamples)[:, scored] @ cells
        units = len(np.unique(groups))
    values, resampled = _rates(times.astype(np.float64) @ cells), _rates(draws)
    for figure in FIGURES:
        row[figure] = float(values[figure])
        row[f"{figure}_low"], row[f"{figure}_high"] = bootstrap_interval(resampled[figure], units)
    return row


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
