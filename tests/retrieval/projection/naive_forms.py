"""The ten projections as the cosines that their descriptions state, in double precision."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


class Vectors(NamedTuple):
    """Of a passage, a query, its root and its perspective."""

    c: Vector
    q: Vector
    r: Vector
    p: Vector


def cos(one: Vector, other: Vector) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths > 0 else 0.0


def without(v: Vector, p: Vector, w: float) -> Vector:
    return v - w * (v @ p) / (p @ p) * p if p.any() else v


def both(one: Vector, other: Vector) -> Vector:
    return np.concatenate([one, other])


NAIVE: dict[str, Callable[[Vectors, float], float]] = {
    "pap": lambda v, w: cos(without(v.q, v.p, w), v.c),
    "pap+": lambda v, w: cos(without(v.q, v.p, w), without(v.c, v.p, w)),
    "add": lambda v, w: cos(v.r + w * v.p, v.c),
    "add+": lambda v, w: cos(v.r + w * v.p, v.c + w * v.p),
    "concat": lambda v, w: cos(both(v.r, w * v.p), both(v.c, v.c)),
    "concat+": lambda v, w: cos(both(v.r, w * v.p), both(v.c, w * v.p)),
    "cast": lambda v, w: cos(v.q - w * v.p, v.c),
    "cast+": lambda v, w: cos(v.q - w * v.p, v.c - w * v.p),
    "dual-sum": lambda v, w: cos(v.r, v.c) + w * cos(v.p, v.c),
    "tri-sum": lambda v, w: cos(v.q, v.c) + cos(v.r, v.c) + w * cos(v.p, v.c),
}
