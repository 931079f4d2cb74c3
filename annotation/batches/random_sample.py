"""Questions that a batch drew at random, and those of them that people have finished: these may correct a detector's mean.

A mean corrected by people's judgments is valid for a random sample of the questions only: questions that somebody chose, for
example by the detector's own labels, give an interval that can miss the truth nearly always. A batch of the preset
`random-questions` records in its recipe which questions it drew, in which order and out of how many, and its queue serves
them in that order, question by question. So at any point where people stop, the finished questions are a random sample too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batch_items
from berdseye.data.datasets.stored import split_version

PRESET = "random-questions"
DRAWN, POPULATION = "drawn", "population"
"""Keys of the recipe, each a mapping by data set: the ids of the drawn questions in the order they were drawn, and the number
of questions they were drawn from."""
Keys = npt.NDArray[np.bytes_]
Bools = npt.NDArray[np.bool_]


def drawn_and_reached(
    judgments: Judgments, dataset: str, question_ids: Sequence[str], population: int, keys: Keys
) -> Bools:
    """Return which questions may correct a mean over a ranking, bool[n_questions].

    `population` is the number of questions that have a perspective; `keys`, bytes[n_questions, k, m_max], are the keys of the
    pairs of the ranking's top k (b"": no pair). In each batch that drew questions of this data set at random, these are the
    questions before the first one with a pair that still needs a judgment. A batch counts only if it sent out every pair of
    this top k for all questions that it drew, and drew them from as many questions as there are now; otherwise chance alone
    does not decide which questions are judged completely.
    """
    reached = np.zeros(len(question_ids), dtype=np.bool_)
    row_of = {question: row for row, question in enumerate(question_ids)}
    for batch in list_batches(judgments):
        drawn = drawn_by(batch, dataset)
        if not drawn or any(question not in row_of for question in drawn):
            continue
        judged = _judged(judgments, batch)
        keys_by_question = {question: _keys_of(keys[row_of[question]]) for question in drawn}
        drawn_from = int(batch.recipe[POPULATION][split_version(dataset)[0]])
        if drawn_from != population or any(not wanted <= set(judged) for wanted in keys_by_question.values()):
            continue
        for question in drawn:
            if not all(judged[key] for key in keys_by_question[question]):
                break
            reached[row_of[question]] = True
    return reached


def drawn_by(batch: Batch, dataset: str) -> list[str]:
    """Return the questions of a data set that a batch drew at random, in the order drawn; none for any other batch."""
    recipe: Mapping[str, Any] = batch.recipe
    if recipe.get("preset") != PRESET:
        return []
    return [str(question) for question in recipe.get(DRAWN, {}).get(split_version(dataset)[0], [])]


def _judged(judgments: Judgments, batch: Batch) -> dict[str, bool]:
    """Return by pair key whether as many people as the batch wants have judged the pair ('unsure' counts as a judgment)."""
    query = select(batch_items.c.pair, batch_items.c.judged, batch_items.c.wanted).where(
        batch_items.c.batch_id == batch.id
    )
    with judgments.reading() as connection:
        return {row.pair: row.judged >= row.wanted for row in connection.execute(query)}


def _keys_of(block: Keys) -> set[str]:
    return {key.decode() for key in block.ravel().tolist() if key}
