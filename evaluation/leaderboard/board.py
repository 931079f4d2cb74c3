"""The leaderboard's tables: pipelines by corpora by data sets, with intervals and with letters that systems share if they do not
differ significantly. `printed_rows` and `printed_p_recall` return the published figures for the data sets of a workspace, which
are shown next to measured values and never mixed with them.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets.pir_tasks import PirTask, known_task
from berdseye.evaluation.latex import latex_text
from berdseye.evaluation.measures import Unit, parse_measure
from berdseye.evaluation.measures.shown import shown
from berdseye.evaluation.published import published
from berdseye.evaluation.published.berds import paper_datasets
from berdseye.evaluation.scores.score import Score, macro_average
from berdseye.evaluation.statistics.rank_sets import Ranks, decided_pairs, ranks_of
from berdseye.evaluation.statistics.significance import Comparison, Test, adjusted, compare, letters
from berdseye.evaluation.studies.comparing import corrected_comparisons

AVERAGE = "average"
_TABLES = {"berds_base_k5": "BERDS, table 3", "berds_base_k10": "BERDS, table 17"}
_COLUMNS = ["dataset", "corpus", "pipeline", "value", "source"]
_FAULTY = pd.DataFrame(
    [("sphere", "dpr", d, f"{m}@10") for d in ("arguana", "average") for m in ("MRecall", "Precision")],
    columns=["corpus", "retriever", "dataset", "measure"],
)
"""Cells that a copy error of the paper makes wrong, and the averages over them (evaluation/published/README.md)."""


def board(scores: Sequence[Score], *, test: Test = "randomisation", correction: str = "holm") -> pd.DataFrame:
    """Return one row for each data set, system (corpus and pipeline) and measure.

    Columns: `value`, `low` and `high` as tables show them, `n`, `judged` in percent, `labels`, `detector version` and its `grade`
    (empty without a detector), `unit`, `group`, the letters of `berdseye.evaluation.statistics.significance`, and `rank_best` and
    `rank_worst`, the ranks that the data allow with 95% confidence for all systems together, by paired t tests with Holm's
    correction whatever the test of the letters (`berdseye.evaluation.statistics.rank_sets`). A value over too few labels is
    withheld (`evaluation.scores.enough_judged`): it is NaN and has neither letters nor ranks. With several data sets, rows of
    the data set 'average' hold the mean over all data sets of each system that ran on all of them; their letters come from the
    questions of all data sets, in which every data set has the same weight.
    """
    measured = [s for s in scores if s.dataset != AVERAGE]
    datasets = list(dict.fromkeys(s.dataset for s in measured))
    rows: list[dict[str, object]] = []
    for measure in dict.fromkeys(s.measure for s in measured):
        of_measure = [s for s in measured if s.measure == measure]
        for dataset in datasets:
            rows += _rows([[s] for s in of_measure if s.dataset == dataset], test, correction)
        if len(datasets) > 1:
            rows += _rows(_on_all(of_measure, datasets), test, correction)
    return pd.DataFrame(rows)


def best_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows of one measure, the best value first and rows without a value last; if the unit is passages, lower is better."""
    fewer = set(frame["unit"]) == {"passages"}
    return frame.sort_values("value", ascending=fewer, kind="stable", na_position="last")


