"""A smaller network of `stance` from a trained one, which then teaches it: layers keep the heads and neurons that matter most.

How much a head or a neuron matters is measured on texts, as the size of what it adds to the vectors of its layer (after Minitron,
Muralidharan et al., NeurIPS 2024). All layers stay: of networks with half of the weights, those with all layers came nearer to
their teachers, and sooner, than those with half of the layers.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.network import Packed, StanceNetwork


class Importance(NamedTuple):
    """How much the heads of a layer matter, float32[n_heads], and its neurons, float32[n_neurons]; only their order counts."""

    heads: Tensor
    neurons: Tensor


def check_narrower(network: StanceNetwork, heads: int, neurons: int) -> None:
    """Raise `BadInputError` if a layer of a network has not so many heads and neurons."""
    for layer in network.layer_list():
        for wanted, there, what in ((heads, layer.heads, "heads"), (neurons, layer.up.out_features, "neurons")):
            if not 0 < wanted <= there:
                raise BadInputError(
                    f"The layers of the base have {there:,} {what}, so that {wanted:,} of them cannot stay."
                )


@torch.no_grad()
def importance(network: StanceNetwork, texts: Iterable[Packed]) -> list[Importance]:
    """Return how much the heads and neurons of each layer matter for packed texts, on the device of the network.

    It is the root mean square of a neuron's output over the tokens, or the root of the sum of those of a head's outputs, each
    times the norm of its weights in the next product.
    """
    layers = network.layer_list()
    squares = {part: torch.zeros(part.in_features) for layer in layers for part in (layer.joined, layer.down)}

    def add(part: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(part, nn.Linear)
        squares[part] += inputs[0].float().square().mean((0, 1)).cpu()

    hooks = [part.register_forward_pre_hook(add) for part in squares]
    try:
        for packed in texts:
            network.read(packed)
    finally:
        for hook in hooks:
            hook.remove()
    found = {part: total * part.weight.float().square().sum(0).cpu() for part, total in squares.items()}
    return [
        Importance(found[layer.joined].reshape(layer.heads, -1).sum(1).sqrt(), found[layer.down].sqrt())
        for layer in layers
    ]


def narrowed(
    network: StanceNetwork, heads: int, neurons: int, texts: Iterable[Packed], *, device: str = "cpu"
) -> StanceNetwork:
    """Return a copy of a network with so many heads and neurons in each layer, those that matter most for packed texts, which
    are read on a device, as PyTorch names it.

    Raises `BadInputError` as `check_narrower` does.
    """
    check_narrower(network, heads, neurons)
    copied = deepcopy(network).to(device)
    found = importance(copied, (packed.on(device) for packed in texts))
    copied.cpu()
    for layer, (of_heads, of_neurons) in zip(copied.layer_list(), found, strict=True):
        layer.keep(_largest(of_heads, heads), _largest(of_neurons, neurons))
    return copied


def _largest(values: Tensor, count: int) -> Tensor:
    return values.topk(count).indices.sort().values
