"""Files of `stance` are read back as the networks that they are, and other biases and norms take the place of theirs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pytest
import torch

from berdseye.data.errors import StaleError, UnavailableError
from berdseye.data.records import Pair
from berdseye.detectors.stance.adaptation import (
    ADAPTATION_FILE,
    NUMBERS_FILE,
    Adaptation,
    read_adaptation,
    write_adaptation,
)
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.export import export
from berdseye.detectors.stance.four_bits import LARGE, rounded_weights
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.network_files import CARD_FILE, MODEL_FILE, shipped_folder
from berdseye.detectors.stance.pruning import narrowed
from berdseye.detectors.stance.stored_network import stored_network
from berdseye.detectors.stance.training import stance_probabilities
from tests.detectors.tiny_bases import TEXTS, tiny_bert, tiny_mpnet, varied

CARD = json.dumps({"calibration": (1, 0), "threshold": 0.5, "threshold_source": "", "measured": ""})
PAIRS = [Pair(passage, one) for passage, perspectives in TEXTS for one in perspectives[:2]]
TEXTS_READ = [(pair.passage, pair.perspective) for pair in PAIRS]
Kind = Literal["bert", "mpnet", "narrow"]


class Made(NamedTuple):
    """A network with random biases and norms, so that each of them matters, and its tokenizer."""

    network: StanceNetwork
    tokenizer: PairTokenizer


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bases")
    return {"bert": tiny_bert(folder / "bert"), "mpnet": tiny_mpnet(folder / "mpnet")}


def made(bases: dict[str, Path], kind: Kind) -> Made:
    base = bases["bert" if kind == "bert" else "mpnet"]
    torch.manual_seed(0)
    network, tokenizer = StanceNetwork(base), PairTokenizer(base)
    if kind == "narrow":
        texts = packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])
        network = narrowed(network, 3, 64, [texts])
    varied(network)
    if network.nearness is not None:
        torch.nn.init.normal_(network.nearness.weight)
    return Made(network.eval(), tokenizer)


def written(one: Made, folder: Path, bits: Literal[4, 32] = 32) -> Path:
    if bits == 4:
        export(*one, folder, bits=4)
    else:
        export(*one, folder, exact=True)
    (folder / CARD_FILE).write_text(CARD, encoding="utf-8")
    return folder


def changed(network: StanceNetwork) -> Adaptation:
    """Give the biases and norms of a network other values, and return these as an adaptation."""
    with torch.no_grad():
        for one in network.parameters():
            if one.ndim == 1:
                one.mul_(torch.empty_like(one).uniform_(0.5, 1.5))
    numbers = {name: one.detach().numpy().copy() for name, one in network.named_parameters() if one.ndim == 1}
    return Adaptation("", numbers, 0.5, "")


@pytest.mark.parametrize("kind", ["bert", "mpnet", "narrow"])
def test_an_exact_file_is_read_back_as_its_network(bases: dict[str, Path], kind: Kind, tmp_path: Path) -> None:
    one = made(bases, kind)
    state, found = one.network.state_dict(), stored_network(written(one, tmp_path))
    assert {name: value.shape for name, value in found.state_dict().items()} == {n: v.shape for n, v in state.items()}
    assert all(torch.equal(value, state[name]) for name, value in found.state_dict().items())
    texts = packed([one.tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])
    with torch.inference_mode():
        assert torch.allclose(found(texts), one.network(texts), atol=1e-6)


@pytest.mark.parametrize("kind", ["mpnet", "narrow"])
def test_a_file_of_4_bits_is_read_back_as_what_it_stores(bases: dict[str, Path], kind: Kind, tmp_path: Path) -> None:
    one = made(bases, kind)
    export(*one, tmp_path, bits=4)
    found = stored_network(tmp_path).state_dict()
    for name, value in one.network.state_dict().items():
        if value.ndim == 2 and (name == "words.weight" or (value.numel() >= LARGE and "places" not in name)):
            assert torch.equal(found[name], rounded_weights(value)), name
        elif value.ndim == 2:
            assert torch.allclose(found[name], value, atol=float(value.abs().max()) / 60), name
        else:
            assert torch.equal(found[name], value), name


def test_a_file_of_8_bits_is_read_back(bases: dict[str, Path], tmp_path: Path) -> None:
    one = made(bases, "bert")
    export(*one, tmp_path)
    found = stored_network(tmp_path)
    state = one.network.state_dict()
    for name, value in found.state_dict().items():
        assert torch.allclose(value, state[name], atol=float(state[name].abs().max()) / 60), name


def test_the_shipped_file_is_read_back() -> None:
    network = stored_network(shipped_folder())
    names = [name for name, one in network.named_parameters() if one.ndim == 1]
    assert len(names) == 5 + 10 * len(network.layer_list()), "12 and no fewer"
    tokenizer = PairTokenizer(StanceDetector().model.tokenizer)
    texts = [("Zoos are cruel.", "Zoos should be closed."), ("Zoos are cruel.", "Zoos should stay open.")]
    supports, opposes, _ = stance_probabilities(network, tokenizer, texts).T
    assert supports[0] > opposes[0]
    assert opposes[1] > supports[1]


def test_what_cannot_be_read_back_is_an_error(bases: dict[str, Path], tmp_path: Path) -> None:
    written(made(bases, "bert"), tmp_path)
    whole = (tmp_path / MODEL_FILE).read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"something else"):
        (tmp_path / MODEL_FILE).write_bytes(content)
        with pytest.raises(UnavailableError, match=r"stance\.onnx cannot be read back"):
            stored_network(tmp_path)


@pytest.mark.parametrize("kind", ["bert", "narrow"])
def test_an_adapted_file_says_what_the_changed_network_says(bases: dict[str, Path], kind: Kind, tmp_path: Path) -> None:
    one = made(bases, kind)
    folder = written(one, tmp_path)
    before = StanceDetector(folder).stances(PAIRS)
    adaptation = changed(one.network)
    after = StanceDetector(folder, adaptation, "mine")
    wanted = stance_probabilities(one.network, one.tokenizer, TEXTS_READ)
    assert np.abs(wanted - before).max() > 0.01
    assert np.allclose(after.stances(PAIRS), wanted, atol=1e-5)
    assert np.array_equal(StanceDetector(folder).stances(PAIRS), before), "the network itself stays"
    assert after.version.endswith(adaptation.version)
    again = Adaptation("", {name: value.copy() for name, value in adaptation.numbers.items()}, 0.3, "")
    assert StanceDetector(folder, again).model is after.model, "the same numbers are opened once"


def test_numbers_take_the_place_of_those_of_a_file_of_4_bits(bases: dict[str, Path], tmp_path: Path) -> None:
    one = made(bases, "narrow")
    before, after = (written(one, tmp_path / name, bits=4) for name in ("before", "after"))
    adaptation = changed(one.network)
    export(*one, after, bits=4)
    adapted = StanceDetector(before, adaptation).stances(PAIRS)
    assert np.allclose(adapted, StanceDetector(after).stances(PAIRS), atol=1e-6)
    for name, value in adaptation.numbers.items():
        if name.endswith("key.bias"):
            continue  # it adds the same to all scores of a softmax
        moved = replace(
            adaptation, numbers={**adaptation.numbers, name: value + np.linspace(-3, 3, value.size, dtype="f4")}
        )
        assert not np.allclose(StanceDetector(before, moved).stances(PAIRS), adapted, atol=1e-6), name


def test_an_adaptation_is_read_back_and_equal_numbers_are_equal(bases: dict[str, Path], tmp_path: Path) -> None:
    adaptation = replace(changed(made(bases, "mpnet").network), made_for="1", threshold=0.4, threshold_source="dev")
    write_adaptation(tmp_path, adaptation)
    found = read_adaptation(tmp_path, "1")
    assert found == adaptation
    assert hash(found) == hash(adaptation)
    assert (found.threshold, found.threshold_source, found.measured) == (0.4, "dev", "")
    assert all(np.array_equal(value, adaptation.numbers[name]) for name, value in found.numbers.items())
    moved = {name: np.nextafter(value, np.float32(9)) for name, value in adaptation.numbers.items()}
    assert replace(adaptation, numbers=moved) != adaptation


def test_adaptations_that_cannot_be_used_say_so(bases: dict[str, Path], tmp_path: Path) -> None:
    write_adaptation(tmp_path, replace(changed(made(bases, "mpnet").network), made_for="1"))
    with pytest.raises(StaleError, match="for an earlier version of `stance`"):
        read_adaptation(tmp_path, "2")
    path = tmp_path / ADAPTATION_FILE
    card = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**card, "form": 1}), encoding="utf-8")
    with pytest.raises(StaleError, match="for an earlier version of `stance`"):
        read_adaptation(tmp_path, "1")
    path.write_text(json.dumps(card), encoding="utf-8")
    numbers = (tmp_path / NUMBERS_FILE).read_bytes()
    for content in (numbers[:-4], b"", None):
        (tmp_path / NUMBERS_FILE).write_bytes(content) if content is not None else (tmp_path / NUMBERS_FILE).unlink()
        with pytest.raises(StaleError, match="cannot be read"):
            read_adaptation(tmp_path, "1")
