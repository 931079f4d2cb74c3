"""The pairs that a run's top k makes with the perspectives of its questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.errors import StaleError
from berdseye.data.records import Ids, Pair, Passage, Question
from berdseye.data.runs import Run
from berdseye.data.workspace import Workspace


@dataclass(frozen=True)
class RunPairs:
    """Every pair of the top k, in the order of questions, ranks and perspectives; `places` says which (q, rank, p)."""

    pairs: list[Pair]
    places: npt.NDArray[np.int64]
    passages: dict[int, Passage]
    depth: int

    def by_question(
        self, values: npt.NDArray[np.float64], questions: Sequence[Question]
    ) -> list[npt.NDArray[np.float64]]:
        """A value a pair, as one array [depth, n_perspectives] a question; NaN where the ranking is short."""
        widest = max((len(q.perspectives) for q in questions), default=0)
        block: npt.NDArray[np.float64] = np.full((len(questions), self.depth, widest), np.nan)
        block[tuple(self.places.T)] = values
        return [row[:, : len(q.perspectives)] for row, q in zip(block, questions, strict=True)]


def run_pairs(workspace: Workspace, run: Run, questions: Sequence[Question], k: int) -> RunPairs:
    """Pairs of the first k passages of each question; raises `StaleError` as `fitting_corpus` does."""
    return ranked_pairs(fitting_corpus(workspace, run, questions), run.ids[:, :k], questions)


def fitting_corpus(workspace: Workspace, run: Run, questions: Sequence[Question]) -> Corpus:
    """The corpus of a run; raises `StaleError` where the run does not fit the data set or the corpus any more."""
    if [q.id for q in questions] != run.question_ids:
        raise StaleError(
            f"Run '{run.manifest.name}' does not fit its data set any more.", hint="Run the pipeline again."
        )
    corpus = open_corpus(workspace, run.manifest.corpus)
    if corpus.manifest.hash != run.manifest.corpus_hash:
        raise StaleError(
            f"Corpus '{corpus.name}' has changed since run '{run.manifest.name}'.",
            hint="Run the pipeline again.",
        )
    return corpus


def ranked_pairs(corpus: Corpus, ids: Ids, questions: Sequence[Question]) -> RunPairs:
    """Pairs of the passages `ids` int64[n_questions, k] with the perspectives of the questions they were found for."""
    known = np.unique(ids[ids >= 0])
    passages = dict(zip(known.tolist(), corpus.passages(known.tolist()), strict=True))
    pairs: list[Pair] = []
    places: list[tuple[int, int, int]] = []
    for number, question in enumerate(questions):
        found = [(rank, passages[i]) for rank, i in enumerate(ids[number].tolist()) if i >= 0]
        for (rank, passage), (place, perspective) in product(found, enumerate(question.perspectives)):
            pairs.append(Pair(passage.text, perspective.text, passage.title))
            places.append((number, rank, place))
    return RunPairs(pairs, np.array(places, dtype=np.int64).reshape(-1, 3), passages, ids.shape[1])
