"""The training of `stance` on judgments: what it computes is what the detector says, and what it learns is kept, opened and
compared."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.quality import quality
from berdseye.detectors.stance import detector as stance_detector
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.export import export
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork
from berdseye.detectors.stance.network_files import CARD_FILE
from berdseye.detectors.trained import list_trained
from berdseye.detectors.training import training
from berdseye.detectors.training.cards import read_curve
from berdseye.detectors.training.head import truth
from berdseye.detectors.training.loop import _groups, predict_logits
from berdseye.detectors.training.settings import STANCE_SETTINGS
from berdseye.detectors.training.stance import StanceLearner
from berdseye.detectors.training.training import TrainingPlan, train_detector
from tests.detectors.tiny_bases import tiny_bert, varied
from tests.detectors.training.made_training import made_set

PERSPECTIVES = (
    "zoos should be banned",
    "cars are bad for the cities because the trams are clean",
    "trams are good",
)
PASSAGES = ("the zoos are cruel .", "the zoos are cruel . " * 60, "cars are bad , trams are not")


class KilledError(Exception):
    """The training was killed."""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny network in the place of the shipped one, with calibrations of its own."""
    base, folder = tiny_bert(tmp_path / "base"), tmp_path / "network"
    torch.manual_seed(0)
    network = StanceNetwork(base).eval()
    varied(network)
    export(network, PairTokenizer(base), folder, exact=True)
    card = {"calibration": (0.7, 0.2), "reason_calibration": (1.4, -0.3), "threshold": 0.3, "threshold_source": "t"}
    (folder / CARD_FILE).write_text(json.dumps({**card, "measured": ""}), encoding="utf-8")
    monkeypatch.setattr(stance_detector, "shipped_folder", lambda: folder)
    monkeypatch.setattr("berdseye.detectors.training.stance.half_precision", lambda: False)
    monkeypatch.setattr("berdseye.detectors.training.loop.half_precision", lambda: False)
    return folder


def test_a_logit_is_the_log_odds_of_what_the_detector_says(tiny: Path) -> None:
    pairs = [LabelledPair(Pair(passage, one), False) for passage in PASSAGES for one in PERSPECTIVES]
    found = predict_logits(StanceLearner(tiny), pairs, 4)
    said = logit(StanceDetector(tiny).predict([p.pair for p in pairs]).astype(np.float64))
    assert np.allclose(found[:3], said[:3], atol=1e-4)
    assert np.allclose(found[6:], said[6:], atol=1e-4)
    assert np.all(found[3:6] < said[3:6] + 1e-4), "of a long passage, the detector reads the most telling window"
    assert StanceLearner(tiny).truncated([p.pair for p in pairs]) == 3


