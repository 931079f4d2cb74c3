"""Choosing lambda of MMR on a dev split (BERDS): the weight of the grid whose rankings cover the most."""

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
from berdseye.evaluation.labels.runs import labelled_ranking
from berdseye.evaluation.labels.sources import LabelSource, label_versions
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import Counted, counted_questions, counting
from berdseye.evaluation.scores.scoring import counted_values
from berdseye.retrieval.passage_collections import Stored
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
    progress: Progress = silent,
) -> TunedWeight:
    """Try the weights of the grid where the pipeline ends in `mmr(tuned)`, and store the best for this corpus.

    The best has the highest mean over the data sets of the mean over the questions that count
    (`evaluation.scores.counted`: those of the
    pool, and those of which a ranking under one of the weights has a label); of
    equals the one nearest to 1, which changes the ranking least. Raises `BadInputError` for a pipeline that does not end so.
    """
    opened = open_corpus(workspace, corpus)
    before, last = _parted(workspace, opened, pipeline)
    whole = replace(before, stages=(*before.stages, last))
    totals: dict[float, list[float]] = {weight: [] for weight in grid}
    for dataset in datasets:
        questions = load_dataset(workspace, dataset)
        queries = [query_of(q) for q in questions]
        ids, scores = search(opened, before, queries, whole.depth, progress=progress)
        supports: list[Support] = []
        for weight in grid:
            chosen, _ = replace(last, weight=weight).apply(Stored(opened), queries, ids, scores)
            top = chosen[:, : measure.k]
            found = labelled_ranking(workspace, judgments, opened, questions, top, source, progress=progress)
            supports.append(found.support)
        counted = counted_questions(workspace, judgments, dataset, corpus, source, progress=progress)
        here = np.logical_or.reduce([s.judged.any(axis=(1, 2)) for s in supports])
        counted = counting(supports[0].counts, counted | here, source)
        together = np.stack([counted_values(measure, s, Counted(counted)) for s in supports])
        together = together[:, ~np.isnan(together).any(axis=0)]
        if not together.size:
            raise BadInputError(
                f"No question of '{dataset}' has labels from '{source}'.",
                hint="Judge more, or let a detector label: --labels human>embedded.",
            )
        for weight, mean in zip(grid, together.mean(axis=1).tolist(), strict=True):
            totals[weight].append(mean)
    means = {weight: float(np.mean(values)) for weight, values in totals.items()}
    # Rounded, since sums of the same values in another order differ by a little.
    best = max(grid, key=lambda weight: (round(means[weight], _DIGITS), weight))
    tuned = TunedWeight(
        best,
        list(datasets),
        str(measure),
        str(source),
        opened.manifest.hash,
        {f"{weight:g}": value for weight, value in means.items()},
        datetime.now(UTC).isoformat(timespec="seconds"),
        _versions(workspace, judgments, datasets, whole, source),
    )
    write_tuned(opened.folder, str(whole), tuned)
    return tuned


def stored_weight(
    workspace: Workspace,
    judgments: Judgments,
    datasets: Sequence[str],
    corpus: str,
    pipeline: str,
    source: LabelSource,
    measure: Measure,
) -> TunedWeight | None:
    """What `tune` stored when it was asked the same, as long as nothing has changed that the weight depends on."""
    opened = open_corpus(workspace, corpus)
    before, last = _parted(workspace, opened, pipeline)
    whole = replace(before, stages=(*before.stages, last))
    held = read_tuned(opened.folder).get(str(whole))
    if held is None:
        return None
    same = (held.datasets, held.measure, held.labels, held.corpus_hash) == (
        list(datasets),
        str(measure),
        str(source),
        opened.manifest.hash,
    )
    return held if same and held.versions == _versions(workspace, judgments, datasets, whole, source) else None


def _parted(workspace: Workspace, corpus: Corpus, pipeline: str) -> tuple[Pipeline, MMR]:
    """What stands before `mmr(tuned)`, and that."""
    parsed = parse_pipeline(pipeline, PipelineContext(workspace, label_function(workspace)))
    last = parsed.stages[-1] if parsed.stages else None
    if not isinstance(last, MMR) or last.weight is not None:
        raise BadInputError(f"'{parsed}' does not end in mmr(tuned).", hint='Write it like "bm25 >> mmr(tuned)".')
    return replace(parsed, stages=parsed.stages[:-1]).tuned(corpus), last


def _versions(
    workspace: Workspace, judgments: Judgments, datasets: Sequence[str], pipeline: Pipeline, source: LabelSource
) -> dict[str, str]:
    asked = {f"questions of {d}": questions_version(load_dataset(workspace, d))["questions"] for d in datasets}
    return pipeline.versions | asked | label_versions(workspace, judgments, source)
