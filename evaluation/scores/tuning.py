"""Tuning of MMR's lambda on a dev split (BERDS): the weight of the grid whose rankings have the best measure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.corpora.tuned_weights import TunedWeight, read_tuned, write_tuned
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label_function
from berdseye.evaluation.labels.labelled_runs import labelled_ranking
from berdseye.evaluation.labels.sources import LabelSource, label_versions
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import Counted, counted_questions, counting
from berdseye.evaluation.scores.scoring import counted_values
from berdseye.evaluation.scores.unjudged import Unjudged, unjudged_of
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.pipeline import Pipeline, search
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext, query_of
from berdseye.retrieval.rerank.mmr import GRID, MMR
from berdseye.retrieval.running import questions_version

_DIGITS = 12


def tune(
    workspace: Workspace,
    judgments: Judgments,
    datasets: Sequence[str],
    corpus: str,
    pipeline: str,
    source: LabelSource,
    measure: Measure,
    *,
    grid: Sequence[float] = GRID,
    unjudged: Unjudged | str | None = None,
    progress: Progress = silent,
) -> TunedWeight:
    """Try the weights of the grid for the final stage `mmr(tuned)` of a pipeline, and store the best weight for this corpus.

    The best weight has the highest mean over data sets of the mean over the questions that count (`evaluation.scores.counted`:
    those that count in the pool, and those for which a ranking under one of the weights has a label). Under the rule 'left-out'
    of `unjudged` (None: the workspace's setting), they are those with a label under every weight. Of equally good weights,
    the one closest to 1 wins, because it changes the ranking least. Raises `BadInputError` for a pipeline that does not end in
    `mmr(tuned)`, and for a data set without labels.
    """
    opened, rule = open_corpus(workspace, corpus), unjudged_of(workspace, unjudged)
    before, last = _split(workspace, opened, pipeline)
    full = replace(before, stages=(*before.stages, last))
    totals: dict[float, list[float]] = {weight: [] for weight in grid}
    for dataset in datasets:
        questions = load_dataset(workspace, dataset)
        queries = [query_of(q) for q in questions]
        ids, scores = search(opened, before, queries, full.depth, progress=progress)
        supports: list[Support] = []
        for weight in grid:
            chosen, _ = replace(last, weight=weight).apply(StoredCorpus(opened), queries, ids, scores)
            top = chosen[:, : measure.k]
            labelled = labelled_ranking(workspace, judgments, opened, questions, top, source, progress=progress)
            supports.append(labelled.support)
        counted = counted_questions(workspace, judgments, dataset, corpus, source, progress=progress)
        here = np.logical_or.reduce([s.judged.any(axis=(1, 2)) for s in supports])
        counted = counting(supports[0].counts, counted | here, source)
        values = np.stack([counted_values(measure, s, Counted(counted, unjudged=rule)) for s in supports])
        values = values[:, ~np.isnan(values).any(axis=0)]
        if not values.size:
            raise BadInputError(
                f"No question of '{dataset}' has labels from '{source}'.",
                hint="Judge pairs of it, or use a detector: --labels 'human>embedded'.",
            )
        for weight, mean in zip(grid, values.mean(axis=1).tolist(), strict=True):
            totals[weight].append(mean)
    means = {weight: float(np.mean(values)) for weight, values in totals.items()}
    # Rounded, because sums of the same values in a different order differ slightly.
    best = max(grid, key=lambda weight: (round(means[weight], _DIGITS), weight))
    tuned = TunedWeight(
        best,
        list(datasets),
        str(measure),
        str(source),
        opened.manifest.hash,
        {f"{weight:g}": value for weight, value in means.items()},
        datetime.now(UTC).isoformat(timespec="seconds"),
        _versions(workspace, judgments, datasets, full, source),
        str(rule),
    )
    write_tuned(opened.folder, str(full), tuned)
    return tuned


def stored_weight(
    workspace: Workspace,
    judgments: Judgments,
    datasets: Sequence[str],
    corpus: str,
    pipeline: str,
    source: LabelSource,
    measure: Measure,
    *,
    unjudged: Unjudged | str | None = None,
) -> TunedWeight | None:
    """Return the weight that `tune` stored for these arguments, or None if there is none or it is outdated."""
    opened = open_corpus(workspace, corpus)
    before, last = _split(workspace, opened, pipeline)
    full = replace(before, stages=(*before.stages, last))
    stored = read_tuned(opened.folder).get(str(full))
    if stored is None:
        return None
    same = (stored.datasets, stored.measure, stored.labels, stored.corpus_hash, stored.unjudged) == (
        list(datasets),
        str(measure),
        str(source),
        opened.manifest.hash,
        str(unjudged_of(workspace, unjudged)),
    )
    return stored if same and stored.versions == _versions(workspace, judgments, datasets, full, source) else None


def _split(workspace: Workspace, corpus: Corpus, pipeline: str) -> tuple[Pipeline, MMR]:
    """Return the pipeline before `mmr(tuned)`, and that stage."""
    parsed = parse_pipeline(pipeline, PipelineContext(workspace, label_function(workspace)))
    last = parsed.stages[-1] if parsed.stages else None
    if not isinstance(last, MMR) or last.weight is not None:
        raise BadInputError(f"'{parsed}' does not end in mmr(tuned).", hint='Write, for example, "bm25 >> mmr(tuned)".')
    return replace(parsed, stages=parsed.stages[:-1]).tuned(corpus), last


def _versions(
    workspace: Workspace, judgments: Judgments, datasets: Sequence[str], pipeline: Pipeline, source: LabelSource
) -> dict[str, str]:
    questions = {f"questions of {d}": questions_version(load_dataset(workspace, d))["questions"] for d in datasets}
    return pipeline.versions | questions | label_versions(workspace, judgments, source)
