"""Charts of how power, the width of an interval and accuracy grow with the number of questions, pairs and people."""

from math import sqrt
from typing import cast

import altair as alt
import numpy as np
import pandas as pd

from berdseye.evaluation.statistics.power import kappa_variance

_WIDTH, _HEIGHT, _POINTS = 260, 180, 40
_MARK = "#d55e00"


def questions_chart(
    difference: float, deviation: float, needed: int, *, power: float, alpha: float = 0.05
) -> alt.LayerChart:
    """Draw the power of a paired t test of two runs by the number of questions, up to twice the number `needed`."""
    from statsmodels.stats.power import TTestPower

    numbers = _numbers(needed, 2)
    found = [float(TTestPower().power(abs(difference) / deviation, n, alpha)) for n in numbers]
    return _curve(numbers, found, needed, power, ("questions", "power"), (0.0, 1.0))


def pairs_chart(
    kappa: float, positive: float, needed: int, *, width: float, confidence: float = 0.95
) -> alt.LayerChart:
    """Draw the width of the interval of kappa by the number of pairs, up to twice the number `needed`."""
    from scipy.special import ndtri

    numbers = _numbers(needed, max(2, needed // 8))
    z = float(ndtri((1 + confidence) / 2))
    found = [min(2.0, 2 * z * sqrt(kappa_variance(kappa, positive) / n)) for n in numbers]
    return _curve(numbers, found, needed, width, ("pairs", "width of the interval"), (0.0, max(found)))


def people_chart(accuracy: float, needed: int, *, wanted: float) -> alt.LayerChart:
    """Draw the chance that the majority is right by the odd number of people, up to four more than `needed`."""
    from scipy.special import bdtrc

    numbers = list(range(1, needed + 5, 2))
    found = [float(bdtrc(n // 2, n, accuracy)) for n in numbers]
    return _curve(numbers, found, needed, wanted, ("people", "majority is right"), (0.5, 1.0))


def _numbers(needed: int, least: int) -> list[int]:
    return sorted({*np.linspace(least, max(2 * needed, least + 4), _POINTS).astype(int).tolist(), needed})


def _curve(
    numbers: list[int],
    values: list[float],
    needed: int,
    wanted: float,
    titles: tuple[str, str],
    domain: tuple[float, float],
) -> alt.LayerChart:
    """Draw a curve, with lines at the number needed and the value wanted."""
    frame = pd.DataFrame({"number": numbers, "value": values})
    x = alt.X("number:Q", title=titles[0], scale=alt.Scale(zero=False))
    y = alt.Y("value:Q", title=titles[1], scale=alt.Scale(domain=list(domain)))
    tooltip = [alt.Tooltip("number:Q", title=titles[0]), alt.Tooltip("value:Q", title=titles[1], format=".3f")]
    line = alt.Chart(frame).mark_line(point=len(numbers) < _POINTS).encode(x=x, y=y, tooltip=tooltip)
    at = alt.Chart(pd.DataFrame({"number": [needed], "value": [wanted]}))
    across = at.mark_rule(strokeDash=[4, 4], color=_MARK).encode(y=y)
    down = at.mark_rule(strokeDash=[4, 4], color=_MARK).encode(x=x)
    return cast(alt.LayerChart, alt.layer(line, across, down).properties(width=_WIDTH, height=_HEIGHT))
