"""Weights of `stance` that are stored in 4 bits: how they are rounded, and that the model computes with them in 8 bits."""

import copy
from collections import Counter
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import helper, numpy_helper

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.compact import pack_weights, round_weights
from berdseye.detectors.stance.detector import StanceDetector, session_options
from berdseye.detectors.stance.export import WORDS as TABLE
from berdseye.detectors.stance.export import export
from berdseye.detectors.stance.four_bits import GROUP, LARGE, four_bits, restored, rounded_weights, scattered_weights
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork
from berdseye.detectors.stance.network_files import MODEL_FILE
from berdseye.detectors.stance.training import stance_probabilities
from tests.detectors.tiny_bases import TEXTS, WORDS, tiny_bert, tiny_mpnet

CARD = '{"threshold": 0.5, "threshold_source": "none", "measured": "", "calibration": [1, 0]}'
PAIRS = [Pair(passage, one) for passage, perspectives in TEXTS for one in perspectives]
VALUES = st.one_of(st.just(0.0), st.floats(-4e5, 4e5, width=32), st.floats(-1, 1, width=32))
MATRICES = st.tuples(st.integers(1, 3), st.sampled_from([1, 2, 64])).flatmap(
    lambda shape: arrays(np.float32, (shape[1], GROUP * shape[0]), elements=VALUES, fill=st.just(0.0))
)


@given(MATRICES)
def test_an_error_is_at_most_half_a_scale(weight: Floats) -> None:
    stored = four_bits(torch.from_numpy(weight))
    found = restored(stored).numpy()
    halves = np.repeat(stored.scales.double().numpy(), GROUP, axis=1) / 2
    assert np.all(np.abs(found.astype(np.float64) - weight) <= halves * (1 + 1e-6))
    assert np.all(found[weight == 0] == 0)
    assert int(stored.integers.abs().max()) <= 7
    assert stored.integers.shape == weight.shape
    assert (stored.integers.dtype, stored.scales.dtype) == (torch.int8, torch.float16)


@given(MATRICES, st.floats(0.125, 8))
def test_the_largest_weight_of_a_group_has_the_largest_integer(weight: Floats, factor: float) -> None:
    weight = np.clip(weight * np.float32(factor), -4e5, 4e5)
    most = np.abs(weight).reshape(len(weight), -1, GROUP).max(axis=2)
    integers = four_bits(torch.from_numpy(weight)).integers.abs().reshape(len(weight), -1, GROUP).amax(2)
    assert np.all(integers.numpy()[most > 1e-3] == 7)


@given(MATRICES, st.sampled_from([1.0, 1e-3, 1e-5, 1e-8]))
def test_a_training_computes_with_what_a_file_stores(weight: Floats, factor: float) -> None:
    """Also of matrices of zeros and of tiny numbers; what was stored is stored again as it is."""
    weight = weight * np.float32(factor)
    trained = rounded_weights(torch.from_numpy(weight))
    for turned in (False, True):
        model = product(weight.T if turned else weight, by_outputs=not turned)
        stored = (
            round_weights(model, "table")["weight"] if weight.size >= LARGE else four_bits(torch.from_numpy(weight))
        )
        assert torch.equal(restored(stored), trained)
        if weight.size >= LARGE:
            found = numpy_helper.to_array(model.graph.initializer[0])
            assert np.array_equal(found.T if turned else found, trained.numpy())
    assert torch.equal(rounded_weights(trained), trained)


@given(MATRICES, st.sampled_from([1.0, 1e-3, 1e-5, 1e-8]), st.integers(0, 9))
def test_scattered_weights_are_rounded_to_what_they_were(weight: Floats, factor: float, seed: int) -> None:
    trained = rounded_weights(torch.from_numpy(weight * np.float32(factor)))
    moved = scattered_weights(trained, seed)
    assert torch.equal(rounded_weights(moved), trained)
    groups = trained.reshape(len(trained), -1, GROUP)
    inner = (groups.abs() < groups.abs().amax(-1, keepdim=True)) & (groups.abs().amax(-1, keepdim=True) > 1e-3)
    changed = (moved != trained).reshape(groups.shape)[inner].float()
    assert not len(changed) or changed.mean() > 0.9, "all but the largest ones move"


def product(weight: Floats, *, by_outputs: bool) -> onnx.ModelProto:
    """Return a model of one product with a matrix, which is by its inputs unless it is `by_outputs`."""
    node = helper.make_node("Gemm", ["x", "weight"], ["y"], transB=int(by_outputs))
    constant = numpy_helper.from_array(np.ascontiguousarray(weight), "weight")
    return helper.make_model(helper.make_graph([node], "graph", [], [], [constant]))


def test_integers_are_the_nearest_ones_of_their_scale() -> None:
    weight = torch.zeros(1, 2 * GROUP)
    weight[0, [0, 3, GROUP, GROUP + 1]] = torch.tensor([7, -2.4, -14, 0.9])
    integers, scales = four_bits(weight)
    assert scales.tolist() == [[1, 2]]
    assert integers[0, [0, 3, GROUP, GROUP + 1]].tolist() == [7, -2, -7, 0]
    assert int(integers.count_nonzero()) == 3


@pytest.mark.parametrize("inputs", [0, 1, 96])
def test_a_number_of_inputs_that_is_no_multiple_of_64_is_refused(inputs: int) -> None:
    with pytest.raises(BadInputError, match=f"a multiple of 64 inputs, not {inputs}"):
        four_bits(torch.ones(3, inputs))


