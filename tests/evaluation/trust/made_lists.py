"""Small labelled lists, hand-made and random."""

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.trust.labelled_lists import LabelledLists


def lists_of(
    ids: list[list[list[int]]],
    counts: list[int],
    said: npt.NDArray[np.float64],
    chance: npt.NDArray[np.float64] | None = None,
    settled: npt.NDArray[np.bool_] | None = None,
) -> LabelledLists:
    """Lists whose labels are numbered by question, passage and perspective: `said` float64[n_questions, n_passages, m_max].

    `ids` holds, by system and question, numbers of that question's passages (-1 pads).
    """
    ranked = np.array(ids, dtype=np.int64)
    n_questions, n_passages, width = said.shape
    numbers = np.arange(said.size).reshape(said.shape)
    places = np.full((*ranked.shape, width), -1, dtype=np.int64)
    for system in range(len(ids)):
        for question in range(n_questions):
            for rank, passage in enumerate(ranked[system, question]):
                if passage >= 0:
                    places[system, question, rank, : counts[question]] = numbers[question, passage, : counts[question]]
    flat = said.reshape(-1)
    # Passages of different questions are different passages.
    apart = np.where(ranked >= 0, ranked + n_passages * np.arange(n_questions)[None, :, None], -1)
    return LabelledLists(
        tuple(f"s{n}" for n in range(len(ids))),
        tuple(f"q{n}" for n in range(n_questions)),
        apart,
        places,
        np.array(counts, dtype=np.int64),
        flat,
        np.nan_to_num(flat) if chance is None else chance.reshape(-1),
        np.zeros(flat.shape, dtype=bool) if settled is None else settled.reshape(-1),
    )


def random_lists(
    seed: int,
    *,
    questions: int = 3,
    passages: int = 3,
    width: int = 2,
    k: int = 2,
    share: float = 0.4,
    missing: float = 0.0,
) -> LabelledLists:
    """Two systems that each rank `k` of a question's passages."""
    random = np.random.default_rng(seed)
    ids = [[random.permutation(passages)[:k].tolist() for _ in range(questions)] for _ in range(2)]
    said = (random.random((questions, passages, width)) < share).astype(np.float64)
    said[random.random(said.shape) < missing] = np.nan
    counts = random.integers(1, width + 1, questions).tolist()
    return lists_of(ids, counts, said, random.random(said.shape))


def many(seed: int, questions: int = 60, lead: float = 0.15) -> tuple[LabelledLists, np.ndarray]:
    """Lists of two systems with open labels, and gold drawn by the very chances."""
    random = np.random.default_rng(seed)
    chance = random.beta(0.6, 1.2, (questions, 4, 2))
    chance[:, :2] = np.clip(chance[:, :2] + lead, 0, 1)
    gold = (random.random(chance.shape) < chance).astype(np.float64)
    ids = [[[0, 1]] * questions, [[2, 3]] * questions]
    return lists_of(ids, [2] * questions, (chance > 0.5).astype(np.float64), chance), gold.reshape(-1)
