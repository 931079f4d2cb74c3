"""Write a trained network as the files that a detector reads: an ONNX model, usually with 8-bit weights, and its tokenizer."""

from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor

from berdseye.data.files.atomic import write_with
from berdseye.detectors.stance.detector import INPUTS, OUTPUTS
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
        self, ids: Tensor, places: Tensor, kinds: Tensor, keys: Tensor, values: Tensor, passage: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return the three probabilities, the last layer's features, the mean vector, and the keys and values of all that was
        read.

        `ids`, `places` and `kinds` are int64[1, n]; `keys` and `values` float32[layers, 1, heads, length, width / heads];
        `passage` is the mean vector of the passage, float32[1, width].
        """
        x = self.network.embedded(ids, places, kinds)
        near = self.network.near(places, torch.arange(keys.shape[3] + ids.shape[1]).unsqueeze(0))
        kept = []
        for number, layer in enumerate(self.network.layers):
            x, read = layer(x, near, (keys[number], values[number]))
            kept.append(read)
        mean = x.mean(1)
        features = self.network.features(passage, mean)
        probabilities = torch.softmax(self.network.judged(features), dim=-1)
        return probabilities, features, mean, torch.stack([k for k, _ in kept]), torch.stack([v for _, v in kept])


def export(network: StanceNetwork, tokenizer: PairTokenizer, folder: Path, *, exact: bool = False) -> None:
    """Write the model and the tokenizer into `folder`.

    Unless the export is `exact`, weights are quantised per channel to 7 bits in 8: with all 8, processors without VNNI
    instructions overflow.
    """
    folder.mkdir(parents=True, exist_ok=True)
    width, heads = network.hidden.out_features, network.heads
    past = torch.zeros(len(network.layers), 1, heads, _READ, width // heads)
    texts = tuple(torch.ones(1, _NEW, dtype=torch.long) for _ in range(3))
    dynamic = torch.export.Dim.DYNAMIC
    with TemporaryDirectory() as scratch:
        whole = Path(scratch) / "model.onnx"
        torch.onnx.export(
            Reader(network).eval(),
            (*texts, past, past.clone(), torch.zeros(1, width)),
            str(whole),
            dynamo=True,
            dynamic_shapes=({1: dynamic}, {1: dynamic}, {1: dynamic}, {3: dynamic}, {3: dynamic}, None),
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
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
