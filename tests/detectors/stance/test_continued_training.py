"""A stored network learns from written passages, and remembers the rest by what it said before."""

import json
from copy import deepcopy
from itertools import islice
from pathlib import Path
from random import Random

import pytest
import torch

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.stance import batches, training
from berdseye.detectors.stance import train as command
from berdseye.detectors.stance.batches import paired_batches
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.examples import CONTRADICTED, ENTAILED, OPPOSES, SUPPORTS, Example, Statement
from berdseye.detectors.stance.four_bits import rounded_weights
from berdseye.detectors.stance.network import StanceNetwork
from berdseye.detectors.stance.network_files import CARD_FILE, MODEL_FILE, card_of
from berdseye.detectors.stance.publishing import file_hash
from berdseye.detectors.stance.rounding import UNROUNDED, keep_unrounded, unround
from berdseye.detectors.stance.stored_network import stored_network
from berdseye.detectors.stance.teacher import Teacher, earlier_self
from berdseye.detectors.stance.training import CHECKPOINT, stance_probabilities, train, untrained
from berdseye.detectors.stance.unlabelled import NEAR, UNKNOWN
from berdseye.detectors.stance.written import JUDGED, REMARKS, WRITTEN, WRITTEN_FILES
from tests.detectors.tiny_bases import FEWEST, tiny_wordpiece
from tests.detectors.tiny_training import SIDES, TRAINING, begun, labelled, measure_nothing

TURNED = ("trams are clean", "trams are bad", "trams are good")
"""A passage with a perspective that it supports, by the new labels, and one that it opposes; in `SIDES` it is the other way."""


def turned() -> list[Example]:
    passage, yes, no = TURNED
    return [Example(passage, (Statement(yes, ENTAILED), Statement(no, CONTRADICTED)))]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_wordpiece(tmp_path_factory.mktemp("base"), width=64)


