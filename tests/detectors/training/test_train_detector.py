"""From labelled pairs to a detector: cards, refusals, kills, and what a teacher gives."""

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from made_training import made_pairs, made_set, yes_no_model

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.quality import quality
from berdseye.detectors.trained import find_trained, list_trained
from berdseye.detectors.training.cards import read_curve
from berdseye.detectors.training.head import truth
from berdseye.detectors.training.loop import CHECKPOINTS, predict_logits
from berdseye.detectors.training.lora import LoraLearner
from berdseye.detectors.training.settings import GRID, Settings
from berdseye.detectors.training.training import TrainingPlan, train_detector
from berdseye.retrieval.encoders.cross import SegmentHead, open_saved

SHORT = Settings(learning_rate=5e-3, epochs=2, max_length=64, batch=8, evaluations=1, patience=9)
KEYS = {
    "detector", "kind", "base", "created", "data", "data_hash", "splits", "seed", "threshold", "threshold_source",
    "dev", "test", "measured", "seconds",
}  # fmt: skip


class KilledError(Exception):
    """Stands for the end of the process."""


def killed_at(step: int) -> Callable[..., None]:
    def progress(done: int, what: str, total: int | None = None, /) -> None:
        del total
        if "steps" in what and done == step:
            raise KilledError

    return progress


def test_a_head_is_trained_measured_and_found(workspace: Workspace) -> None:
    made = train_detector(workspace, TrainingPlan("head", "mine"), made_set())
    assert set(made.card) >= KEYS
    assert [t.detector for t in list_trained(workspace)] == [made.detector] == ["embedded(mine)"]
    detector = parse_detector(made.detector, workspace)
    assert detector.measured == made.card["measured"]
    assert detector.threshold_source == "best F1 on 8 dev pairs"
    test = made_set().test
    found = quality(truth(test), detector.predict([p.pair for p in test]), detector.threshold)
    assert made.card["test"]["auroc"] == pytest.approx(found.auroc, abs=1e-5)
    assert made.card["splits"]["train"] == {"pairs": 32, "positives": 8, "questions": 4}
    further = train_detector(workspace, TrainingPlan("head", "further", ("embedded(mine)",)), made_set())
    assert further.card["start"] == detector.version
    with pytest.raises(BadInputError, match="A detector 'mine' already exists"):
        train_detector(workspace, TrainingPlan("head", "mine"), made_set())


