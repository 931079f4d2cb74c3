"""A demo workspace that was cut off half-way is completed, and one that stands is left alone."""

from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.judgments.demo import add_demo_judgments
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.demo import _missing_steps
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import DEFAULT_DETECTOR


def test_demo_judgments_cut_off_half_way_are_completed(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path)
    judgments = Judgments.open(workspace.judgments_url)
    judgments.sign_in("Noor", demo=True)  # as far as a killed build may have come
    step = dict(_missing_steps(workspace, judgments))["judgments of two demo annotators"]
    step()
    assert len(judgments.present()) == 2 * 62
    step()
    assert len(judgments.present()) == add_demo_judgments(judgments) == 2 * 62


def test_a_whole_demo_has_nothing_missing_but_what_adds_nothing_twice(
    demo_workspace: Workspace, demo_judgments: Judgments
) -> None:
    missing = _missing_steps(demo_workspace, demo_judgments)
    assert [name for name, _ in missing] == ["judgments of two demo annotators"]


def test_the_labels_that_come_with_the_program_are_those_of_the_default_detector(demo_workspace: Workspace) -> None:
    """After a change of the weights or of the demo content, `python -m berdseye.app.demo` computes them again."""
    detector = parse_detector(DEFAULT_DETECTOR, demo_workspace)
    store = LabelStore(demo_workspace)
    for manifest in list_runs(demo_workspace):
        questions = load_dataset(demo_workspace, manifest.dataset)
        pairs = run_pairs(demo_workspace, load_run(demo_workspace, manifest.name), questions, manifest.k).pairs
        stored = store.get(DEFAULT_DETECTOR, [pair.key for pair in pairs], detector.version)
        assert not np.isnan(stored).any(), manifest.name
        sample = list(range(0, len(pairs), len(pairs) // 4))
        assert detector.predict([pairs[at] for at in sample]) == pytest.approx(stored[sample], abs=0.02)
    assert not any(store.table(DEFAULT_DETECTOR, detector.version)["cut"].to_pylist()), (
        "a perspective of the demo is cut"
    )
