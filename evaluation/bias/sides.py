"""Sides of retrieval: whether the top of a ranking supports one side, the other, both or neither, and whether it follows the side
of the query; by the labels of runs and by people's complete judgments; and the results of the bias studies, from the workspace.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.labels.support import Support, judged_together
from berdseye.evaluation.pir.measures import shares_over_roots
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, enough_judged
from berdseye.evaluation.statistics.intervals import Estimate, mean_ends, resampled_means
from berdseye.evaluation.studies.result import Stored, Table, list_results, load_result

NO_SIDE = "no side"
STANCES = ("supporting", "opposing", NO_SIDE)
Rows = npt.NDArray[np.bool_]
SYCOPHANCY, PIR = "berds-sycophancy", "pir"
_RESAMPLES = 2000


class Leaning(StrEnum):
    """The sides that the top k of a question with two sides supports (BERDS, figure 2)."""

    SUPPORTING = "only supporting"
    OPPOSING = "only opposing"
    BOTH = "both"
    NEITHER = "neither"


def supporting_places(questions: Sequence[Question]) -> npt.NDArray[np.int64]:
    """Return which of two perspectives is the supporting one, 0 or 1, int64[n_questions]; -1 if the data do not say."""
    places = np.full(len(questions), -1, dtype=np.int64)
    for number, question in enumerate(questions):
        stances = [p.stance for p in question.perspectives]
        if sorted(str(s) for s in stances) == ["opposing", "supporting"]:
            places[number] = stances.index("supporting")
    return places


def leanings(support: Support, supporting: npt.NDArray[np.int64], k: int) -> list[Leaning | None]:
    """Return the leaning of each question's top k; None where `supporting` int64[n_questions] is -1, without two known sides."""
    covered = np.asarray(support.top(k).any(axis=1))
    names = {(True, False): Leaning.SUPPORTING, (False, True): Leaning.OPPOSING, (True, True): Leaning.BOTH}
    return [
        names.get((bool(row[place]), bool(row[1 - place])), Leaning.NEITHER) if place >= 0 else None
        for row, place in zip(covered, supporting.tolist(), strict=True)
    ]


def shares_of_leanings(leanings: Iterable[Leaning | None]) -> list[dict[str, object]]:
    """Return the share of each leaning among the known ones, in percent with Wilson's 95% interval.

    Keys: `leaning`, `place` (the order in the figure), `value`, `low`, `high` and `n`.
    """
    counts = Counter(one for one in leanings if one is not None)
    total, rows = counts.total(), []
    for place, kind in enumerate(Leaning):
        low, high = proportion_confint(counts[kind], total, method="wilson") if total else (np.nan, np.nan)
        value = 100 * counts[kind] / total if total else np.nan
        row = {"leaning": str(kind), "place": place, "value": value, "low": 100 * low, "high": 100 * high, "n": total}
        rows.append(row)
    return rows


def side_counts(support: Support, supporting: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.float64]:
    """Count the passages in each top k that support the supporting and the opposing perspective, float64[n_questions, 2].

    `supporting` int64[n_questions] is the place, of two, of the supporting perspective; NaN where it is -1.
    """
    by_place = support.top(k).sum(axis=1)
    counts: npt.NDArray[np.float64] = np.full((len(supporting), 2), np.nan)
    rows = np.flatnonzero(supporting >= 0)
    counts[rows, 0], counts[rows, 1] = by_place[rows, supporting[rows]], by_place[rows, 1 - supporting[rows]]
    return counts


def delta(counts: npt.NDArray[np.float64], *, seed: int = 0) -> Estimate:
    """Compute Delta = (p - n) / p (BERDS, figure 3) from `side_counts` float64[n_questions, 2]; rows of NaN do not count.

    p and n are the shares of the passages retrieved for all questions together that support the supporting and the opposing
    perspective, so Delta is one ratio and not a mean of ratios: a mean would leave out the questions whose top k supports only
    the opposing side. Retrieval is sycophantic if Delta rises with the supporting perspective as the query and falls with the
    opposing one.

    The value is NaN if p is 0, and the estimate's n is the number of questions. The 95% interval resamples questions (2,000
    seeded resamples); there is none if too few questions vary (`evaluation.statistics.intervals.mean_ends`), or if p is 0 in so
    many resamples that the interval has no lower end.
    """
    known = counts[~np.isnan(counts).any(axis=1)]
    supporting, opposing = known.sum(axis=0)
    if supporting == 0:
        return Estimate(np.nan, np.nan, np.nan, len(known))
    value = float(1 - opposing / supporting)
    low = high = np.nan
    if len(known) > 1:
        drawn = resampled_means(known, _RESAMPLES, np.random.default_rng(seed))
        with np.errstate(divide="ignore", invalid="ignore"):
            deltas = 1 - drawn[:, 1] / drawn[:, 0]
            deviations = (1 - value) * known[:, 0] - known[:, 1]
            low, high = mean_ends(deviations, deltas, bounds=None)
    if not np.isfinite(low):
        low = high = np.nan
    return Estimate(value, min(low, value), max(high, value), len(known))


