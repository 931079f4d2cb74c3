"""A run with a label for every pair of its top k: what measures, hole maps and comparisons are computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.judgments import Judgments
from data.corpora import Corpus
from data.datasets import load_dataset
from data.progress import Progress, silent
from data.records import Ids, Pair, Question
from data.run_keys import Keys, keys_of, run_keys
from data.runs import Run
from data.workspace import Workspace
from evaluation.label_sources import LabelSource, labels_by_key
from evaluation.support import Support

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelledRun:
    """`ids` int64[n_questions, k], -1 pads; `labels` float64[n_questions, k, m_max] of 1 (supports), 0 (does not) and NaN
    (nobody said, or no such pair); `keys` of the same shape, b"" where there is no such pair."""

    questions: Sequence[Question]
    ids: Ids
    keys: Keys
    labels: Doubles

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Perspectives of each question, int64[n_questions]."""
        return np.array([len(q.perspectives) for q in self.questions], dtype=np.int64)

    @property
    def support(self) -> Support:
        """What measures read."""
        judged = ~np.isnan(self.labels)
        return Support(self.labels == 1, self.counts, (self.ids >= 0).sum(axis=1), judged)

    def first_ranks(self) -> npt.NDArray[np.int64]:
        """The first rank (from 1) that covers each perspective, int64[n_questions, m_max]; 0: none does, -1: no such
        perspective."""
        supports = self.labels == 1
        ranks = np.where(supports.any(axis=1), supports.argmax(axis=1) + 1, 0) if supports.shape[1] else 0
        width = self.labels.shape[2]
        return np.where(np.arange(width) < self.counts[:, None], ranks, -1).astype(np.int64)


def labelled_run(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    source: LabelSource,
    k: int,
    *,
    progress: Progress = silent,
) -> LabelledRun:
    """The top k of a stored run with the labels of a source; a detector is asked about pairs it has not seen.

    Raises `StaleError` where the run does not fit its data set or corpus any more, `BadInputError` for a corrected source.
    """
    questions = load_dataset(workspace, run.manifest.dataset)
    corpus, keys = run_keys(workspace, run, questions, k)
    return _labelled(workspace, judgments, source, questions, corpus, run.ids[:, :k], keys, progress)


def labelled_ranking(
    workspace: Workspace,
    judgments: Judgments,
    corpus: Corpus,
    questions: Sequence[Question],
    ids: Ids,
    source: LabelSource,
    *,
    progress: Progress = silent,
) -> LabelledRun:
    """The same for a ranking `ids` int64[n_questions, k] that is no stored run."""
    keys = keys_of(corpus, ids, questions)
    return _labelled(workspace, judgments, source, questions, corpus, ids, keys, progress)


def _labelled(
    workspace: Workspace,
    judgments: Judgments,
    source: LabelSource,
    questions: Sequence[Question],
    corpus: Corpus,
    ids: Ids,
    keys: Keys,
    progress: Progress,
) -> LabelledRun:
    places = np.argwhere(keys != b"")

    def texts(asked: Sequence[int]) -> list[Pair]:
        rows = places[list(asked)]
        wanted = ids[rows[:, 0], rows[:, 1]].tolist()
        found = dict(zip(wanted, corpus.passages(wanted), strict=True))
        return [
            Pair(found[i].text, questions[row].perspectives[place].text, found[i].title)
            for i, (row, _, place) in zip(wanted, rows.tolist(), strict=True)
        ]

    labels: Doubles = np.full(keys.shape, np.nan)
    asked = keys[tuple(places.T)].astype(str).tolist()
    labels[tuple(places.T)] = labels_by_key(workspace, judgments, source, asked, texts, progress=progress)
    return LabelledRun(questions, ids, keys, labels)