def test_pairs_of_every_split_that_are_cut_are_on_the_card(workspace: Workspace) -> None:
    def long(pairs: list[LabelledPair]) -> list[LabelledPair]:
        return [pairs[0]._replace(pair=pairs[0].pair._replace(perspective="cars " * 65)), *pairs[1:]]

    made = made_set()
    data = replace(made, dev=long(made.dev), test=long(made.test))
    stance = train_detector(workspace, TrainingPlan("stance", "mine"), data)
    assert stance.card["truncated"] == {"train": 0, "dev": 1, "test": 1}
    stack = train_detector(workspace, TrainingPlan("stacked", "both", ("stance", "embedded")), data)
    assert stack.card["truncated"] == {"train": 0, "dev": 1, "test": 1}


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (TrainingPlan("crossencoder", "x"), "exactly one base model"),
        (TrainingPlan("stacked", "x", ("embedded",)), "at least two detectors"),
        (TrainingPlan("head", "x", ("random",)), "cannot start from 'random'"),
        (TrainingPlan("head", "x", search="grid"), "no settings to search"),
        (TrainingPlan("head", "../x"), "cannot be the name"),
    ],
)
def test_plans_that_cannot_be_are_refused(workspace: Workspace, plan: TrainingPlan, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        train_detector(workspace, plan, made_set())
    assert list_trained(workspace) == []


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(BadInputError, match="learning_rate"):
        Settings(learning_rate=float("nan"))


def test_a_cross_encoder_learns_and_answers_as_its_card_says(workspace: Workspace, tmp_path: Path) -> None:
    base = tiny_models.classifying_bert(tmp_path / "base", labels=3)  # its head is made anew
    made = train_detector(workspace, TrainingPlan("crossencoder", "mine", (str(base),), SHORT), made_set())
    assert set(made.card) >= KEYS | {"temperature", "title", "max_length", "settings", "curve"}
    points = read_curve(made.folder)
    assert [p.step for p in points] == [4, 8]
    assert made.card["truncated"] == {"train": 0, "dev": 0, "test": 0}
    assert made.card["curve"] == [vars(p) for p in points]
    assert not (made.folder / "trials").exists()
    test = made_set().test
    logits = open_saved(made.folder / "model").predict(
        [(p.pair.passage, p.pair.perspective) for p in test], activation_fn=None, show_progress_bar=False
    )
    scored = parse_detector("crossencoder(mine)", workspace)
    p = scored.predict([p.pair for p in test])
    assert len(np.unique(np.round(logits, 5))) > 1
    found = quality(truth(test), p, made.card["threshold"])
    assert made.card["test"]["auroc"] == pytest.approx(found.auroc, abs=1e-5)
    assert made.card["test"]["ece"] == pytest.approx(found.ece, abs=1e-3)
    assert (scored.threshold, scored.measured) == (made.card["threshold"], made.card["measured"])


def test_an_embedding_model_becomes_a_cross_encoder_that_is_read_back(workspace: Workspace, tmp_path: Path) -> None:
    base = tiny_models.roberta(tmp_path / "base")
    made = train_detector(workspace, TrainingPlan("crossencoder", "mine", (str(base),), SHORT), made_set())
    model = open_saved(made.folder / "model")
    assert isinstance(model[1], SegmentHead)
    assert model[1].out.weight.count_nonzero() > 0
    assert made.card["base"] == str(base)
    test = made_set().test
    detector = parse_detector("crossencoder(mine)", workspace)
    p = detector.predict([p.pair for p in test])
    assert made.card["test"]["auroc"] == pytest.approx(quality(truth(test), p, 0.5).auroc, abs=1e-5)
    rough = parse_detector("crossencoder(mine,precision=bf16)", workspace).predict([p.pair for p in test])
    np.testing.assert_allclose(rough, p, atol=0.05)


def test_a_killed_training_goes_on_to_the_same_end(workspace: Workspace, tmp_path: Path) -> None:
    base = str(tiny_models.classifying_bert(tmp_path / "base"))
    plan = TrainingPlan("crossencoder", "killed", (base,), SHORT)
    with pytest.raises(KilledError):
        train_detector(workspace, plan, made_set(), progress=killed_at(6))
    folder = workspace.detectors_folder / "killed"
    assert find_trained(workspace, "killed") is None
    assert list_trained(workspace) == []
    (checkpoints,) = folder.glob(f"trials/*/{CHECKPOINTS}")
    (checkpoints / "checkpoint-6").mkdir()  # one that was being written
    with pytest.raises(BadInputError, match="has other data or settings"):
        train_detector(workspace, TrainingPlan("crossencoder", "killed", (base,), Settings(seed=1)), made_set())
    with pytest.raises(BadInputError, match="other data or settings"):
        train_detector(workspace, plan, replace(made_set(), written=made_pairs()[:1]))
    steps: list[int] = []

    def counting(done: int, what: str, total: int | None = None, /) -> None:
        del total
        if "steps" in what:
            steps.append(done)

    resumed = train_detector(workspace, plan, made_set(), progress=counting)
    assert steps == [5, 6, 7, 8]
    whole = train_detector(workspace, TrainingPlan("crossencoder", "whole", (base,), SHORT), made_set())
    assert [p.step for p in read_curve(resumed.folder)] == [4, 8]
    for key in ("temperature", "threshold", "dev", "test"):
        assert resumed.card[key] == whole.card[key], key


def test_a_full_disk_leaves_nothing_finished(workspace: Workspace, tmp_path: Path) -> None:
    def full(done: int, what: str, total: int | None = None, /) -> None:
        del done, what, total
        raise OSError(errno.ENOSPC, "No space left on device")

    base = str(tiny_models.classifying_bert(tmp_path / "base"))
    with pytest.raises(UnavailableError, match=r"No space left on device.*repeat the command"):
        train_detector(workspace, TrainingPlan("crossencoder", "full", (base,), SHORT), made_set(), progress=full)
    assert list_trained(workspace) == []


def test_a_search_goes_on_after_a_kill_and_keeps_the_best(workspace: Workspace, tmp_path: Path) -> None:
    base = str(tiny_models.classifying_bert(tmp_path / "base"))
    plan = TrainingPlan("crossencoder", "sought", (base,), SHORT, "grid", 2)
    told: list[str] = []

    def progress(done: int, what: str, total: int | None = None, /) -> None:
        del total
        told.append(what)
        if "trial 2" in what and done == 1 and len(told) < 1000:
            told.extend([""] * 1000)
            raise KilledError

    with pytest.raises(KilledError):
        train_detector(workspace, plan, made_set(), progress=progress)
    first = [t for t in told if t.startswith("steps of trial 1 ")]
    made = train_detector(workspace, plan, made_set(), progress=progress)
    assert [t for t in told if t.startswith("steps of trial 1 ")] == first  # not trained twice
    done = [t for t in made.card["trials"] if t["state"] == "complete"]
    assert len(done) == 2
    assert all(t[name] in values for t in done for name, values in GRID.items())
    assert made.card["settings"]["seed"] == 0
    reached = max(p.dev_f1 for p in read_curve(made.folder))
    assert reached == pytest.approx(max(t["dev_f1"] for t in done), abs=1e-5)


def test_a_teacher_labels_pairs_nobody_labelled(workspace: Workspace) -> None:
    more = [LabelledPair(Pair(f"{word} trams of zoo", "zoos should be banned"), False, "New?") for word in "abcdef"]
    asked = made_set().test[0]
    unlabelled = [*more, asked._replace(pair=asked.pair._replace(passage="another"))]
    data = replace(made_set(), unlabelled=unlabelled)
    made = train_detector(workspace, TrainingPlan("head", "small", teacher="embedded"), data)
    assert made.card["teacher"] == "embedded"
    assert made.card["splits"]["train"]["pairs"] == 32 + 6
    assert (made.card["unlabelled"], made.card["unlabelled_left_out"]) == (6, 1)
    assert made.card["splits"]["test"]["positives"] == 2
    # What the shipped detector says of pairs gives it nothing to move for.
    teacher, student = parse_detector("embedded"), parse_detector("embedded(small)", workspace)
    pairs = [p.pair for p in made_pairs()]
    np.testing.assert_allclose(student.predict(pairs), teacher.predict(pairs), atol=1e-3)
    with pytest.raises(BadInputError, match="require a teacher"):
        train_detector(workspace, TrainingPlan("head", "other"), data)


@pytest.mark.parametrize("half", [False, True])
def test_the_base_of_an_adapter_takes_16_bits_where_they_are_fast(
    half: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berdseye.detectors.training.lora.half_precision", lambda: half)
    learner = LoraLearner(str(yes_no_model(tmp_path / "base")), Settings(max_length=256))
    by_training = {p.requires_grad: p.dtype for p in learner.model.parameters()}
    assert by_training == {False: torch.bfloat16 if half else torch.float32, True: torch.float32}
    pairs = made_pairs(1)
    sizes: list[int] = []
    read = learner.batch
    monkeypatch.setattr(learner, "batch", lambda some: sizes.append(len(some)) or read(some))
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        assert np.isfinite(predict_logits(learner, pairs, 4)).all()
    assert sizes == [4, 2]


def test_an_adapter_learns_to_answer_and_is_read_as_it_was_trained(workspace: Workspace, tmp_path: Path) -> None:
    base = yes_no_model(tmp_path / "base")
    settings = Settings(learning_rate=1e-2, epochs=1, max_length=320, batch=8, evaluations=1, rank=4)
    made = train_detector(workspace, TrainingPlan("lora", "mine", (str(base),), settings), made_set())
    held = json.loads((made.folder / "model" / "adapter_config.json").read_text())
    assert (held["peft_type"], held["r"]) == ("LORA", 4)
    detector = parse_detector("lora(mine)", workspace)
    test = made_set().test
    found = quality(truth(test), detector.predict([p.pair for p in test]), detector.threshold)
    assert made.card["test"]["auroc"] == pytest.approx(found.auroc, abs=1e-5)
    assert made.card["test"]["ece"] == pytest.approx(found.ece, abs=1e-3)
