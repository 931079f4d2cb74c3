"""Which pairs have a text that a detector reads only in part, compared with what it reads."""

from pathlib import Path
from typing import Any

import made_models
import numpy as np
import pytest

from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import Bools, Detector, count_truncated, cut_function
from berdseye.detectors.thresholds import Tuned
from berdseye.detectors.training.lora import LoraLearner
from berdseye.detectors.training.settings import Settings
from tests.detectors.training.made_training import yes_no_model

SHORT = Pair("zoos are good", "cars are bad")
LONG_PASSAGE = Pair("zoos are good " * 300, "cars are bad")
LONG_PERSPECTIVE = Pair("zoos are good", "cars are bad " * 100)
EMPTY = Pair("", "cars are bad " * 100)
PAIRS = [SHORT, LONG_PASSAGE, LONG_PERSPECTIVE, EMPTY]


def cut(detector: Detector, pairs: list[Pair]) -> Bools:
    function = cut_function(detector)
    assert function is not None
    found = function(pairs)
    assert found.dtype == np.bool_
    assert function([]).shape == (0,)
    return found


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("Document: [Doc 1]\nStatement: [Doc 2]\nAnswer:")


@pytest.mark.usefixtures("prompt")
def test_a_prompt_is_cut_from_its_first_token_too_many(models: Path) -> None:
    made_models.chat_model(models / "base", template=None)
    assert cut(parse_detector("prompted(base,prompt=short.txt,max_length=400)"), PAIRS).tolist() == [
        False, True, True, False,
    ]  # fmt: skip
    whole: Any = parse_detector("prompted(base,prompt=short.txt)")
    pair = Pair("zoos are good " * 20, "cars are bad")
    (ids,) = whole.prompts.ids([(pair.passage.strip(), pair.perspective)])
    for room, is_cut in ((len(ids), False), (len(ids) - 1, True)):
        detector: Any = parse_detector(f"prompted(base,prompt=short.txt,max_length={room})")
        assert cut(detector, [pair]).tolist() == [is_cut]
        assert (detector.prompts.ids([(pair.passage.strip(), pair.perspective)]) == [ids]) != is_cut


def test_lift_cuts_what_does_not_fit_before_the_perspective(models: Path) -> None:
    made_models.chat_model(models / "mine")
    assert cut(parse_detector("prompted(mine,score=lift,max_length=200)"), PAIRS).tolist() == [False, True, True, False]
    assert not cut(parse_detector("prompted(mine,score=lift)"), [LONG_PERSPECTIVE]).any()


@pytest.mark.parametrize(("windows", "cut_passage"), [("", False), (",windows=mean", False), (",windows=first", True)])
def test_windows_lose_a_passage_only_where_the_first_alone_counts(
    models: Path, windows: str, cut_passage: bool
) -> None:
    made_models.classifier(models / "mine", {0: "entailment", 1: "other"})
    made_models.t5(models / "t5")
    for name in (f"nli(mine{windows})", f"nli(t5{windows})", f"crossencoder(mine{windows})"):
        assert cut(parse_detector(name), PAIRS).tolist() == [False, cut_passage, True, False], name


def test_stance_cuts_long_perspectives_alone() -> None:
    detector = parse_detector("stance")
    assert cut(detector, PAIRS).tolist() == [False, False, True, False]
    at_the_limit = [Pair("zoos", "cars " * n) for n in (64, 65)]
    assert cut(detector, at_the_limit).tolist() == [False, True]


def test_detectors_of_detectors_report_what_their_parts_do(workspace: Workspace) -> None:
    assert cut(parse_detector("mean(stance,random)"), PAIRS).tolist() == [False, False, True, False]
    assert cut(Tuned(parse_detector("stance"), 0.3, "chosen"), PAIRS).tolist() == [False, False, True, False]
    assert cut_function(parse_detector("mean(random,similarity(static))")) is None
    assert cut(parse_detector("api(small)", workspace), [SHORT, Pair("ж" * 12_001, "cars")]).tolist() == [False, True]


def test_each_pair_is_counted_once_and_the_unknown_stays_unknown() -> None:
    assert count_truncated(parse_detector("stance"), [*PAIRS, *PAIRS]) == 1
    assert count_truncated(parse_detector("random"), PAIRS) is None


def test_training_counts_each_pair_once_whichever_of_its_texts_is_cut(tmp_path: Path) -> None:
    """One pair has a long passage and another one a long perspective: two pairs are cut."""
    learner = LoraLearner(str(yes_no_model(tmp_path / "base")), Settings(max_length=400))
    assert learner.truncated(PAIRS[:3]) == 2
