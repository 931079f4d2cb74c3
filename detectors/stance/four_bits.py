"""Weights in 4 bits: what the training of `stance` computes with, and what its file stores.

A weight is a whole number from -7 to 7 times a scale, and 64 weights of one output share a scale.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from berdseye.data.errors import BadInputError

GROUP = 64
"""How many consecutive inputs of an output share a scale."""
LARGE = 4096
"""A matrix with fewer entries keeps its weights."""
_MOST = 7
_WITHIN = 0.998
_HALF = torch.finfo(torch.float16)


class FourBits(NamedTuple):
    """A matrix of N outputs and K inputs: its `integers`, int8[N, K], from -7 to 7, and its `scales`, float16[N, K / 64], one for
    64 consecutive inputs of an output."""

    integers: Tensor
    scales: Tensor


def four_bits(weights: Tensor) -> FourBits:
    """Round a matrix, float[N, K], to 4 bits with scales that are the largest magnitude of 64 inputs divided by 7.

    The error is at most half a scale, and 0 stays 0; a scale is at least 6.1e-5, the smallest normal number in 16 bits, unless
    all of its weights are 0. Raises `BadInputError` if K is not a multiple of 64, or if a weight is not finite or has a magnitude
    above 458,000.
    """
    check_inputs(weights.shape[1])
    if not torch.all(weights.abs() < _MOST * _HALF.max):
        raise BadInputError("Weights in 4 bits must be finite numbers with a magnitude below 458,000.")
    return _rounded(weights)


def restored(stored: FourBits) -> Tensor:
    """Return the matrix that is stored, float32[N, K]."""
    return (_grouped(stored.integers) * stored.scales.float().unsqueeze(-1)).flatten(-2)


def rounded_weights(weights: Tensor) -> Tensor:
    """Return what `four_bits` stores of a matrix, float32[N, K], where K is a multiple of 64.

    Nothing is checked, since a GPU would have to wait for the answer.
    """
    return restored(_rounded(weights))


def scattered_weights(weights: Tensor, seed: int) -> Tensor:
    """Move the weights of a rounded matrix, float[N, K], at random by less than half a scale, so that it is still rounded to the
    same; returns float32[N, K].

    A training must move a weight that lies on a whole number by half a scale before its rounded value changes. Of scattered
    weights, every small step changes a share. The largest weights of a group stay where they are, and with them its scale.
    """
    stored = _rounded(weights)
    integers = _grouped(stored.integers)
    moved = torch.rand(integers.shape, generator=torch.Generator().manual_seed(seed)) - 0.5
    moved = torch.where(integers.abs() < _MOST, moved * _WITHIN, 0)
    return ((integers + moved) * stored.scales.float().unsqueeze(-1)).flatten(-2)


def check_inputs(inputs: int) -> None:
    """Raise `BadInputError` if a matrix with this number of inputs cannot be stored in 4 bits."""
    if not inputs or inputs % GROUP:
        raise BadInputError(f"Weights in 4 bits need a multiple of {GROUP} inputs, not {inputs}.")


def _rounded(weights: Tensor) -> FourBits:
    grouped = _grouped(weights)
    most = grouped.abs().amax(-1, keepdim=True)
    scales = torch.where(most > 0, (most / _MOST).clamp(min=_HALF.smallest_normal), 0).half()
    integers = (grouped / torch.where(scales > 0, scales.float(), 1)).round().clamp(-_MOST, _MOST)
    return FourBits(integers.to(torch.int8).flatten(-2), scales.squeeze(-1))


def _grouped(numbers: Tensor) -> Tensor:
    """Return float32[N, K / 64, 64] of [N, K]."""
    return numbers.float().reshape(len(numbers), -1, GROUP)