def laid_out(frame: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one measure as a table of texts: one row per system, the best first, and one column per data set.

    `frame` holds rows of `board`. The column `ranks` has the rank sets of the last data set, by which the rows are ordered.
    Below them come the published rows `printed` (of `printed_rows`), with their source in the column of the label source.
    """
    ours = frame.assign(cell=[_cell(row) for row in frame.to_dict("records")])
    columns = list(dict.fromkeys(frame["dataset"]))
    ordered = best_first(ours[ours["dataset"] == columns[-1]])[["corpus", "pipeline"]]
    systems = pd.concat([ordered, ours[["corpus", "pipeline"]]]).drop_duplicates()
    wide = ours.pivot(index=["corpus", "pipeline"], columns="dataset", values="cell")[columns]
    last = ours[ours["dataset"] == columns[-1]].set_index(["corpus", "pipeline"])
    wide["ranks"] = pd.Series([_ranks(row) for row in last.to_dict("records")], index=last.index, dtype=object)
    wide["judged@k"] = (
        ours[ours["dataset"] != AVERAGE].groupby(["corpus", "pipeline"])["judged"].mean().map(lambda v: shown(v / 100))
    )
    wide[["labels", "grade"]] = ours.groupby(["corpus", "pipeline"])[["labels", "grade"]].first()
    tables = [wide.loc[pd.MultiIndex.from_frame(systems)].reset_index()]
    if len(printed):
        theirs = printed.assign(cell=printed["value"].map("{:.1f}".format))
        below = theirs.pivot(index=["corpus", "pipeline", "source"], columns="dataset", values="cell").reset_index()
        tables.append(below.rename(columns={"source": "labels"}))
    return pd.concat(tables, ignore_index=True).reindex(columns=["corpus", "pipeline", *wide.columns]).fillna("")


def _cell(row: Mapping[Hashable, Any]) -> str:
    """Format a cell: the value, its interval and its letters, or the judged share if the value is withheld."""
    value, low, high = float(row["value"]), float(row["low"]), float(row["high"])
    if np.isnan(value):
        return f"– (judged {shown(row['judged'] / 100)})" if row["withheld"] else "–"
    interval = f"  [{low:.1f}, {high:.1f}]" if np.isfinite(low) else ""
    return f"{value:.1f}{interval}  {row['group']}".rstrip()


def _ranks(row: Mapping[Hashable, Any]) -> str:
    return "" if np.isnan(row["rank_best"]) else str(Ranks(int(row["rank_best"]), int(row["rank_worst"])))


def leaderboard_latex(frame: pd.DataFrame) -> str:
    """Return the rows of one measure, as `laid_out` arranges them, as a LaTeX table (booktabs), escaped; its caption says where
    the numbers come from."""
    first = frame.iloc[0]
    table = laid_out(frame, printed_rows("", {}))
    styled = table.style.format(latex_text).format_index(latex_text, axis=1).hide(axis=0)
    caption = latex_text(
        f"{first['measure']}{', percent' if first['unit'] == 'share' else ''}, with 95% intervals over questions; labels: "
        f"{first['labels']}. Systems with a common letter do not differ significantly. Ranks: the ranks on "
        f"{ranked_dataset(frame)} that the data allow with 95% confidence for all systems together."
    )
    return styled.to_latex(hrules=True, caption=caption, label=f"tab:leaderboard-{first['measure']}")


def ranked_dataset(frame: pd.DataFrame) -> str:
    """Return the name of the data set whose ranks `laid_out` shows."""
    return str(list(dict.fromkeys(frame["dataset"]))[-1])


def weighted(values: Sequence[npt.NDArray[np.float64]]) -> list[npt.NDArray[np.float64]]:
    """Scale the values of data sets, float64[n_questions] each, so that the mean over all questions is the mean of the means of
    the data sets (NaN: no value). Letters then follow the average that the table shows, and not the larger data sets."""
    counts = [np.count_nonzero(~np.isnan(one)) for one in values]
    return [one * (sum(counts) / (len(values) * max(n, 1))) for one, n in zip(values, counts, strict=True)]


def _on_all(scores: Sequence[Score], datasets: Sequence[str]) -> list[list[Score]]:
    """Return the scores of each system that has a score on every data set, in the order of `datasets`."""
    systems: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        systems.setdefault((score.corpus, score.pipeline), {})[score.dataset] = score
    return [[by_dataset[d] for d in datasets] for by_dataset in systems.values() if len(by_dataset) == len(datasets)]


def _rows(systems: Sequence[Sequence[Score]], test: Test, correction: str) -> list[dict[str, object]]:
    """Return one row for each system, from its scores by one measure on one or more data sets."""
    rows = [_row(scores) for scores in systems]
    known = {f"{n}": scores for n, scores in enumerate(systems) if np.isfinite(float(str(rows[n]["value"])))}
    if any(s.corrected for scores in known.values() for s in scores):
        said = {name: np.concatenate([s.detectors for s in scores], axis=1) for name, scores in known.items()}
        comparisons = corrected_comparisons(
            {n: _people(scores) for n, scores in known.items()}, said, correction,
            {n: scores[0].sampled if len(scores) == 1 else None for n, scores in known.items()},
        )  # fmt: skip
    else:
        averaged = {name: np.concatenate(weighted([s.values for s in scores])) for name, scores in known.items()}
        comparisons = compare(averaged, test=test, correction=correction, intervals=False)
    ordered = best_first(pd.DataFrame([{**rows[int(name)], "name": name} for name in known])) if known else None
    groups = letters([] if ordered is None else ordered["name"].tolist(), comparisons)
    ranks = _rank_sets(known, comparisons)
    return [
        {
            **row,
            "group": groups.get(f"{number}", ""),
            "rank_best": ranks[f"{number}"].best if f"{number}" in ranks else np.nan,
            "rank_worst": ranks[f"{number}"].worst if f"{number}" in ranks else np.nan,
        }
        for number, row in enumerate(rows)
    ]


def _rank_sets(systems: Mapping[str, Sequence[Score]], comparisons: Sequence[Comparison]) -> dict[str, Ranks]:
    """Return the rank set of each system; those of corrected means come from the comparisons of these means."""
    scores = [score for of_system in systems.values() for score in of_system]
    if any(s.corrected for s in scores):
        fewer = scores[0].unit == "passages"
        apart = [
            c if (c.difference > 0) != fewer else c.reversed for c in adjusted(comparisons, "holm") if c.significant
        ]
        return ranks_of(list(systems), [(c.a, c.b) for c in apart])
    return ranks_of(list(systems), decided(systems))


def decided(systems: Mapping[str, Sequence[Score]]) -> list[tuple[str, str]]:
    """Return the pairs of systems (better, worse) whose order is decided, from the scores of each system by one measure, one a
    data set, that are not corrected means."""
    found = next((s for scores in systems.values() for s in scores), None)
    if found is None:
        return []
    values = {
        name: [s.values if s.posterior_draws is None else s.posterior_draws for s in scores]
        for name, scores in systems.items()
    }
    return decided_pairs(
        values, bounds=parse_measure(found.measure).differences, fewer_is_better=found.unit == "passages"
    )


def _row(scores: Sequence[Score]) -> dict[str, object]:
    [score] = scores if len(scores) == 1 else macro_average(scores) or [scores[0]]
    # Judgments of a sample correct the detector; without an interval the sample is too small for a value.
    corrected = any(s.corrected for s in scores)
    shown = not corrected or np.isfinite(score.estimate.low)
    value, low, high = score.shown[:3] if shown else (np.nan, np.nan, np.nan)
    unit: Unit = score.unit
    return {
        "dataset": AVERAGE if len(scores) > 1 else score.dataset,
        "corpus": score.corpus,
        "pipeline": score.pipeline,
        "measure": score.measure,
        "value": value,
        "low": low,
        "high": high,
        "n": score.estimate.n,
        "judged": 100 * score.judged,
        "labels": score.labels,
        "detector version": score.detector_version,
        "grade": score.grade,
        "unit": unit,
        "withheld": score.withheld,
        "sample": "; ".join(dict.fromkeys(s.sample_note for s in scores if s.sample_note)),
    }


def _people(scores: Sequence[Score]) -> npt.NDArray[np.float64]:
    return np.concatenate([s.values * np.nan if s.people is None else s.people for s in scores])


def printed_rows(measure: str, questions: Mapping[str, int]) -> pd.DataFrame:
    """Return the published BERDS results by this measure for the data sets that are test splits of BERDS.

    `questions` holds the number of questions by data set. Columns: dataset (its name in the workspace), corpus, pipeline (the
    paper's name of the retriever), value (percent) and source. A data set counts as the published one if its name and its number
    of questions match; versions with edited perspectives do not. The paper's average is included, as data set 'average', if
    exactly its three data sets are requested.
    """
    ours = {paper: name for name, paper in paper_datasets(questions).items()}
    tables = []
    for table, source in _TABLES.items():
        rows = published(table)
        rows = rows[(rows["measure"] == measure) & rows["dataset"].isin(ours)]
        rows = rows.merge(_FAULTY, how="left", indicator=True).query("_merge == 'left_only'")
        tables.append(rows.assign(dataset=rows["dataset"].map(ours), pipeline=rows["retriever"], source=source))
    return pd.concat(tables).drop_duplicates(_COLUMNS[:3])[_COLUMNS].reset_index(drop=True)


def printed_p_recall(tasks: Mapping[str, PirTask]) -> pd.DataFrame:
    """Return PIR's published p-Recall@5 (table 2) for the tasks whose numbers of queries and passages match the paper's.

    `tasks` holds the task of each data set. The columns are those of `printed_rows`.
    """
    ours = {
        facts.paper: name
        for name, task in tasks.items()
        if (facts := known_task(task.name))
        and (len(task.queries), len(task.passages)) == (facts.queries, facts.passages)
    }
    rows = published("pir_precall5")
    rows = rows[rows["task"].isin(ours)]
    return rows.assign(
        dataset=rows["task"].map(ours),
        corpus="the task's own passages",
        pipeline=rows["retriever"],
        source="PIR, table 2",
    )[_COLUMNS].reset_index(drop=True)
