"""Which questions count: one rule for every path that shows a measure.

A question counts where it has a perspective and the label source knows something of it: where a passage of the pool has a
label for one of its perspectives. The pool holds the passages of all stored runs on the data set and corpus, to their whole
depth. A detector labels every pair it is asked about, so with one all questions with perspectives count. In a question that
counts, pairs without a label are not relevant, as in trec_eval.

So a question counts for every run or for none, and n belongs to the data set, the corpus, the label source and the measure. Were
questions left out because a run retrieved nothing that is judged (as before 0.5), a run would score higher for doing so.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset, split_version
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import Run, list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.runs import KeyedRun, keyed_run, with_labels
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure

Bools = npt.NDArray[np.bool_]


def counting(perspectives: npt.NDArray[np.int64], known: Bools, source: LabelSource | None = None) -> Bools:
    """The rule itself, bool[n_questions]: `perspectives` int64[n_questions] counts those of each question, `known`
    bool[n_questions] says of which questions the pool holds a label by `source` (None: labels from a file)."""
    complete = source is not None and source.plain.asks_detector
    return np.asarray((perspectives > 0) & (known | complete), dtype=np.bool_)


@dataclass(frozen=True)
class Counted:
    """`questions` bool[n_questions] that count. `relevant` bool[n_questions], where it is known, says for which of them the pool
    holds a relevant passage: measures of recall are undefined for the others, whatever a run ranks."""

    questions: Bools
    relevant: Bools | None = None

    def by(self, measure: Measure) -> Bools:
        """The questions that have a value by a measure."""
        if measure.pooled and self.relevant is not None:
            return self.questions & self.relevant
        return self.questions


def counted_questions(
    workspace: Workspace,
    judgments: Judgments,
    dataset: str,
    corpus: str,
    source: LabelSource,
    *,
    run: Run | None = None,
    progress: Progress = silent,
) -> Bools:
    """Which questions of a data set count over a corpus, bool[n_questions] in their order.

    `run` is one that may not be stored: it stands for the pool where no stored run fits, and changes nothing otherwise.
    """
    questions = load_dataset(workspace, dataset)
    perspectives = np.array([len(q.perspectives) for q in questions], dtype=np.int64)
    known = np.zeros(len(questions), dtype=np.bool_)
    if source.plain.asks_detector:
        return counting(perspectives, known, source)
    stored, _ = pooled_runs(workspace, dataset, corpus)
    for pooled in stored or ([run] if run is not None else []):
        keyed = keyed_run(workspace, pooled, questions, pooled.ids.shape[1])
        rows = np.flatnonzero(~known & (perspectives > 0))
        known[rows] |= _known(workspace, judgments, keyed, rows, source, progress)
    return counting(perspectives, known, source)


def pooled_runs(workspace: Workspace, dataset: str, corpus: str) -> tuple[list[Run], list[str]]:
    """The stored runs that make the pool of a data set over a corpus, named as runs of this version of it; and the names of those
    that do not fit them any more.

    Runs of all versions of the data set are pooled, since they ask the same questions.
    """
    asked, current = [q.id for q in load_dataset(workspace, dataset)], open_corpus(workspace, corpus).manifest.hash
    fitting: list[Run] = []
    stale: list[str] = []
    for manifest in list_runs(workspace):
        if split_version(manifest.dataset)[0] != split_version(dataset)[0] or manifest.corpus != corpus:
            continue
        run = load_run(workspace, manifest.name)
        if run.question_ids == asked and manifest.corpus_hash == current:
            fitting.append(as_version(run, dataset))
        else:
            stale.append(manifest.name)
    return fitting, stale


def as_version(run: Run, dataset: str) -> Run:
    """A run as one of another version of its data set, which asks the same questions."""
    if run.manifest.dataset == dataset:
        return run
    named = f"{run.manifest.name}@{split_version(dataset)[1]}"  # what is kept beside a run is kept for each version
    return replace(run, manifest=replace(run.manifest, name=named, dataset=dataset))


def _known(
    workspace: Workspace,
    judgments: Judgments,
    keyed: KeyedRun,
    rows: npt.NDArray[np.intp],
    source: LabelSource,
    progress: Progress,
) -> Bools:
    """Of which questions, by their rows, the run holds a pair with a label."""
    part = KeyedRun(keyed.corpus, [keyed.questions[row] for row in rows.tolist()], keyed.ids[rows], keyed.keys[rows])
    labels = with_labels(workspace, judgments, part, source, progress=progress).labels
    return np.asarray((~np.isnan(labels)).any(axis=(1, 2)), dtype=np.bool_)
