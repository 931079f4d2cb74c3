"""A larger network that teaches `stance`: what it says, what its student learns from it, and the one command for both."""

import json
from collections import Counter
from itertools import islice
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
from berdseye.detectors.stance.examples import OPPOSES, SUPPORTS, Example, Statement
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.teacher import (
    StateLoss,
    Teacher,
    TeacherOutput,
    soft_cross_entropy,
    targets,
    teacher_of_another_base,
    teachers_numbers,
    thirds,
)
from berdseye.detectors.stance.training import CHECKPOINT, average_with, stance_probabilities, train
from berdseye.detectors.stance.unlabelled import FOUND, NEAR, UNKNOWN
from tests.detectors.tiny_bases import FEWEST, SIZES, TEXTS, WORDS, made_base, tiny_bert, tiny_wordpiece
from tests.detectors.tiny_training import SIDES, TRAINING, begun, labelled, measure_nothing

Taught = tuple[StanceNetwork, PairTokenizer]


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
def taught(larger: Path, tmp_path_factory: pytest.TempPathFactory) -> Taught:
    """The larger network after a training on `SIDES`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_POOL", 32)
        network, tokenizer = begun(larger)
        train(network, tokenizer, labelled(), TRAINING, tmp_path_factory.mktemp("taught"))
    return network, tokenizer


def teaching(taught: Taught, student: StanceNetwork, students: PairTokenizer, *, half: bool = False) -> Teacher:
    network, own = taught
    return teacher_of_another_base(network, student, teachers_numbers(own, students), half=half)


def test_a_teacher_says_of_a_students_batch_what_it_says_of_the_texts(base: Path, taught: Taught) -> None:
    student, students = begun(base)
    teacher = teaching(taught, student, students)
    said = teacher(packed([students.row(passage, perspectives) for passage, perspectives in TEXTS]))
    wanted = stance_probabilities(*taught, [(p, one) for p, perspectives in TEXTS for one in perspectives])
    assert np.allclose(said.probabilities.numpy(), wanted, atol=1e-5)
    assert [state.shape[-1] for state in said.states] == [48] * 4
    assert teacher.layers == [(0, 0), (0, 1), (1, 3)]
    assert [change(torch.zeros(32)).shape for change in teacher.state_loss(32).maps] == [(48,)] * 3


def test_a_teacher_with_other_words_is_refused_before_anything_is_trained(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = BertConfig(vocab_size=len(WORDS) + 4, max_position_embeddings=512, **SIZES)
    other = made_base(
        tmp_path / "other", BertModel(config), ["[PAD]", "[CLS]", "[SEP]", "[UNK]"], [*WORDS[1:], "boats"]
    )
    with pytest.raises(BadInputError, match=f"has no “{WORDS[0]}”"):
        teachers_numbers(PairTokenizer(other), PairTokenizer(base))
    measure_nothing(monkeypatch, tmp_path)
    work = tmp_path / "work"
    assert command.main([str(tmp_path), str(base), "--teacher", str(other), "--work", str(work)]) == 2
    assert f"has no “{WORDS[0]}”" in capsys.readouterr().err
    assert not work.exists()


def test_a_training_without_a_teacher_is_not_continued_with_one(base: Path, taught: Taught, tmp_path: Path) -> None:
    few = TRAINING._replace(steps=2)
    networks = [begun(base)[0] for _ in range(4)]
    students = PairTokenizer(base)
    teacher = teaching(taught, networks[0], students)
    train(networks[0], students, labelled(), few, tmp_path)
    train(networks[1], students, labelled(), few, tmp_path, teacher=teacher)
    assert train(networks[2], students, {}, few, tmp_path, teacher=teacher) == 2  # finished: nothing is drawn
    assert torch.equal(networks[2].hidden.weight, networks[1].hidden.weight)
    train(networks[3], students, labelled(), few, tmp_path)
    assert torch.equal(networks[3].hidden.weight, networks[0].hidden.weight)


def test_a_third_of_twelve_layers_is_the_fourth() -> None:
    assert thirds(12, 6) == [(3, 1), (7, 3), (11, 5)]
    assert thirds(4, 1) == [(0, 0), (1, 0), (3, 0)]


def test_states_that_map_to_the_teachers_cost_nothing_and_padding_is_left_out(base: Path) -> None:
    tokenizer = PairTokenizer(base)
    batch = packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS])
    torch.manual_seed(0)
    states = [torch.randn(*batch.ids.shape, 8) for _ in range(3)]
    state_loss = StateLoss([(place, place) for place in range(3)], (8, 8)).requires_grad_(False)
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
    taught: Taught,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    half: bool,
) -> None:
    monkeypatch.setattr(batches, "_POOL", 32)
    unlabelled = {NEAR: [Example(p, (Statement(no, UNKNOWN), Statement(yes, UNKNOWN))) for p, no, yes in SIDES]}
    texts = [(p, text) for p, no, yes in SIDES for text in (no, yes)]
    wanted = stance_probabilities(*taught, texts)
    assert wanted.argmax(axis=1).tolist() == [OPPOSES, SUPPORTS, OPPOSES, SUPPORTS]
    student, students = begun(base)
    teacher, settings = teaching(taught, student, students, half=half), TRAINING._replace(half=half)
    train(student, students, unlabelled, settings, tmp_path, teacher=teacher)
    found = stance_probabilities(student, students, texts)
    assert found.argmax(axis=1).tolist() == wanted.argmax(axis=1).tolist()
    resumed = begun(base)[0]
    assert train(resumed, students, {}, settings, tmp_path, teacher=teacher) == TRAINING.steps
    assert np.allclose(stance_probabilities(resumed, students, texts), found)


def test_batches_draw_from_passages_that_nobody_labelled(base: Path) -> None:
    examples = labelled() | {NEAR: [Example("cars are bad", (Statement("trams are good", UNKNOWN),))]}
    drawn = mixed_batches(examples, PairTokenizer(base), Random(0))
    allowed = torch.cat([next(drawn).allowed for _ in range(3)])
    assert 0 < int(allowed.all(-1).sum()) < len(allowed)


def test_passages_of_other_texts_take_the_place_of_others_that_nobody_labelled() -> None:
    examples = {name: [Example(name, (Statement("trams are good", UNKNOWN),))] for name in batches.MIXTURE}
    for names, shares in (((NEAR,), (40 / 140,)), ((NEAR, FOUND), (20 / 170, 50 / 170))):
        examples |= {name: [Example(name, (Statement("trams are good", UNKNOWN),))] for name in names}
        drawn = Counter(example.passage for example in islice(batches.augmented(examples, Random(0)), 5_000))
        for name, share in zip(names, shares, strict=True):
            assert drawn[name] / drawn.total() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("rounded", [False, True], ids=["8 bits", "4 bits"])
def test_one_command_trains_the_teacher_then_its_student_and_leaves_rare_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounded: bool
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, out, work = tiny_wordpiece(tmp_path / "base", width=64), tmp_path / "out", tmp_path / "work"
    options = ["--steps", "3", "--teacher", str(base), "--teacher-steps", "2", "--alone-steps", "1"]
    options += ["--work", str(work), "--out", str(out), *(["--rounded"] if rounded else [])]
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
    average_with(network, other, 0.75)
    for name, value in network.state_dict().items():
        assert torch.allclose(value, 0.75 * before[name] + 0.25 * other.state_dict()[name], atol=1e-7)
    assert not torch.equal(network.hidden.weight, before["hidden.weight"])
