"""A demo workspace that was cut off half-way is completed, and one that stands is left alone."""

from pathlib import Path

from berdseye.annotation.judgments.demo import add_demo_judgments
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.demo import _missing_steps
from berdseye.data.workspace import Workspace


def test_demo_judgments_cut_off_half_way_are_completed(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path)
    judgments = Judgments.open(workspace.judgments_url)
    judgments.sign_in("Noor", demo=True)  # as far as a killed build may have come
    step = dict(_missing_steps(workspace, judgments))["judgments of two demo annotators"]
    step()
    assert len(judgments.present()) == 2 * 62
    step()
    assert len(judgments.present()) == add_demo_judgments(judgments) == 2 * 62


def test_a_whole_demo_has_nothing_missing_but_what_adds_nothing_twice(demo_workspace: Workspace) -> None:
    judgments = Judgments.open(demo_workspace.judgments_url)
    assert [name for name, _ in _missing_steps(demo_workspace, judgments)] == ["judgments of two demo annotators"]
    judgments.engine.dispose()
