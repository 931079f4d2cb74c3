"""How many questions, pairs and people a study needs, in closed form."""

from math import ceil, sqrt

from berdseye.data.errors import BadInputError

_MOST_PEOPLE = 199


def questions_for_difference(difference: float, deviation: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return how many questions a two-sided paired t-test needs to find a mean difference of two runs with this power.

    `deviation` is the standard deviation of the differences by question, in the unit of `difference`. The power comes from the
    noncentral t distribution (Cohen, 1988, chapter 2) through statsmodels. Raises `BadInputError` for impossible values.
    """
    _between("The power", power, alpha)
    _between("alpha", alpha)
    if not 0 < abs(difference) < float("inf") or not 0 < deviation < float("inf"):
        raise BadInputError("The difference must not be 0, and its deviation must be above 0.")
    from scipy.optimize import brentq
    from statsmodels.stats.power import TTestPower

    effect, test = abs(difference) / deviation, TTestPower()

    def short(n: float) -> float:
        return float(test.power(effect, n, alpha)) - power

    most = 4.0
    while short(most) < 0:
        most *= 2
        if most > 1e9:
            raise BadInputError("More than a billion questions are needed.", hint="Give a larger difference.")
    return 2 if short(2) >= 0 else ceil(brentq(short, 2, most) - 1e-9)


def pairs_for_kappa(kappa: float, positive: float, width: float, *, confidence: float = 0.95) -> int:
    """Return how many pairs two people must judge for an interval of kappa of this width (from end to end).

    `kappa` is the value expected, `positive` the share of pairs that either person calls positive. The variance is the
    large-sample one of the intraclass kappa (Bloch and Kraemer, Biometrics 45, 1989; Donner and Eliasziw, Statistics in Medicine
    11, 1992). Where positives are rare, intervals of small samples are wider than it says. Raises `BadInputError` for impossible
    values.
    """
    _between("The share of positive pairs", positive)
    _between("The confidence", confidence)
    if not 0 <= kappa < 1 or not 0 < width < 2:
        raise BadInputError("kappa must be from 0 to below 1, and the width between 0 and 2.")
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return max(2, ceil((2 * z * sqrt(kappa_variance(kappa, positive)) / width) ** 2 - 1e-9))


def kappa_variance(kappa: float, positive: float) -> float:
    """Return the large-sample variance of the intraclass kappa of two people, times the number of pairs (`pairs_for_kappa`)."""
    spread = 2 * positive * (1 - positive)
    return (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / spread)


def people_for_accuracy(accuracy: float, wanted: float) -> int:
    """Return the least odd number of people whose majority is right with at least the chance `wanted`.

    Each person is right with the chance `accuracy`, independently of the others (Condorcet, 1785): people who err on the same
    pairs need more. Raises `BadInputError` for impossible values, and if 199 people are too few.
    """
    if not 0.5 < accuracy < 1:
        raise BadInputError("The accuracy must be between 0.5 and 1.", hint="A majority of guesses is a guess.")
    _between("The accuracy wanted", wanted)
    from scipy.special import bdtrc

    for people in range(1, _MOST_PEOPLE + 1, 2):
        if float(bdtrc(people // 2, people, accuracy)) >= wanted:
            return people
    raise BadInputError(f"More than {_MOST_PEOPLE} people are needed.", hint="Choose better annotators or want less.")


def _between(what: str, value: float, low: float = 0.0) -> None:
    if not low < value < 1:
        raise BadInputError(f"{what} must be between {low:g} and 1, got {value:g}.")