def completely_judged(run: LabelledRun, k: int) -> Rows:
    """Return whether every pair in a question's top k has a label, bool[n_questions]; False without pairs."""
    support = run.support
    pairs = support.counts * np.minimum(support.depths, k)
    return np.asarray((support.judged[:, :k].sum(axis=(1, 2)) == pairs) & (pairs > 0))


def leaning_of(run: LabelledRun, k: int, counted: Rows) -> list[Leaning | None]:
    """Return the leaning of each question's top k; None for a question without two known sides, or that does not count
    (`evaluation.scores.counted`)."""
    by_question = leanings(run.support, supporting_places(run.questions), k)
    return [one if counts else None for one, counts in zip(by_question, counted.tolist(), strict=True)]


def leaning_shares(
    runs: Mapping[str, Sequence[LabelledRun]],
    k: int,
    counted: Mapping[str, Sequence[Rows]],
    min_judged: float = MIN_JUDGED,
) -> pd.DataFrame:
    """Return the shares of leanings of each system, over its runs on all data sets.

    Columns: system, leaning, place, value, low, high (percent of the counted questions with two sides, Wilson's interval; NaN if
    less than a share `min_judged` of these questions' pairs have a label), n and judged.
    """
    rows = []
    for system, own in runs.items():
        by_question = [
            one for run, counts in zip(own, counted[system], strict=True) for one in leaning_of(run, k, counts)
        ]
        sided = [
            counts & (supporting_places(run.questions) >= 0) for run, counts in zip(own, counted[system], strict=True)
        ]
        judged = judged_together([(run.support, rows) for run, rows in zip(own, sided, strict=True)], k)
        shares = [shown(share, judged, min_judged) for share in shares_of_leanings(by_question)]
        rows += [{"system": system, **share, "judged": 100 * judged} for share in shares]
    return pd.DataFrame(rows)


def shown(cell: Mapping[str, object], judged: float, min_judged: float = MIN_JUDGED) -> dict[str, object]:
    """Return a cell of a table, with NaN as value and interval if too few pairs have labels
    (`berdseye.evaluation.scores.enough_judged`)."""
    return dict(cell) if enough_judged(judged, min_judged) else {**cell, "value": np.nan, "low": np.nan, "high": np.nan}


def leanings_by_people(
    runs: Mapping[str, Sequence[LabelledRun]], people: Mapping[str, Sequence[LabelledRun]], k: int
) -> pd.DataFrame:
    """Compare leanings by the labels and by people, on questions with two sides whose top k people judged completely.

    Columns: system, leaning, labels and people (percent), n, and same (the percentage of the n questions with equal leanings)
    with its interval low and high. Systems without such a question are left out.
    """
    rows = []
    for system, own in runs.items():
        pairs = [
            (mine, theirs)
            for run, by_people in zip(own, people[system], strict=True)
            for complete in [completely_judged(by_people, k)]
            for mine, theirs in zip(leaning_of(run, k, complete), leaning_of(by_people, k, complete), strict=True)
            if mine is not None and theirs is not None
        ]
        if not pairs:
            continue
        alike = sum(mine is theirs for mine, theirs in pairs)
        low, high = proportion_confint(alike, len(pairs), method="wilson")
        label_shares, people_shares = (shares_of_leanings(column) for column in zip(*pairs, strict=True))
        rows += [
            {"system": system, "leaning": mine["leaning"], "labels": mine["value"], "people": theirs["value"],
             "n": len(pairs), "same": 100 * alike / len(pairs), "low": 100 * low, "high": 100 * high}
            for mine, theirs in zip(label_shares, people_shares, strict=True)
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=["system", "leaning", "labels", "people", "n", "same", "low", "high"])


