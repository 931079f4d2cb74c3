"""What is known of the passages of each question, in a run or not: the ground that recall is measured against."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from annotation.judgments import Judgments
from data.corpora import open_corpus
from data.datasets import load_dataset
from data.progress import Progress, silent
from data.records import Ids
from data.run_pairs import ranked_pairs
from data.runs import Run, list_runs, load_run
from data.workspace import Workspace
from evaluation.label_sources import LabelSource, labels_of
from evaluation.support import Support


@dataclass(frozen=True)
class Qrels:
    """By question: `passages` int64[n_i], ascending, and `labels` float64[n_i, m_i] of 1, 0 and NaN (nobody said).

    `runs` names what was pooled, `left_out` the runs that fit their data set or corpus no more.
    """

    question_ids: list[str]
    passages: list[Ids]
    labels: list[npt.NDArray[np.float64]]
    runs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = field(default=(), compare=False)

    def support(self, ids: Ids) -> Support:
        """What a ranking `ids` int64[n_questions, k], -1 pads, supports, and what the passages do that it does not hold."""
        ranked: list[npt.NDArray[np.float64]] = []
        rest: list[npt.NDArray[np.float64]] = []
        for row, passages, labels in zip(ids, self.passages, self.labels, strict=True):
            found = row[row >= 0]
            places = np.searchsorted(passages, found)
            known = places < len(passages)
            known[known] = passages[places[known]] == found[known]
            values = np.full((len(found), labels.shape[1]), np.nan)
            values[known] = labels[places[known]]
            beyond = np.ones(len(passages), dtype=bool)
            beyond[places[known]] = False
            ranked.append(values)
            rest.append(labels[beyond])
        return Support.of(ranked, rest)


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
    """Every labelled pair of every stored run of a data set over a corpus, and of `others`, to their whole depth.

    A detector in `source` labels what it has not labelled yet. Passages that no run found are not in the pool, and count as
    not relevant, as in every pooled collection: recall is recall of what the pool knows.
    """
    questions, opened = load_dataset(workspace, dataset), open_corpus(workspace, corpus)
    asked = [q.id for q in questions]
    pooled, left_out = list(others), []
    for manifest in list_runs(workspace):
        named = manifest.name in {run.manifest.name for run in others}
        if (manifest.dataset, manifest.corpus) == (dataset, corpus) and not named:
            run = load_run(workspace, manifest.name)
            fits = run.question_ids == asked and manifest.corpus_hash == opened.manifest.hash
            if fits:
                pooled.append(run)
            else:
                left_out.append(manifest.name)
    passages = (
        [np.unique(np.concatenate([run.ids[q] for run in pooled])) for q in range(len(questions))] if pooled else []
    )
    passages = [p[p >= 0] for p in passages] or [np.zeros(0, np.int64) for _ in questions]
    ids = np.full((len(questions), max((len(p) for p in passages), default=0)), -1, dtype=np.int64)
    for row, held in zip(ids, passages, strict=True):
        row[: len(held)] = held
    found = ranked_pairs(opened, ids, questions)
    labels = labels_of(workspace, judgments, source, found.pairs, progress=progress)
    blocks = [block[: len(p)] for block, p in zip(found.by_question(labels, questions), passages, strict=True)]
    return Qrels(asked, passages, blocks, tuple(r.manifest.name for r in pooled), tuple(left_out))
