"""Anchoring: does seeing the detector's label change people's judgments? Figures of both arms of an experiment, and differences.

Whether an annotator sees the label is drawn independently for each pair and annotator (annotation/batches/dealing.py). Under the
null hypothesis, seeing a label changes no judgment, so every annotator's judgments would be the same under any other draw. The
test redraws the arms within each annotator, with the number of shown pairs fixed (Fisher's randomisation test, 1935); it is exact
also if pairs of one question resemble each other. Intervals come from a percentile bootstrap over questions.
"""

from collections.abc import Callable
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from berdseye.data.statistics import bootstrap_interval, holm
from berdseye.evaluation.agreement.alignment import Ints, Mask
from berdseye.evaluation.agreement.charts import dots
from berdseye.evaluation.agreement.coefficients import RESAMPLES, Doubles
from berdseye.evaluation.charts import legend_below

ARMS = ("blind", "shown")
EVERYONE = "people together"
KAPPA, OVERRIDE = "kappa with the detector", "override rate"
NO_JUDGMENTS = pd.DataFrame(columns=["item", "annotator", "label", "arm", "decision"])
TEST = "randomisation of arms within people"
DRAWS = 4999


class ArmDifference(NamedTuple):
    """A figure in both arms with its 95% interval over n judgments, the difference `shown` minus `blind`, and the test of no
    effect.

    `p_holm` is corrected for all annotators and figures, and separately for the figures of all annotators together (Holm, 1979).
    """

    rater: str
    figure: str
    blind: float
    blind_low: float
    blind_high: float
    n_blind: int
    shown: float
    shown_low: float
    shown_high: float
    n_shown: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    test: str


