"""People's labels of whether an answer names the dispute (DebateQA): answers as items of the check `dispute`,
without the systems that wrote them, and the verdicts as labels, which `berdseye study debateqa-meta --labels` reads.

DebateQA's three people reached a Fleiss' kappa of 0.79.
"""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.records import Question
from berdseye.data.texts.passages import clean
from berdseye.evaluation.answer_measures.people import DisputeLabel

QUESTIONS = 100
"""The number of questions whose answers DebateQA's people label."""
_EMPTY = "(no answer)"
_FORM = "dispute"


class DisputeVerdict(NamedTuple):
    """A person's verdict ("yes" or "no") on a shown answer to a shown question."""

    question: str
    answer: str
    verdict: str
    annotator: str


def dispute_items(
    questions: Sequence[Question], sets: Sequence[AnswerSet], *, count: int = QUESTIONS, seed: int = 0
) -> list[dict[str, Any]]:
    """Return the answers of all systems to drawn questions, as items in random order; equal answers to a question are one item.

    Only questions that every system answers are drawn. An item names no system. Raises `BadInputError` if there is none.
    """
    shared = [q for q in questions if all(q.id in answers.texts for answers in sets)]
    if not sets or not shared:
        raise BadInputError("No question has an answer in every set.", hint="Name other sets of answers.")
    rng = random.Random(seed)
    drawn = rng.sample(sorted(shared, key=lambda q: q.id), min(count, len(shared)))
    shown = [(q, text) for q in drawn for text in sorted({_shown(answers.texts[q.id]) for answers in sets})]
    rng.shuffle(shown)
    return [{"id": f"{n}", "read": q.text, "statement": text} for n, (q, text) in enumerate(shown, start=1)]


def batch_verdicts(judgments: Judgments, batch: Batch) -> list[DisputeVerdict]:
    """Return people's verdicts in a batch of the check `dispute`; raises `BadInputError` for another batch."""
    if batch.check is None or batch.check.name != _FORM:
        raise BadInputError(
            f"The batch '{batch.name}' is no batch of the check {_FORM}.",
            hint="Create one: `berdseye batch create NAME --task check --check dispute --file FILE`.",
        )
    rows = batch_frame(judgments, batch).dropna(subset=["verdict"])
    columns = (rows[name].astype(str) for name in ("passage", "perspective", "verdict", "annotator"))
    return [DisputeVerdict(*row) for row in zip(*columns, strict=True)]


def dispute_labels(
    questions: Sequence[Question], sets: Sequence[AnswerSet], verdicts: Iterable[DisputeVerdict]
) -> list[DisputeLabel]:
    """Return people's verdicts as labels of the systems' answers; a verdict counts for every system that wrote the text.

    Other verdicts than "yes" and "no" are no labels. Raises `StaleError` for a text that is in no set of answers.
    """
    ids = {question.text: question.id for question in questions}
    writers: dict[tuple[str, str], list[str]] = {}
    for answers in sets:
        for question, text in answers.texts.items():
            writers.setdefault((question, _shown(text)), []).append(answers.name)
    labels = []
    for one in verdicts:
        if one.verdict not in ("yes", "no"):
            continue
        question = ids.get(one.question, "")
        systems = writers.get((question, one.answer))
        if systems is None:
            raise StaleError(
                f"An answer to “{one.question}” that {one.annotator} judged is in no set of answers.",
                hint="Restore the sets of answers as they were when the items were made.",
            )
        labels += [DisputeLabel(question, system, one.verdict == "yes", one.annotator) for system in systems]
    return labels


def write_dispute_labels(path: Path, labels: Iterable[DisputeLabel]) -> None:
    """Write labels as JSON Lines, as `read_dispute_labels` reads them."""
    rows = [
        {"id": one.question_id, "system": one.system, "label": int(one.names_dispute), "annotator": one.annotator}
        for one in labels
    ]
    write_bytes(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8"))


def _shown(text: str) -> str:
    return clean(text) or _EMPTY
