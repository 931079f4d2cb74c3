"""Similarity of an answer to the partial answers of its question, on average: BLEU, ROUGE-L and SemScore."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from berdseye.data.errors import UnavailableError
from berdseye.data.models.weights import find_model, loading, model_version
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Answered, Doubles, Measured, counted
from berdseye.evaluation.answer_measures.reading import joined

Likeness = Callable[[Sequence[str], Sequence[str]], Doubles]
"""A function that returns a value for each answer and its reference."""


@dataclass(frozen=True)
class LikenessScorer:
    """The mean over partial answers of the similarity of the answer to each (DebateQA, table 14); higher is better.

    An empty answer has the value 0.
    """

    computed_by: str
    likeness: Likeness

    @property
    def version(self) -> str:
        return f"{self.computed_by}, mean over partial answers"

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """Compute one value per item, NaN if the question has no partial answers."""
        del workspace
        places = [n for n, item in enumerate(items) if item.answer.strip() for _ in item.question.perspectives]
        references = [joined(p) for item in items if item.answer.strip() for p in item.question.perspectives]
        found = self.likeness([items[n].answer for n in places], references)
        sums = np.bincount(places, weights=found, minlength=len(items)) if places else np.zeros(len(items))
        counts = [len(item.question.perspectives) for item in items]
        values = np.array([total / n if n else nan for total, n in zip(sums, counts, strict=True)], dtype=np.float64)
        progress(len(items), "answers", len(items))
        without = counts.count(0)
        return Measured(
            values, counted(len(items), (without, "questions have no partial answers and therefore no value"))
        )


def bleu(answers: Sequence[str], references: Sequence[str]) -> Doubles:
    """Compute sentence BLEU (Papineni et al., 2002) by sacrebleu, 0 to 100, with exponential smoothing and effective order."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    return np.array([metric.sentence_score(a, [r]).score for a, r in zip(answers, references, strict=True)])


def rouge_l(answers: Sequence[str], references: Sequence[str]) -> Doubles:
    """Compute the F value of ROUGE-L (Lin, 2004) by rouge-score, 0 to 1, with stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return np.array([scorer.score(r, a)["rougeL"].fmeasure for a, r in zip(answers, references, strict=True)])


def library_version(name: str) -> str:
    """Return a library and its version, as the version of values that it computes."""
    from importlib.metadata import version

    return f"{name} {version(name)}"


def sem_score(name: str) -> LikenessScorer:
    """Return the scorer of SemScore (Aynetdinov and Akbik, 2024): the cosine of sentence embeddings, -1 to 1, by any
    sentence-transformers model."""
    location = find_model(name)

    def likeness(answers: Sequence[str], references: Sequence[str]) -> Doubles:
        from sentence_transformers import SentenceTransformer
        from torch import OutOfMemoryError

        from berdseye.retrieval.encoders.running import batch_size, move_to_device, without_output

        with loading(name), without_output():
            model = move_to_device(SentenceTransformer(str(location)))
        texts = list(dict.fromkeys([*answers, *references]))  # an answer is compared with each of its partial answers
        try:
            vectors = np.asarray(
                model.encode(texts, batch_size=batch_size(model), normalize_embeddings=True, show_progress_bar=False)
            )
        except OutOfMemoryError as error:
            raise UnavailableError("The accelerator has too little memory.", hint="Set BERDSEYE_DEVICE=cpu.") from error
        rows = {text: row for row, text in enumerate(texts)}
        cosines = [vectors[rows[a]] @ vectors[rows[r]] for a, r in zip(answers, references, strict=True)]
        return np.asarray(cosines, dtype=np.float64)

    return LikenessScorer(model_version(location), likeness)
