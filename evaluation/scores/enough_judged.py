"""The floor under every measure: where too few pairs of the top k have a label, no number is shown.

Pairs without a label count as not relevant, so a number over few labels says more about what was judged than about what was
retrieved. The floor is judged@k of 50%, or `min_judged` under [measures] of berdseye.toml, or what is asked for (`--min-judged`).
"""

from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.statistics.intervals import Estimate

MIN_JUDGED = 0.5
"""The share of labelled pairs in the top k below which no number is shown."""
_ROUNDING = 1e-12


def min_judged_of(workspace: Workspace, asked: float | None = None) -> float:
    """The floor that was asked for, else that of the workspace's settings; raises `BadInputError` for what is no share."""
    return checked_floor(workspace.settings.get("measures", {}).get("min_judged") if asked is None else asked)


def checked_floor(asked: float | None) -> float:
    """The floor that was asked for, else `MIN_JUDGED`; raises `BadInputError` for what is no share."""
    floor = MIN_JUDGED if asked is None else float(asked)
    if not 0 <= floor <= 1:
        raise BadInputError(
            f"No share of the pairs can be {floor:g}.", hint="Choose min_judged from 0 (show every number) to 1."
        )
    return floor


def enough_judged(judged: float, minimum: float = MIN_JUDGED) -> bool:
    """Whether a measure over this share of labelled pairs, from 0 to 1, is shown. Unknown shares (NaN) are not."""
    return bool(judged >= minimum - _ROUNDING)


def below(minimum: float = MIN_JUDGED) -> str:
    """Why a number is not shown."""
    return f"judged below {minimum:.0%}"


def withheld(estimate: Estimate, judged: float, minimum: float = MIN_JUDGED) -> Estimate:
    """The estimate where enough is judged; else NaN over the same n."""
    if enough_judged(judged, minimum):
        return estimate
    return Estimate(float("nan"), float("nan"), float("nan"), estimate.n)
