"""The list of detectors: grade, threshold and its source of each, networks of the workspace, and damaged folders as one line."""

import json
from pathlib import Path

import pytest

from berdseye.data.errors import StaleError
from berdseye.data.workspace import Workspace
from berdseye.detectors.listing import Listed, list_detectors
from berdseye.detectors.opinions import Graded, write_grade
from berdseye.detectors.stance import detector as stance
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.network_files import CARD_FILE, FILES, MODEL_FILE, TOKENIZER_FILE, network_folders
from berdseye.detectors.trained import CARD, adopt, detector_names, list_trained
from tests.detectors.own_networks import network_of

SHIPPED = ["stance", "embedded", "similarity(static)", "random"]


def rows(workspace: Workspace) -> dict[str, Listed]:
    return {row.detector: row for row in list_detectors(workspace)}


def test_each_row_has_grade_threshold_and_source(workspace: Workspace) -> None:
    found = rows(workspace)
    assert list(found) == SHIPPED
    assert [row.adopted for row in found.values()] == [True, False, False, False]
    for name, row in found.items():
        assert row.grade == ("stance" if name == "stance" else "topic")
        assert row.graded.startswith(f"{row.grade} (")
        assert row.threshold_source
        assert not row.problem
    assert found["stance"].threshold == StanceDetector().threshold
    assert found["stance"].threshold_source == StanceDetector().threshold_source


def test_a_network_of_the_workspace_is_a_row_and_is_not_opened(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = network_of(workspace, "larger")
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    (folder / CARD_FILE).write_text(
        json.dumps(card | {"threshold": 0.25, "threshold_source": "dev parts"}), encoding="utf-8"
    )

    def opened(*_: object) -> None:
        raise AssertionError("a network was opened")

    monkeypatch.setattr(stance, "_model_of", opened)
    monkeypatch.setattr(Path, "read_bytes", opened)  # nor is it held in memory
    row = rows(workspace)["stance(larger)"]
    assert (row.grade, row.graded, row.threshold, row.threshold_source) == (
        "topic", "topic (not graded)", 0.25, "dev parts",
    )  # fmt: skip
    assert row.version == StanceDetector().version
    write_grade(workspace, Graded("stance(larger)", row.version, "stance", 0.9, 0.8, 0.95, 191))
    graded = rows(workspace)["stance(larger)"]
    assert (graded.grade, graded.graded) == ("stance", "stance (90% of 191 contrasts right, 80% to 95%)")
    assert detector_names(workspace) == ["stance", "stance(larger)", *SHIPPED[1:]]
    adopt(workspace, "stance(larger)")
    assert next(iter(rows(workspace))) == "stance(larger)"


@pytest.mark.parametrize("lost", FILES)
def test_a_half_copied_network_is_one_line_and_the_others_stay(workspace: Workspace, lost: str) -> None:
    (network_of(workspace, "half") / lost).unlink()
    found = rows(workspace)
    assert list(found) == [*SHIPPED, "stance(half)"]
    problem = found["stance(half)"].problem
    assert f"({lost} is missing)" in problem
    assert "\n" not in problem
    assert found["stance(half)"].threshold is None
    assert detector_names(workspace) == SHIPPED, "a menu offers only what can be used"


def test_a_network_of_which_only_one_file_came_names_the_others(workspace: Workspace) -> None:
    folder = network_of(workspace, "half")
    for name in (TOKENIZER_FILE, CARD_FILE):
        (folder / name).unlink()
    assert f"({TOKENIZER_FILE} and {CARD_FILE} are missing)" in rows(workspace)["stance(half)"].problem
    assert network_folders(workspace) == [folder]


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("", f"{CARD_FILE} cannot be read"),
        ('{"threshold":\n', f"{CARD_FILE} cannot be read"),
        ("{}", f"{CARD_FILE} has no 'calibration'"),
        ("[]", f"{CARD_FILE} cannot be read"),
        ('{"calibration": [1, 0], "threshold": 0.5, "threshold_source": ""}', f"{CARD_FILE} has no 'measured'"),
    ],
)
def test_a_damaged_card_of_a_network_is_one_line(workspace: Workspace, card: str, said: str) -> None:
    (network_of(workspace, "bad") / CARD_FILE).write_text(card, encoding="utf-8")
    found = rows(workspace)
    assert said in found["stance(bad)"].problem
    assert "\n" not in found["stance(bad)"].problem
    assert not found["random"].problem


def test_a_threshold_without_a_source_is_said_to_be_untuned(workspace: Workspace) -> None:
    folder = network_of(workspace, "new")
    unmeasured = {"calibration": [1, 0], "threshold": 0.5, "threshold_source": "", "measured": ""}
    (folder / CARD_FILE).write_text(json.dumps(unmeasured), encoding="utf-8")
    row = rows(workspace)["stance(new)"]
    assert (row.threshold, row.threshold_source, row.measured) == (0.5, "not tuned", "not measured")


def test_a_damaged_card_of_a_training_is_one_line_and_the_others_stay(workspace: Workspace) -> None:
    for name, card in (("bad", "["), ("fine", '{"detector": "embedded(fine)"}')):
        (workspace.detectors_folder / name).mkdir(parents=True)
        (workspace.detectors_folder / name / CARD).write_text(card, encoding="utf-8")
    found = rows(workspace)
    assert list(found) == ["stance", "embedded(fine)", *SHIPPED[1:], "bad"]
    assert "card of the detector cannot be read" in found["bad"].problem
    faults: list[StaleError] = []
    assert [t.name for t in list_trained(workspace, faults)] == ["fine"]
    assert len(faults) == 1


def test_the_version_follows_the_network_and_its_calibration(workspace: Workspace) -> None:
    folder = network_of(workspace, "larger")
    first = rows(workspace)["stance(larger)"].version
    (folder / MODEL_FILE).write_bytes(b"another network")
    second = rows(workspace)["stance(larger)"].version
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    (folder / CARD_FILE).write_text(json.dumps(card | {"calibration": [2, 0]}), encoding="utf-8")
    assert len({first, second, rows(workspace)["stance(larger)"].version}) == 3
