"""Weights of an ONNX model that are stored in 4 bits (`berdseye.detectors.stance.four_bits`) and computed in 8.

The graph of the model turns stored weights of matrices into the 8-bit integers that it computes with. ONNX Runtime does so once,
when it opens the model with the options of `session_options`; with others it does so at every reading. Rows of the table of words
are unpacked whenever they are read, so that the table stays small in memory.
"""

from collections.abc import Mapping
from math import prod

import numpy as np
import numpy.typing as npt
import torch
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.four_bits import GROUP, LARGE, FourBits, four_bits, restored

_OFFSET, _BITS = 8, 4
_LOW_HALF = (1 << _BITS) - 1
_OPSET = 21
"""The first version of the operators in which groups of 4-bit integers can have scales; the operators that the exporter writes
mean the same in it as in version 20."""
QUANTIZED, STEPS, ZEROS = "_quantized", "_scale", "_zero_point"
"""What the quantiser of ONNX Runtime appends to a weight's name for its integers, their steps and their zero points."""
_PACKED, _SCALES = "_packed", "_group_scales"
_MASK, _SHIFT, _MIDDLE, _GROUPED, _JOINED = (
    f"four_bits_{name}" for name in ("mask", "shift", "middle", "grouped", "joined")
)


def round_weights(model: ModelProto, table: str) -> dict[str, FourBits]:
    """Round the large weights of a float32 model, in place, to what 4 bits can store; return them by name.

    Large weights are those of `MatMul` and `Gemm` with at least 4,096 entries, and the table of words named `table`, float32[n,
    width], of which every row has scales of its own. Raises `BadInputError` as `four_bits` does.
    """
    by_outputs = {table: True}
    for node in model.graph.node:
        if node.op_type in ("MatMul", "Gemm"):
            flags = {entry.name: entry.i for entry in node.attribute}
            by_outputs[node.input[1]] = bool(flags.get("transB", 0))
    found = {}
    for entry in model.graph.initializer:
        if entry.name == table or (entry.name in by_outputs and len(entry.dims) == 2 and prod(entry.dims) >= LARGE):
            weight = torch.tensor(numpy_helper.to_array(entry))
            turned = not by_outputs[entry.name]
            found[entry.name] = stored = four_bits(weight.T if turned else weight)
            whole = restored(stored)
            whole = (whole.T if turned else whole).contiguous()
            entry.CopyFrom(numpy_helper.from_array(whole.numpy(), entry.name))
    return found


def readers_of(model: ModelProto, table: str) -> list[str]:
    """Return the names of the nodes that read rows of a table."""
    return [node.name for node in model.graph.node if node.op_type == "Gather" and node.input[0] == table]


