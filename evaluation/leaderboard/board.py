"""Pipelines by corpora by data sets, with intervals and the letters of systems that cannot be told apart.

What papers print for the data sets of a workspace: figures to stand beside measured ones, in grey, and never among them.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets.pir_tasks import PirTask, known_task
from berdseye.data.datasets.stored import split_version
from berdseye.evaluation.measures import Unit
from berdseye.evaluation.published import published
from berdseye.evaluation.scores.scoring import Score, macro_average
from berdseye.evaluation.statistics.significance import Test, compare, letters
from berdseye.evaluation.studies.berds.base import paper_name
from berdseye.evaluation.studies.comparing import corrected_comparisons

AVERAGE = "average"


def board(scores: Sequence[Score], *, test: Test = "t", correction: str = "holm") -> pd.DataFrame:
    """A row a data set, system (corpus and pipeline) and measure: `value`, `low` and `high` as tables show them, `n`, `judged` in
    percent, `labels`, `detector version`, `unit`, and `group`, the letters of `berdseye.evaluation.statistics.significance`.

    A value over too few labels is withheld (`evaluation.scores.enough_judged`): it is NaN, and has no letter. Where
    there are several
    data sets, the rows of 'average' hold the mean over them of each system that ran on all of them; their letters are by the
    questions of all.
    """
    measured = [s for s in scores if s.dataset != AVERAGE]
    datasets = list(dict.fromkeys(s.dataset for s in measured))
    found: list[dict[str, object]] = []
    for measure in dict.fromkeys(s.measure for s in measured):
        held = [s for s in measured if s.measure == measure]
        for dataset in datasets:
            found += _rows([[s] for s in held if s.dataset == dataset], test, correction)
        if len(datasets) > 1:
            found += _rows(_on_all(held, datasets), test, correction)
    return pd.DataFrame(found)


def best_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of one measure, the best value first and those without a value last; of passages to read, fewer are better."""
    fewer = set(frame["unit"]) == {"passages"}
    return frame.sort_values("value", ascending=fewer, kind="stable", na_position="last")


