"""Read a file of `stance` back as a network of PyTorch, so that it can be trained further without the files of its training.

The exporter keeps the names of biases, norms and tables. Matrices of products lose theirs; a product is followed to the bias that
is added to it, which names its matrix.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import ModelProto, NodeProto, numpy_helper
from torch import Tensor
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, PreTrainedModel

from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.compact import QUANTIZED, STEPS, ZEROS, unpacked
from berdseye.detectors.stance.detector import PAST, WITHIN
from berdseye.detectors.stance.network import StanceNetwork
from berdseye.detectors.stance.network_files import MODEL_FILE, unavailable

_BIAS, _WEIGHT = ".bias", ".weight"
_SKIP = "skip"
_TABLES = ("words", "places", "kinds", "nearness")
_PRODUCTS, _BETWEEN = ("MatMul", "MatMulInteger", "Gemm"), ("Cast", "Mul")
_HEADS_OF_A_LAYER = "GatherND"
"""What the exporter writes where a layer takes the distances that belong to its heads: one for each layer, in their order."""


def stored_network(folder: Path) -> StanceNetwork:
    """Return the network of a folder; its weights are those of the file, as float32.

    Raises `UnavailableError` if the file cannot be read, or has another form than those that Berdseye writes.
    """
    try:
        model = onnx.load(str(folder / MODEL_FILE))
        weights, chosen, (heads, _) = _weights(model), _chosen(model), _heads(model)
        with torch.device("meta"):
            network = StanceNetwork(_encoder(model, weights))
            for layer in network.layer_list():
                layer.keep(torch.arange(heads), torch.arange(layer.up.out_features))
                layer.chosen = None
        state = {name: torch.tensor(value) for name, value in weights.items()}
        for number, (layer, one) in enumerate(zip(network.layer_list(), chosen, strict=False)):
            layer.chosen = state[f"layers.{number}.chosen"] = one
        network.load_state_dict(state, assign=True)
    except Exception as error:  # the libraries' errors share no class
        raise unavailable(folder, f"{MODEL_FILE} cannot be read back: {' '.join(str(error).split())}") from error
    return network.eval()


def _weights(model: ModelProto) -> dict[str, Floats]:
    """Return the weights of a file by the names that they have in the network."""
    constants = {entry.name: entry for entry in model.graph.initializer}

    def value(name: str) -> Floats:
        if name in constants:
            return numpy_helper.to_array(constants[name])
        if name + QUANTIZED not in constants:
            return unpacked(name, constants)
        integers, steps, zeros = (numpy_helper.to_array(constants[name + part]) for part in (QUANTIZED, STEPS, ZEROS))
        restored: Floats = (integers.astype(np.float32) - zeros.astype(np.float32)) * steps
        return restored

    vectors = [name for name, entry in constants.items() if name.startswith(WITHIN) and len(entry.dims) == 1]
    found = {name: value(name) for name in vectors if name.endswith((_BIAS, _WEIGHT, _SKIP))}
    for table in _TABLES:
        name = f"{WITHIN}{table}{_WEIGHT}"
        if any(constant.startswith(name) for constant in constants):
            found[name] = value(name)
    readers = {name: node for node in model.graph.node for name in node.input}
    for node in model.graph.node:
        if node.op_type in _PRODUCTS and (bias := _bias_of(node, readers)) in found:
            by_outputs = any(entry.name == "transB" and entry.i for entry in node.attribute)
            matrix = value(node.input[1].removesuffix(QUANTIZED))
            found[bias.removesuffix(_BIAS) + _WEIGHT] = matrix if by_outputs else matrix.T
    return {name.removeprefix(WITHIN): np.array(one, dtype=np.float32) for name, one in found.items()}


def _bias_of(product: NodeProto, readers: Mapping[str, NodeProto]) -> str:
    """Return the name of the bias of a product: its own, or that which the next addition adds to it; "" if there is none."""
    node: NodeProto | None = product
    while node is not None:
        added = [name for name in node.input if name.startswith(WITHIN) and name.endswith(_BIAS)]
        if added:
            return str(added[0])
        node = readers.get(node.output[0]) if node is product or node.op_type in _BETWEEN else None
    return ""


def _encoder(model: ModelProto, weights: Mapping[str, Floats]) -> PreTrainedModel:
    """Return an encoder of the sizes of a file, without weights."""
    words, width = weights["words.weight"].shape
    _, per_head = _heads(model)
    epsilon = next(
        entry.f for node in model.graph.node if node.op_type == "LayerNormalization"
        for entry in node.attribute if entry.name == "epsilon"
    )  # fmt: skip
    sizes = {
        "vocab_size": words,
        "hidden_size": width,
        "num_hidden_layers": sum(name.endswith(".up.bias") for name in weights),
        "intermediate_size": len(weights["layers.0.up.bias"]),
        "num_attention_heads": width // per_head,
        "max_position_embeddings": len(weights["places.weight"]),
        "layer_norm_eps": epsilon,
    }
    if "nearness.weight" in weights:
        return MPNetModel(MPNetConfig(relative_attention_num_buckets=len(weights["nearness.weight"]), **sizes))
    return BertModel(BertConfig(type_vocab_size=len(weights["kinds.weight"]), **sizes))


def _heads(model: ModelProto) -> tuple[int, int]:
    """Return how many heads a layer has, and how many numbers each of them."""
    entry = next(entry for entry in model.graph.input if entry.name.startswith(PAST))
    _, heads, _, numbers = (one.dim_value for one in entry.type.tensor_type.shape.dim)
    return heads, numbers


def _chosen(model: ModelProto) -> list[Tensor]:
    """Return which heads of the base each layer has, int64[heads]; nothing if it has all of them."""
    constants = {entry.name: entry for entry in model.graph.initializer}
    places = [node.input[1] for node in model.graph.node if node.op_type == _HEADS_OF_A_LAYER]
    return [torch.tensor(numpy_helper.to_array(constants[name])).flatten() for name in places]
