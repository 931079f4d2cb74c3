"""Similarity of an answer to all partial answers of its question together: BLEU, ROUGE-L and SemScore."""

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


def reference(item: Answered) -> str:
    """Return all partial answers of the question as one text, one per line."""
    return "\n".join(joined(partial) for partial in item.question.perspectives)


@dataclass(frozen=True)
class LikenessScorer:
    """The similarity of an answer to its reference; higher is better. An empty answer has the value 0."""

    version: str
    likeness: Likeness

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """Compute one value per item, NaN if the question has no partial answers."""
        del workspace
        places = [n for n, item in enumerate(items) if item.question.perspectives and item.answer.strip()]
        values = np.array([0.0 if item.question.perspectives else nan for item in items], dtype=np.float64)
        values[places] = self.likeness([items[n].answer for n in places], [reference(items[n]) for n in places])
        progress(len(items), "answers", len(items))
        without = sum(not item.question.perspectives for item in items)
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
        try:
            answer_vectors, reference_vectors = (
                model.encode(
                    list(texts), batch_size=batch_size(model), normalize_embeddings=True, show_progress_bar=False
                )
                for texts in (answers, references)
            )
        except OutOfMemoryError as error:
            raise UnavailableError("The accelerator has too little memory.", hint="Set BERDSEYE_DEVICE=cpu.") from error
        cosines = (np.asarray(answer_vectors) * np.asarray(reference_vectors)).sum(axis=1)
        return np.asarray(cosines, dtype=np.float64)

    return LikenessScorer(model_version(location), likeness)