@pytest.mark.parametrize("value", [np.nan, np.inf, 5e5])
def test_a_weight_that_16_bits_cannot_scale_is_refused(value: float) -> None:
    with pytest.raises(BadInputError, match="must be finite"):
        four_bits(torch.full((1, GROUP), value))


def rounded(network: StanceNetwork) -> StanceNetwork:
    """Return a copy of a network whose large weights are what 4 bits can store."""
    out = copy.deepcopy(network)
    inner = [part for layer in out.layers for part in layer.modules() if isinstance(part, torch.nn.Linear)]
    with torch.no_grad():
        for part in (*inner, out.hidden, out.words):
            part.weight.copy_(rounded_weights(part.weight))
    return out


class Exported(NamedTuple):
    """The folders of a network that was exported in 4 bits, and of its rounded weights in 8; and the rounded network."""

    four: Path
    eight: Path
    network: StanceNetwork
    tokenizer: PairTokenizer


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """An MPNet of two layers and random weights, exported."""
    folder = tmp_path_factory.mktemp("exported")
    base = tiny_mpnet(folder / "base")
    torch.manual_seed(1)
    network, tokenizer = StanceNetwork(base).eval(), PairTokenizer(base)
    out = Exported(folder / "four", folder / "eight", rounded(network), tokenizer)
    export(network, tokenizer, out.four, bits=4)
    export(out.network, tokenizer, out.eight)
    for made in (out.four, out.eight):
        (made / "stance.json").write_text(CARD)
    return out


def test_a_file_in_4_bits_reads_as_that_of_its_rounded_weights(exported: Exported) -> None:
    four, eight = (StanceDetector(folder).stances(PAIRS) for folder in (exported.four, exported.eight))
    wanted = stance_probabilities(exported.network, exported.tokenizer, [(p.passage, p.perspective) for p in PAIRS])
    assert np.abs(four - eight).max() < 2e-3  # rows of words are not rounded to 8 bits
    assert np.abs(four - wanted).max() < 0.05
    assert np.ptp(wanted[:, 0]) > 5e-3


def test_matrices_are_unpacked_when_the_file_is_opened(exported: Exported, tmp_path: Path) -> None:
    def opened(folder: Path) -> onnx.ModelProto:
        options = session_options()
        options.optimized_model_filepath = str(tmp_path / f"{folder.name}.onnx")
        options.log_severity_level = 3  # it warns that the file is for this processor
        onnxruntime.InferenceSession(str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)

    four, eight = opened(exported.four), opened(exported.eight)
    counts = [Counter(node.op_type for node in model.graph.node) for model in (four, eight)]
    assert counts[0]["BitShift"] == counts[0]["BitwiseAnd"] == 1, "the rows of words"
    for kind in ("DynamicQuantizeMatMul", "MatMulIntegerToFloat", "MatMulInteger", "QuantizeLinear"):
        assert counts[0][kind] == counts[1][kind]
    integers = [
        {e.name: numpy_helper.to_array(e) for e in model.graph.initializer if e.data_type == onnx.TensorProto.INT8}
        for model in (four, eight)
    ]
    matrices = {name for name, values in integers[1].items() if values.size >= GROUP * GROUP}
    assert len(matrices) == 2 * 6 + 1
    for name in matrices:
        assert np.array_equal(integers[0][name], integers[1][name])


def test_the_large_weights_of_a_file_take_4_bits(exported: Exported) -> None:
    graph = onnx.load(str(exported.four / MODEL_FILE)).graph
    kinds = {entry.name: entry.data_type for entry in graph.initializer if prod(entry.dims) >= GROUP * GROUP}
    assert sum(kind == onnx.TensorProto.INT4 for kind in kinds.values()) == 2 * 6 + 1
    assert onnx.TensorProto.INT8 not in kinds.values()
    words = {entry.name: list(entry.dims) for entry in graph.initializer if entry.name.startswith(TABLE)}
    assert words == {f"{TABLE}_packed": [len(WORDS) + 4, GROUP // 2], f"{TABLE}_group_scales": [len(WORDS) + 4, 1, 1]}


def test_rows_of_words_are_those_that_were_stored() -> None:
    table = np.random.default_rng(0).normal(size=(9, 2 * GROUP)).astype(np.float32)
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Gather", ["table", "ids"], ["rows"], name="read")],
            "graph",
            [helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, [1, "n"])],
            [helper.make_tensor_value_info("rows", onnx.TensorProto.FLOAT, [1, "n", 2 * GROUP])],
            [numpy_helper.from_array(table, "table")],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    weights = round_weights(model, "table")
    pack_weights(model, weights, "table")
    session = onnxruntime.InferenceSession(model.SerializeToString(), session_options())
    (rows,) = session.run(None, {"ids": np.array([[3, 8, 0, 3]])})
    assert np.array_equal(rows[0], restored(weights["table"])[[3, 8, 0, 3]].numpy())


def test_an_export_in_4_bits_names_what_it_cannot_store(tmp_path: Path) -> None:
    base = tiny_bert(tmp_path / "base")
    network, tokenizer = StanceNetwork(base).eval(), PairTokenizer(base)
    with pytest.raises(BadInputError, match="a multiple of 64 inputs, not 32"):
        export(network, tokenizer, tmp_path / "four", bits=4)
    with pytest.raises(BadInputError, match="An exact export has 32-bit weights"):
        export(network, tokenizer, tmp_path / "four", bits=4, exact=True)