def pack_weights(model: ModelProto, weights: Mapping[str, FourBits], table: str) -> None:
    """Store the weights that `round_weights` returned in 4 bits, in place, after the model was quantised.

    The 8-bit integers of a matrix are computed again from its stored ones, and are equal to them; the table named `table`, which
    must not have been quantised, is read without another rounding.
    """
    matrices = {name: stored for name, stored in weights.items() if name != table}
    replaced = {table, *(name + QUANTIZED for name in matrices)}
    constants = [entry for entry in model.graph.initializer if entry.name not in replaced]
    constants += [constant for name, stored in matrices.items() for constant in _matrix(name, stored)]
    constants += _table(table, weights[table])
    nodes = [node for name in matrices for node in _matrix_nodes(name)]
    readers = readers_of(model, table)
    for node in model.graph.node:
        nodes += _row_nodes(node, table) if node.name in readers else [node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(constants)
    model.graph.node.extend(nodes)
    for operators in model.opset_import:
        if not operators.domain:
            operators.version = max(operators.version, _OPSET)


def unpacked(name: str, constants: Mapping[str, TensorProto]) -> Floats:
    """Return a weight that `pack_weights` stored among the constants of a model: a matrix as float32[inputs, outputs], or a table
    as float32[n, width]."""
    packed, scales = constants[name + _PACKED], torch.tensor(numpy_helper.to_array(constants[name + _SCALES]))
    integers = numpy_helper.to_array(packed)
    if packed.data_type == TensorProto.INT4:
        return restored(FourBits(torch.tensor(integers.astype(np.int8).T), scales.T)).T.numpy()
    halves = np.concatenate([integers & _LOW_HALF, integers >> _BITS], axis=1).astype(np.int8) - _OFFSET
    return restored(FourBits(torch.tensor(halves), scales.squeeze(-1))).numpy()


def _pairs(low: npt.NDArray[np.signedinteger], high: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.uint8]:
    """Return two arrays of integers from 0 to 15 in one, uint8: the first in the low bits."""
    return ((low & _LOW_HALF) | (high & _LOW_HALF) << _BITS).astype(np.uint8)


def _matrix(name: str, stored: FourBits) -> list[TensorProto]:
    """Return the constants of a matrix, which ONNX has by its inputs; a byte has two neighbours, as complements of 2."""
    integers = stored.integers.T.contiguous().numpy()
    flat = integers.ravel().astype(np.int16)
    packed = _pairs(flat[::2], flat[1::2]).tobytes()
    return [
        helper.make_tensor(name + _PACKED, TensorProto.INT4, integers.shape, packed, raw=True),
        numpy_helper.from_array(stored.scales.T.contiguous().numpy(), name + _SCALES),
    ]


def _matrix_nodes(name: str) -> list[NodeProto]:
    """Return what computes the 8-bit integers of a matrix: its numbers in 4 bits, times their scales, divided by their steps."""
    packed, scales, whole = name + _PACKED, f"{name}_float_scales", f"{name}_whole"
    return [
        helper.make_node("Cast", [name + _SCALES], [scales], to=TensorProto.FLOAT),
        helper.make_node("DequantizeLinear", [packed, scales], [whole], axis=0, block_size=GROUP),
        helper.make_node("QuantizeLinear", [whole, name + STEPS, name + ZEROS], [name + QUANTIZED], axis=1),
    ]


def _table(name: str, stored: FourBits) -> list[TensorProto]:
    """Return the constants of a table; a byte has an entry of the first half of a row, and one of the second half."""
    entries, groups = stored.scales.shape
    first, second = np.split(stored.integers.numpy().astype(np.int16) + _OFFSET, 2, axis=1)
    scales = stored.scales.numpy().reshape(entries, groups, 1)
    return [
        numpy_helper.from_array(_pairs(first, second), name + _PACKED),
        numpy_helper.from_array(scales, name + _SCALES),
        numpy_helper.from_array(np.array(_LOW_HALF, dtype=np.uint8), _MASK),
        numpy_helper.from_array(np.array(_BITS, dtype=np.uint8), _SHIFT),
        numpy_helper.from_array(np.array(_OFFSET, dtype=np.float32), _MIDDLE),
        numpy_helper.from_array(np.array([0, 0, groups, GROUP], dtype=np.int64), _GROUPED),
        numpy_helper.from_array(np.array([0, 0, groups * GROUP], dtype=np.int64), _JOINED),
    ]


def _row_nodes(node: NodeProto, table: str) -> list[NodeProto]:
    """Return what reads the rows of a table, float32[1, n, width], in place of a node that reads a float32 table.

    ONNX Runtime cannot read rows of 4-bit integers, so that they are taken from bytes.
    """
    ids, out = node.input[1], node.output[0]
    return [
        helper.make_node("Gather", [table + _PACKED, ids], [f"{out}_packed"]),
        helper.make_node("BitwiseAnd", [f"{out}_packed", _MASK], [f"{out}_first"]),
        helper.make_node("BitShift", [f"{out}_packed", _SHIFT], [f"{out}_second"], direction="RIGHT"),
        helper.make_node("Concat", [f"{out}_first", f"{out}_second"], [f"{out}_both"], axis=-1),
        helper.make_node("Cast", [f"{out}_both"], [f"{out}_float"], to=TensorProto.FLOAT),
        helper.make_node("Sub", [f"{out}_float", _MIDDLE], [f"{out}_integers"]),
        helper.make_node("Reshape", [f"{out}_integers", _GROUPED], [f"{out}_grouped"]),
        helper.make_node("Gather", [table + _SCALES, ids], [f"{out}_group_scales"]),
        helper.make_node("Cast", [f"{out}_group_scales"], [f"{out}_scales"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{out}_grouped", f"{out}_scales"], [f"{out}_scaled"]),
        helper.make_node("Reshape", [f"{out}_scaled", _JOINED], [out]),
    ]
