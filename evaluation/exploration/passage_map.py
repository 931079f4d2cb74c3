"""A map of passages: points in two dimensions, with similar passages close to each other, coloured by perspective."""

from collections.abc import Sequence
from typing import Final, Literal, cast, get_args

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.errors import UnknownNameError
from berdseye.evaluation.charts import CATEGORIES, NEUTRAL, legend_below, perspective_colour

Method = Literal["PCA", "t-SNE"]
METHODS: tuple[Method, ...] = get_args(Method)
Points = npt.NDArray[np.float64]
SEVERAL, NONE, UNSURE, UNKNOWN = "several perspectives", "no perspective", "unsure", "no label"
_NO_SINGLE_PERSPECTIVE = (SEVERAL, NONE, UNSURE, UNKNOWN)
PICKED: Final = "picked"
"""The name of the selection parameter that holds the clicked point."""
_FEW = 5
_PERPLEXITY = 30.0
_TINY = 1e-9
_HEIGHT = 520


def mapped(vectors: npt.NDArray[np.float32], method: Method = "PCA", *, seed: int = 0) -> Points:
    """Map vectors float32[n, d] to points float64[n, 2]; equal vectors, method and seed give equal points.

    PCA projects the vectors to the two directions of largest variance; distances in the map are at most the original ones. t-SNE
    (van der Maaten and Hinton, 2008) keeps neighbours together, but its distances between groups have no meaning; for fewer than
    five vectors, PCA replaces it. Raises `UnknownNameError` for another method.
    """
    if method not in METHODS:
        raise UnknownNameError("method of maps", method, METHODS)
    points: Points = np.zeros((len(vectors), 2))
    if len(vectors) < 2 or float(np.ptp(vectors, axis=0).max(initial=0.0)) < _TINY:
        return points
    if method == "t-SNE" and len(vectors) >= _FEW:
        from sklearn.manifold import TSNE  # slow to import

        perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
        # The exact method: for some hundred points it is faster than starting the threads of the approximate one.
        drawn = TSNE(2, perplexity=perplexity, init="pca", method="exact", random_state=seed).fit_transform(vectors)
    else:
        from sklearn.decomposition import PCA

        drawn = PCA(min(2, *vectors.shape), svd_solver="full").fit_transform(vectors.astype(np.float64))
    points[:, : drawn.shape[1]] = drawn
    return points


def sides(labels: npt.NDArray[np.float64], unsure: npt.NDArray[np.bool_]) -> list[str]:
    """Return the group of each passage from labels float64[n, m] (1, 0, NaN: no label): the perspective that it supports (P1, P2,
    …), `SEVERAL`, `NONE`, `UNSURE` or `UNKNOWN` (no label at all).

    A label that a detector is `unsure` about, bool[n, m], supports nothing; a passage with such a label and no other support is
    `UNSURE`.
    """
    groups = []
    for row, doubtful in zip(labels, unsure, strict=True):
        supported = np.flatnonzero((row == 1) & ~doubtful)
        if len(supported):
            groups.append(f"P{supported[0] + 1}" if len(supported) == 1 else SEVERAL)
        elif doubtful.any():
            groups.append(UNSURE)
        else:
            groups.append(UNKNOWN if len(row) == 0 or np.isnan(row).all() else NONE)
    return groups


def map_chart(points: pd.DataFrame, groups: Sequence[str]) -> alt.Chart:
    """Draw the map of a frame with the columns x, y, group, number (of the passage in the list, from 1), title and corpus.

    `groups` lists the groups in the order of the legend. Perspectives have their own colours, other groups, such as corpora, the
    theme's. A click selects a passage (`PICKED`, with the field number).
    """
    others = [g for g in groups if not _is_side(g)]
    colours = {g: CATEGORIES[n % len(CATEGORIES)] for n, g in enumerate(others)}
    colours |= dict.fromkeys(_NO_SINGLE_PERSPECTIVE, NEUTRAL)
    colours |= {g: perspective_colour(int(g[1:]) - 1) for g in groups if g not in others and g[1:].isdigit()}
    shapes = {SEVERAL: "diamond", NONE: "cross", UNSURE: "square", UNKNOWN: "triangle-up"}
    picked = alt.selection_point(name=PICKED, fields=["number"], toggle=False, empty=False)
    none = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    legend = legend_below(groups)
    chart = (
        alt.Chart(points)
        .mark_point(filled=True, size=110, opacity=0.85, cursor="pointer", strokeWidth=3)
        .encode(
            x=alt.X("x:Q", axis=none, scale=alt.Scale(zero=False, padding=14)),
            y=alt.Y("y:Q", axis=none, scale=alt.Scale(zero=False, padding=14)),
            color=alt.Color(
                "group:N",
                title=None,
                legend=legend,
                scale=alt.Scale(domain=list(groups), range=[colours[g] for g in groups]),
            ),
            shape=alt.Shape(
                "group:N",
                title=None,
                legend=legend,
                scale=alt.Scale(domain=list(groups), range=[shapes.get(g, "circle") for g in groups]),
            ),
            stroke=alt.condition(picked, alt.value(CATEGORIES[3]), alt.value("transparent")),
            tooltip=["number", "title", "corpus", "group"],
        )
        .add_params(picked)
        .properties(height=_HEIGHT)
    )
    return cast(alt.Chart, chart)


def _is_side(group: str) -> bool:
    return group in _NO_SINGLE_PERSPECTIVE or (group[:1] == "P" and group[1:].isdigit())
