"""Runs, scores and rankings for studies. Stored runs are reused and missing runs are created; rankings that belong to no run are
cached in the workspace, so that re-running an interrupted study resumes.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, DamagedError, UnknownNameError
from berdseye.data.files.atomic import replacing
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Passage, Question
from berdseye.data.runs.stored import Run, list_runs, load_run, run_name
from berdseye.data.web.days import begin_day
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label_function
from berdseye.detectors.thresholds import version_in_use
from berdseye.evaluation.interchange.external_runs import IMPORTED
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.sources import LabelSource, source_grade
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.evaluation.published.berds import Sizes
from berdseye.evaluation.scores.counted import counted_questions
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.scores.score import Score, macro_average
from berdseye.evaluation.scores.scoring import score_runs
from berdseye.evaluation.scores.unjudged import Unjudged, unjudged_of
from berdseye.retrieval.pipeline import Pipeline, search
from berdseye.retrieval.protocol import Query
from berdseye.retrieval.running import questions_version, run_pipeline

_DAY = "web"


def cached_ranking(
    workspace: Workspace, pipeline: Pipeline, queries: Sequence[Query], k: int, passages: str, find: Callable[[], Ids]
) -> Ids:
    """Return the cached result of `find`, int64[n_queries, k] padded with -1, or call `find` and cache its result.

    The key is the pipeline with its versions, the queries in their order, k, and `passages`, a digest of the searched passages.
    """
    key = json.dumps([str(pipeline), sorted(pipeline.versions.items()), list(map(list, queries)), k, passages])
    name = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    path = workspace.studies_folder / ".rankings" / f"{name}.npy"
    files = FileSet(path.with_suffix(RECORD), (path.name,), lambda: "Berdseye creates it again at the next use.")
    with suppress(OSError, ValueError, EOFError, DamagedError):  # missing or damaged: computed again
        files.check()
        cached: Ids = np.load(path)
        return cached
    ids = find()
    with files.writing():
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, ids)
        files.seal()
    return ids


def passages_digest(passages: Iterable[Passage]) -> str:
    """Return a digest of the titles and texts of passages in their order."""
    digest = hashlib.blake2b(digest_size=16)
    for passage in passages:
        digest.update(f"{passage.title}\n{passage.text}\n".encode())
    return digest.hexdigest()


def corpus_ranking(
    workspace: Workspace,
    corpus: Corpus,
    pipeline: Pipeline,
    queries: Sequence[Query],
    k: int,
    *,
    progress: Progress = silent,
) -> Ids:
    """Search a corpus with `berdseye.retrieval.pipeline.search`, int64[n_queries, k]; rankings of the web are cached for one
    day."""
    tuned = pipeline.tuned(corpus)
    day = begin_day() if corpus.manifest.kind == "web" else None
    return cached_ranking(
        workspace, tuned, queries, k, f"{corpus.manifest.hash} {day or ''}",
        lambda: search(corpus, tuned, queries, k, day=day, progress=progress)[0],
    )  # fmt: skip


@dataclass(frozen=True)
class Selection:
    """The data sets, corpora and pipelines of a study, by name; the study covers all combinations."""

    datasets: tuple[str, ...]
    corpora: tuple[str, ...]
    pipelines: tuple[str, ...]

    @property
    def retrievers(self) -> "Selection":
        """The selection without pipelines of several stages or with expansion; raises `BadInputError` if none is left."""
        plain = tuple(p for p in self.pipelines if ">>" not in p)
        if not plain:
            raise BadInputError(
                f"None of the pipelines ({', '.join(self.pipelines)}) is a retriever without stages.",
                hint="Name one, such as bm25.",
            )
        return Selection(self.datasets, self.corpora, plain)

    def settings(self) -> dict[str, object]:
        return {"datasets": self.datasets, "corpora": self.corpora, "pipelines": self.pipelines}


class Scores(Protocol):
    """A source of scores for a study: a workspace, or a bundle of results."""

    @property
    def source(self) -> LabelSource: ...

    @property
    def floor(self) -> float:
        """The share of labelled pairs below which scores are withheld."""
        ...

    def sizes(self, selection: Selection) -> Sizes:
        """Return the sizes of the data sets and corpora of a selection."""
        ...

    def scores(self, selection: Selection, measures: Sequence[Measure]) -> list[Score]: ...


@dataclass(frozen=True)
class Gatherer:
    """Runs and their scores by one label source; all runs are stored in the workspace, so that re-running a study resumes."""

    workspace: Workspace
    judgments: Judgments
    source: LabelSource
    progress: Progress = silent
    min_judged: float | None = None
    unjudged: Unjudged | str | None = None

    @property
    def floor(self) -> float:
        """The share of labelled pairs below which scores are withheld (`berdseye.evaluation.scores.enough_judged`)."""
        return min_judged_of(self.workspace, self.min_judged)

    @property
    def rule(self) -> Unjudged:
        """The rule for questions without a label in the top k (`berdseye.evaluation.scores.counted`)."""
        return unjudged_of(self.workspace, self.unjudged)

    def counted(self, run: Run) -> npt.NDArray[np.bool_]:
        """Return which questions of a run count by the label source, bool[n_questions] (`berdseye.evaluation.scores.counted`)."""
        m = run.manifest
        return counted_questions(self.workspace, self.judgments, m.dataset, m.corpus, self.source.plain, run=run)

    def sizes(self, selection: Selection) -> Sizes:
        """Return the numbers of questions and passages of a selection; a corpus of web pages has no number."""
        manifests = {name: open_corpus(self.workspace, name).manifest for name in selection.corpora}
        return Sizes(
            {name: len(load_dataset(self.workspace, name)) for name in selection.datasets},
            {name: m.count if m.kind == "passages" else None for name, m in manifests.items()},
        )

    def parsed(self, pipeline: str) -> Pipeline:
        """Parse the name of a pipeline in the workspace."""
        return pipeline_of(self.workspace, pipeline)

    def run(self, dataset: str, corpus: str, pipeline: str, k: int) -> Run:
        """Return the run of a combination, and create it if necessary.

        A stored run is reused if it fits its data set, its corpus and the versions of its parts, and is deep enough. An imported
        run is used as it is; raises `StaleError` if it does not fit.
        """
        manifests = {m.name: m for m in list_runs(self.workspace)}
        imported = manifests.get(run_name(dataset, corpus, pipeline))
        if imported is not None and IMPORTED in imported.versions:
            return load_run(self.workspace, imported.name)
        parsed = self.parsed(pipeline)
        opened = open_corpus(self.workspace, corpus)
        tuned = parsed.tuned(opened)
        stored = manifests.get(run_name(dataset, corpus, str(tuned)))
        if stored is not None and stored.corpus_hash == opened.manifest.hash and stored.k >= k:
            run, versions = load_run(self.workspace, stored.name), {**stored.versions}
            versions.pop(_DAY, None)
            questions = load_dataset(self.workspace, dataset)
            if run.question_ids == [q.id for q in questions] and versions == tuned.versions | questions_version(
                questions
            ):
                return run
        created = run_pipeline(
            self.workspace,
            dataset,
            corpus,
            pipeline,
            k,
            label_function=label_function(self.workspace),
            progress=self.progress,
        )
        return load_run(self.workspace, created.name)

    def runs(self, selection: Selection, k: int) -> list[Run]:
        """Return the run of each combination, in the order of corpus, pipeline and data set.

        All runs exist before the first is scored, because the pool of all runs determines which questions count.
        """
        combinations = product(selection.corpora, selection.pipelines, selection.datasets)
        return [self.run(dataset, corpus, pipeline, k) for corpus, pipeline, dataset in combinations]

    def support(self, run: Run, k: int) -> tuple[Sequence[Question], Support]:
        """Return the questions of a run and the support of its top k; a corrected label source counts as its detector."""
        labelled = labelled_run(self.workspace, self.judgments, run, self.source.plain, k, progress=self.progress)
        return labelled.questions, labelled.support

    def provenance(self, judged: float) -> dict[str, object]:
        """Return the columns of cells that name the label source and `judged`, the share of the pairs with a label."""
        detector = self.source.plain.detector(self.workspace)
        return {
            "judged": judged,
            "labels": str(self.source.plain),
            "detector_version": version_in_use(detector) if detector is not None else "",
        }

    def cautions(self) -> tuple[str, ...]:
        """Return a note for the study if its labels do not tell sides: what the figures cannot mean, and what to choose
        instead."""
        if source_grade(self.workspace, self.source.plain) != "topic":
            return ()
        return (
            f"The labels of {self.source.plain} tell what is on topic, not which side it takes: a passage against a perspective "
            "may count as supporting it, so that MRecall may count opposing perspectives as covered by one passage. Choose the "
            "labels gold or human, or a detector whose grade is stance (berdseye detector grade).",
        )

    def scores(self, selection: Selection, measures: Sequence[Measure]) -> list[Score]:
        """Return a score for each combination and measure, and the macro-averages over data sets."""
        k = max(m.k for m in measures)
        runs = self.runs(selection, k)
        scores = score_runs(
            self.workspace,
            self.judgments,
            runs,
            self.source,
            measures,
            min_judged=self.min_judged,
            unjudged=self.unjudged,
            progress=self.progress,
        )
        return scores + (macro_average(scores) if len(selection.datasets) > 1 else [])


def checked(workspace: Workspace, selection: Selection) -> Selection:
    """Fill the empty parts of a selection with everything in the workspace, and check all names.

    Raises `BadInputError` if a part stays empty, and `UnknownNameError` for unknown names.
    """
    filled = Selection(
        selection.datasets or tuple(workspace.datasets()),
        selection.corpora or tuple(workspace.corpora()),
        selection.pipelines or tuple(dict.fromkeys(m.pipeline for m in list_runs(workspace))),
    )
    for kind, names in (("data set", filled.datasets), ("corpus", filled.corpora), ("pipeline", filled.pipelines)):
        if not names:
            raise BadInputError(f"There is no {kind} to study.", hint=f"Name one with --{kind.replace(' ', '')}.")
    # Check every name before the first run starts.
    for kind, names, known in (
        ("data set", filled.datasets, workspace.datasets()),
        ("corpus", filled.corpora, workspace.corpora()),
    ):
        for name in names:
            if name not in known and "@" not in name:  # versions of data sets are checked when they are loaded
                raise UnknownNameError(kind, name, known)
    for name in selection.pipelines:
        pipeline_of(workspace, name)
    return filled


def stored_runs(workspace: Workspace, dataset: str, corpus: str, pipelines: Sequence[str] | None) -> list[Run]:
    """Return the stored runs of a data set over a corpus, of all pipelines or those in `pipelines`.

    Raises `UnknownNameError` with the nearest names if a pipeline has no run.
    """
    names = {m.pipeline: m.name for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)}
    wanted = (
        dict.fromkeys(p if p in names else str(pipeline_of(workspace, p)) for p in pipelines)
        if pipelines
        else list(names)
    )
    for pipeline in wanted:
        if pipeline not in names:
            raise UnknownNameError(f"run of '{dataset}' over '{corpus}' by", pipeline, names)
    return [load_run(workspace, names[pipeline]) for pipeline in wanted]


def cells_of(scores: Iterable[Score]) -> pd.DataFrame:
    """Return scores as cells of a table, shares in percent, with the labels behind each score."""
    return pd.DataFrame(
        [
            {
                "corpus": s.corpus,
                "pipeline": s.pipeline,
                "dataset": s.dataset,
                "measure": s.measure,
                **s.shown._asdict(),
                "judged": s.judged,
                "labels": s.labels,
                "detector_version": s.detector_version,
            }
            for s in scores
        ]
    )
