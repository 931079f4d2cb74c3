"""Kendall's tau between rankings of systems, whole or over some pairs, and the error rate that goes with it."""

from typing import Literal

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Variant = Literal["a", "b"]
_DIGITS = 12


def signs(scores: Values) -> npt.NDArray[np.int8]:
    """Which of each pair of systems scores higher: int8[..., n_pairs] of 1 (the first), 0 (tied) and -1, from [..., n_systems].

    Pairs come in the order of `np.triu_indices`. Scores are rounded to 12 digits, since equal means differ in their last bits.
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    rounded = np.round(scores, _DIGITS)
    return np.sign(rounded[..., first] - rounded[..., second]).astype(np.int8)


def kendall_tau(partial: Values, full: Values, *, variant: Variant = "b") -> Values:
    """Tau between the scores of systems under partial labels, float64[..., n_systems], and under all, float64[n_systems].

    Variant "b" is scipy's (Kendall, 1945): pairs tied on one side shrink what the agreement is divided by. It is the one behind
    D-MERIT's table 9, whose .462, .585 and .687 are no multiple of 1/66 but 30, 38 and 45 over the root of 66 times 64 (or 65)
    untied pairs. Variant "a" divides by all pairs, as the formula of section 3.1 says. NaN where all
    systems of a side are tied ("b") or there are fewer than two.
    """
    ours, theirs = signs(partial).astype(np.float64), signs(full).astype(np.float64)
    pairs = float(theirs.size)
    agreement = ours @ theirs
    if variant == "a":
        return np.asarray(agreement / pairs if pairs else np.full(np.shape(agreement), np.nan), dtype=np.float64)
    untied = np.abs(ours).sum(axis=-1) * np.abs(theirs).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(untied > 0, agreement / np.sqrt(untied), np.nan), dtype=np.float64)


def pair_tau(partial: Values, full: Values, pairs: npt.NDArray[np.bool_]) -> Values:
    """Tau over some pairs of systems, bool[n_pairs] in the order of `signs`: (agreeing - disagreeing) / pairs.

    D-MERIT's partial tau (section 3.3). A pair tied on either side counts as neither; NaN where no pair is chosen.
    """
    ours, theirs = signs(partial)[..., pairs].astype(np.float64), signs(full)[pairs].astype(np.float64)
    if theirs.size == 0:
        return np.full(ours.shape[:-1], np.nan)
    return np.asarray(ours @ theirs / theirs.size, dtype=np.float64)


def error_rate(tau: npt.ArrayLike) -> Values:
    """100 (1 - tau) / 2, in percent (D-MERIT, section 3.1).

    Without ties it is the share of pairs in the wrong order. With them, and tau "a", a tied pair counts as half an error; with
    tau "b", as here by default and in the paper's table, it is that formula and no longer a share of pairs.
    """
    return np.asarray(100 * (1 - np.asarray(tau, dtype=np.float64)) / 2)


def left_without(n_systems: int, system: int) -> npt.NDArray[np.bool_]:
    """The pairs that a system is not in, bool[n_pairs] in the order of `signs`."""
    first, second = np.triu_indices(n_systems, 1)
    return np.asarray((first != system) & (second != system))
