"""Ranks of systems, against the published ones."""

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.scoring import (
    WEIGHTS,
    normalised_ranks,
    ranks,
    weighted_ranks,
    weighted_scores,
)
from berdseye.evaluation.published import published

MAIN = published("debateqa_main")


@pytest.mark.parametrize("k", WEIGHTS)
def test_figure_3_is_reproduced(k: float) -> None:
    """DebateQA, figure 3, from table 2's P.D. by Qwen2 0.5B and D.A. by Phi-3 medium."""
    printed = published("debateqa_weighted_rank").query("k == @k").sort_values("rank")["model"].tolist()
    found = weighted_ranks(MAIN["pd_qwen2_05b"].to_numpy(float), MAIN["da_phi3_medium"].to_numpy(float), k)
    assert [MAIN["model"][n] for n in np.argsort(found)] == printed
    assert sorted(found) == list(range(1, 13))


def test_table_2_normalised_ranks() -> None:
    """All but one rank of table 2: two models tie on D.A. (ranks 10, 9 and 9, 10) and are printed 10 and 9."""
    pd = normalised_ranks([MAIN["pd_qwen2_05b"].to_numpy(float), MAIN["pd_gpt2"].to_numpy(float)], lower_is_better=True)
    assert pd.tolist() == MAIN["norm_rank_pd"].tolist()
    da = normalised_ranks(
        [MAIN["da_phi3_medium"].to_numpy(float), MAIN["da_qwen2_15b"].to_numpy(float)], lower_is_better=False
    )
    off = MAIN[da != MAIN["norm_rank_da"]]
    assert off["model"].tolist() == ["claude 3.5 sonnet"]
    assert (off["norm_rank_da"].tolist(), da[off.index].tolist()) == ([10], [9.0])


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
