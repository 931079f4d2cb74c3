"""Coverage of the relevant passages by a pool of systems (D-MERIT, appendix E), with extrapolation to more systems and depth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from berdseye.data.errors import BadInputError
from berdseye.evaluation.partial.rank_matrices import RankMatrices

Values = npt.NDArray[np.float64]


def coverage_by_systems(matrices: RankMatrices, k: int) -> Values:
    """Compute the expected coverage of the top k of a random subset of t systems, float64[n_systems] for t = 1 and up.

    Coverage is the mean over queries of the share of relevant passages that any of the t systems retrieves. Exact for any number
    of systems: a passage that m of n systems retrieve is missed by t random ones with probability C(n - m, t) / C(n, t).
    """
    n = len(matrices.systems)
    finders = np.where(matrices.exists, (matrices.ranks <= matrices.checked(k)).sum(axis=0), 0)
    sizes = np.arange(1, n + 1)
    missed = np.exp(_log_choose(n - np.arange(n + 1)[:, None], sizes) - _log_choose(np.array(n), sizes))
    covered = 1.0 - missed
    # By query: how many of its passages are retrieved by exactly m systems, for each m.
    weights = np.stack([((finders == m) & matrices.exists).sum(axis=1) for m in range(n + 1)], axis=1)
    return np.asarray((weights / matrices.counts[:, None]).mean(axis=0) @ covered)


def coverage_by_depth(matrices: RankMatrices, depths: Sequence[int]) -> Values:
    """Compute the coverage of the pool of all systems' top k, float64[n_depths], for each depth k."""
    return np.asarray([(counts / matrices.counts).mean() for counts in _counts_by_depth(matrices, depths)])


def found_by_depth(matrices: RankMatrices, depths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Count the relevant passages in the pool of all systems' top k, over all queries: int64[n_depths]."""
    return np.asarray([counts.sum() for counts in _counts_by_depth(matrices, depths)], dtype=np.int64)


@dataclass(frozen=True)
class LogarithmicFit:
    """The fit y = constant + slope ln x, with the root mean square error and the largest error over the fitted points."""

    constant: float
    slope: float
    rmse: float
    largest_error: float

    def at(self, x: npt.ArrayLike) -> Values:
        """Evaluate the curve at x; it has no upper bound, so an extrapolated share can exceed 1."""
        return np.asarray(self.constant + self.slope * np.log(np.asarray(x, dtype=np.float64)))


def logarithmic_fit(x: npt.ArrayLike, y: npt.ArrayLike) -> LogarithmicFit:
    """Fit by least squares in ln x; raises `BadInputError` for fewer than two points."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(np.unique(xs)) < 2:
        raise BadInputError(
            "A curve needs at least two points.", hint="Give at least two systems, or lists of at least two passages."
        )
    slope, constant = np.polyfit(np.log(xs), ys, 1)
    errors = ys - (constant + slope * np.log(xs))
    return LogarithmicFit(
        float(constant), float(slope), float(np.sqrt((errors**2).mean())), float(np.abs(errors).max())
    )


def _counts_by_depth(matrices: RankMatrices, depths: Sequence[int]) -> list[npt.NDArray[np.int64]]:
    best = matrices.ranks.min(axis=0)
    return [((best <= matrices.checked(k)) & matrices.exists).sum(axis=1) for k in depths]


def _log_choose(n: npt.NDArray[np.int64], k: npt.NDArray[np.int64]) -> Values:
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1)
    return np.asarray(np.where(k > n, -np.inf, logs))
