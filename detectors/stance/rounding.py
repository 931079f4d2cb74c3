"""Numbers of fewer bits in the training of `stance`: gradients in bfloat16, and weights and inputs as they are in its file.

The file keeps weights in 4 bits (`berdseye.detectors.stance.four_bits`) and computes products in 8 bits, with one scale for all
inputs of a product. A network that is trained with numbers rounded in this way loses little by it (Jacob et al., CVPR 2018);
gradients pass the rounding unchanged.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.four_bits import LARGE, check_inputs, rounded_weights, scattered_weights
from berdseye.detectors.stance.network import Packed, StanceNetwork

UNROUNDED = "unrounded.pt"
"""The file of a work folder with the weights of a network before they were rounded to 4 bits."""
_HINT = f"Name {UNROUNDED} of the work folder in which the network was made, or leave out --unrounded."
_LEVELS = 255
_LEAST_SPREAD = 1e-8


class Copy(nn.Module):
    """A copy of a network to find the gradients of the network's own weights with, in bfloat16 if `half`.

    After `round_numbers`, it has large weights in 4 bits and, if asked for, rounds the inputs of its products to 8 bits.
    """

    def __init__(self, network: StanceNetwork, *, half: bool = False) -> None:
        super().__init__()
        self.copied = deepcopy(network)
        if half:
            in_half(self.copied)
        own, copies = list(network.parameters()), list(self.copied.parameters())
        trained = [place for place, parameter in enumerate(own) if parameter.requires_grad]
        self._own: list[Tensor] = [own[place] for place in trained]
        self._copies: list[Tensor] = [copies[place] for place in trained]
        large = {id(weight) for weight in _large_weights(network)}
        self._large = [place for place, parameter in enumerate(self._own) if id(parameter) in large]
        self._rounds = False
        self.follow()

    def read(self, packed: Packed) -> tuple[Tensor, list[Tensor]]:
        """Return the logits, float32[n_perspectives, 3], and the vectors after each layer, as the network does."""
        return self.copied.read(packed)

    def round_numbers(self, *, inputs: bool = True) -> None:
        """Round large weights from now on, and, if `inputs`, the inputs of products."""
        if not self._rounds:
            self._rounds = True
            for part in _products(self.copied) if inputs else ():
                part.register_forward_pre_hook(_round_inputs)
            self.follow()

    def hand_over_gradients(self) -> None:
        """Give the network the gradients that were found with the copy, and forget them here."""
        for own, copy in zip(self._own, self._copies, strict=True):
            own.grad, copy.grad = None if copy.grad is None else copy.grad.to(own.dtype), None

    @torch.no_grad()
    def follow(self) -> None:
        """Copy the network's weights, rounded."""
        torch._foreach_copy_(self._copies, self._own)
        if self._rounds:
            for place in self._large:
                self._copies[place].copy_(rounded_weights(self._own[place]))


def in_half(network: StanceNetwork) -> StanceNetwork:
    """Turn a network's encoder to bfloat16, and leave its head in full precision; returns the same network."""
    network.bfloat16()
    for parameter in network.head():
        parameter.data = parameter.data.float()
    return network


def check_sizes(network: StanceNetwork) -> None:
    """Raise `BadInputError` if a network has a large matrix that cannot be stored in 4 bits."""
    for weight in (network.words.weight, *_large_weights(network)):
        check_inputs(weight.shape[1])


@torch.no_grad()
def scatter(network: StanceNetwork, seed: int) -> None:
    """Move the large weights of a network that was stored in 4 bits at random, so that they are still rounded to the same."""
    for number, weight in enumerate(_large_weights(network)):
        weight.copy_(scattered_weights(weight, seed + number))


def keep_unrounded(network: StanceNetwork, folder: Path) -> None:
    """Write the weights of a network that will be stored in 4 bits to `UNROUNDED` in a folder, for `unround`."""
    torch.save(network.state_dict(), folder / UNROUNDED)


@torch.no_grad()
def unround(network: StanceNetwork, path: Path) -> None:
    """Give a network that was stored in 4 bits the weights that it had before, as `keep_unrounded` writes them.

    Raises `BadInputError` if the file cannot be read, or has weights of a network of another form, or if they are rounded to
    others than the large weights that the network has.
    """
    check_sizes(network)
    stored = [weight.clone() for weight in _large_weights(network)]
    try:
        weights = torch.load(path, weights_only=True, map_location="cpu")
        network.load_state_dict({name: weights[name] for name in network.state_dict()})
    except Exception as error:  # those of the library share no class
        raise BadInputError(
            "The weights before rounding cannot be read, or are of another network.", where=path, hint=_HINT
        ) from error
    if not all(map(torch.equal, map(rounded_weights, _large_weights(network)), stored)):
        raise BadInputError(
            "The weights before rounding are not rounded to those of the network.", where=path, hint=_HINT
        )


def rounded_inputs(x: Tensor) -> Tensor:
    """Return float[n, ...] with the numbers of each of the n texts rounded to 256 levels from its least to its largest one, zero
    among them."""
    rows = x.detach().flatten(1).float()
    low, high = rows.amin(1).clamp(max=0), rows.amax(1).clamp(min=0)
    scales = (high - low).clamp(min=_LEAST_SPREAD) / _LEVELS
    zeros = (-low / scales).round().to(torch.int32)
    return torch.fake_quantize_per_channel_affine(x, scales, zeros, 0, 0, _LEVELS)


def _round_inputs(part: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    del part
    return (rounded_inputs(inputs[0]), *inputs[1:])


def _products(network: StanceNetwork) -> list[nn.Linear]:
    return [part for part in network.modules() if isinstance(part, nn.Linear)]


def _large_weights(network: StanceNetwork) -> list[Tensor]:
    """Return the weights of products that the file stores in 4 bits."""
    return [part.weight for part in _products(network) if part.weight.numel() >= LARGE]