def test_a_step_has_a_batch_of_known_sources_and_a_longer_one_of_those_apart(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_POOL", 16)
    monkeypatch.setattr(batches, "_OFF_TOPIC", 0)
    known = {"claims": [Example("zoos", (Statement("zoos are good", UNKNOWN),))]}
    new = {REMARKS: [Example("trams", (Statement("trams are good", ENTAILED),))]}
    tokenizer = begun(base)[1]
    drawn = list(islice(paired_batches(known | new, tokenizer, Random(0), 96, (WRITTEN, JUDGED, REMARKS)), 9))
    assert [[batch.labels_alone for batch in pair] for pair in drawn] == [[False, True]] * 9
    assert [[bool(batch.allowed.all()) for batch in pair] for pair in drawn] == [[True, False]] * 9
    most_known, most_new = (max(one.packed.ids.numel() for one in of) for of in zip(*drawn, strict=True))
    assert most_known <= 32 < most_new <= 64
    assert all(one.on("cpu").labels_alone == one.labels_alone for pair in drawn for one in pair)


@pytest.mark.parametrize("apart", [True, False], ids=["labels alone", "beside a teacher"])
def test_what_a_network_said_before_counts_where_labels_do_not_stand_alone(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    monkeypatch.setattr(batches, "_POOL", 32)
    monkeypatch.setattr(batches, "_OFF_TOPIC", 0)
    network, tokenizer = begun(base)
    train(network, tokenizer, labelled(), TRAINING, tmp_path / "first")
    zoos, trams = ([(p, text) for text in (no, yes)] for p, no, yes in SIDES)
    assert stance_probabilities(network, tokenizer, trams).argmax(axis=1).tolist() == [OPPOSES, SUPPORTS]
    settings = TRAINING._replace(continued="1", learning_rate=1e-3)
    near = {NEAR: [Example(p, (Statement(no, UNKNOWN), Statement(yes, UNKNOWN))) for p, no, yes in SIDES[:1]]}
    teacher = earlier_self(network)
    new = {WRITTEN: turned()}
    sources = (WRITTEN, JUDGED) if apart else ()
    train(network, tokenizer, near | new, settings, tmp_path / "second", teacher=teacher, apart=sources)
    found = stance_probabilities(network, tokenizer, trams)
    assert (found[0, SUPPORTS] > 0.9) == apart, "half of it is what the network said before"
    assert stance_probabilities(network, tokenizer, zoos).argmax(axis=1).tolist() == [OPPOSES, SUPPORTS], (
        "not forgotten"
    )


def test_one_command_continues_the_network_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, made, out = tiny_wordpiece(tmp_path / "base", layers=2, width=64), tmp_path / "made", tmp_path / "out"
    asked = [str(tmp_path), str(base), "--narrow", "2", "64", "--rounded", "--words", str(FEWEST + 5), "--steps", "3"]
    assert command.main([*asked, "--teacher-steps", "2", "--work", str(tmp_path / "first"), "--out", str(made)]) == 0
    monkeypatch.setattr(command, "written_examples", lambda: {WRITTEN: turned()})
    work = tmp_path / "work"
    more = [str(tmp_path), "--continue", str(made), "--steps", "60", "--learning-rate", "2e-3"]
    more += ["--batch-tokens", "192", "--share", "0.67", "--work", str(work), "--out", str(out)]
    assert command.main(more) == 0
    card = json.loads((out / CARD_FILE).read_text(encoding="utf-8"))
    assert (card["continued"]["version"], card["steps_taken"]) == (card_of(made).version, 60)
    assert (card["continued"]["narrow"], card["continued"]["steps_taken"]) == ([2, 64], 3)
    assert card["examples"] == {"claims": 2, WRITTEN: 1, NEAR: 0}
    assert card["settings"]["continued"] == card_of(made).version
    assert card["settings"]["rounded"], "as the network that it continues"
    assert card["share"] == 0.67
    assert {path.name for path in WRITTEN_FILES.values()} <= set(card["data"])
    assert (out / MODEL_FILE).stat().st_size == pytest.approx((made / MODEL_FILE).stat().st_size, rel=0.01)
    passage, yes, no = TURNED
    before, after = (StanceDetector(one).stances([Pair(passage, yes), Pair(passage, no)]) for one in (made, out))
    assert after[0, SUPPORTS] - after[1, SUPPORTS] > before[0, SUPPORTS] - before[1, SUPPORTS] + 0.05

    written, kept = (out / MODEL_FILE).read_bytes(), (work / CHECKPOINT).stat().st_mtime_ns
    more[more.index(str(made))] = str(out)  # as if the result had taken the place of what it continues
    assert command.main(more) == 0
    assert (out / MODEL_FILE).read_bytes() == written
    assert (work / CHECKPOINT).stat().st_mtime_ns == kept, "nothing was trained again"

    first = tmp_path / "first" / UNROUNDED
    better = [str(tmp_path), "--continue", str(made), "--unrounded", str(first), "--steps", "1"]
    better += ["--work", str(tmp_path / "better"), "--out", str(tmp_path / "third")]
    assert command.main(better) == 0
    card = json.loads((tmp_path / "third" / CARD_FILE).read_text(encoding="utf-8"))
    assert card["continued"]["unrounded"] == file_hash(first)
    assert card["settings"]["continued"] == f"{card_of(made).version}-{file_hash(first)}"
    better[better.index(str(first))] = str(work / UNROUNDED)  # that of what was made of this network
    assert command.main(better) == 2
    better[better.index(str(made))] = str(out)
    better[better.index(str(tmp_path / "better"))] = str(tmp_path / "further")
    assert command.main(better) == 0, "a mean of weights is continued, too"


def test_weights_in_4_bits_move_within_their_rounding_before_a_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, made = tiny_wordpiece(tmp_path / "base", layers=2, width=64), tmp_path / "made"
    asked = [str(tmp_path), str(base), "--narrow", "2", "64", "--rounded", "--steps", "2", "--teacher-steps", "1"]
    assert command.main([*asked, "--work", str(tmp_path / "first"), "--out", str(made)]) == 0
    monkeypatch.setattr(command, "written_examples", lambda: {WRITTEN: turned()})
    begun_with: dict[str, StanceNetwork] = {}

    def watched(network: StanceNetwork, *_: object, teacher: Teacher, **__: object) -> int:
        begun_with["network"], begun_with["teacher"] = deepcopy(network), teacher.network
        return 0

    monkeypatch.setattr(training, "train", watched)
    assert (
        command.main([str(tmp_path), "--continue", str(made), "--work", str(tmp_path / "w"), "--out", str(made)]) == 0
    )
    moved, stored = (begun_with[name].layers[0].up.weight for name in ("network", "teacher"))
    assert torch.equal(rounded_weights(moved), stored)
    assert (moved != stored).float().mean() > 0.8
    for name, value in begun_with["teacher"].named_parameters():
        assert torch.equal(value, stored_network(tmp_path / "w" / "start").get_parameter(name)), "what it was before"


@pytest.mark.parametrize(("options", "moved"), [([], 1.0), (["--share", "0.25"], 0.25)])
def test_the_weights_after_a_training_are_kept_or_a_mean_with_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], moved: float
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, made = tiny_wordpiece(tmp_path / "base", layers=2, width=64), tmp_path / "made"
    asked = [str(tmp_path), str(base), "--narrow", "2", "64", "--rounded", "--steps", "2", "--teacher-steps", "1"]
    assert command.main([*asked, "--work", str(tmp_path / "first"), "--out", str(made)]) == 0
    before = stored_network(made).layers[0].up.bias
    monkeypatch.setattr(command, "written_examples", lambda: {WRITTEN: turned()})

    def trained(network: StanceNetwork, *_: object, **__: object) -> int:
        network.layers[0].up.bias.data += 1
        return 0

    monkeypatch.setattr(training, "train", trained)
    out = tmp_path / "out"
    again = [str(tmp_path), "--continue", str(made), *options, "--work", str(tmp_path / "w"), "--out", str(out)]
    assert command.main(again) == 0
    assert torch.allclose(stored_network(out).layers[0].up.bias - before, torch.tensor(moved), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ([], "give the model to start from, or --continue"),
        (["base", "--continue"], "give the model to start from, or --continue"),
        (["base", "--unrounded", "file"], "--unrounded belongs to --continue"),
        (["base", "--share", "0.5"], "--share belongs to --continue"),
        (["--continue", "folder", "--share", "1.5"], "--share belongs to --continue, and is above 0 and at most 1"),
        (["--continue", "folder", "--narrow", "2", "64"], "--continue keeps the form of a network"),
        (["--continue", "folder", "--words", "0"], "--continue keeps the form of a network"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], reported: str
) -> None:
    with pytest.raises(SystemExit):
        command.main([str(tmp_path), *options])
    assert reported in capsys.readouterr().err


def test_a_folder_without_a_network_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measure_nothing(monkeypatch, tmp_path)
    assert command.main([str(tmp_path), "--continue", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "cannot be opened" in (reported := capsys.readouterr().err)
    assert reported.count("\n") <= 2, "where and what to do follow"


def test_weights_before_rounding_must_be_readable_and_those_of_the_network(tmp_path: Path) -> None:
    wide = tiny_wordpiece(tmp_path / "wide", width=64)
    network, wrong, other = begun(wide)[0], tmp_path / "wrong.pt", tmp_path / "other"
    wrong.write_bytes(b"no weights")
    other.mkdir()
    keep_unrounded(untrained(wide, 1), other)
    torch.save({}, tmp_path / "empty.pt")
    for path in (wrong, tmp_path / "missing.pt", tmp_path / "empty.pt"):
        with pytest.raises(BadInputError, match="cannot be read") as caught:
            unround(network, path)
        assert "leave out --unrounded" in caught.value.hint
    with pytest.raises(BadInputError, match="are not rounded to those"):
        unround(network, other / UNROUNDED)
    with pytest.raises(BadInputError, match="multiple of 64"):
        unround(begun(tiny_wordpiece(tmp_path / "narrow", width=32))[0], other / UNROUNDED)


def test_a_training_of_one_network_is_not_resumed_for_another(base: Path, tmp_path: Path) -> None:
    network, tokenizer = begun(base)
    few = TRAINING._replace(steps=2, continued="1")
    assert train(network, tokenizer, labelled(), few, tmp_path) == 2
    assert train(begun(base)[0], tokenizer, {}, few, tmp_path) == 2  # finished: nothing is drawn
    with pytest.raises(IndexError):  # nothing can be drawn for a new training
        train(begun(base)[0], tokenizer, {}, few._replace(continued="2"), tmp_path)


def test_options_may_stand_between_the_data_and_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure_nothing(monkeypatch, tmp_path)
    base, out = tiny_wordpiece(tmp_path / "base"), tmp_path / "out"
    asked = [str(tmp_path), "--steps", "1", "--work", str(tmp_path / "work"), str(base), "--out", str(out)]
    assert command.main(asked) == 0
    assert (out / MODEL_FILE).is_file()


def test_a_continued_training_changes_biases_and_norms_faster_than_matrices(base: Path, tmp_path: Path) -> None:
    faster: dict[bool, float] = {}
    for continued in (False, True):
        network, tokenizer = begun(base)
        before = {name: one.detach().clone() for name, one in network.named_parameters()}
        few = TRAINING._replace(steps=2, learning_rate=1e-3, continued="1" if continued else "")
        train(network, tokenizer, labelled(), few, tmp_path / str(continued))
        with torch.no_grad():
            by = {name: float((one - before[name]).abs().max()) for name, one in network.named_parameters()}
        faster[continued] = by["layers.0.query.bias"] / by["layers.0.query.weight"]
    assert faster[True] == pytest.approx(5 * faster[False], rel=0.2)
