"""Relevance labels (qrels) of the pooled passages of each question, retrieved by a run or not: the basis of recall."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.runs.pairs import Keys, fitting_corpus
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.labelled_runs import labelled_ranking
from berdseye.evaluation.labels.recorded import recorded_labels
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.scores.counted import Counted, counting, pooled_runs

UNRANKED = -1
"""The id, among the passages of a question, of the passages with a label that no pooled run ranked."""
_NOTHING: Ids = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Qrels:
    """Labels of pooled passages. By question: `passages` int64[n_i], ascending, and `labels` float64[n_i, m_i] of 1 (supports),
    0 (does not support) and NaN (no label). The passage `UNRANKED` stands for labels of passages that no run ranked, so that the
    question counts whatever the runs ranked.

    `keys` bytes[n_i, m_i], the keys of the pairs (b"" where there is none), are known if the labels are those of a consensus.
    `runs` names the pooled runs, `left_out` the runs that no longer fit their data set or corpus.
    """

    question_ids: list[str]
    passages: list[Ids]
    labels: list[npt.NDArray[np.float64]]
    runs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = field(default=(), compare=False)
    keys: list[Keys] = field(default_factory=list, compare=False, repr=False)

    def counted(self, source: LabelSource | None = None) -> npt.NDArray[np.bool_]:
        """Return which questions count by the rule of `evaluation.scores.counted`, bool[n_questions].

        `source` is the label source, None if the labels come from a file.
        """
        known = np.array([bool((~np.isnan(block)).any()) for block in self.labels], dtype=np.bool_)
        widths = np.array([block.shape[1] for block in self.labels], dtype=np.int64)
        return counting(widths, known, source)

    def pool(self, source: LabelSource | None = None) -> Counted:
        """Return which questions count by the rule of `evaluation.scores.counted`, and which have a relevant passage."""
        relevant = np.array([bool((block == 1).any()) for block in self.labels], dtype=np.bool_)
        return Counted(self.counted(source), relevant)

    def support(self, ids: Ids) -> Support:
        """Return the support of a ranking `ids` int64[n_questions, k] (padded with -1) and of the pooled passages outside it."""
        ranked: list[npt.NDArray[np.float64]] = []
        rest: list[npt.NDArray[np.float64]] = []
        named: list[Ids] = []
        unranked: list[Ids] = []
        for row, passages, labels in zip(ids, self.passages, self.labels, strict=True):
            retrieved = row[row >= 0]
            places = np.searchsorted(passages, retrieved)
            known = places < len(passages)
            known[known] = passages[places[known]] == retrieved[known]
            values = np.full((len(retrieved), labels.shape[1]), np.nan)
            values[known] = labels[places[known]]
            beyond = np.ones(len(passages), dtype=bool)
            beyond[places[known]] = False
            ranked.append(values)
            rest.append(labels[beyond])
            named.append(retrieved)
            unranked.append(passages[beyond])
        return Support.of(ranked, rest, ids=named, rest_ids=unranked)


def pooled_qrels(
    workspace: Workspace,
    judgments: Judgments,
    dataset: str,
    corpus: str,
    source: LabelSource,
    *,
    others: Sequence[Run] = (),
    progress: Progress = silent,
) -> Qrels:
    """Return the labels of all pairs of all stored runs on a data set and a corpus, and of `others`, to their full depth.

    Runs on all versions of the data set are pooled, because their questions are the same. A detector in `source` labels the pairs
    that it has not labelled yet. Passages that no run retrieved are not in the pool and count as not relevant, as in every pooled
    collection: recall is relative to the pool. Only where the pool has no label, or no relevant passage, for a question and the
    source has one elsewhere (`evaluation.labels.recorded`), one passage `UNRANKED` stands for these.
    """
    for run in others:
        fitting_corpus(workspace, run, load_dataset(workspace, dataset))
    other_names = {run.manifest.name for run in others}
    stored, stale = pooled_runs(workspace, dataset, corpus)
    pooled = [*others, *(run for run in stored if run.manifest.name not in other_names)]
    left_out = [name for name in stale if name not in other_names]
    qrels = qrels_of(workspace, judgments, dataset, corpus, source, pooled, progress=progress)
    if not source.asks_detector:
        recorded = recorded_labels(workspace, judgments, source, load_dataset(workspace, dataset), corpus)
        qrels = _with_unranked(qrels, recorded)
    return replace(qrels, left_out=tuple(left_out))


def _with_unranked(qrels: Qrels, recorded: Sequence[npt.NDArray[np.float64]]) -> Qrels:
    """Add the passage `UNRANKED` to each question for which a label outside the pool decides whether it counts."""
    passages, labels, keys = list(qrels.passages), list(qrels.labels), list(qrels.keys)
    for row, said in enumerate(recorded):
        block = labels[row]
        unknown = np.isnan(block).all() and not np.isnan(said).all()
        if unknown or (not (block == 1).any() and (said == 1).any()):
            passages[row] = np.concatenate([np.array([UNRANKED], dtype=np.int64), passages[row]])
            labels[row] = np.vstack([said, block])
            if keys:
                keys[row] = np.vstack([np.zeros(len(said), dtype=keys[row].dtype), keys[row]])
    return replace(qrels, passages=passages, labels=labels, keys=keys)


def qrels_of(
    workspace: Workspace,
    judgments: Judgments,
    dataset: str,
    corpus: str,
    source: LabelSource,
    runs: Sequence[Run],
    *,
    depth: int | None = None,
    progress: Progress = silent,
) -> Qrels:
    """Return the labels of the first `depth` passages (None: all) of `runs`, which must fit the data set and the corpus."""
    questions, opened = load_dataset(workspace, dataset), open_corpus(workspace, corpus)
    cut = [run.ids[:, :depth] for run in runs]
    pooled = [np.unique(np.concatenate([ids[q] for ids in cut])) if cut else _NOTHING for q in range(len(questions))]
    passages = [ids[ids >= 0] for ids in pooled]
    block = np.full((len(questions), max(map(len, passages), default=0)), -1, dtype=np.int64)
    for row, ids in zip(block, passages, strict=True):
        row[: len(ids)] = ids
    labelled = labelled_ranking(workspace, judgments, opened, questions, block, source, progress=progress)
    shapes = list(zip(map(len, passages), labelled.counts.tolist(), strict=True))
    return Qrels(
        [q.id for q in questions],
        passages,
        [values[:rows, :width] for values, (rows, width) in zip(labelled.labels, shapes, strict=True)],
        tuple(run.manifest.name for run in runs),
        keys=[keys[:rows, :width] for keys, (rows, width) in zip(labelled.keys, shapes, strict=True)]
        if source.consensus is not None
        else [],
    )
