"""The scores that studies lay out: runs that are stored already are taken, and those that are missing are made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from annotation.judgments import Judgments
from data.corpora import open_corpus
from data.datasets import load_dataset
from data.errors import BadInputError
from data.progress import Progress, silent
from data.records import Question
from data.run_pairs import run_pairs
from data.runs import Run, list_runs, load_run, run_name
from data.workspace import Workspace
from detectors.labelling import judge
from evaluation.label_sources import LabelSource, labels_of
from evaluation.measures import Measure
from evaluation.scoring import Score, macro_average, score_run, support_of
from evaluation.support import Support
from retrieval.protocol import Surroundings
from retrieval.registry import parse_pipeline
from retrieval.running import run_pipeline

_PERCENT = 100


@dataclass(frozen=True)
class Selection:
    """Data sets, corpora and pipelines by name; all combinations are meant."""

    datasets: tuple[str, ...]
    corpora: tuple[str, ...]
    pipelines: tuple[str, ...]

    @property
    def retrievers(self) -> "Selection":
        """The same without pipelines of several stages or with expansion, where it is about what these would change."""
        plain = tuple(p for p in self.pipelines if ">>" not in p)
        if not plain:
            raise BadInputError("None of the pipelines is a retriever alone.", hint="Name one, such as bm25.")
        return Selection(self.datasets, self.corpora, plain)

    def settings(self) -> dict[str, object]:
        return {"datasets": self.datasets, "corpora": self.corpora, "pipelines": self.pipelines}


@dataclass(frozen=True)
class Gatherer:
    """Runs and their scores from one label source; what was done is kept in the workspace, so that it goes on after a stop."""

    workspace: Workspace
    judgments: Judgments
    source: LabelSource
    progress: Progress = silent

    def run(self, dataset: str, corpus: str, pipeline: str, k: int) -> Run:
        """The stored run, where it still fits its data set and corpus and is deep enough; else it is made."""
        parsed = parse_pipeline(pipeline, Surroundings(self.workspace, judge(self.workspace)))
        opened = open_corpus(self.workspace, corpus)
        name = run_name(dataset, corpus, str(parsed.tuned(opened)))
        held = {m.name: m for m in list_runs(self.workspace)}.get(name)
        if held is not None and held.corpus_hash == opened.manifest.hash and held.k >= k:
            run = load_run(self.workspace, name)
            if run.question_ids == [q.id for q in load_dataset(self.workspace, dataset)]:
                return run
        made = run_pipeline(
            self.workspace, dataset, corpus, pipeline, k, judge=judge(self.workspace), progress=self.progress
        )
        return load_run(self.workspace, made.name)

    def support(self, run: Run, k: int) -> tuple[list[Question], Support]:
        """The questions of a run, and what the label source says of its top k; corrected sources count as their detector."""
        questions = load_dataset(self.workspace, run.manifest.dataset)
        found = run_pairs(self.workspace, run, questions, k)
        labels = labels_of(self.workspace, self.judgments, self.source.plain, found.pairs, progress=self.progress)
        return questions, support_of(found, labels, run.ids[:, :k], questions)

    def scores(self, selection: Selection, measures: Sequence[Measure]) -> list[Score]:
        """A score for each combination and measure, named by the pipeline as it was asked for, and the macro-averages."""
        k = max(m.k for m in measures)
        found: list[Score] = []
        for corpus, pipeline, dataset in product(selection.corpora, selection.pipelines, selection.datasets):
            run = self.run(dataset, corpus, pipeline, k)
            found += score_run(self.workspace, self.judgments, run, self.source, measures, progress=self.progress)
        return found + (macro_average(found) if len(selection.datasets) > 1 else [])


def checked(workspace: Workspace, selection: Selection) -> Selection:
    """The selection with every part that was left empty filled by all the workspace has; raises `BadInputError` for none."""
    filled = Selection(
        selection.datasets or tuple(workspace.datasets()),
        selection.corpora or tuple(workspace.corpora()),
        selection.pipelines or tuple(dict.fromkeys(m.pipeline for m in list_runs(workspace))),
    )
    for kind, names in (("data set", filled.datasets), ("corpus", filled.corpora), ("pipeline", filled.pipelines)):
        if not names:
            raise BadInputError(f"There is no {kind} to study.", hint=f"Name one with --{kind.replace(' ', '')}.")
    return filled


def cells_of(scores: Iterable[Score]) -> pd.DataFrame:
    """Scores as cells of a table, in percent, each with all that made it."""
    return pd.DataFrame(
        [
            {
                "corpus": s.corpus,
                "pipeline": s.pipeline,
                "dataset": s.dataset,
                "measure": s.measure,
                **{
                    name: np.nan if np.isnan(value) else _PERCENT * value
                    for name, value in zip(("value", "low", "high"), s.estimate[:3], strict=True)
                },
                "n": s.estimate.n,
                "judged": s.judged,
                "labels": s.labels,
                "detector_version": s.detector_version,
            }
            for s in scores
        ]
    )