def stance_shares(
    runs: Mapping[str, Sequence[LabelledRun]],
    k: int,
    only: Mapping[str, Sequence[Rows]] | None = None,
    counted: Mapping[str, Sequence[Rows]] | None = None,
    min_judged: float = MIN_JUDGED,
) -> pd.DataFrame:
    """Return the share of each stance among the perspectives that the top k supports, as in PIR's table 3 for root queries.

    Columns: system, stance, place, value, low, high (percent, bootstrap over questions), even, n (the questions with a supporting
    passage) and judged (percent). A passage counts once for every perspective that it supports. `even` is the share of the stance
    among all perspectives: an unbiased ranking comes close to it if all perspectives are equally easy to retrieve. `only` selects
    questions of each run whose pairs are all judged; without it, the values are NaN if less than a share `min_judged` of the
    pairs of the questions that count have a label (`counted`; None: of all). The questions with a supporting passage do not
    decide this, because each of them has a label.
    """
    rows = []
    for system, own in runs.items():
        everything = [np.ones(len(run.questions), dtype=np.bool_) for run in own]
        kept = only[system] if only else everything
        within = counted[system] if counted else everything
        counts = np.concatenate([_by_stance(run, k)[mask] for run, mask in zip(own, kept, strict=True)])
        questions = [
            q for run, mask in zip(own, kept, strict=True) for q, keep in zip(run.questions, mask, strict=True) if keep
        ]
        stances = [p.stance or NO_SIDE for question in questions for p in question.perspectives]
        judged = 1.0 if only else judged_together(zip((run.support for run in own), within, strict=True), k)
        for place, (stance, share) in enumerate(zip(STANCES, shares_over_roots(counts), strict=True)):
            if stance in stances:
                value, low, high = (100 * x for x in share[:3])
                cell = {"system": system, "stance": stance, "place": place, "value": value, "low": low, "high": high,
                        "even": 100 * stances.count(stance) / len(stances), "n": share.n, "judged": 100 * judged}  # fmt: skip
                rows.append(shown(cell, judged, min_judged))
    columns = ["system", "stance", "place", "value", "low", "high", "even", "n", "judged"]
    return pd.DataFrame(rows, columns=columns)


def _by_stance(run: LabelledRun, k: int) -> npt.NDArray[np.float64]:
    """Count how often the top k supports a perspective of each stance, float64[n_questions, 3], in the order of `STANCES`."""
    counts = (run.labels[:, :k] == 1).sum(axis=1)
    by_stance = np.zeros((len(run.questions), len(STANCES)))
    for row, question in enumerate(run.questions):
        for place, perspective in enumerate(question.perspectives):
            by_stance[row, STANCES.index(perspective.stance or NO_SIDE)] += counts[row, place]
    return by_stance


def results_of(workspace: Workspace, study: str, table: str) -> list[Stored]:
    """Return the stored results of a study that have a table, the newest first; unreadable results are left out."""
    results = []
    for name in list_results(workspace):
        if re.fullmatch(rf"{re.escape(study)}-[0-9a-f]{{8}}", name):
            try:
                result = load_result(workspace, name)
            except BerdseyeError:  # the Studies page reports the error
                continue
            if any(t.name == table for t in result.tables):
                results.append(result)
    return results


def table_of(result: Stored, name: str) -> Table:
    """Return a table of a result by its name."""
    return next(table for table in result.tables if table.name == name)


def by_people(results: list[Stored], result: Stored) -> Stored | None:
    """Return the result whose settings differ from those of `result` only in using people's labels; None without another one."""
    settings = {**result.settings, "labels": "human"}
    return next((r for r in results if r.settings == settings and r.name != result.name), None)


def location_matrices(cells: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the cells of the table `pir_places` as matrices by task and pipeline, in the form of `evaluation.pir.measures`;
    cells that the table leaves out are 0."""
    matrices = {}
    for (task, pipeline), part in cells.groupby(["task", "pipeline"], sort=False):
        wide = part.pivot(index="asked", columns="retrieved", values="value").fillna(0)
        places = sorted(set(wide.columns) | set(wide.index), key=lambda place: (place not in wide.index, place))
        filled = wide.reindex(columns=places, fill_value=0).reset_index()
        long = filled.melt(id_vars="asked", value_vars=places, var_name="retrieved", value_name="share")
        long["share"] /= 100
        matrices[str(task), str(pipeline)] = long.merge(
            part[["asked", "n"]].drop_duplicates().rename(columns={"n": "queries"}), on="asked"
        )
    return matrices
