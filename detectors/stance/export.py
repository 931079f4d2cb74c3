"""Write a trained network as the files that a detector reads: an ONNX model, usually with 8-bit weights, and its tokenizer."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Literal

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_with
from berdseye.detectors.stance.compact import pack_weights, readers_of, round_weights
from berdseye.detectors.stance.detector import INPUTS, OUTPUTS, PAST, WITHIN, kept_outputs
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork
from berdseye.detectors.stance.network_files import MODEL_FILE, TOKENIZER_FILE

WORDS = f"{WITHIN}words.weight"
"""The name of the table of words in the graph, as `Reader` holds it."""
_READ, _NEW = 5, 7
"""Lengths of the texts that the exporter traces; any length can be read afterwards, none at all included."""


class Reader(torch.nn.Module):
    """One graph for both texts: a passage is read with nothing before it, a perspective with the passage before it."""

    def __init__(self, network: StanceNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, ids: Tensor, places: Tensor, kinds: Tensor, passage: Tensor, past: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """Return the three probabilities, the mean vector, and the keys of all that was read after each layer, then the values.

        `ids`, `places` and `kinds` are int64[1, n]; `passage` is the mean vector of the passage, float32[1, width]; `past` has
        the keys of each layer, then the values, float32[1, heads, length, width / heads].
        """
        layers = len(self.network.layers)
        x = self.network.embedded(ids, places, kinds)
        near = self.network.near(places, torch.arange(past[0].shape[2] + ids.shape[1]).unsqueeze(0))
        kept = []
        for layer, keys, values in zip(self.network.layers, past[:layers], past[layers:], strict=True):
            x, read = layer(x, near, (keys, values))
            kept.append(read)
        mean = x.mean(1)
        probabilities = torch.softmax(self.network.logits(passage, mean), dim=-1)
        return probabilities, mean, *(keys for keys, _ in kept), *(values for _, values in kept)


def export(
    network: StanceNetwork, tokenizer: PairTokenizer, folder: Path, *, exact: bool = False, bits: Literal[4, 8] = 8
) -> None:
    """Write the model and the tokenizer into `folder`.

    Unless the export is `exact`, weights are quantised per channel to 7 bits in 8: with all 8, processors without VNNI
    instructions overflow. With `bits=4`, large weights are first rounded to 4 bits, and stored so; the model is computed in 8
    bits, as fast as with `bits=8`. Raises `BadInputError` if `exact` is combined with `bits=4`, or if a large matrix has a
    number of inputs that is not a multiple of 64.
    """
    if exact and bits == 4:
        raise BadInputError("An exact export has 32-bit weights, and cannot be stored in 4 bits.")
    folder.mkdir(parents=True, exist_ok=True)
    width = network.width
    kept = kept_outputs(len(network.layers))
    past = [
        torch.zeros(1, layer.heads, _READ, width // network.heads)
        for layer in (*network.layer_list(), *network.layer_list())
    ]
    texts = tuple(torch.ones(1, _NEW, dtype=torch.long) for _ in range(3))
    dynamic = torch.export.Dim.DYNAMIC
    with TemporaryDirectory() as scratch:
        whole = Path(scratch) / "model.onnx"
        torch.onnx.export(
            Reader(network).eval(),
            (*texts, torch.zeros(1, width), past),
            str(whole),
            dynamo=True,
            dynamic_shapes=({1: dynamic}, {1: dynamic}, {1: dynamic}, None, [{2: dynamic} for _ in kept]),
            input_names=[*INPUTS, *(PAST + name for name in kept)],
            output_names=[*OUTPUTS, *kept],
            external_data=False,
            verbose=False,
        )
        write = _copy if exact else _quantise if bits == 8 else _quantise_and_pack
        write_with(folder / MODEL_FILE, lambda to: write(whole, to))
    tokenizer.tokenizer.save(str(folder / TOKENIZER_FILE))


def _copy(whole: Path, to: Path) -> None:
    copyfile(whole, to)


def _quantise(whole: Path, to: Path) -> None:
    _write_in_8_bits(onnx.load(str(whole)), to)


def _quantise_and_pack(whole: Path, to: Path) -> None:
    model = onnx.load(str(whole))
    weights = round_weights(model, WORDS)
    in_8_bits = whole.with_name("quantised.onnx")
    _write_in_8_bits(model, in_8_bits, readers_of(model, WORDS))
    quantised = onnx.load(str(in_8_bits))
    pack_weights(quantised, weights, WORDS)
    onnx.save(quantised, str(to))


def _write_in_8_bits(model: onnx.ModelProto, to: Path, left: Sequence[str] = ()) -> None:
    # The sizes noted by the exporter contradict those that the quantiser infers; its notes on nodes take 0.2 MB.
    del model.graph.value_info[:]
    for node in model.graph.node:
        del node.metadata_props[:]
    quantize_dynamic(
        model, to, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True, nodes_to_exclude=list(left)
    )
