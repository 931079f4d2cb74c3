"""One question in all stored runs: the ranking of each run, with labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Question
from berdseye.data.runs.pairs import Keys
from berdseye.data.runs.stored import RunManifest, ranking_of
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_ranking
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import counted_questions, under_rule
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, enough_judged
from berdseye.evaluation.scores.unjudged import Unjudged


@dataclass(frozen=True)
class QuestionRun:
    """A run's ranking of a question, as a `LabelledRun` of one question."""

    run: RunManifest
    labelled: LabelledRun

    @property
    def name(self) -> str:
        return f"{self.run.corpus} · {self.run.pipeline}"

    @property
    def ids(self) -> Ids:
        """The ranked passages, int64[k], padded with -1."""
        ids: Ids = self.labelled.ids[0]
        return ids

    @property
    def keys(self) -> Keys:
        """The keys of the pairs, bytes[k, m]."""
        keys: Keys = self.labelled.keys[0]
        return keys

    @property
    def labels(self) -> npt.NDArray[np.float64]:
        """The labels of the pairs, float64[k, m] of 1, 0 and NaN (no label)."""
        labels: npt.NDArray[np.float64] = self.labelled.labels[0]
        return labels

    def first_ranks(self) -> list[int]:
        """Return the first rank that covers each perspective; 0: no rank does."""
        return [int(rank) for rank in self.labelled.first_ranks()[0]]


def question_runs(
    workspace: Workspace,
    judgments: Judgments,
    question: Question,
    runs: Sequence[RunManifest],
    source: LabelSource,
    depth: int,
    *,
    progress: Progress = silent,
) -> tuple[list[QuestionRun], list[RunManifest]]:
    """Return the rankings of a question in the runs on its data set, down to a depth; and the runs left out because their corpus
    has changed or no longer exists.

    Only this question is read from the runs. A detector labels the pairs that it has not labelled yet.
    """
    corpora = {name: open_corpus(workspace, name) for name in workspace.corpora()}
    fit = [r for r in runs if r.corpus in corpora and corpora[r.corpus].manifest.hash == r.corpus_hash]
    by_name: dict[str, QuestionRun] = {}
    for corpus in dict.fromkeys(run.corpus for run in fit):
        own = [run for run in fit if run.corpus == corpus]
        ids = [ranking_of(workspace, run, question.id)[:depth] for run in own]
        block: Ids = np.full((len(own), max(map(len, ids))), -1, dtype=np.int64)
        for row, ranked in zip(block, ids, strict=True):
            row[: len(ranked)] = ranked
        labelled = labelled_ranking(
            workspace, judgments, corpora[corpus], [question] * len(own), block, source, progress=progress
        )
        for row, run in enumerate(own):
            one = slice(row, row + 1)
            by_name[run.name] = QuestionRun(
                run, LabelledRun([question], labelled.ids[one], labelled.keys[one], labelled.labels[one])
            )
    return [by_name[run.name] for run in fit], [run for run in runs if run not in fit]


def counts_over(
    workspace: Workspace,
    judgments: Judgments,
    dataset: str,
    question_id: str,
    runs: Sequence[QuestionRun],
    source: LabelSource,
) -> dict[str, bool]:
    """Return whether a question of a data set counts (`berdseye.evaluation.scores.counted`), by the corpora of the runs."""
    row = next(n for n, q in enumerate(load_dataset(workspace, dataset)) if q.id == question_id)
    return {
        corpus: bool(counted_questions(workspace, judgments, dataset, corpus, source)[row])
        for corpus in dict.fromkeys(run.run.corpus for run in runs)
    }


def first_rank_frame(question: Question, runs: Sequence[QuestionRun], k: int) -> pd.DataFrame:
    """Return the first ranks with runs as rows and perspectives as columns, in the form of `hole_chart`.

    Columns: row (of the run in `runs`), question (the run's name), place (of the perspective, from 1), perspective, rank (NaN:
    none) and hole (no rank within k).
    """
    rows = [
        {
            "row": row,
            "question": run.name,
            "place": place,
            "perspective": perspective.text,
            "rank": rank or np.nan,
            "hole": not 0 < rank <= k,
        }
        for row, run in enumerate(runs)
        for place, (perspective, rank) in enumerate(zip(question.perspectives, run.first_ranks(), strict=True), start=1)
    ]
    return pd.DataFrame(rows, columns=["row", "question", "place", "perspective", "rank", "hole"])


def measures_frame(
    runs: Sequence[QuestionRun],
    measures: Sequence[Measure],
    counted: Mapping[str, bool],
    min_judged: float = MIN_JUDGED,
    unjudged: Unjudged = Unjudged.ZERO,
) -> pd.DataFrame:
    """Return one row per run: corpus, pipeline, a column for each measure, judged@k (with the first measure's k), made (the
    time).

    NaN if the question does not count over the corpus (`counted`, by corpus), if too few of its pairs in the run's top k have a
    label, or if none has one and `unjudged` is 'left-out'.
    """

    def value(run: QuestionRun, measure: Measure) -> float:
        support = run.labelled.support
        shown = enough_judged(support.judged_at(measure.k), min_judged) and bool(
            under_rule(np.array([counted[run.run.corpus]]), support, measure.k, unjudged)[0]
        )
        return float(measure.values(support)[0]) if shown else np.nan

    rows = [
        {
            "corpus": run.run.corpus,
            "pipeline": run.run.pipeline,
            **{str(m): value(run, m) for m in measures},
            f"judged@{measures[0].k}": run.labelled.support.judged_at(measures[0].k),
            "made": run.run.created,
        }
        for run in runs
    ]
    return pd.DataFrame(rows)
