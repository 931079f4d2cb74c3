"""Write a trained network as the files that a detector reads: an ONNX model, usually with 8-bit weights, and its tokenizer."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor

from berdseye.data.files.atomic import write_with
from berdseye.detectors.stance.detector import INPUTS, OUTPUTS, PAST, kept_outputs
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork
from berdseye.detectors.stance.network_files import MODEL_FILE, TOKENIZER_FILE

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
        """Return the three probabilities, the last layer's features, the mean vector, and the keys of all that was read after
        each layer, then the values.

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
        features = self.network.features(passage, mean)
        probabilities = torch.softmax(self.network.judged(features), dim=-1)
        return probabilities, features, mean, *(keys for keys, _ in kept), *(values for _, values in kept)


def export(network: StanceNetwork, tokenizer: PairTokenizer, folder: Path, *, exact: bool = False) -> None:
    """Write the model and the tokenizer into `folder`.

    Unless the export is `exact`, weights are quantised per channel to 7 bits in 8: with all 8, processors without VNNI
    instructions overflow.
    """
    folder.mkdir(parents=True, exist_ok=True)
    width, heads = network.hidden.out_features, network.heads
    kept = kept_outputs(len(network.layers))
    past = [torch.zeros(1, heads, _READ, width // heads) for _ in kept]
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
        write_with(folder / MODEL_FILE, lambda to: (_copy if exact else _quantise)(whole, to))
    tokenizer.tokenizer.save(str(folder / TOKENIZER_FILE))


def _copy(whole: Path, to: Path) -> None:
    copyfile(whole, to)


def _quantise(whole: Path, to: Path) -> None:
    model = onnx.load(str(whole))
    # The sizes noted by the exporter contradict those that the quantiser infers.
    del model.graph.value_info[:]
    quantize_dynamic(model, to, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
