"""Pool coverage against all subsets counted one by one, and the logarithmic fit."""

from itertools import combinations

import numpy as np
import pytest
from made_ranks import hand_made, random_matrices

from berdseye.data.errors import BadInputError
from berdseye.evaluation.partial.pool_coverage import (
    coverage_by_depth,
    coverage_by_systems,
    found_by_depth,
    logarithmic_fit,
)


def test_hand_worked_coverage() -> None:
    made = hand_made()
    # Depth 3. q1: one finds a, b; two a; three none. q2: one c, d; two c; three e.
    # Single systems: (1 + 1/2 + 0) / 3 and (2/3 + 1/3 + 1/3) / 3; all: 1 and 1.
    by_systems = coverage_by_systems(made, 3)
    assert by_systems[0] == pytest.approx((1.5 / 3 + (4 / 3) / 3) / 2)
    assert by_systems[2] == pytest.approx(1)
    # Depth 1: a and c. Depth 2: a; c, d. Depth 3: all.
    assert coverage_by_depth(made, [1, 2, 3]) == pytest.approx([(1 / 2 + 1 / 3) / 2, (1 / 2 + 2 / 3) / 2, 1])
    assert found_by_depth(made, [1, 2, 3, 4]).tolist() == [2, 3, 5, 5]


def test_the_expectation_is_the_mean_over_all_subsets() -> None:
    made = random_matrices(4, systems=6)
    found = (made.ranks <= 10) & made.exists
    for t, value in enumerate(coverage_by_systems(made, 10), start=1):
        means = [
            (found[list(chosen)].any(axis=0).sum(axis=1) / made.counts).mean() for chosen in combinations(range(6), t)
        ]
        assert value == pytest.approx(np.mean(means))


def test_coverage_grows_with_systems_and_depth_and_ever_less_with_systems() -> None:
    made = random_matrices(8, systems=9)
    by_systems = coverage_by_systems(made, 10)
    gains = np.diff(by_systems)
    assert (gains >= 0).all()
    assert (np.diff(gains) <= 1e-12).all()
    assert (np.diff(coverage_by_depth(made, range(1, 51))) >= 0).all()
    assert coverage_by_depth(made, [10])[0] == pytest.approx(by_systems[-1])


def test_a_logarithm_is_recovered_and_extrapolated() -> None:
    x = np.arange(1, 13)
    fit = logarithmic_fit(x, 7.5 + 3 * np.log(x))
    assert (fit.constant, fit.slope) == (pytest.approx(7.5), pytest.approx(3))
    assert fit.rmse == pytest.approx(0, abs=1e-9)
    assert float(fit.at(100)) == pytest.approx(7.5 + 3 * np.log(100))
    # y = 0, 0, 3 at ln x = 0, 1, 2: slope 3/2, constant -1/2, errors 1/2, -1, 1/2; rmse sqrt(1.5 / 3), largest 1.
    bent = logarithmic_fit(np.exp([0, 1, 2]), [0.0, 0.0, 3.0])
    assert (bent.rmse, bent.largest_error) == (pytest.approx(np.sqrt(0.5)), pytest.approx(1))
    with pytest.raises(BadInputError, match="two points"):
        logarithmic_fit([1], [1.0])