def anchoring(rows: pd.DataFrame, values: tuple[str, ...], *, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Return Cohen's kappa with the detector and the override rate, for all annotators together and for each annotator.

    `rows` holds the judgments of an experiment: item, annotator, label (one of `values`), arm ('blind', 'shown'), decision (the
    detector's label) and, if known, question_id (otherwise the bootstrap draws items). An override is a judgment that differs
    from the detector's label; a judgment that the rule for 'unsure' leaves out counts in neither figure.
    """
    known = rows[rows["arm"].isin(ARMS) & rows["label"].isin(values) & rows["decision"].isin(values)]
    columns = list(ArmDifference._fields)
    if known.empty or known["arm"].nunique() < len(ARMS):
        return pd.DataFrame(columns=columns)
    k = len(values)
    place = {value: number for number, value in enumerate(values)}
    cell = known["label"].map(place).to_numpy() * k + known["decision"].map(place).to_numpy()
    shown: Mask = (known["arm"] == "shown").to_numpy(dtype=np.bool_)
    names = sorted(known["annotator"].unique())
    who = known["annotator"].map({name: number for number, name in enumerate(names)}).to_numpy()
    cluster = pd.factorize(_clusters(known))[0]
    random = np.random.default_rng(seed)
    together = _differences(EVERYONE, cell, shown, who, cluster, k, draws, random)
    alone: list[ArmDifference] = []
    for number, name in enumerate(names):
        own = who == number
        alone += _differences(name, cell[own], shown[own], who[own], cluster[own], k, draws, random)
    return pd.DataFrame(_corrected(together) + _corrected(alone), columns=columns)


def arms_chart(table: pd.DataFrame) -> alt.LayerChart:
    """Draw both figures of both arms with their intervals, for all annotators together and for each annotator."""
    parts = [
        table[["rater", "figure", arm, f"{arm}_low", f"{arm}_high", f"n_{arm}"]]
        .set_axis(["rater", "figure", "value", "low", "high", "n"], axis=1)
        .assign(arm=arm)
        for arm in ARMS
    ]
    long = pd.concat(parts).dropna(subset=["value"])
    long["row"] = long["rater"] + ": " + long["figure"]
    base = alt.Chart(long).encode(
        y=alt.Y(
            "row:N", title=None, sort=(table["rater"] + ": " + table["figure"]).tolist(), axis=alt.Axis(labelLimit=320)
        ),
        yOffset=alt.YOffset("arm:N", sort=list(ARMS)),
        color=alt.Color("arm:N", title="label", sort=list(ARMS), legend=legend_below(ARMS)),
    )
    return dots(base, "value", floor=min(0.0, float(long["low"].min())) if long["low"].notna().any() else 0.0)


def _clusters(rows: pd.DataFrame) -> pd.Series:
    if "question_id" not in rows.columns:
        return rows["item"].astype(str)
    questions = rows["question_id"].astype(str)
    return rows["dataset"].astype(str) + "\0" + questions if "dataset" in rows.columns else questions


def _differences(
    name: str, cell: Ints, shown: Mask, who: Ints, cluster: Ints, k: int, draws: int, random: np.random.Generator
) -> list[ArmDifference]:
    """Return the rows of one annotator, or of all together; `cell` int64[n]: a judgment's label times k plus the detector's
    label."""
    arms = np.stack(
        [_tables(cell[shown == arm], cluster[shown == arm], int(cluster.max()) + 1, k * k) for arm in (0, 1)]
    )
    present = np.flatnonzero(arms.sum(axis=(0, 2)))
    weights = random.multinomial(len(present), np.full(len(present), 1 / len(present)), size=RESAMPLES)
    resampled = [weights @ arms[arm][present] for arm in (0, 1)]
    observed = arms.sum(axis=1).astype(np.float64)
    redrawn = _redrawn(cell, shown, who, k, draws, random)
    redrawn_arms = (observed.sum(axis=0) - redrawn, redrawn)
    rows = []
    for figure, form in _FIGURES.items():
        blind, seen = (float(form(observed[arm], k)) for arm in (0, 1))
        ends = [bootstrap_interval(form(resampled[arm], k), len(present)) for arm in (0, 1)]
        spread = bootstrap_interval(form(resampled[1], k) - form(resampled[0], k), len(present))
        n_blind, n_shown = (int(observed[arm].sum()) for arm in (0, 1))
        under = np.abs(form(redrawn_arms[1], k) - form(redrawn_arms[0], k))
        known = under[~np.isnan(under)]
        p = np.nan
        if len(known) and not np.isnan(seen - blind):
            p = (1 + int((known >= abs(seen - blind) - 1e-12).sum())) / (1 + len(known))
        rows.append(
            ArmDifference(
                name, figure, blind, *ends[0], n_blind, seen, *ends[1], n_shown, seen - blind, *spread, p, np.nan,
                f"{TEST} ({draws:,})",
            )
        )  # fmt: skip
    return rows


def _tables(cell: Ints, cluster: Ints, clusters: int, cells: int) -> Ints:
    return np.bincount(cluster * cells + cell, minlength=clusters * cells).reshape(clusters, cells)


def _redrawn(cell: Ints, shown: Mask, who: Ints, k: int, draws: int, random: np.random.Generator) -> Doubles:
    """Return the tables of the shown arm when the arms are redrawn within each annotator, float64[draws, k * k]."""
    total = np.zeros((draws, k * k))
    for person in np.unique(who).tolist():
        counts = np.bincount(cell[who == person], minlength=k * k)
        n = int(shown[who == person].sum())
        total += random.multivariate_hypergeometric(counts, n, size=draws, method="marginals")
    return total


def _kappa(cells: Doubles, k: int) -> Doubles:
    tables = cells.reshape(*cells.shape[:-1], k, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = tables.sum(axis=(-1, -2))
        same = np.trace(tables, axis1=-2, axis2=-1) / n
        chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / n**2
        return np.asarray((same - chance) / (1 - chance))


def _overridden(cells: Doubles, k: int) -> Doubles:
    tables = cells.reshape(*cells.shape[:-1], k, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - np.trace(tables, axis1=-2, axis2=-1) / tables.sum(axis=(-1, -2)))


_FIGURES: dict[str, Callable[[Doubles, int], Doubles]] = {KAPPA: _kappa, OVERRIDE: _overridden}


def _corrected(rows: list[ArmDifference]) -> list[ArmDifference]:
    return [row._replace(p_holm=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]