def test_matrices_of_16_bits_leave_biases_and_norms_in_32(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [LabelledPair(Pair(passage, one), False) for passage in PASSAGES[::2] for one in PERSPECTIVES]
    exact = predict_logits(StanceLearner(tiny), pairs, 4)
    for module in ("stance", "loop"):
        monkeypatch.setattr(f"berdseye.detectors.training.{module}.half_precision", lambda: True)
    learner = StanceLearner(tiny)
    with torch.autocast("cpu", torch.bfloat16):
        logits = learner.logits(learner.batch([p.pair for p in pairs]))
    assert np.allclose(logits.detach().float().numpy(), exact, atol=0.05)
    logits.sum().backward()
    for name, one in learner.network.named_parameters():
        in_32 = name in learner.numbers()
        assert one.dtype == (torch.float32 if in_32 else torch.bfloat16), name
        assert (one.grad is not None) == in_32, name


@given(st.lists(st.sampled_from("abcde"), max_size=40), st.integers(1, 5))
def test_pairs_of_a_passage_stay_together_up_to_a_batch(passages: list[str], most: int) -> None:
    groups = _groups([Pair(passage, str(n)) for n, passage in enumerate(passages)], most)
    assert sorted(place for group in groups for place in group) == list(range(len(passages)))
    for group in groups:
        assert len(group) <= most
        assert len({passages[place] for place in group}) == 1
    for passage in set(passages):
        parts = sum(passages[group[0]] == passage for group in groups)
        assert parts == -(-passages.count(passage) // most), "no more groups than a passage needs"


def test_a_training_that_was_begun_with_another_network_is_refused(tiny: Path, workspace: Workspace) -> None:
    def killed(done: int, what: str, total: int | None = None, /) -> None:
        del done, what, total
        raise KilledError

    with pytest.raises(KilledError):
        train_detector(workspace, TrainingPlan("stance", "mine"), made_set(16), progress=killed)
    card = json.loads((tiny / CARD_FILE).read_text(encoding="utf-8"))
    (tiny / CARD_FILE).write_text(json.dumps({**card, "calibration": (1, 0)}), encoding="utf-8")
    with pytest.raises(BadInputError, match="has other data or settings"):
        train_detector(workspace, TrainingPlan("stance", "mine"), made_set(16))


def test_biases_and_norms_alone_are_trained(tiny: Path) -> None:
    learner = StanceLearner(tiny)
    trained = {name for name, one in learner.network.named_parameters() if one.requires_grad}
    assert trained == set(learner.numbers())
    assert all(name.endswith((".bias", "norm.weight")) or name == "skip" for name in trained)
    assert len(list(learner.model.parameters())) == len(trained)
    before = learner.numbers()
    with torch.no_grad():
        for one in learner.model.parameters():
            one.add_(1)
    assert all(np.allclose(value, before[name] + 0.5) for name, value in learner.numbers().items()), "means are kept"


@pytest.mark.usefixtures("tiny")
def test_what_is_learned_is_kept_and_measured(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = replace(STANCE_SETTINGS, learning_rate=0.05, epochs=20)
    monkeypatch.setattr(training, "STANCE_SETTINGS", quick)
    data = made_set(16)
    made = train_detector(workspace, TrainingPlan("stance", "mine"), data)
    assert made.detector == "stance(mine)"
    detector = parse_detector("stance(mine)", workspace)
    assert detector.version.startswith(StanceDetector().version)
    assert (detector.threshold, detector.threshold_source) == (made.card["threshold"], "best F1 on 16 dev pairs")
    pairs, labels = [p.pair for p in data.train], truth(data.train)
    before, after = (quality(labels, one.predict(pairs), 0.5).auroc for one in (StanceDetector(), detector))
    assert after > before + 0.2
    probabilities = detector.predict([p.pair for p in data.test])
    assert made.card["test"]["auroc"] == quality(truth(data.test), probabilities, 0.5).auroc
    assert [point["step"] for point in made.card["curve"]] == list(range(4, 81, 4))
    assert made.card["curve"][-1]["loss"] < made.card["curve"][0]["loss"]


@pytest.mark.usefixtures("tiny")
def test_a_killed_training_of_stance_goes_on_to_the_same_end(workspace: Workspace) -> None:
    def killed(done: int, what: str, total: int | None = None, /) -> None:
        del total
        if "steps" in what and done == 10:
            raise KilledError

    plan, data = TrainingPlan("stance", "killed"), made_set(16)
    with pytest.raises(KilledError):
        train_detector(workspace, plan, data, progress=killed)
    assert list_trained(workspace) == []
    steps: list[int] = []

    def counting(done: int, what: str, total: int | None = None, /) -> None:
        del total
        if "steps" in what:
            steps.append(done)

    resumed = train_detector(workspace, plan, data, progress=counting)
    assert steps == list(range(9, 17))
    whole = train_detector(workspace, TrainingPlan("stance", "whole"), data)
    assert [point.step for point in read_curve(resumed.folder)] == [4, 8, 12, 16]
    for key in ("threshold", "dev", "test"):
        assert resumed.card[key] == whole.card[key], key
    one, other = (parse_detector(f"stance({name})", workspace).version for name in ("killed", "whole"))
    assert one == other
