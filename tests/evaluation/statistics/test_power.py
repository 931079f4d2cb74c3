"""How much a study needs, against simulations and figures worked by hand."""

import numpy as np
import pytest
from scipy import stats

from berdseye.data.errors import BadInputError
from berdseye.evaluation.statistics.power import pairs_for_kappa, people_for_accuracy, questions_for_difference


def test_questions_have_the_power_in_a_simulation_and_one_less_has_not_by_the_noncentral_t() -> None:
    n = questions_for_difference(0.05, 0.1)
    found = stats.ttest_1samp(np.random.default_rng(0).normal(0.05, 0.1, (4000, n)), 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.025)

    def power(n: int) -> float:
        edge, shift = stats.t.ppf(0.975, n - 1), 0.5 * n**0.5
        return float(stats.nct.sf(edge, n - 1, shift) + stats.nct.cdf(-edge, n - 1, shift))

    assert power(n - 1) < 0.8 <= power(n)


def test_pairs_for_kappa_give_the_width_in_a_simulation() -> None:
    kappa, positive, width = 0.6, 0.3, 0.2
    n = pairs_for_kappa(kappa, positive, width)
    both, one = positive**2 + kappa * positive * (1 - positive), 2 * (1 - kappa) * positive * (1 - positive)
    yes, split, _ = np.random.default_rng(0).multinomial(n, [both, one, 1 - both - one], 4000).T
    share = (2 * yes + split) / (2 * n)
    estimates = 1 - split / (2 * n * share * (1 - share))
    assert 2 * 1.96 * estimates.std() == pytest.approx(width, rel=0.05)
    assert pairs_for_kappa(0.0, 0.5, 0.2) == 385  # the variance is 1 / n: (2 x 1.96 / 0.2)^2 = 384.1


def test_people_for_accuracy_by_hand() -> None:
    # three of accuracy 0.8 are right with 0.8^3 + 3 x 0.8^2 x 0.2 = 0.896
    assert people_for_accuracy(0.8, 0.8) == 1
    assert people_for_accuracy(0.8, 0.895) == 3
    assert people_for_accuracy(0.8, 0.897) == 5
    with pytest.raises(BadInputError, match=r"between 0\.5 and 1"):
        people_for_accuracy(0.5, 0.9)
