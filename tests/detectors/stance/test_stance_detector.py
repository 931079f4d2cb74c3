"""The shipped detector `stance`: what it says of plain cases, and what its labels may not depend on."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import UnavailableError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import graded
from berdseye.detectors.protocol import stances_function
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.network_files import MODEL_FILE, shipped_folder, unavailable
from berdseye.detectors.thresholds import Tuned
from berdseye.evaluation.detection.grading import grade

WEIGHTS = Path(str(files("berdseye.detectors") / "weights"))
PASSAGE = "Traffic is the main source of fine dust in the city, and a ban on private cars would save many lives."
SAMPLE = [
    Pair(PASSAGE, "Cities should ban private cars."),
    Pair(PASSAGE, "Traffic does not pollute the air."),
    Pair("A private railroad car is a railway carriage hired by one person.", "Cities should ban private cars."),
    Pair("Zoos protect rare animals.", "Zoos should be closed."),
    Pair("", "Zoos should be closed."),
    Pair("Zoos protect rare animals.", " "),
]


def test_it_is_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.glob("stance*")) < 30e6


def test_it_tells_support_from_opposition_and_from_another_topic() -> None:
    detector = StanceDetector()
    found = detector.stances(SAMPLE[:3])
    assert found[0, 0] > detector.threshold > max(found[1:, 0])
    assert found[1].argmax() == 1


def test_probabilities_are_those_of_three_stances() -> None:
    found = StanceDetector().stances(SAMPLE)
    assert found.shape == (6, 3)
    assert found.dtype == np.float32
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert found[4:].tolist() == [[0, 0, 1], [0, 0, 1]]  # an empty text takes no side
    assert np.array_equal(StanceDetector().predict(SAMPLE), found[:, 0])
    assert StanceDetector().stances([]).shape == (0, 3)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped network."""
    folder = tmp_path_factory.mktemp("network")
    for path in WEIGHTS.glob("stance*"):
        shutil.copy(path, folder)
    return folder


def opened_again(folder: Path) -> StanceDetector:
    """Return a detector that has read nothing yet: files that were written again are opened again."""
    (folder / MODEL_FILE).touch()
    return StanceDetector(folder)


@settings(max_examples=10, deadline=None)
@given(st.permutations(SAMPLE), st.integers(1, 6))
def test_a_label_does_not_depend_on_the_other_pairs(copied: Path, pairs: list[Pair], count: int) -> None:
    alone = dict(zip(SAMPLE, StanceDetector().stances(SAMPLE).tolist(), strict=True))
    assert opened_again(copied).stances(pairs[:count]).tolist() == [alone[pair] for pair in pairs[:count]]


def test_a_pair_that_was_read_is_not_computed_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.detectors.stance.detector._MOST_KEPT", 2)
    detector, computed = opened_again(copied), []
    read = type(detector.model)._most_telling
    monkeypatch.setattr(
        type(detector.model), "_most_telling",
        lambda model, windows, text: computed.append(text) or read(model, windows, text),
    )  # fmt: skip
    first, second, third = SAMPLE[0], SAMPLE[1], SAMPLE[3]
    expected = StanceDetector().stances([first, second, third])
    for pairs, fresh in [([first, second], 2), ([second, first], 0), ([first, third], 1), ([third, second], 0),
                         ([first], 1)]:  # fmt: skip
        computed.clear()
        assert detector.stances(pairs).tolist() == [expected[[first, second, third].index(p)].tolist() for p in pairs]
        assert len(computed) == fresh, "two pairs are kept, the last ones"


def test_a_long_passage_is_read_to_its_end() -> None:
    filler = "The weather report for the northern coast mentions light rain and wind from the west. " * 30
    perspective = "Cities should ban private cars."
    alone, behind, none = StanceDetector().predict(
        [Pair(PASSAGE, perspective), Pair(filler + PASSAGE, perspective), Pair(filler, perspective)]
    )
    assert behind > none
    assert alone > none


def test_the_version_is_that_of_the_weights(tmp_path: Path) -> None:
    for path in WEIGHTS.glob("stance*"):
        shutil.copy(path, tmp_path / path.name)
    card = json.loads((tmp_path / "stance.json").read_text(encoding="utf-8"))
    assert StanceDetector(tmp_path).version == StanceDetector().version
    assert StanceDetector(tmp_path).threshold == card["threshold"]


def test_missing_and_damaged_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"stance.*cannot be opened"):
        StanceDetector(tmp_path)
    for path in WEIGHTS.glob("stance*"):
        shutil.copy(path, tmp_path / path.name)
    (tmp_path / MODEL_FILE).write_bytes(b"nothing")
    damaged = StanceDetector(tmp_path)  # its name and figures can still be listed
    with pytest.raises(UnavailableError, match="Copy or train the network again"):
        damaged.predict(SAMPLE[:1])


def test_a_network_with_other_inputs_is_refused_as_of_another_version(copied: Path, tmp_path: Path) -> None:
    graph = onnx.load(str(copied / MODEL_FILE))
    for node in graph.graph.node:
        node.input[:] = ["keys_before" if name == "past_keys_0" else name for name in node.input]
    next(entry for entry in graph.graph.input if entry.name == "past_keys_0").name = "keys_before"
    for path in copied.iterdir():
        shutil.copy(path, tmp_path)
    onnx.save(graph, str(tmp_path / MODEL_FILE))
    with pytest.raises(UnavailableError, match=r"stance\.onnx comes from another version of Berdseye"):
        StanceDetector(tmp_path).predict(SAMPLE)


def test_the_error_for_the_shipped_network_says_how_to_get_it_again() -> None:
    assert "Install Berdseye again" in str(unavailable(shipped_folder(), "stance.onnx is missing"))


def test_a_tuned_threshold_leaves_the_stances() -> None:
    tuned = Tuned(StanceDetector(), 0.9, "by hand")
    tell = stances_function(tuned)
    assert tell is not None
    assert np.array_equal(tell(SAMPLE[:2]), StanceDetector().stances(SAMPLE[:2]))
    assert stances_function(Tuned(parse_detector("embedded"), 0.9, "by hand")) is None


@pytest.mark.parametrize("name", ["stance", "embedded", "similarity(static)", "random"])
def test_the_shipped_grades_are_those_measured(name: str, workspace: Workspace) -> None:
    """Processors round products of 8-bit integers differently, which turns over single pairs of scores that are almost equal."""
    detector = parse_detector(name, workspace)
    shipped, measured = graded(workspace, detector), grade(detector)
    assert shipped is not None
    assert (*shipped[:3], shipped.twins) == (*measured[:3], measured.twins)
    assert shipped[3:6] == pytest.approx(measured[3:6], abs=0.01)


def test_a_network_of_its_own_in_a_workspace_is_read_by_its_name(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    folder = workspace.detectors_folder / "larger"
    folder.mkdir(parents=True)
    for path in WEIGHTS.glob("stance*"):
        shutil.copy(path, folder)
    card = json.loads((folder / "stance.json").read_text())
    (folder / "stance.json").write_text(json.dumps(card | {"threshold": 0.25}))
    detector = parse_detector("stance(larger)", workspace)
    assert detector.name == "stance(larger)"
    assert detector.threshold == 0.25
    assert np.array_equal(detector.predict(SAMPLE), StanceDetector().predict(SAMPLE))
