"""Qualification of annotators by items with known answers (D-MERIT, appendix E.2): exams, and training batches with feedback.

An exam is passed with every answer right. A training batch is passed with more than 95% right; its feedback follows each verdict,
so that a person's first verdict on an item counts there.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import select

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.checks import KNOWN, PURPOSE
from berdseye.annotation.judgments.log import Judgments, by_keys
from berdseye.annotation.judgments.schema import annotators, batch_words, events
from berdseye.data.errors import BadInputError

GATE = 0.95
"""The share right that a person must exceed in one training batch."""


class Qualification(NamedTuple):
    """A person's answers to the items with known answers: how many there are, how many they answered, how many are right.

    `passed` is False until every item is answered.
    """

    name: str
    known: int
    answered: int
    right: int
    passed: bool

    @property
    def share(self) -> float | None:
        """The share of the given answers that are right; None before the first."""
        return self.right / self.answered if self.answered else None


def known_answers(batch: Batch) -> Mapping[str, str]:
    """Return the known answers of a batch by pair key; empty if it has none."""
    known: Mapping[str, str] = batch.recipe.get(KNOWN) or {}
    return known


def gives_feedback(batch: Batch) -> bool:
    """Return whether people see the known answer after their own: in training batches, never in exams."""
    return batch.recipe.get(PURPOSE) == "training"


def qualification(judgments: Judgments, batch: Batch) -> list[Qualification]:
    """Return the qualification of everyone whom the batch names or who judged in it, by name.

    Raises `BadInputError` for a batch without known answers.
    """
    known = known_answers(batch)
    if not known:
        raise BadInputError(
            f"The batch '{batch.name}' has no known answers.",
            hint="Give its items an `expected` verdict, and create it with --exam or --training.",
        )
    given: dict[str, dict[str, str]] = {person.name: {} for person in batch.people}
    for name, pair, verdict in _verdicts(judgments, batch, known):
        given.setdefault(name, {}).setdefault(pair, verdict)
    return [_qualified(batch, name, known, answers) for name, answers in sorted(given.items(), key=_by_name)]


def answers_of(judgments: Judgments, batch: Batch, person: str) -> dict[str, str]:
    """Return the verdicts of one person that count for qualification, by pair key."""
    answers: dict[str, str] = {}
    for name, pair, verdict in _verdicts(judgments, batch, known_answers(batch)):
        if name == person:
            answers.setdefault(pair, verdict)
    return answers


def _by_name(answers: tuple[str, Mapping[str, str]]) -> str:
    return answers[0].casefold()


def _qualified(batch: Batch, name: str, known: Mapping[str, str], answers: Mapping[str, str]) -> Qualification:
    right = sum(answers.get(pair) == verdict for pair, verdict in known.items())
    enough = right == len(known) if batch.recipe.get(PURPOSE) == "exam" else right > GATE * len(known)
    return Qualification(name, len(known), len(answers), right, enough and len(answers) == len(known))


def _verdicts(judgments: Judgments, batch: Batch, known: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return (name, pair, verdict), the one that counts first: the first one ever given in training, else the present one."""
    if gives_feedback(batch):
        query = (
            select(annotators.c.name, events.c.pair, events.c.verdict, events.c.annotator_id)
            .join(annotators, annotators.c.id == events.c.annotator_id)
            .where(events.c.kind == "check", annotators.c.demo.is_(False))
            .order_by(events.c.id)
        )
        column = events.c.pair
    else:
        query = (
            select(annotators.c.name, batch_words.c.pair, batch_words.c.verdict, batch_words.c.annotator_id)
            .join(annotators, annotators.c.id == batch_words.c.annotator_id)
            .where(batch_words.c.batch_id == batch.id)
            .order_by(batch_words.c.event)
        )
        column = batch_words.c.pair
    people = {person.id for person in batch.people}
    with judgments.reading() as connection:
        return [
            (row.name, row.pair, row.verdict)
            for part in by_keys(query, column, list(known))
            for row in connection.execute(part)
            if not people or row.annotator_id in people
        ]
