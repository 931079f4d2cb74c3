"""Tuned thresholds keep what they were made from, and a history; files of earlier versions are still read."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from berdseye.data.errors import StaleError
from berdseye.data.workspace import Workspace
from berdseye.detectors.baselines import RandomDetector
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.listing import list_detectors
from berdseye.detectors.thresholds import (
    TunedThreshold,
    forget_threshold,
    read_threshold,
    threshold_history,
    version_in_use,
    write_threshold,
)

VERSION = RandomDetector().version
TUNED = TunedThreshold(
    detector="random",
    version=VERSION,
    value=0.31,
    data="debate--web--bm25 at k=5",
    data_hash="abc",
    n=1200,
    positives=9,
    f1=0.0,
    created="2026-11-26T10:00:00+00:00",
    made_by="Ana",
    share=0.2,
    judged=40,
    before=0.832,
    called_before=0.168,
    called_after=0.2,
)
NEW_FIELDS = ("judged", "before", "called_before", "called_after")


def written_by_an_earlier_version(workspace: Workspace, tuned: TunedThreshold) -> Path:
    """Write a threshold without the fields and the history that earlier versions did not have."""
    path = workspace.thresholds_folder / "random.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({name: value for name, value in asdict(tuned).items() if name not in NEW_FIELDS}), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            "reached by 20.0% of 1,200 pairs of debate--web--bm25 at k=5, 40 of them judged; tuned on 2026-11-26 by Ana from "
            "0.832, which called 16.8% of these pairs supporting, now 20.0%",
        ),
        (
            {"share": None, "base_rate": 0.12, "judged": 0, "made_by": ""},
            "moved to a base rate of 12.0%, estimated from 1,200 pairs of debate--web--bm25 at k=5, 0 of them judged; tuned on "
            "2026-11-26 from 0.832, which called 16.8% of these pairs supporting, now 20.0%",
        ),
        (
            {"share": None, "by_hand": True, "judged": None, "data": "gold", "n": 5},
            "chosen by Ana: F1 0.000 on 5 pairs of gold; tuned on 2026-11-26 from 0.832, which called 16.8% of these pairs "
            "supporting, now 20.0%",
        ),
        (
            dict.fromkeys(NEW_FIELDS),
            "reached by 20.0% of 1,200 pairs of debate--web--bm25 at k=5; tuned on 2026-11-26 by Ana",
        ),
    ],
)
def test_the_change_is_one_sentence(changes: dict[str, object], said: str) -> None:
    assert replace(TUNED, **changes).change == said  # type: ignore[arg-type]


def test_all_fields_come_back_and_the_list_shows_the_sentence(workspace: Workspace) -> None:
    write_threshold(workspace, TUNED)
    assert read_threshold(workspace, "random") == TUNED
    row = next(row for row in list_detectors(workspace) if row.detector == "random")
    assert (row.threshold, row.threshold_source) == (0.31, TUNED.change)


def test_files_of_earlier_versions_are_read(workspace: Workspace) -> None:
    old = replace(TUNED, **dict.fromkeys(NEW_FIELDS))  # type: ignore[arg-type]
    written_by_an_earlier_version(workspace, TUNED)
    assert read_threshold(workspace, "random") == old
    assert parse_detector("random", workspace).threshold == 0.31
    assert threshold_history(workspace, "random") == [old]
    write_threshold(workspace, replace(TUNED, value=0.5))
    assert threshold_history(workspace, "random") == [old, replace(TUNED, value=0.5)]


def test_an_earlier_number_is_explained_by_its_stamp(workspace: Workspace) -> None:
    assert threshold_history(workspace, "random") == []
    write_threshold(workspace, TUNED)
    reported = version_in_use(parse_detector("random", workspace))
    assert reported == f"{VERSION} at 0.31" == TUNED.stamp
    for value in (0.5, 0.6):
        write_threshold(workspace, replace(TUNED, value=value))
    assert [entry.value for entry in threshold_history(workspace, "random")] == [0.31, 0.5, 0.6]
    assert forget_threshold(workspace, "random")
    assert read_threshold(workspace, "random") is None
    assert {entry.stamp: entry for entry in threshold_history(workspace, "random")}[reported] == TUNED
    assert threshold_history(workspace, "embedded") == [], "each detector has its own"


def test_forgetting_keeps_a_threshold_of_an_earlier_version_in_the_history(workspace: Workspace) -> None:
    written_by_an_earlier_version(workspace, TUNED)
    assert forget_threshold(workspace, "random")
    assert [entry.stamp for entry in threshold_history(workspace, "random")] == [TUNED.stamp]


def test_a_threshold_of_another_version_is_said_not_to_apply(workspace: Workspace) -> None:
    write_threshold(workspace, replace(TUNED, version="old"))
    row = next(row for row in list_detectors(workspace) if row.detector == "random")
    assert row.threshold == RandomDetector().threshold
    assert row.threshold_source.endswith("; the threshold 0.31 tuned for version old does not apply")


@pytest.mark.parametrize("content", ["[", "{}", "[1]", '{"detector": "random"}', '[{"unknown": 1}]'])
def test_damaged_files_are_one_line_and_can_be_replaced(workspace: Workspace, content: str) -> None:
    write_threshold(workspace, TUNED)
    path = workspace.thresholds_folder / "random.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(StaleError, match="cannot be read"):
        read_threshold(workspace, "random")
    rows = {row.detector: row.problem for row in list_detectors(workspace)}
    assert "tune the threshold again" in rows["random"]
    assert [name for name, problem in rows.items() if problem] == ["random"]
    assert forget_threshold(workspace, "random")
    history = workspace.thresholds_folder / "history" / "random.json"
    history.write_text(content, encoding="utf-8")
    with pytest.raises(StaleError, match="rename it"):
        write_threshold(workspace, TUNED)
    assert read_threshold(workspace, "random") is None, "nothing is tuned without being kept"
