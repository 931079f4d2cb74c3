"""The rule for which questions count; every value of a measure follows it.

A question counts if it has a perspective and the label source has a label for one of its perspectives: a judgment of a passage of
the corpus, a gold label, or a label of a passage of the pool. The pool holds the passages of all stored runs on the data set and
corpus, to their full depth. A detector labels every pair, so with a detector all questions with perspectives count. In a
question that counts, pairs without a label are not relevant, as in trec_eval.

Therefore a question counts for every run or for none, and n depends on the data set, the corpus, the label source and the
measure; retrieving passages that nobody judged cannot raise a score. `Unjudged.LEFT_OUT` is the other rule: a question without a
label in a run's own top k is left out of the run's mean.
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
from berdseye.evaluation.labels.labelled_runs import KeyedRun, keyed_run, with_labels
from berdseye.evaluation.labels.recorded import recorded_labels
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.unjudged import Unjudged

Bools = npt.NDArray[np.bool_]


def counting(perspectives: npt.NDArray[np.int64], known: Bools, source: LabelSource | None = None) -> Bools:
    """Apply the rule, bool[n_questions].

    `perspectives` int64[n_questions]: the number of perspectives of each question; `known` bool[n_questions]: whether the pool
    holds a label by `source` for the question (None: labels from a file).
    """
    complete = source is not None and source.plain.asks_detector
    return np.asarray((perspectives > 0) & (known | complete), dtype=np.bool_)


@dataclass(frozen=True)
class Counted:
    """The questions that count.

    `questions` bool[n_questions]: whether each question counts. `relevant` bool[n_questions], if known: whether the pool holds a
    relevant passage for the question; measures of recall are undefined for the others, whatever a run retrieves. `unjudged`: the
    rule for questions without a label in a run's top k.
    """

    questions: Bools
    relevant: Bools | None = None
    unjudged: Unjudged = Unjudged.ZERO

    def by(self, measure: Measure, support: Support) -> Bools:
        """Return the questions that have a value by a measure of a ranking, bool[n_questions]."""
        questions = self.questions
        if measure.pooled and self.relevant is not None:
            questions = questions & self.relevant
        return under_rule(questions, support, measure.k, self.unjudged)


def under_rule(questions: Bools, support: Support, k: int, unjudged: Unjudged) -> Bools:
    """Return which of the questions that count have a value for a ranking, bool[n_questions]: under 'zero' all of them, under
    'left-out' those with a label in its top k."""
    if unjudged is Unjudged.LEFT_OUT:
        return np.asarray(questions & support.judged[:, :k].any(axis=(1, 2)), dtype=np.bool_)
    return questions


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
    """Return which questions of a data set count over a corpus, bool[n_questions] in their order.

    `run` may be a run that is not stored: it serves as the pool if no stored run fits, and has no effect otherwise.
    """
    questions = load_dataset(workspace, dataset)
    perspectives = np.array([len(q.perspectives) for q in questions], dtype=np.int64)
    known = np.zeros(len(questions), dtype=np.bool_)
    if source.plain.asks_detector:
        return counting(perspectives, known, source)
    recorded = recorded_labels(workspace, judgments, source, questions, corpus)
    known |= np.array([bool((~np.isnan(labels)).any()) for labels in recorded], dtype=np.bool_)
    stored, _ = pooled_runs(workspace, dataset, corpus)
    for pooled in stored or ([run] if run is not None else []):
        keyed = keyed_run(workspace, pooled, questions, pooled.ids.shape[1])
        rows = np.flatnonzero(~known & (perspectives > 0))
        known[rows] |= _known(workspace, judgments, keyed, rows, source, progress)
    return counting(perspectives, known, source)


def pooled_runs(workspace: Workspace, dataset: str, corpus: str) -> tuple[list[Run], list[str]]:
    """Return the stored runs in the pool of a data set and a corpus, named as runs on this version of the data set, and the names
    of runs that no longer fit.

    Runs on all versions of the data set are pooled, because their questions are the same.
    """
    question_ids = [q.id for q in load_dataset(workspace, dataset)]
    current_hash = open_corpus(workspace, corpus).manifest.hash
    fitting: list[Run] = []
    stale: list[str] = []
    for manifest in list_runs(workspace):
        if split_version(manifest.dataset)[0] != split_version(dataset)[0] or manifest.corpus != corpus:
            continue
        run = load_run(workspace, manifest.name)
        if run.question_ids == question_ids and manifest.corpus_hash == current_hash:
            fitting.append(as_version(run, dataset))
        else:
            stale.append(manifest.name)
    return fitting, stale


def as_version(run: Run, dataset: str) -> Run:
    """Return a run as a run on another version of its data set, which has the same questions."""
    if run.manifest.dataset == dataset:
        return run
    name = f"{run.manifest.name}@{split_version(dataset)[1]}"  # caches beside a run are separate for each version
    return replace(run, manifest=replace(run.manifest, name=name, dataset=dataset))


def _known(
    workspace: Workspace,
    judgments: Judgments,
    keyed: KeyedRun,
    rows: npt.NDArray[np.intp],
    source: LabelSource,
    progress: Progress,
) -> Bools:
    """Return which of the questions at `rows` have a pair with a label in the run, bool[n_rows]."""
    part = KeyedRun(keyed.corpus, [keyed.questions[row] for row in rows.tolist()], keyed.ids[rows], keyed.keys[rows])
    labels = with_labels(workspace, judgments, part, source, progress=progress).labels
    return np.asarray((~np.isnan(labels)).any(axis=(1, 2)), dtype=np.bool_)
