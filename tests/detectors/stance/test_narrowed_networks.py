"""A network with fewer heads and neurons than its base, which teaches it: what stays, the loss, and the one command for both."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.stance import train as command
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.export import export
from berdseye.detectors.stance.network import Packed, PairTokenizer, packed
from berdseye.detectors.stance.network_files import CARD_FILE, MODEL_FILE
from berdseye.detectors.stance.pruning import importance, narrowed
from berdseye.detectors.stance.teacher import teacher_of_its_part
from berdseye.detectors.stance.training import CHECKPOINT, stance_probabilities, train
from berdseye.detectors.stance.unlabelled import FOUND, NEAR
from tests.detectors.tiny_bases import FEWEST, TEXTS, tiny_mpnet, tiny_wordpiece
from tests.detectors.tiny_training import TRAINING, begun, labelled, measure_nothing

SENTENCE = "Many people say that zoos are cruel and that they should be banned in all cities of the country."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_mpnet(tmp_path_factory.mktemp("base"), layers=4)


def texts_read(tokenizer: PairTokenizer) -> Packed:
    return packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.integers(1, 128))
def test_a_narrowed_network_has_what_was_asked_for_and_the_other_one_stays(
    base: Path, heads: int, neurons: int
) -> None:
    network, tokenizer = begun(base)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    texts = [texts_read(tokenizer)]
    student = narrowed(network, heads, neurons, texts)
    for old, found, layer in zip(network.layer_list(), importance(network, texts), student.layer_list(), strict=True):
        assert (layer.heads, layer.up.out_features, layer.down.in_features) == (heads, neurons, neurons)
        assert layer.chosen is not None
        kept = set(layer.chosen.tolist())
        assert min(found.heads[h] for h in kept) >= max([found.heads[h] for h in range(4) if h not in kept], default=-1)
        places = found.neurons.topk(neurons).indices.sort().values
        assert torch.equal(layer.up.weight, old.up.weight[places])
        assert torch.equal(layer.down.weight, old.down.weight[:, places])
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


@torch.no_grad()
def test_what_adds_nothing_can_go(base: Path) -> None:
    network, tokenizer = begun(base)
    for layer in network.layer_list():
        layer.joined.weight[:, 16:32] = 0  # the second of four heads
        layer.down.weight[:, ::2] = 0
    texts = texts_read(tokenizer)
    student = narrowed(network, 3, 64, [texts])
    assert all(layer.chosen.tolist() == [0, 2, 3] for layer in student.layer_list() if layer.chosen is not None)
    assert torch.allclose(student.read(texts)[0], network.read(texts)[0], atol=1e-5)
    again = narrowed(student, 2, 64, [texts])
    assert all(set(layer.chosen.tolist()) < {0, 2, 3} for layer in again.layer_list() if layer.chosen is not None)


@pytest.mark.parametrize(
    ("heads", "neurons", "what"), [(0, 1, "heads"), (5, 1, "heads"), (4, 0, "neurons"), (1, 129, "neurons")]
)
def test_heads_and_neurons_that_are_not_there_cannot_stay(base: Path, heads: int, neurons: int, what: str) -> None:
    with pytest.raises(
        BadInputError, match=f"The layers of the base have [0-9]+ {what}, so that .* of them cannot stay"
    ):
        narrowed(begun(base)[0], heads, neurons, [])


def test_the_file_of_a_narrowed_network_says_what_the_network_does(base: Path, tmp_path: Path) -> None:
    network, tokenizer = begun(base)
    student = narrowed(network, 2, 64, [texts_read(tokenizer)]).eval()
    export(student, tokenizer, tmp_path, exact=True)
    (tmp_path / CARD_FILE).write_text(
        json.dumps({"calibration": (1, 0), "threshold": 0.5, "threshold_source": "", "measured": ""})
    )
    texts = [(passage, perspective) for passage, perspectives in TEXTS for perspective in perspectives[:2]]
    found = StanceDetector(tmp_path).stances([Pair(*text) for text in texts])
    assert np.allclose(found, stance_probabilities(student, tokenizer, texts), atol=1e-5)


@torch.no_grad()
def test_states_are_compared_after_every_second_layer(base: Path) -> None:
    network, tokenizer = begun(base)
    batch = texts_read(tokenizer)
    teacher = teacher_of_its_part(network)
    assert teacher.layers == [(1, 1), (3, 3)]
    output, (_, states) = teacher(batch), network.read(batch)
    assert float(teacher.state_loss(network.width)(states, output, batch)) == 0
    assert [*teacher.state_loss(network.width).parameters()] == []
    student = narrowed(network, 2, 64, [batch])
    assert float(teacher.state_loss(student.width)(student.read(batch)[1], output, batch)) > 0
    network.layers = torch.nn.ModuleList(network.layer_list()[:3])
    assert teacher_of_its_part(network).layers == [(0, 0), (2, 2)]


def test_a_student_of_another_width_or_other_words_does_not_resume(base: Path, tmp_path: Path) -> None:
    network, tokenizer = begun(base)
    texts, few = [texts_read(tokenizer)], TRAINING._replace(steps=2)
    teacher = teacher_of_its_part(network)
    for heads in (2, 1):
        student = narrowed(network, heads, 64, texts)
        assert train(student, tokenizer, labelled(), few, tmp_path, teacher=teacher) == 2
    student = narrowed(network, 1, 64, texts)
    assert train(student, tokenizer, {}, few, tmp_path, teacher=teacher) == 2  # finished: nothing is drawn
    with torch.no_grad():
        network.words.weight.add_(1)
    other = narrowed(network, 1, 64, texts)
    train(other, tokenizer, labelled(), few, tmp_path, teacher=teacher_of_its_part(network))
    assert torch.equal(other.words.weight, network.words.weight)


def test_one_command_trains_the_base_then_what_is_made_of_it_and_stores_4_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, out, work = tiny_wordpiece(tmp_path / "base", layers=2, width=64), tmp_path / "out", tmp_path / "work"
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "news.txt").write_text("\n\n".join(f"{SENTENCE} It was the year {1900 + n}. {SENTENCE}" for n in range(9)))
    asked = [str(tmp_path), str(base), "--narrow", "2", "64", "--rounded", "--words", str(FEWEST + 5)]
    asked += ["--texts", str(texts), "--steps", "4", "--teacher-steps", "2", "--work", str(work), "--out", str(out)]
    assert command.main(asked) == 0
    card = json.loads((out / "stance.json").read_text(encoding="utf-8"))
    assert card["teacher"] == {"base": "base", "steps": 2, "learning_rate": 4e-5}
    assert (card["steps_taken"], card["words"], card["narrow"]) == (4, FEWEST + 5, [2, 64])
    assert card["settings"]["rounded"]
    assert card["examples"] == {"claims": 2, NEAR: 0, FOUND: card["examples"][FOUND]}
    assert card["examples"][FOUND] > 0
    assert list(card["texts"]) == ["news.txt"]
    pairs = [Pair("zoos are cruel", "zoos should be banned")]
    found = StanceDetector(out).stances(pairs)
    assert found.shape == (1, 3)

    made, checkpoints = (out / MODEL_FILE).read_bytes(), [work / CHECKPOINT, work / "teacher" / CHECKPOINT]
    before = [path.stat().st_mtime_ns for path in checkpoints]
    assert command.main(asked) == 0
    assert (out / MODEL_FILE).read_bytes() == made
    assert [path.stat().st_mtime_ns for path in checkpoints] == before, "nothing was trained again"
    asked[asked.index("4")] = "5"
    assert command.main(asked) == 0
    assert [path.stat().st_mtime_ns > old for path, old in zip(checkpoints, before, strict=True)] == [True, False]


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["--narrow", "1", "1", "--teacher", "base"], "--narrow makes the base the teacher"),
        (["--rounded", "--exact"], "--rounded stores weights in 4 bits, and --exact in 32"),
        (["--texts", "texts"], "--texts needs a teacher: --teacher, --narrow or --continue"),
    ],
    ids=["two teachers", "two precisions", "texts without a teacher"],
)
def test_options_that_do_not_go_together_are_refused(
    options: list[str], reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main([str(tmp_path), "base", *options])
    assert stopped.value.code == 2
    assert reported in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["--narrow", "5", "64"], "The layers of the base have 4 heads, so that 5 of them cannot stay"),
        (["--rounded"], "a multiple of 64 inputs, not 32"),
        (["--narrow", "1", "1", "--texts", "none"], "The folder has no texts"),
    ],
    ids=["too many heads", "another width", "no texts"],
)
def test_what_cannot_be_trained_is_refused_before_anything_is(
    options: list[str],
    reported: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    work = tmp_path / "work"
    assert command.main([str(tmp_path), str(tiny_wordpiece(tmp_path / "base")), *options, "--work", str(work)]) == 2
    assert reported in capsys.readouterr().err
    assert not work.exists()
