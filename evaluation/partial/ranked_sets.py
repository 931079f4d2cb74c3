"""The input of the D-MERIT studies: systems' lists and relevant passages, from stored runs, from an evidence set, or from files
in any format that `berdseye.evaluation.interchange` reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.evidence_sets import EvidenceSet, is_released
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.interchange.external_runs import read_labels, read_run
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.partial.rank_matrices import Missing, RankMatrices, rank_matrices
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.evaluation.studies.gathering import cached_ranking, passages_digest
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import Pipeline, search_passages
from berdseye.retrieval.protocol import as_queries

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankedSet:
    """Rank matrices with their provenance; `words` and `popularity` float64[n_queries, n_max] describe the relevant passages, if
    known.

    `released`: whether the numbers of queries and relevant passages are those of D-MERIT. `judged` is the share of pooled pairs
    that have a label (NaN if the set contains the relevance).
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
    """Read run files and qrels in TREC format or Berdseye's JSONL; they have no texts, so the lengths of passages are unknown."""
    relevant = read_qrels_file(qrels)
    matrices = rank_matrices(read_run_files(runs), relevant, depth=depth, missing=missing)
    return RankedSet(qrels.name, matrices, None, None, "qrels", released=is_released(relevant), notes=_notes(matrices))


def from_evidence(
    workspace: Workspace, source: EvidenceSet, pipelines: Sequence[str], depth: int, *, progress: Progress = silent
) -> RankedSet:
    """Search an evidence set by pipelines; rankings are cached in the workspace and not computed again."""
    parsed = {str(p): p for p in (pipeline_of(workspace, name) for name in pipelines)}
    passages, digest = InMemoryPassages(source.passages), passages_digest(source.passages)
    queries = as_queries([q.text for q in source.queries])
    runs: dict[str, dict[str, list[str]]] = {}
    for name, pipeline in parsed.items():

        def find(pipeline: Pipeline = pipeline) -> Ids:
            return search_passages(passages, pipeline, queries, depth, progress=progress)[0]

        ids = cached_ranking(workspace, pipeline, queries, depth, digest, find)
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
    """Use the stored runs on a data set and a corpus; a passage is relevant if it supports at least one perspective.

    Only retrieved passages can be known to be relevant, so the full set is the pool of the runs. Runs are cut to the depth of the
    shortest run. Raises `BadInputError` for fewer than two runs.
    """
    manifests = [m for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)]
    if len(manifests) < 2:
        raise BadInputError(
            f"A ranking of systems needs at least 2 runs; '{dataset}' over '{corpus}' has {len(manifests)}.",
            hint="Create runs with `berdseye run`.",
        )
    depth = min(m.k for m in manifests)
    questions, opened = load_dataset(workspace, dataset), open_corpus(workspace, corpus)
    runs: dict[str, dict[str, list[str]]] = {}
    relevant: dict[str, dict[str, None]] = {q.id: {} for q in questions}
    words: dict[str, float] = {}
    labelled_pairs = pairs = 0
    for manifest in manifests:
        run = load_run(workspace, manifest.name)
        labelled = labelled_run(workspace, judgments, run, source, depth, progress=progress)
        supporting = np.asarray((labelled.labels == 1).any(axis=2))
        labelled_pairs += int((~np.isnan(labelled.labels)).sum())
        pairs += int((labelled.keys != b"").sum())
        ranked = np.unique(labelled.ids[labelled.ids >= 0]).tolist()
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
        labelled_pairs / pairs if pairs else float("nan"),
        notes=(
            f"Relevant passages are those that the labels call supporting in the top {depth} of these {len(runs)} runs; passages "
            "that no run retrieved are unknown.",
            *_notes(matrices),
        ),
    )


def _aligned(matrices: RankMatrices, values: Mapping[str, float]) -> Values:
    """Return the values of relevant passages at their places, float64[n_queries, n_max]; NaN if there is none."""
    placed = np.full(matrices.exists.shape, np.nan)
    for row, ids in enumerate(matrices.relevant):
        placed[row, : len(ids)] = [values.get(i, np.nan) for i in ids]
    return placed


def _notes(matrices: RankMatrices) -> tuple[str, ...]:
    notes = []
    if matrices.left_out:
        names = ", ".join(matrices.left_out[:5]) + (", …" if len(matrices.left_out) > 5 else "")
        notes.append(
            f"{len(matrices.left_out)} queries are left out because they have no relevant passage or lack a list ({names})."
        )
    if matrices.filled:
        notes.append(f"{matrices.filled} lists are missing and count as empty.")
    return tuple(notes)


def read_run_file(path: Path) -> dict[str, list[str]]:
    """Read passage ids by query, best first; ties are broken by descending id, as in trec_eval, and ranks in the file are
    ignored.

    Raises `BadInputError` with file and line for invalid lines, scores that are not numbers, and repeated passages.
    """
    rows = read_run(path)
    # Stable sorts with the least important key first: descending id, then descending score.
    by_id = np.array(sorted(range(len(rows.passages)), key=rows.passages.__getitem__, reverse=True), dtype=np.int64)
    order = by_id[np.argsort(-rows.scores[by_id], kind="stable")]
    by_query: dict[str, list[str]] = {}
    for row in order.tolist():
        by_query.setdefault(rows.questions[row], []).append(rows.passages[row])
    return by_query


def read_run_files(paths: Sequence[Path]) -> dict[str, dict[str, list[str]]]:
    """Read runs by the names of their files without extension; raises `BadInputError` for two files of one name."""
    names = [p.name.split(".gz")[0].rsplit(".", 1)[0] for p in paths]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise BadInputError(
            f"Two run files are called '{twice}'.",
            hint="The name of the file is the name of the system; rename one file.",
        )
    return {name: read_run_file(path) for name, path in zip(names, paths, strict=True)}


def read_qrels_file(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the relevant passage ids by query; with labels by perspective, a passage is relevant if it supports at least one.

    Queries without relevant passages have an empty tuple. Raises `BadInputError` if no passage is relevant.
    """
    rows = read_labels(path)
    by_query: dict[str, dict[str, None]] = {}
    for query, passage, relevant in zip(rows.questions, rows.passages, rows.labels.tolist(), strict=True):
        passages = by_query.setdefault(query, {})
        if relevant:
            passages[passage] = None
    if not any(by_query.values()):
        raise BadInputError("No passage is relevant.", where=path, hint="Give qrels with relevances above 0.")
    return {query: tuple(passages) for query, passages in by_query.items()}
