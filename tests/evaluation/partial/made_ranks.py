"""Random and hand-made rank matrices."""

import numpy as np

from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, RankMatrices, rank_matrices

# Two queries, three systems, lists of four. Query q1 has the relevant passages a, b; q2 has c, d, e.
RELEVANT = {"q1": ["a", "b"], "q2": ["c", "d", "e"]}
RUNS = {
    "one": {"q1": ["a", "x", "b", "y"], "q2": ["c", "d", "x", "e"]},
    "two": {"q1": ["x", "a", "y", "z"], "q2": ["c", "x", "y", "z"]},
    "three": {"q1": ["x", "y", "z", "b"], "q2": ["x", "y", "e", "z"]},
}


def hand_made() -> RankMatrices:
    """Ranks: one 1 3 | 1 2 4, two 2 - | 1 - -, three - 4 | - - 3."""
    return rank_matrices(RUNS, RELEVANT)


def random_matrices(seed: int, systems: int = 5, queries: int = 30, depth: int = 50, most: int = 12) -> RankMatrices:
    """Better systems first: each finds a relevant passage more often and higher than the next."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, most + 1, queries)
    relevant = tuple(tuple(f"p{n}" for n in range(c)) for c in counts)
    exists = np.arange(most) < counts[:, None]
    ranks = np.full((systems, queries, most), NOT_FOUND, dtype=np.int32)
    for system in range(systems):
        for query in range(queries):
            places = random.permutation(np.arange(1, 2 * depth + 20 * system))[: counts[query]]
            ranks[system, query, : counts[query]] = np.where(places <= depth, places, NOT_FOUND)
    return RankMatrices(
        tuple(f"s{n}" for n in range(systems)),
        tuple(f"q{n}" for n in range(queries)),
        relevant,
        ranks,
        exists,
        depth,
    )
