"""The floor of every measure: a score is withheld if too few pairs in the top k have a label.

Pairs without a label count as not relevant, so a score over few labels says more about what was judged than about what was
retrieved. The floor is a judged@k of 50%, or `min_judged` under [measures] in berdseye.toml, or the value of `--min-judged`.
"""

from typing import Literal

from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.statistics.intervals import Estimate

MIN_JUDGED = 0.5
"""The share of labelled pairs in the top k below which a score is withheld."""
_ROUNDING = 1e-12
Floor = float | Literal["off"]
"""A share of labelled pairs from 0 to 1, or `off` for 0, which withholds nothing."""


def min_judged_of(workspace: Workspace, asked: Floor | None = None) -> float:
    """Return the requested floor, by default that of the workspace's settings; raises `BadInputError` outside 0 to 1."""
    return checked_floor(workspace.settings.get("measures", {}).get("min_judged") if asked is None else asked)


def checked_floor(asked: Floor | None) -> float:
    """Return the requested floor, by default `MIN_JUDGED`, 0 for `off`; raises `BadInputError` outside 0 to 1."""
    if asked is None:
        return MIN_JUDGED
    try:
        floor = 0.0 if asked == "off" else float(asked)
    except ValueError:
        floor = float("nan")
    if not 0 <= floor <= 1:
        raise BadInputError(
            f"min_judged must be between 0 and 1, got {asked}.",
            hint="off (or 0) shows every score, 1 only complete ones.",
        )
    return floor


def enough_judged(judged: float, minimum: float = MIN_JUDGED) -> bool:
    """Whether a score over this share of labelled pairs, from 0 to 1, is shown. For an unknown share (NaN) it is not."""
    return bool(judged >= minimum - _ROUNDING)


def below(minimum: float = MIN_JUDGED) -> str:
    """Return the reason why a score is withheld."""
    return f"judged below {minimum:.0%}"


def withheld(estimate: Estimate, judged: float, minimum: float = MIN_JUDGED) -> Estimate:
    """Return the estimate if enough pairs have a label, otherwise NaN with the same n."""
    if enough_judged(judged, minimum):
        return estimate
    return Estimate(float("nan"), float("nan"), float("nan"), estimate.n)
