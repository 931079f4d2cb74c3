"""Scores of a set of answers over the questions of its data set, and ranks of systems from P.D. and D.A. (DebateQA), weighted
over both and normalised over evaluators.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, zscore

from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Answered, Doubles
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.statistics.intervals import Estimate, mean_with_interval

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The values of k in figure 3."""
_SHOWN = 3


def ranks(values: Doubles, *, lower_is_better: bool) -> Doubles:
    """Return the rank of each system, 1 for the best; equal values share the better rank (1, 2, 2, 4). NaN values have no
    rank."""
    signed = np.asarray(values, dtype=np.float64) * (1.0 if lower_is_better else -1.0)
    return np.asarray(rankdata(signed, method="min", nan_policy="omit"), dtype=np.float64)


def normalised_ranks(values: Sequence[Doubles], *, lower_is_better: bool) -> Doubles:
    """Rank systems by the mean of their ranks under several evaluators, float64[n_systems] (table 2); ties share the better rank.

    `values` holds one array float64[n_systems] per evaluator.
    """
    means = np.asarray([ranks(one, lower_is_better=lower_is_better) for one in values]).mean(axis=0)
    return ranks(np.asarray(np.round(means, 9)), lower_is_better=True)


def weighted_scores(pd: Doubles, da: Doubles, k: float) -> Doubles:
    """Compute mu = k z(1 / P.D.) + (1 - k) z(D.A.), float64[n_systems], with z over the systems; a part with equal values is 0.

    Raises `BadInputError` for k outside 0 to 1, a P.D. of 0 or less, or fewer than two systems.
    """
    pd, da = np.asarray(pd, dtype=np.float64), np.asarray(da, dtype=np.float64)
    if not 0 <= k <= 1:
        raise BadInputError(f"The weight k must be between 0 and 1, got {k:g}.")
    if len(pd) < 2 or (pd <= 0).any():
        raise BadInputError(
            "Weighted ranks need at least two systems with a P.D. above 0.", hint="Score more sets of answers."
        )
    return k * _z(1.0 / pd) + (1.0 - k) * _z(da)


def weighted_ranks(pd: Doubles, da: Doubles, k: float) -> Doubles:
    """Return the ranks by `weighted_scores`, 1 for the best (figure 3)."""
    return ranks(np.round(weighted_scores(pd, da, k), 12), lower_is_better=False)


def _z(values: Doubles) -> Doubles:
    return np.zeros_like(values) if np.ptp(values) < 1e-12 else np.asarray(zscore(values), dtype=np.float64)


@dataclass(frozen=True)
class AnswerScore:
    """The score of a set of answers: `values` float64[n_questions] in the order of the questions, NaN if missing.

    `estimate` is their mean with its 95% interval over questions; `version` identifies the model and the prompt of the measure.
    """

    answers: str
    measure: str
    version: str
    values: Doubles
    estimate: Estimate
    notes: tuple[str, ...]


def score_answers(
    workspace: Workspace,
    answers: AnswerSet,
    questions: Sequence[Question],
    measure: AnswerMeasure,
    *,
    progress: Progress = silent,
) -> AnswerScore:
    """Score a set of answers by one measure. Questions without an answer and answers to unknown questions are left out, with a
    note.

    Raises `BadInputError` if no question has an answer.
    """
    texts = answers.texts
    places = [n for n, question in enumerate(questions) if question.id in texts]
    unknown = sorted(texts.keys() - {q.id for q in questions})
    if not places:
        raise BadInputError(
            f"No answer of '{answers.name}' belongs to one of the {len(questions)} questions.",
            where=f"id {unknown[0]}" if unknown else None,
            hint="Answers refer to questions by id; name the data set for which they were written.",
        )
    scorer = measure.open(workspace)
    items = [Answered(questions[n], texts[questions[n].id]) for n in places]
    measured = scorer.values(workspace, items, progress=progress)
    values = np.full(len(questions), np.nan)
    values[places] = measured.values
    notes = [f"{answers.name}, {measure}: {note}" for note in measured.notes]
    if len(places) < len(questions):
        notes.append(f"{answers.name}: {len(questions) - len(places)} of {len(questions)} questions have no answer.")
    if unknown:
        shown = ", ".join(unknown[:_SHOWN]) + (", …" if len(unknown) > _SHOWN else "")
        notes.append(f"{answers.name}: {len(unknown)} answers to unknown questions ({shown}) are left out.")
    # Dispute awareness is 0 or 1; perplexities, ratings and overlaps have no common bounds.
    estimate = mean_with_interval(values, bounds=(0.0, 1.0) if measure.is_decision else None)
    return AnswerScore(answers.name, str(measure), scorer.version, values, estimate, tuple(notes))
