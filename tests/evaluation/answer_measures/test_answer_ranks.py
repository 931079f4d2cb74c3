"""Ranks of systems by hand; `recomputation.py` compares them with the printed ones."""

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.scoring import normalised_ranks, ranks, weighted_scores


def test_ties_share_the_better_rank() -> None:
    assert ranks(np.array([0.3, 0.9, 0.3, 0.5]), lower_is_better=False).tolist() == [3, 1, 3, 2]
    # Ranks 1 2 3 and 2 1 3: means 1.5, 1.5, 3.
    assert normalised_ranks([np.array([1.0, 2, 3]), np.array([2.0, 1, 3])], lower_is_better=True).tolist() == [1, 1, 3]


def test_weighted_scores_by_hand() -> None:
    # 1/P.D. is 1 and 0.5, z = +1 and -1; D.A. 0.2 and 0.6, z = -1 and +1; k = 0.75: 0.75 - 0.25 = 0.5.
    assert weighted_scores(np.array([1.0, 2.0]), np.array([0.2, 0.6]), 0.75).tolist() == pytest.approx([0.5, -0.5])
    assert weighted_scores(np.array([1.0, 2.0]), np.array([0.4, 0.4]), 0.5).tolist() == pytest.approx([0.5, -0.5])


def test_bad_weights_and_values() -> None:
    two = np.array([1.0, 2.0])
    for pd, k, why in (
        (two, 1.5, "between 0 and 1, got 1.5"),
        (two - 1, 0.5, "above 0"),
        (two[:1], 0.5, "at least two"),
    ):
        with pytest.raises(BadInputError, match=why):
            weighted_scores(pd, two[: len(pd)], k)
