"""A larger network that teaches `stance`: what it says, what its student learns from it, and the one command for both."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.stance import batches
from berdseye.detectors.stance import train as command
from berdseye.detectors.stance.batches import mixed_batches
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.examples import CONTRADICTED, ENTAILED, OPPOSES, SUPPORTS, Example, Statement
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.teacher import StateLoss, Teacher, TeacherOutput, soft_cross_entropy, targets, thirds
from berdseye.detectors.stance.training import CHECKPOINT, StanceSettings, average_with, stance_probabilities, train
from berdseye.detectors.stance.unlabelled import NEAR, UNKNOWN
from tests.detectors.tiny_bases import FEWEST, SIZES, TEXTS, WORDS, made_base, tiny_bert, tiny_wordpiece

SIDES = [
    ("zoos are cruel", "zoos are good", "zoos should be banned"),
    ("trams are clean", "trams are bad", "trams are good"),
]
TRAINING = StanceSettings(steps=200, learning_rate=2e-3, batch_tokens=192)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wider BERT of four layers, whose table has the same words under other numbers."""
    sizes = {**SIZES, "hidden_size": 48, "num_hidden_layers": 4}
    config = BertConfig(vocab_size=len(WORDS) + 6, max_position_embeddings=512, **sizes)
    special = ["[SEP]", "[PAD]", "[unused]", "[UNK]", "[CLS]", "[more]"]
    return made_base(tmp_path_factory.mktemp("larger"), BertModel(config), special)


