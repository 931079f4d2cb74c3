"""Write a trained network as the files that ship: an ONNX model with 8-bit weights, its tokenizer, and the card."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from berdseye.data.files.atomic import write_with
from berdseye.detectors.stance.detector import MODEL_FILE, TOKENIZER_FILE
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, padded

_EXAMPLES: Sequence[tuple[str, str]] = (("a passage of some words", "a perspective"), ("another", "one"))


def export(network: StanceNetwork, tokenizer: PairTokenizer, folder: Path) -> None:
    """Write the model and the tokenizer into `folder`; the weights are quantised to 8-bit integers per channel."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = padded(tokenizer.ids(_EXAMPLES))
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with TemporaryDirectory() as scratch:
        exact = Path(scratch) / "model.onnx"
        torch.onnx.export(
            _Probabilities(network).eval(),
            rows,
            str(exact),
            dynamo=True,
            dynamic_shapes=(sizes,) * len(rows),
            input_names=["ids", "mask", "types"],
            output_names=["probabilities"],
            external_data=False,
            verbose=False,
        )
        model = onnx.load(str(exact))
        # The sizes noted by the exporter contradict those that the quantiser infers.
        del model.graph.value_info[:]
        write_with(
            folder / MODEL_FILE, lambda to: quantize_dynamic(model, to, weight_type=QuantType.QInt8, per_channel=True)
        )
    tokenizer.tokenizer.backend_tokenizer.save(str(folder / TOKENIZER_FILE))


class _Probabilities(torch.nn.Module):
    def __init__(self, network: StanceNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.network(ids, mask, types), dim=-1)