def laid_out(frame: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """The rows of one measure with data sets across, as texts: a system a row, the best first; below them the rows of
    `berdseye.evaluation.leaderboard.board`, with where they are printed in place of the label source."""
    ours = frame.assign(cell=[_told(row) for row in frame.to_dict("records")])
    columns = list(dict.fromkeys(frame["dataset"]))
    ordered = best_first(ours[ours["dataset"] == columns[-1]])[["corpus", "pipeline"]]
    systems = pd.concat([ordered, ours[["corpus", "pipeline"]]]).drop_duplicates()
    wide = ours.pivot(index=["corpus", "pipeline"], columns="dataset", values="cell")[columns]
    wide["judged@k"] = (
        ours[ours["dataset"] != AVERAGE].groupby(["corpus", "pipeline"])["judged"].mean().map("{:.0f}%".format)
    )
    wide["labels"] = ours.groupby(["corpus", "pipeline"])["labels"].first()
    tables = [wide.loc[pd.MultiIndex.from_frame(systems)].reset_index()]
    if len(printed):
        theirs = printed.assign(cell=printed["value"].map("{:.1f}".format))
        below = theirs.pivot(index=["corpus", "pipeline", "source"], columns="dataset", values="cell").reset_index()
        tables.append(below.rename(columns={"source": "labels"}))
    return pd.concat(tables, ignore_index=True).reindex(columns=["corpus", "pipeline", *wide.columns]).fillna("")


def _told(row: Mapping[Hashable, Any]) -> str:
    """A cell in words: the value, its interval and its letters, or how little is judged."""
    value, low, high = float(row["value"]), float(row["low"]), float(row["high"])
    if np.isnan(value):
        return f"– (judged {row['judged']:.0f}%)" if row["withheld"] else "–"
    interval = f"  [{low:.1f}, {high:.1f}]" if np.isfinite(low) else ""
    return f"{value:.1f}{interval}  {row['group']}".rstrip()


def _on_all(scores: Sequence[Score], datasets: Sequence[str]) -> list[list[Score]]:
    """The scores of each system that has one on every data set, in their order."""
    systems: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        systems.setdefault((score.corpus, score.pipeline), {})[score.dataset] = score
    return [[held[d] for d in datasets] for held in systems.values() if len(held) == len(datasets)]


def _rows(systems: Sequence[Sequence[Score]], test: Test, correction: str) -> list[dict[str, object]]:
    """A row for each system, from its scores by one measure on one data set or on several."""
    rows = [_row(held) for held in systems]
    known = {f"{number}": held for number, held in enumerate(systems) if np.isfinite(float(str(rows[number]["value"])))}
    values = {name: np.concatenate([s.values for s in held]) for name, held in known.items()}
    if any(s.people is not None for held in known.values() for s in held):
        comparisons = corrected_comparisons({n: _people(held) for n, held in known.items()}, values, correction)
    else:
        comparisons = compare(values, test=test, correction=correction, intervals=False)
    ordered = best_first(pd.DataFrame([{**rows[int(name)], "name": name} for name in known])) if known else None
    groups = letters([] if ordered is None else ordered["name"].tolist(), comparisons)
    return [{**row, "group": groups.get(f"{number}", "")} for number, row in enumerate(rows)]


def _row(held: Sequence[Score]) -> dict[str, object]:
    [score] = held if len(held) == 1 else macro_average(held) or [held[0]]
    # What corrects a detector is a sample: its interval says whether that was enough.
    corrected = any(s.people is not None for s in held)
    shown = not corrected or np.isfinite(score.estimate.low)
    value, low, high = score.shown[:3] if shown else (np.nan, np.nan, np.nan)
    unit: Unit = score.unit
    return {
        "dataset": AVERAGE if len(held) > 1 else score.dataset,
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
        "unit": unit,
        "withheld": score.withheld,
    }


def _people(held: Sequence[Score]) -> npt.NDArray[np.float64]:
    return np.concatenate([s.values * np.nan if s.people is None else s.people for s in held])


_TABLES = {"berds_base_k5": "BERDS, table 3", "berds_base_k10": "BERDS, table 17"}
_COLUMNS = ["dataset", "corpus", "pipeline", "value", "source"]
_FAULTY = pd.DataFrame(
    [("sphere", "dpr", d, f"{m}@10") for d in ("arguana", "average") for m in ("MRecall", "Precision")],
    columns=["corpus", "retriever", "dataset", "measure"],
)
"""A copy error of the paper, and what was averaged over it (evaluation/published/README.md)."""


def printed_rows(measure: str, questions: Mapping[str, int]) -> pd.DataFrame:
    """What BERDS prints by this measure for those of the data sets that are its test splits, `questions` by data set: columns
    dataset (as it is called here), corpus, pipeline (as the paper calls its retrievers), value (percent) and source.

    A data set is the published one by its name and its number of questions; versions with edited perspectives are not. The
    paper's average stands under 'average' where exactly its three data sets are asked for.
    """
    ours = {paper: name for name, count in questions.items() if (paper := _berds_test(name, count)) is not None}
    if len(ours) == len(questions) == len(_test_sizes()):
        ours["average"] = "average"
    found = []
    for table, source in _TABLES.items():
        rows = published(table)
        rows = rows[(rows["measure"] == measure) & rows["dataset"].isin(ours)]
        rows = rows.merge(_FAULTY, how="left", indicator=True).query("_merge == 'left_only'")
        found.append(rows.assign(dataset=rows["dataset"].map(ours), pipeline=rows["retriever"], source=source))
    return pd.concat(found).drop_duplicates(_COLUMNS[:3])[_COLUMNS].reset_index(drop=True)


def printed_p_recall(tasks: Mapping[str, PirTask]) -> pd.DataFrame:
    """PIR's p-Recall@5 (table 2) for those of the tasks, by the data sets made of them, that have the size it prints; columns as
    in `printed_rows`."""
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


def _berds_test(name: str, questions: int) -> str | None:
    paper = paper_name(name)
    return paper if split_version(name)[0] == name and _test_sizes().get(paper) == questions else None


def _test_sizes() -> dict[str, int]:
    rows = published("berds_dataset")
    return {str(r["dataset"]): int(r["test"]) for r in rows.to_dict("records") if r["dataset"] != "all"}
