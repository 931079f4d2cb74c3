"""A network of some of the layers of its base, which teaches it: the layers, the loss, and the one command for both."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.stance import train as command
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.network import packed
from berdseye.detectors.stance.network_files import MODEL_FILE
from berdseye.detectors.stance.teacher import pupil, teacher_of_pupil
from berdseye.detectors.stance.training import CHECKPOINT, train
from berdseye.detectors.stance.unlabelled import FOUND, NEAR
from tests.detectors.tiny_bases import FEWEST, TEXTS, tiny_mpnet, tiny_wordpiece
from tests.detectors.tiny_training import TRAINING, begun, labelled, measure_nothing

SENTENCE = "Many people say that zoos are cruel and that they should be banned in all cities of the country."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_mpnet(tmp_path_factory.mktemp("base"), layers=4)


@given(st.integers(1, 4))
def test_layers_stay_at_equal_distances_and_the_last_one_does(base: Path, count: int) -> None:
    network = begun(base)[0]
    before = list(network.layers)
    student = pupil(network, count)
    assert student.numbers == {1: (3,), 2: (1, 3), 3: (0, 1, 3), 4: (0, 1, 2, 3)}[count]
    assert list(network.layers) == before
    assert network.numbers == (0, 1, 2, 3)
    for layer, number in zip(student.layers, student.numbers, strict=True):
        assert torch.equal(layer.get_parameter("up.weight"), network.layers[number].get_parameter("up.weight"))
    again = pupil(student, 1)
    assert again.numbers == (3,)


def test_six_of_twelve_layers_are_every_second_one(base: Path) -> None:
    network = begun(base)[0]
    network.layers = torch.nn.ModuleList(network.layers[0] for _ in range(12))
    assert network.spread_layers(6) == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize("count", [-1, 0, 5])
def test_layers_that_are_not_there_cannot_stay(base: Path, count: int) -> None:
    with pytest.raises(BadInputError, match=f"The base has 4 layers, so that {count} of them cannot stay"):
        pupil(begun(base)[0], count)


@torch.no_grad()
def test_states_are_compared_with_those_after_the_same_layers(base: Path) -> None:
    network, tokenizer = begun(base)
    batch = packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])
    itself = teacher_of_pupil(network, network)
    assert itself.layers == [(0, 0), (1, 1), (2, 2), (3, 3)]
    output, (_, states) = itself(batch), network.read(batch)
    assert float(itself.state_loss(network.width)(states, output, batch)) == 0
    assert [*itself.state_loss(network.width).parameters()] == []
    student = pupil(network, 2)
    teacher = teacher_of_pupil(network, student)
    assert teacher.layers == [(0, 1), (1, 3)]
    loss = teacher.state_loss(student.width)
    assert float(loss([states[1], states[3]], output, batch)) == 0
    assert float(loss(student.read(batch)[1], output, batch)) > 0


def test_a_student_of_other_layers_or_words_does_not_resume(base: Path, tmp_path: Path) -> None:
    network, tokenizer = begun(base)
    few = TRAINING._replace(steps=2)
    for count in (2, 1):
        student = pupil(network, count)
        teacher = teacher_of_pupil(network, student)
        assert train(student, tokenizer, labelled(), few, tmp_path, teacher=teacher) == 2
    student = pupil(network, 1)
    assert train(student, tokenizer, {}, few, tmp_path, teacher=teacher) == 2  # finished: nothing is drawn
    with torch.no_grad():
        network.words.weight.add_(1)
    other = pupil(network, 1)
    train(other, tokenizer, labelled(), few, tmp_path, teacher=teacher_of_pupil(network, other))
    assert torch.equal(other.words.weight, network.words.weight)


def test_one_command_trains_the_base_then_its_layers_and_stores_4_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, out, work = tiny_wordpiece(tmp_path / "base", layers=2, width=64), tmp_path / "out", tmp_path / "work"
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "news.txt").write_text("\n\n".join(f"{SENTENCE} It was the year {1900 + n}. {SENTENCE}" for n in range(9)))
    asked = [str(tmp_path), str(base), "--layers", "1", "--rounded", "--texts", str(texts), "--words", str(FEWEST + 5)]
    asked += ["--steps", "4", "--teacher-steps", "2", "--work", str(work), "--out", str(out)]
    assert command.main(asked) == 0
    card = json.loads((out / "stance.json").read_text(encoding="utf-8"))
    assert card["teacher"] == {"base": "base", "steps": 2, "learning_rate": 4e-5}
    assert (card["steps_taken"], card["words"], card["layers"]) == (4, FEWEST + 5, [1])
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
        (["--layers", "1", "--teacher", "base"], "--layers makes the base the teacher"),
        (["--rounded", "--exact"], "--rounded stores weights in 4 bits, and --exact in 32"),
        (["--texts", "texts"], "--texts needs a teacher: --teacher or --layers"),
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
        (["--layers", "3"], "The base has 1 layers, so that 3 of them cannot stay"),
        (["--rounded"], "a multiple of 64 inputs, not 32"),
        (["--layers", "1", "--texts", "none"], "The folder has no texts"),
    ],
    ids=["too many layers", "another width", "no texts"],
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
