"""What the D-MERIT studies are given: systems' lists and relevant passages, from stored runs, files or an evidence set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.evidence_sets import EvidenceSet, is_released
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.runs import list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import judge
from berdseye.evaluation.kept_rankings import kept_ranking, passages_digest
from berdseye.evaluation.label_sources import LabelSource
from berdseye.evaluation.labelled_runs import labelled_run
from berdseye.evaluation.partial.rank_matrices import Missing, RankMatrices, rank_matrices
from berdseye.evaluation.partial.ranked_files import read_qrels_file, read_run_files
from berdseye.retrieval.passage_collections import Loose
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.protocol import Surroundings
from berdseye.retrieval.queries import as_queries
from berdseye.retrieval.registry import parse_pipeline
from berdseye.retrieval.search import search_passages

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankedSet:
    """Matrices and what made them; `words` and `popularity` float64[n_queries, n_max] of the relevant passages, where known.

    `released` says whether queries and relevant passages are as many as D-MERIT's. `judged` is the share of the pooled pairs
    that have a label (NaN where relevance is given and not asked).
    """

    name: str
    matrices: RankMatrices
    words: Values | None
    popularity: Values | None
    labels: str
    detector_version: str = ""
    judged: float = float("nan")
    released: bool = False
    notes: tuple[str, ...] = ()


def from_files(
    runs: Sequence[Path], qrels: Path, *, depth: int | None = None, missing: Missing = "refuse"
) -> RankedSet:
    """From run files and qrels, in TREC format or our JSONL; passages have no texts, so that their lengths are unknown."""
    relevant = read_qrels_file(qrels)
    matrices = rank_matrices(read_run_files(runs), relevant, depth=depth, missing=missing)
    return RankedSet(qrels.name, matrices, None, None, "qrels", released=is_released(relevant), notes=_notes(matrices))


def from_evidence(
    workspace: Workspace, source: EvidenceSet, pipelines: Sequence[str], depth: int, *, progress: Progress = silent
) -> RankedSet:
    """From an evidence set searched by pipelines. What a pipeline found is kept in the workspace and not searched for again."""
    around = Surroundings(workspace, judge(workspace))
    parsed = {str(p): p for p in (parse_pipeline(name, around) for name in pipelines)}
    passages, held = Loose(source.passages), passages_digest(source.passages)
    queries = as_queries([q.text for q in source.queries])
    runs: dict[str, dict[str, list[str]]] = {}
    for name, pipeline in parsed.items():

        def find(pipeline: Pipeline = pipeline) -> Ids:
            return search_passages(passages, pipeline, queries, depth, progress=progress)[0]

        ids = kept_ranking(workspace, pipeline, queries, depth, held, find)
        runs[name] = {
            query.id: [source.passages[i].source_id for i in row if i >= 0]
            for query, row in zip(source.queries, ids.tolist(), strict=True)
        }
    matrices = rank_matrices(runs, source.relevant, depth=min(depth, len(source.passages)))
    return RankedSet(
        source.name,
        matrices,
        _aligned(matrices, {k: float(v) for k, v in source.words.items()}),
        _aligned(matrices, source.popularity) if source.popularity else None,
        "given relevance",
        released=source.is_released,
        notes=(*source.notes, *_notes(matrices)),
    )


def from_runs(
    workspace: Workspace,
    judgments: Judgments,
    dataset: str,
    corpus: str,
    source: LabelSource,
    *,
    progress: Progress = silent,
) -> RankedSet:
    """From the stored runs of a data set over a corpus: a passage is relevant that supports at least one perspective.

    Only what some run found can be known to be relevant, so that the full set is the pool of the runs. Runs are cut to the depth
    of the shortest. Raises `BadInputError` for fewer than two runs.
    """
    manifests = [m for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)]
    if len(manifests) < 2:
        raise BadInputError(
            f"There are {len(manifests)} runs of '{dataset}' over '{corpus}', and a ranking of systems needs two.",
            hint="Make them with `berdseye run`.",
        )
    depth = min(m.k for m in manifests)
    questions, opened = load_dataset(workspace, dataset), open_corpus(workspace, corpus)
    runs: dict[str, dict[str, list[str]]] = {}
    relevant: dict[str, dict[str, None]] = {q.id: {} for q in questions}
    words: dict[str, float] = {}
    labelled = asked = 0
    for manifest in manifests:
        run = load_run(workspace, manifest.name)
        found = labelled_run(workspace, judgments, run, source, depth, progress=progress)
        supporting = np.asarray((found.labels == 1).any(axis=2))
        labelled, asked = labelled + int((~np.isnan(found.labels)).sum()), asked + int((found.keys != b"").sum())
        ranked = np.unique(found.ids[found.ids >= 0]).tolist()
        words |= {str(p.id): float(len(p.text.split())) for p in opened.passages(ranked)}
        runs[manifest.pipeline] = {}
        for row, question in enumerate(questions):
            ids = [str(i) for i in run.ids[row, :depth].tolist() if i >= 0]
            runs[manifest.pipeline][question.id] = ids
            relevant[question.id] |= {i: None for place, i in enumerate(ids) if supporting[row, place]}
    matrices = rank_matrices(runs, relevant, depth=depth)
    detector = source.detector(workspace)
    return RankedSet(
        f"{dataset} over {opened.name}",
        matrices,
        _aligned(matrices, words),
        None,
        str(source),
        detector.version if detector is not None else "",
        labelled / asked if asked else float("nan"),
        notes=(
            f"Relevant is what the labels call supporting within the top {depth} of these {len(runs)} runs: what no run found "
            "cannot be known.",
            *_notes(matrices),
        ),
    )


def _aligned(matrices: RankMatrices, values: Mapping[str, float]) -> Values:
    """`values` of the relevant passages in their places, float64[n_queries, n_max]; NaN where there is none."""
    placed = np.full(matrices.exists.shape, np.nan)
    for row, ids in enumerate(matrices.relevant):
        placed[row, : len(ids)] = [values.get(i, np.nan) for i in ids]
    return placed


def _notes(matrices: RankMatrices) -> tuple[str, ...]:
    notes = []
    if matrices.left_out:
        named = ", ".join(matrices.left_out[:5]) + (", …" if len(matrices.left_out) > 5 else "")
        notes.append(
            f"{len(matrices.left_out)} queries are left out, having no relevant passage or not every list ({named})."
        )
    if matrices.filled:
        notes.append(f"{matrices.filled} lists were missing and count as finding nothing.")
    return tuple(notes)
