"""The sides that the top of stored runs holds, and the same by people's word on what they judged whole."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from berdseye.evaluation.berds.leaning import Leaning, leanings, shares_of_leanings, supporting_places
from berdseye.evaluation.enough_judged import MIN_JUDGED, enough_judged
from berdseye.evaluation.labelled_runs import LabelledRun
from berdseye.evaluation.pir.shares import shares_over_roots

NO_SIDE = "no side"
STANCES = ("supporting", "opposing", NO_SIDE)
Rows = npt.NDArray[np.bool_]


def wholly_judged(run: LabelledRun, k: int) -> Rows:
    """Whether every pair of a question's top k has a label, bool[n_questions]; not where there is no pair."""
    support = run.support
    pairs = support.counts * np.minimum(support.depths, k)
    return np.asarray((support.judged[:, :k].sum(axis=(1, 2)) == pairs) & (pairs > 0))


def leaning_of(run: LabelledRun, k: int, counted: Rows) -> list[Leaning | None]:
    """The leaning of each question's top k; None where it has not two known sides, or does not count (`evaluation.counted`)."""
    found = leanings(run.support, supporting_places(run.questions), k)
    return [one if counts else None for one, counts in zip(found, counted.tolist(), strict=True)]


def leaning_shares(
    runs: Mapping[str, Sequence[LabelledRun]],
    k: int,
    counted: Mapping[str, Sequence[Rows]],
    min_judged: float = MIN_JUDGED,
) -> pd.DataFrame:
    """By system (its runs on all data sets): columns system, leaning, place, value, low, high (percent of the questions with two
    sides that count, Wilson's interval; NaN where less than `min_judged` of the pairs have a label), n and judged."""
    rows = []
    for system, held in runs.items():
        found = [one for run, counts in zip(held, counted[system], strict=True) for one in leaning_of(run, k, counts)]
        judged = _judged(held, k)
        shares = [shown(share, judged, min_judged) for share in shares_of_leanings(found)]
        rows += [{"system": system, **share, "judged": 100 * judged} for share in shares]
    return pd.DataFrame(rows)


def shown(cell: Mapping[str, object], judged: float, min_judged: float = MIN_JUDGED) -> dict[str, object]:
    """A cell of a table, its value and interval NaN where too little is judged (`berdseye.evaluation.enough_judged`)."""
    return dict(cell) if enough_judged(judged, min_judged) else {**cell, "value": np.nan, "low": np.nan, "high": np.nan}


def _judged(runs: Sequence[LabelledRun], k: int) -> float:
    return float(np.mean([run.support.judged_at(k) for run in runs]))


def leaning_beside_people(
    runs: Mapping[str, Sequence[LabelledRun]], people: Mapping[str, Sequence[LabelledRun]], k: int
) -> pd.DataFrame:
    """What the labels and what people say of the same questions, those with two sides whose top k people judged whole: columns
    system, leaning, labels, people (percent), n, and same, the percent of those n of which both say the same, with its
    interval low and high. Systems without such a question are left out."""
    rows = []
    for system, held in runs.items():
        pairs = [
            (mine, theirs)
            for run, said in zip(held, people[system], strict=True)
            for whole in [wholly_judged(said, k)]
            for mine, theirs in zip(leaning_of(run, k, whole), leaning_of(said, k, whole), strict=True)
            if mine is not None and theirs is not None
        ]
        if not pairs:
            continue
        alike = sum(mine is theirs for mine, theirs in pairs)
        low, high = proportion_confint(alike, len(pairs), method="wilson")
        by_labels, by_people = (shares_of_leanings(column) for column in zip(*pairs, strict=True))
        rows += [
            {"system": system, "leaning": mine["leaning"], "labels": mine["value"], "people": theirs["value"],
             "n": len(pairs), "same": 100 * alike / len(pairs), "low": 100 * low, "high": 100 * high}
            for mine, theirs in zip(by_labels, by_people, strict=True)
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=["system", "leaning", "labels", "people", "n", "same", "low", "high"])


def stance_shares(
    runs: Mapping[str, Sequence[LabelledRun]],
    k: int,
    only: Mapping[str, Sequence[Rows]] | None = None,
    min_judged: float = MIN_JUDGED,
) -> pd.DataFrame:
    """Of what the top k says for perspectives, the share of each stance, as PIR's table 3 asks of root queries: columns system,
    stance, place, value, low, high (percent, bootstrap over questions) and n, the questions of which anything was found.

    A passage counts once for every perspective that it supports. `even` is the share that the perspectives themselves have: a
    ranking that favours nobody comes near it where all are equally easy to find. `only` keeps some questions of each run, of
    which every pair is judged; else the values are NaN where less than `min_judged` of the pairs have a label (column judged,
    percent).
    """
    rows = []
    for system, held in runs.items():
        kept = only[system] if only else [np.ones(len(run.questions), dtype=bool) for run in held]
        found = np.concatenate([_by_stance(run, k)[mask] for run, mask in zip(held, kept, strict=True)])
        asked = [
            q for run, mask in zip(held, kept, strict=True) for q, keep in zip(run.questions, mask, strict=True) if keep
        ]
        stances = [p.stance or NO_SIDE for question in asked for p in question.perspectives]
        judged = 1.0 if only else _judged(held, k)
        for place, (stance, share) in enumerate(zip(STANCES, shares_over_roots(found), strict=True)):
            if stance in stances:
                value, low, high = (100 * x for x in share[:3])
                cell = {"system": system, "stance": stance, "place": place, "value": value, "low": low, "high": high,
                        "even": 100 * stances.count(stance) / len(stances), "n": share.n, "judged": 100 * judged}  # fmt: skip
                rows.append(shown(cell, judged, min_judged))
    columns = ["system", "stance", "place", "value", "low", "high", "even", "n", "judged"]
    return pd.DataFrame(rows, columns=columns)


def _by_stance(run: LabelledRun, k: int) -> npt.NDArray[np.float64]:
    """How often the top k supports a perspective of each stance, float64[n_questions, 3], in the order of `STANCES`."""
    counts = (run.labels[:, :k] == 1).sum(axis=1)
    found = np.zeros((len(run.questions), len(STANCES)))
    for row, question in enumerate(run.questions):
        for place, perspective in enumerate(question.perspectives):
            found[row, STANCES.index(perspective.stance or NO_SIDE)] += counts[row, place]
    return found
