"""The ten ways in which PIR combines the vectors of a query q, its root r, its perspective p and a passage c.

Each has one form: with the products a = v.c, b = p.c and s = c.c,

    score = (a + n0 + n1 * b) / sqrt(s + d0 + d1 * b + d2 * b * b)

so that one matrix product with v and p scores a whole corpus. Where c has length 1 and n1, d1 and d2 are zero, the ranking is
that of v alone, which any vector index can search. `weight` scales the part of p that is added or removed; the paper uses 1.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from berdseye.data.records import Scores

_SMALL = 1e-12
_ROUNDING = 1e-6
"""A remainder of a unit vector up to this length is a rounding error without a direction; its cosines are set to 0."""
ROOTED = frozenset({"add", "add+", "concat", "concat+", "dual-sum", "tri-sum"})
"""The forms that use the vector of the root query."""
SHIFTED = frozenset({"add+", "concat+", "cast+"})
"""The forms that combine the passage with p, so that the length of the passage's vector changes their rankings."""


class Form(NamedTuple):
    """The vector `v` float32[dimension] and the five constants of a form."""

    v: Scores
    n0: float = 0.0
    n1: float = 0.0
    d0: float = 0.0
    d1: float = 0.0
    d2: float = 0.0

    @property
    def linear(self) -> bool:
        """Whether the ranking of passages of length 1 equals that of v alone."""
        return self.n1 == self.d1 == self.d2 == 0

    def score(self, a: Scores, b: Scores, s: Scores | float = 1.0) -> Scores:
        """The scores float32[n] of n passages from their products a and b and their squared lengths s."""
        denominator = s + self.d0 + self.d1 * b + self.d2 * b * b
        smallest = np.maximum(_ROUNDING * s, _SMALL)
        scores: Scores = ((a + self.n0 + self.n1 * b) / np.sqrt(np.maximum(denominator, smallest))).astype(np.float32)
        return scores


def _pap(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(q', c), where q' = q - (q.p / p.p) p."""
    del r
    return Form(_unit(_without(q, p, weight)))


def _pap_plus(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(q', c'), where q' = q - (q.p / p.p) p and c' = c - (c.p / p.p) p."""
    del r
    projected, length = _unit(_without(q, p, weight)), _dot(p, p)
    share = weight / max(length, _SMALL)
    return Form(projected, n1=-share * _dot(projected, p), d2=share * (weight - 2))


def _add(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(r + p, c)."""
    del q
    return Form(_unit(r + weight * p))


def _add_plus(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(r + p, c + p)."""
    del q
    return _moved(_unit(r + weight * p), weight * p, weight)


def _concat(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos((r, p), (c, c))."""
    del q
    length = np.sqrt(2 * (_dot(r, r) + weight**2 * _dot(p, p)))
    return Form(((r + weight * p) / max(length, _SMALL)).astype(np.float32))


def _concat_plus(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos((r, p), (c, p)), which ranks passages of equal length like r alone."""
    del q
    own = weight**2 * _dot(p, p)
    length = np.sqrt(max(_dot(r, r) + own, _SMALL))
    return Form((r / length).astype(np.float32), n0=own / length, d0=own)


def _cast(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(q - p, c)."""
    del r
    return Form(_unit(q - weight * p))


def _cast_plus(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(q - p, c - p)."""
    del r
    return _moved(_unit(q - weight * p), -weight * p, -weight)


def _dual_sum(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(r, c) + cos(p, c)."""
    del q
    return Form(_unit(r) + np.float32(weight) * _unit(p))


def _tri_sum(q: Scores, r: Scores, p: Scores, weight: float) -> Form:
    """cos(q, c) + cos(r, c) + cos(p, c)."""
    return Form(_unit(q) + _unit(r) + np.float32(weight) * _unit(p))


FORMS: Mapping[str, Callable[[Scores, Scores, Scores, float], Form]] = {
    "pap": _pap,
    "pap+": _pap_plus,
    "add": _add,
    "add+": _add_plus,
    "concat": _concat,
    "concat+": _concat_plus,
    "cast": _cast,
    "cast+": _cast_plus,
    "dual-sum": _dual_sum,
    "tri-sum": _tri_sum,
}


def _moved(v: Scores, shift: Scores, weight: float) -> Form:
    """cos(v, c + shift), where shift = weight * p."""
    return Form(v, n0=_dot(v, shift), d0=_dot(shift, shift), d1=2 * weight)


def _without(q: Scores, p: Scores, weight: float) -> Scores:
    remainder: Scores = q - np.float32(weight * _dot(q, p) / max(_dot(p, p), _SMALL)) * p
    return remainder if _dot(remainder, remainder) > _ROUNDING**2 * _dot(q, q) else np.zeros_like(q)


def _unit(vector: Scores) -> Scores:
    length = float(np.linalg.norm(vector))
    return (vector / max(length, _SMALL)).astype(np.float32)


def _dot(one: Scores, other: Scores) -> float:
    return float(one.astype(np.float64) @ other.astype(np.float64))
