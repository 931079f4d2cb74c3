"""The measures of an answer set over the questions of its data set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Answered, Doubles
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.intervals import Estimate, mean_with_interval

_SHOWN = 3


@dataclass(frozen=True)
class AnswerScore:
    """A measure of a set of answers: `values` float64[n_questions] in the order of the questions, NaN where missing.

    `estimate` is their mean with its 95% interval over questions; `version` says which weights and wording measured.
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
    """One measure of one set. Questions without an answer, and answers to questions that are not there, are left out and told.

    Raises `BadInputError` where no question has an answer.
    """
    texts = answers.texts
    places = [n for n, question in enumerate(questions) if question.id in texts]
    strangers = sorted(texts.keys() - {q.id for q in questions})
    if not places:
        raise BadInputError(
            f"No answer of '{answers.name}' is to one of the {len(questions)} questions.",
            where=f"id {strangers[0]}" if strangers else None,
            hint="The ids of answers are those of questions: name the data set they were made for.",
        )
    scorer = measure.open(workspace)
    asked = [Answered(questions[n], texts[questions[n].id]) for n in places]
    found = scorer.values(workspace, asked, progress=progress)
    values = np.full(len(questions), np.nan)
    values[places] = found.values
    notes = [f"{answers.name}, {measure}: {note}" for note in found.notes]
    if len(places) < len(questions):
        notes.append(
            f"{answers.name}: {len(questions) - len(places)} of {len(questions)} questions have no answer: missing."
        )
    if strangers:
        shown = ", ".join(strangers[:_SHOWN]) + (", …" if len(strangers) > _SHOWN else "")
        notes.append(
            f"{answers.name}: {len(strangers)} answers are to questions that are not there ({shown}): left out."
        )
    # Dispute awareness is 0 or 1; a perplexity, a rating or an overlap has no bounds that hold for all of them.
    estimate = mean_with_interval(values, bounds=(0.0, 1.0) if measure.name == "DA" else None)
    return AnswerScore(answers.name, str(measure), scorer.version, values, estimate, tuple(notes))
