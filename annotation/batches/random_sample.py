"""Questions that a batch drew at random, and how far people have come with them: what may correct a detector's mean.

A mean that is corrected by people's judgments holds for a random sample of the questions, and for no other: questions that
somebody chose, by the detector's own labels say, give an interval that can miss the truth nearly always. A batch of the preset
`random-questions` keeps in its recipe which questions it drew, in which order and out of how many, and its queue serves
them in that order, question by question. So wherever people stop, the questions they are through with are a random sample too.
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
"""In the recipe, by data set: the ids of the drawn questions in the order they were drawn, and how many they were drawn from."""
Keys = npt.NDArray[np.bytes_]
Bools = npt.NDArray[np.bool_]


def drawn_and_reached(
    judgments: Judgments, dataset: str, question_ids: Sequence[str], population: int, keys: Keys
) -> Bools:
    """Which questions may correct a mean over a ranking, bool[n_questions].

    `population` is how many of the questions have a perspective; `keys` bytes[n_questions, k, m_max] are those of the pairs of
    its top k (b"": no pair). Of each batch that drew questions of this data set at random, these are the questions up to the
    first of which somebody has still to judge a pair. A batch counts only where it sent out every pair of this top k for all
    questions it drew, and drew them from as many as there are now: else which questions happen to be judged whole is no matter
    of chance.
    """
    found = np.zeros(len(question_ids), dtype=np.bool_)
    row_of = {question: row for row, question in enumerate(question_ids)}
    for batch in list_batches(judgments):
        drawn = drawn_by(batch, dataset)
        if not drawn or any(question not in row_of for question in drawn):
            continue
        judged = _judged(judgments, batch)
        asked = {question: _keys_of(keys[row_of[question]]) for question in drawn}
        drawn_from = int(batch.recipe[POPULATION][split_version(dataset)[0]])
        if drawn_from != population or any(not wanted <= set(judged) for wanted in asked.values()):
            continue
        for question in drawn:
            if not all(judged[key] for key in asked[question]):
                break
            found[row_of[question]] = True
    return found


def drawn_by(batch: Batch, dataset: str) -> list[str]:
    """The questions of a data set that a batch drew at random, in their order; none where it is no such batch."""
    recipe: Mapping[str, Any] = batch.recipe
    if recipe.get("preset") != PRESET:
        return []
    return [str(question) for question in recipe.get(DRAWN, {}).get(split_version(dataset)[0], [])]


def _judged(judgments: Judgments, batch: Batch) -> dict[str, bool]:
    """Whether as many people as the batch asks for gave a word (perhaps 'unsure') on each of its pairs, by key."""
    query = select(batch_items.c.pair, batch_items.c.judged, batch_items.c.wanted).where(
        batch_items.c.batch_id == batch.id
    )
    with judgments.reading() as connection:
        return {row.pair: row.judged >= row.wanted for row in connection.execute(query)}


def _keys_of(block: Keys) -> set[str]:
    return {key.decode() for key in block.ravel().tolist() if key}
