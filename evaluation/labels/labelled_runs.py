"""Labelled runs: the top k of a run with a label for every pair, from which measures, hole maps and comparisons are computed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import Corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Pair, Question
from berdseye.data.runs.pairs import Keys, keys_of, run_keys
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import LabelSource, labels_by_key
from berdseye.evaluation.labels.support import Support

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelledRun:
    """A ranking with the labels of its pairs.

    `ids` int64[n_questions, k], padded with -1; `labels` float64[n_questions, k, m_max] of 1 (supports), 0 (does not support) and
    NaN (no label, or no such pair); `keys` bytes[n_questions, k, m_max], b"" where there is no such pair.
    """

    questions: Sequence[Question]
    ids: Ids
    keys: Keys
    labels: Doubles

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of perspectives of each question, int64[n_questions]."""
        return np.array([len(q.perspectives) for q in self.questions], dtype=np.int64)

    @property
    def support(self) -> Support:
        """The labels as the array that measures take."""
        judged = ~np.isnan(self.labels)
        return Support(self.labels == 1, self.counts, (self.ids >= 0).sum(axis=1), judged)

    def first_ranks(self) -> npt.NDArray[np.int64]:
        """Return the first rank (from 1) that covers each perspective, int64[n_questions, m_max]; 0: no rank covers it, -1: no
        such perspective."""
        supports = self.labels == 1
        ranks = np.where(supports.any(axis=1), supports.argmax(axis=1) + 1, 0) if supports.shape[1] else 0
        width = self.labels.shape[2]
        return np.where(np.arange(width) < self.counts[:, None], ranks, -1).astype(np.int64)

    def top(self, k: int) -> "LabelledRun":
        """Return the run cut to its first k passages."""
        return LabelledRun(self.questions, self.ids[:, :k], self.keys[:, :k], self.labels[:, :k])

    @property
    def labelled_depth(self) -> int:
        """The largest depth down to which every pair has a label."""
        unlabelled = (np.isnan(self.labels) & (self.keys != b"")).any(axis=(0, 2))
        return int(unlabelled.argmax()) if unlabelled.any() else len(unlabelled)


@dataclass(frozen=True)
class KeyedRun:
    """A ranking without labels: `ids` and `keys` as in `LabelledRun`."""

    corpus: Corpus
    questions: Sequence[Question]
    ids: Ids
    keys: Keys

    def top(self, k: int) -> "KeyedRun":
        """Return the run cut to its first k passages."""
        return KeyedRun(self.corpus, self.questions, self.ids[:, :k], self.keys[:, :k])


def labelled_run(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    source: LabelSource,
    k: int,
    *,
    progress: Progress = silent,
) -> LabelledRun:
    """Return the top k of a stored run with the labels of a source; a detector labels the pairs it has not labelled yet.

    Raises `StaleError` if the run no longer fits its data set or corpus, `BadInputError` for a corrected source.
    """
    keyed = keyed_run(workspace, run, load_dataset(workspace, run.manifest.dataset), k)
    return with_labels(workspace, judgments, keyed, source, progress=progress)


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
    """Return a ranking that is not a stored run, `ids` int64[n_questions, k], with the labels of a source.

    A detector labels the pairs it has not labelled yet. Raises `BadInputError` for a corrected source.
    """
    keyed = KeyedRun(corpus, questions, ids, keys_of(corpus, ids, questions))
    return with_labels(workspace, judgments, keyed, source, progress=progress)


def keyed_run(
    workspace: Workspace, run: Run, questions: Sequence[Question], k: int, *, deeper: bool = False
) -> KeyedRun:
    """Return the top k of a stored run with its keys; `questions` are those of its data set.

    With `deeper`, passages below k are included if their keys are cached already. Raises `StaleError` if the run no longer fits
    its data set or corpus.
    """
    corpus, keys = run_keys(workspace, run, questions, k, deeper=deeper)
    return KeyedRun(corpus, questions, run.ids[:, : keys.shape[1]], keys)


def with_labels(
    workspace: Workspace,
    judgments: Judgments,
    keyed: KeyedRun,
    source: LabelSource,
    *,
    ask: bool = True,
    progress: Progress = silent,
) -> LabelledRun:
    """Add the labels of a source to a run; without `ask`, pairs that the detector has not labelled yet stay without a label."""
    questions, ids, keys = keyed.questions, keyed.ids, keyed.keys
    places = np.argwhere(keys != b"")

    def texts(numbers: Sequence[int]) -> list[Pair]:
        rows = places[list(numbers)]
        wanted = ids[rows[:, 0], rows[:, 1]].tolist()
        passages = dict(zip(wanted, keyed.corpus.passages(wanted), strict=True))
        return [
            Pair(passages[i].text, questions[row].perspectives[place].text, passages[i].title)
            for i, (row, _, place) in zip(wanted, rows.tolist(), strict=True)
        ]

    labels: Doubles = np.full(keys.shape, np.nan)
    pair_keys = keys[tuple(places.T)].astype(str).tolist()
    labels[tuple(places.T)] = labels_by_key(workspace, judgments, source, pair_keys, texts, ask=ask, progress=progress)
    return LabelledRun(questions, ids, keys, labels)
