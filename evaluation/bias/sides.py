"""The sides that the top of stored runs holds, and the same by people's word on what they judged whole."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from evaluation.berds.leaning import Leaning, leanings, shares_of_leanings, supporting_places
from evaluation.labelled_runs import LabelledRun
from evaluation.pir.shares import shares_over_roots

NO_SIDE = "no side"
STANCES = ("supporting", "opposing", NO_SIDE)
Rows = npt.NDArray[np.bool_]


def wholly_judged(run: LabelledRun, k: int) -> Rows:
    """Whether every pair of a question's top k has a label, bool[n_questions]; not where there is no pair."""
    support = run.support
    pairs = support.counts * np.minimum(support.depths, k)
    return np.asarray((support.judged[:, :k].sum(axis=(1, 2)) == pairs) & (pairs > 0))


def leaning_of(run: LabelledRun, k: int) -> list[Leaning | None]:
    """The leaning of each question's top k; None where it has not two known sides, or nothing there has a label."""
    support = run.support
    found = leanings(support, supporting_places(run.questions), k)
    return [one if known else None for one, known in zip(found, support.labelled(k).tolist(), strict=True)]


def leaning_shares(runs: Mapping[str, Sequence[LabelledRun]], k: int) -> pd.DataFrame:
    """By system (its runs on all data sets): columns system, leaning, place, value, low, high (percent of the questions with two
    sides, Wilson's interval), n and judged."""
    rows = []
    for system, held in runs.items():
        found = [one for run in held for one in leaning_of(run, k)]
        judged = 100 * float(np.mean([run.support.judged_at(k) for run in held]))
        rows += [{"system": system, **share, "judged": judged} for share in shares_of_leanings(found)]
    return pd.DataFrame(rows)


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
            for mine, theirs, whole in zip(
                leaning_of(run, k), leaning_of(said, k), wholly_judged(said, k).tolist(), strict=True
            )
            if whole and mine is not None and theirs is not None
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
    runs: Mapping[str, Sequence[LabelledRun]], k: int, only: Mapping[str, Sequence[Rows]] | None = None
) -> pd.DataFrame:
    """Of what the top k says for perspectives, the share of each stance, as PIR's table 3 asks of root queries: columns system,
    stance, place, value, low, high (percent, bootstrap over questions) and n, the questions of which anything was found.

    A passage counts once for every perspective that it supports. `even` is the share that the perspectives themselves have: a
    ranking that favours nobody comes near it where all are equally easy to find. `only` keeps some questions of each run.
    """
    rows = []
    for system, held in runs.items():
        kept = only[system] if only else [np.ones(len(run.questions), dtype=bool) for run in held]
        found = np.concatenate([_by_stance(run, k)[mask] for run, mask in zip(held, kept, strict=True)])
        asked = [
            q for run, mask in zip(held, kept, strict=True) for q, keep in zip(run.questions, mask, strict=True) if keep
        ]
        stances = [p.stance or NO_SIDE for question in asked for p in question.perspectives]
        for place, (stance, share) in enumerate(zip(STANCES, shares_over_roots(found), strict=True)):
            if stance in stances:
                value, low, high = (100 * x for x in share[:3])
                rows.append({"system": system, "stance": stance, "place": place, "value": value, "low": low, "high": high,
                             "even": 100 * stances.count(stance) / len(stances), "n": share.n})  # fmt: skip
    return pd.DataFrame(rows, columns=["system", "stance", "place", "value", "low", "high", "even", "n"])


def _by_stance(run: LabelledRun, k: int) -> npt.NDArray[np.float64]:
    """How often the top k supports a perspective of each stance, float64[n_questions, 3], in the order of `STANCES`."""
    counts = (run.labels[:, :k] == 1).sum(axis=1)
    found = np.zeros((len(run.questions), len(STANCES)))
    for row, question in enumerate(run.questions):
        for place, perspective in enumerate(question.perspectives):
            found[row, STANCES.index(perspective.stance or NO_SIDE)] += counts[row, place]
    return found