@pytest.fixture(scope="module")
def taught(larger: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[StanceNetwork, PairTokenizer]:
    """The larger network after a training on `SIDES`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_POOL", 32)
        network, _ = train(larger, labelled(), TRAINING, tmp_path_factory.mktemp("taught"))
    return network, PairTokenizer(larger)


def labelled() -> dict[str, list[Example]]:
    return {"claims": [Example(p, (Statement(no, CONTRADICTED), Statement(yes, ENTAILED))) for p, no, yes in SIDES]}


def test_a_teacher_says_of_a_students_batch_what_it_says_of_the_texts(
    base: Path, taught: tuple[StanceNetwork, PairTokenizer]
) -> None:
    students = PairTokenizer(base)
    said = Teacher(*taught, students)(packed([students.row(passage, perspectives) for passage, perspectives in TEXTS]))
    wanted = stance_probabilities(*taught, [(p, one) for p, perspectives in TEXTS for one in perspectives])
    assert np.allclose(said.probabilities.numpy(), wanted, atol=1e-5)
    assert [state.shape[-1] for state in said.states] == [48, 48, 48]


def test_a_teacher_with_other_words_is_refused_before_anything_is_trained(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = BertConfig(vocab_size=len(WORDS) + 4, max_position_embeddings=512, **SIZES)
    other = made_base(
        tmp_path / "other", BertModel(config), ["[PAD]", "[CLS]", "[SEP]", "[UNK]"], [*WORDS[1:], "boats"]
    )
    with pytest.raises(BadInputError, match=f"has no “{WORDS[0]}”"):
        Teacher(StanceNetwork(other), PairTokenizer(other), PairTokenizer(base))
    monkeypatch.setattr(command, "training_examples", lambda *_: labelled())
    work = tmp_path / "work"
    assert command.main([str(tmp_path), str(base), "--teacher", str(other), "--work", str(work)]) == 2
    assert f"has no “{WORDS[0]}”" in capsys.readouterr().err
    assert not work.exists()


def test_a_training_without_a_teacher_is_not_continued_with_one(
    base: Path, taught: tuple[StanceNetwork, PairTokenizer], tmp_path: Path
) -> None:
    few = TRAINING._replace(steps=2)
    train(base, labelled(), few, tmp_path)
    taught_weights, _ = train(base, labelled(), few, tmp_path, teacher=taught)
    again, steps = train(base, {}, few, tmp_path, teacher=taught)  # finished: nothing is drawn
    assert steps == 2
    assert torch.equal(again.hidden.weight, taught_weights.hidden.weight)
    alone, _ = train(base, labelled(), few, tmp_path)
    assert not torch.equal(alone.hidden.weight, taught_weights.hidden.weight)


def test_a_third_of_twelve_layers_is_the_fourth() -> None:
    assert [int(state) for state in thirds([torch.tensor(n) for n in range(1, 13)])] == [4, 8, 12]
    assert [int(state) for state in thirds([torch.tensor(n) for n in range(1, 5)])] == [1, 2, 4]


def test_states_that_map_to_the_teachers_cost_nothing_and_padding_is_left_out(base: Path) -> None:
    tokenizer = PairTokenizer(base)
    batch = packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])
    torch.manual_seed(0)
    states = [torch.randn(*batch.ids.shape, 8) for _ in range(3)]
    state_loss = StateLoss(8, 8).requires_grad_(False)
    for change in state_loss.maps:
        assert isinstance(change, torch.nn.Linear)
        torch.nn.init.eye_(change.weight)
        torch.nn.init.zeros_(change.bias)
    output = TeacherOutput(torch.zeros(4, 3), [3 * state + 1 for state in states])  # normalised, they are the same
    assert float(state_loss(states, output, batch)) == pytest.approx(0, abs=1e-5)
    padding = (batch.segments < 0).unsqueeze(-1)
    elsewhere = [torch.where(padding, torch.randn_like(state), state) for state in states]
    assert float(state_loss(elsewhere, output, batch)) == pytest.approx(0, abs=1e-5)
    assert float(state_loss([torch.randn_like(state) for state in states], output, batch)) > 1


def test_labels_and_teacher_count_the_same() -> None:
    probabilities = torch.tensor([[0.2, 0.6, 0.2], [0.2, 0.6, 0.2], [0.2, 0.6, 0.2]])
    allowed = torch.tensor([[True, False, False], [False, True, True], [True, True, True]])
    wanted = targets(probabilities, allowed)
    assert torch.allclose(wanted, torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.675, 0.225], [0.2, 0.6, 0.2]]), atol=2e-3)
    entropy = -(wanted * wanted.log()).sum(-1).mean()
    assert float(soft_cross_entropy(wanted.log(), wanted)) == pytest.approx(float(entropy))


@pytest.mark.parametrize("half", [False, True], ids=["full precision", "half precision"])
def test_a_student_learns_from_passages_that_nobody_labelled(
    base: Path,
    taught: tuple[StanceNetwork, PairTokenizer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    half: bool,
) -> None:
    monkeypatch.setattr(batches, "_POOL", 32)
    unlabelled = {NEAR: [Example(p, (Statement(no, UNKNOWN), Statement(yes, UNKNOWN))) for p, no, yes in SIDES]}
    texts = [(p, text) for p, no, yes in SIDES for text in (no, yes)]
    wanted = stance_probabilities(*taught, texts)
    assert wanted.argmax(axis=1).tolist() == [OPPOSES, SUPPORTS, OPPOSES, SUPPORTS]
    student, _ = train(base, unlabelled, TRAINING._replace(half=half), tmp_path, teacher=taught)
    found = stance_probabilities(student, PairTokenizer(base), texts)
    assert found.argmax(axis=1).tolist() == wanted.argmax(axis=1).tolist()
    resumed, steps = train(base, {}, TRAINING._replace(half=half), tmp_path, teacher=taught)
    assert steps == TRAINING.steps
    assert np.allclose(stance_probabilities(resumed, PairTokenizer(base), texts), found)


def test_batches_draw_from_passages_that_nobody_labelled(base: Path) -> None:
    examples = labelled() | {NEAR: [Example("cars are bad", (Statement("trams are good", UNKNOWN),))]}
    drawn = mixed_batches(examples, PairTokenizer(base), Random(0))
    allowed = torch.cat([next(drawn).allowed for _ in range(3)])
    assert 0 < int(allowed.all(-1).sum()) < len(allowed)


def test_one_command_trains_the_teacher_then_its_student_and_leaves_rare_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_POOL", 32)
    shown = labelled()
    monkeypatch.setattr(command, "training_examples", lambda *_: shown)
    monkeypatch.setattr(command, "held_out", lambda *_: {})
    monkeypatch.setattr(command, "claims_with_reasons", lambda *_: [])
    monkeypatch.setattr(command, "calibrated", lambda *_: (1.0, 0.0))
    monkeypatch.setattr(command, "measured", lambda *_: {"threshold": 0.5, "threshold_source": "", "measured": ""})
    for file in command.DATA_FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    base, out, work = tiny_wordpiece(tmp_path / "base"), tmp_path / "out", tmp_path / "work"
    options = ["--steps", "3", "--teacher", str(base), "--teacher-steps", "2", "--alone-steps", "1"]
    options += ["--work", str(work), "--out", str(out)]
    assert command.main([str(tmp_path), str(base), *options, "--words", str(FEWEST + 2)]) == 0
    card = json.loads((out / "stance.json").read_text(encoding="utf-8"))
    assert card["teacher"] == {"base": "base", "steps": 2, "learning_rate": 4e-5, "steps_alone": 1}
    assert (card["steps_taken"], card["words"], card["examples"]) == (3, FEWEST + 2, {"claims": 2, NEAR: 0})
    assert all((work / folder / CHECKPOINT).is_file() for folder in ("", "alone", "teacher"))
    assert StanceDetector(out).stances([Pair("zoos are cruel", "zoos are cruel")]).shape == (1, 3)


def test_weights_are_averaged_with_those_of_another_network(base: Path) -> None:
    torch.manual_seed(1)
    network, other = StanceNetwork(base), StanceNetwork(base)  # their heads differ
    before = {name: value.clone() for name, value in network.state_dict().items()}
    average_with(network, other)
    for name, value in network.state_dict().items():
        assert torch.allclose(value, (before[name] + other.state_dict()[name]) / 2)
    assert not torch.equal(network.hidden.weight, before["hidden.weight"])
