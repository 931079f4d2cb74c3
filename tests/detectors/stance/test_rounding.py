"""Numbers of fewer bits in the training of `stance`: gradients in half precision, weights of 4 bits and inputs of 8."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import nn

from berdseye.data.errors import BadInputError
from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.four_bits import rounded_weights
from berdseye.detectors.stance.network import Packed, PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.rounding import Copy, check_sizes, rounded_inputs
from berdseye.detectors.stance.training import CHECKPOINT, partial_loss, train
from tests.detectors.tiny_bases import TEXTS, tiny_bert, tiny_mpnet
from tests.detectors.tiny_training import TRAINING, begun, labelled

ALLOWED = torch.tensor([[True, False, False], [False, True, True], [False, False, True], [True, False, False]])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_mpnet(tmp_path_factory.mktemp("base"))


@pytest.fixture
def network(base: Path) -> StanceNetwork:
    made, _ = begun(base)
    for parameter in made.frozen():
        parameter.requires_grad_(False)
    return made


@pytest.fixture(scope="module")
def batch(base: Path) -> Packed:
    tokenizer = PairTokenizer(base)
    return packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])


def gradients(network: StanceNetwork, copy: Copy, batch: Packed) -> torch.Tensor:
    """Return the gradients of a network that a copy of it finds."""
    partial_loss(copy.read(batch)[0], ALLOWED).backward()  # type: ignore[no-untyped-call]
    copy.hand_over_gradients()
    return torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])


@pytest.mark.parametrize("half", [False, True], ids=["full precision", "half precision"])
@pytest.mark.parametrize("rounds", [False, True], ids=["exact", "rounded"])
def test_gradients_of_a_copy_are_those_of_the_network(
    network: StanceNetwork, batch: Packed, half: bool, rounds: bool
) -> None:
    partial_loss(network(batch), ALLOWED).backward()  # type: ignore[no-untyped-call]
    exact = torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
    network.zero_grad()
    copy = Copy(network, half=half)
    if rounds:
        copy.round_numbers()
    found = gradients(network, copy, batch)
    assert found.dtype == torch.float32
    assert torch.nn.functional.cosine_similarity(found, exact, dim=0) > (0.9 if rounds else 0.99)
    assert all(parameter.grad is None for parameter in copy.copied.parameters())
    with torch.no_grad():
        network.skip.add_(1)
    copy.follow()
    assert torch.allclose(copy.read(batch)[0], network(batch), atol=0.1)


def test_a_copy_has_large_weights_in_4_bits_and_the_network_keeps_its_own(network: StanceNetwork) -> None:
    before = {name: value.clone() for name, value in network.state_dict().items()}
    copy = Copy(network)
    assert all(torch.equal(value, before[name]) for name, value in copy.copied.state_dict().items())
    copy.round_numbers()
    large = {f"{name}.weight" for name, part in network.named_modules() if isinstance(part, nn.Linear)} - {"out.weight"}
    assert len(large) == 2 * 6 + 1
    for name, value in copy.copied.state_dict().items():
        assert torch.equal(value, rounded_weights(before[name]) if name in large else before[name]), name
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


@given(arrays(np.float32, (2, 3, 4), elements=st.floats(-1e3, 1e3, width=32)))
def test_inputs_have_256_levels_of_their_text(x: Floats) -> None:
    found = rounded_inputs(torch.from_numpy(x)).numpy()
    for text, rounded in zip(x, found, strict=True):
        spread = max(float(text.max()), 0) - min(float(text.min()), 0)
        assert np.abs(rounded - text).max() <= spread / 255 * 0.51 + 1e-6
        assert np.allclose(rounded[text == 0], 0)
    alone = rounded_inputs(torch.from_numpy(x[:1])).numpy()
    assert np.array_equal(alone[0], found[0])


def test_a_network_of_other_sizes_is_refused(network: StanceNetwork, tmp_path: Path) -> None:
    check_sizes(network)
    with pytest.raises(BadInputError, match="a multiple of 64 inputs, not 32"):
        check_sizes(StanceNetwork(tiny_bert(tmp_path)))


def test_a_rounded_training_resumes_and_does_not_continue_an_exact_one(base: Path, tmp_path: Path) -> None:
    settings = TRAINING._replace(steps=4, rounded=True)
    exact, tokenizer = begun(base)
    train(exact, tokenizer, labelled(), settings._replace(rounded=False), tmp_path)
    made = (tmp_path / CHECKPOINT).read_bytes()
    network, _ = begun(base)
    assert train(network, tokenizer, labelled(), settings, tmp_path) == 4
    assert (tmp_path / CHECKPOINT).read_bytes() != made
    assert torch.equal(network.words.weight, rounded_weights(network.words.weight))
    weight = network.layers[0].get_parameter("up.weight")
    assert not torch.equal(weight, rounded_weights(weight)), "its own weights are not rounded"
    again, _ = begun(base)
    assert train(again, tokenizer, {}, settings, tmp_path) == 4  # finished: nothing is drawn
    assert torch.equal(again.layers[0].get_parameter("up.weight"), weight)
