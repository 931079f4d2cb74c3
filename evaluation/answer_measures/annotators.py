"""Agreement of each annotator's order of systems with a measure's, and of annotators with one another (DebateQA, table 14,
figures 8 and 11).

An order is a value of each system, higher for the better one. DebateQA's annotators compared 5 systems on each of 100 questions.
Its printed correlations (rho .825, tau .742) are no means of three correlations over 5 systems, which are multiples of 1/30 and
1/15; they are means over questions. Both are computed here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.items import Doubles
from berdseye.evaluation.answer_measures.people import UNNAMED, Preference, elo_ratings
from berdseye.evaluation.statistics.intervals import Estimate, mean_with_interval

Order = Mapping[str, float]
Orders = Mapping[str, Order]
"""The order of the systems on each question."""
_FEWEST = 3


class RankAgreement(NamedTuple):
    """Spearman's rho and Kendall's tau-b between two orders of n systems; NaN if one has equal values only, or for n < 3."""

    rho: float
    tau: float
    n: int


class MeanAgreement(NamedTuple):
    """Means of Spearman's rho and Kendall's tau-b with 95% intervals over questions; their n counts the compared orders."""

    rho: Estimate
    tau: Estimate


def rank_agreement(a: Order, b: Order) -> RankAgreement:
    """Compute the agreement of two orders over the systems that both contain; NaN values do not count."""
    both = [name for name in a if not np.isnan(a[name]) and not np.isnan(b.get(name, np.nan))]
    x, y = ([order[name] for name in both] for order in (a, b))
    if len(both) < _FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return RankAgreement(np.nan, np.nan, len(both))
    rho: Any = stats.spearmanr(x, y)
    tau: Any = stats.kendalltau(x, y)
    return RankAgreement(float(rho.statistic), float(tau.statistic), len(both))


def orders_by_question(preferences: Sequence[Preference]) -> dict[str, dict[str, dict[str, float]]]:
    """Return each annotator's orders of the systems by question: points per comparison, 1 for a win and 0.5 for a tie.

    Where every system meets every other once, as in DebateQA, the strengths that Elo estimates have the order of the points
    (Zermelo, 1929), and points do not depend on the order of the comparisons.
    """
    points: dict[str, dict[str, dict[str, list[float]]]] = {}
    for p in preferences:
        held = points.setdefault(p.annotator or UNNAMED, {}).setdefault(p.question_id, {})
        of_a = {"a": 1.0, "b": 0.0, "tie": 0.5}[p.winner]
        held.setdefault(p.a, []).append(of_a)
        held.setdefault(p.b, []).append(1.0 - of_a)
    return {
        who: {q: {name: float(np.mean(won)) for name, won in systems.items()} for q, systems in questions.items()}
        for who, questions in points.items()
    }


def measured_orders(values: Mapping[str, Mapping[str, float]], *, lower_is_better: bool) -> dict[str, dict[str, float]]:
    """Return a measure's orders of the systems by question, from its `values` of each system by question."""
    sign = -1.0 if lower_is_better else 1.0
    orders: dict[str, dict[str, float]] = {}
    for system, by_question in values.items():
        for question, value in by_question.items():
            orders.setdefault(question, {})[system] = sign * value
    return orders


def over_questions(raters: Sequence[Orders], other: Orders) -> MeanAgreement:
    """Compute the mean over raters of each rater's own mean over questions of the agreement with `other` (DebateQA, table 14).

    A question counts for a rater if both orders have at least three shared systems and not only equal values. The intervals are
    over questions. With one rater, this is the agreement of two raters (figures 8 and 11).
    """
    questions = list(dict.fromkeys(question for orders in raters for question in orders if question in other))
    found = np.array(
        [[rank_agreement(orders.get(q, {}), other[q])[:2] for q in questions] for orders in raters], dtype=np.float64
    ).reshape(len(raters), len(questions), 2)
    return MeanAgreement(_mean(found[:, :, 0]), _mean(found[:, :, 1]))


def over_systems(preferences: Sequence[Preference], means: Order, *, seed: int = 0) -> RankAgreement:
    """Compute the mean over annotators of the agreement of `means` with the Elo ratings from the annotator's own preferences.

    The n is the largest number of systems that an annotator compared. Raises `BadInputError` if it is below three.
    """
    own: dict[str, list[Preference]] = {}
    for p in preferences:
        own.setdefault(p.annotator or UNNAMED, []).append(p)
    found = [rank_agreement(elo_ratings(theirs, seed=seed), means) for theirs in own.values()]
    most = max((agreement.n for agreement in found), default=0)
    if most < _FEWEST:
        raise BadInputError(
            f"Only {most} systems have both answers and preferences; at least {_FEWEST} are needed.",
            hint="Name the systems in the preferences as the sets of answers are named.",
        )
    known = [agreement for agreement in found if not np.isnan(agreement.rho)]
    if not known:
        return RankAgreement(np.nan, np.nan, most)
    return RankAgreement(float(np.mean([a.rho for a in known])), float(np.mean([a.tau for a in known])), most)


def _mean(values: Doubles) -> Estimate:
    """Return the mean over raters of their means over questions, of values float64[n_raters, n_questions]."""
    known = ~np.isnan(values)
    own = [row[kept].mean() for row, kept in zip(values, known, strict=True) if kept.any()]
    if not own:
        return Estimate(np.nan, np.nan, np.nan, 0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    by_question = sums[known.any(axis=0)] / known.sum(axis=0)[known.any(axis=0)]
    interval = mean_with_interval(by_question, bounds=(-1.0, 1.0))
    return Estimate(float(np.mean(own)), interval.low, interval.high, int(known.sum()))
