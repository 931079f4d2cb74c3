"""The page Detectors and the trainings it starts, on a copy of the demo."""

import re
import time
from dataclasses import replace

import pandas as pd
import pytest

from berdseye.app.components.plain_text import JOINER
from berdseye.app.jobs import trainings
from berdseye.app.jobs.running import stop_job
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.stance.network_files import CARD_FILE
from berdseye.detectors.thresholds import TunedThreshold, write_threshold
from berdseye.detectors.trained import adopt, adopted_detector, finish, list_trained, new_folder
from tests.app.drawn_page import again, drawn, says
from tests.detectors.own_networks import network_of

WITHIN = 120.0


def plain(cells: pd.Series) -> list[str]:
    """The texts of a column as a reader sees them."""
    return [str(cell).replace("\\", "").replace(JOINER, "") for cell in cells]


def made(workspace: Workspace, name: str) -> None:
    """A finished training that is nothing but its card."""
    folder = new_folder(workspace, name)
    folder.mkdir(parents=True)
    figures = {"n": 9, "f1": 0.5, "auroc": 0.7, "intervals": {"f1": [0.3, 0.6], "auroc": [0.6, 0.8]}}
    curve = [{"trial": 0, "step": s, "loss": 1 / (s + 1), "dev_f1": 0.4} for s in range(3)]
    finish(folder, {"detector": f"embedded({name})", "test": figures, "dev": None, "curve": curve, "kind": "head"})


def test_the_detector_in_use_comes_first_and_another_can_be_used(demo: Workspace) -> None:
    at = drawn("detectors", chosen="similarity(static)")
    shown = at.table[0].value
    assert plain(shown["detector"]) == ["stance", "embedded", "similarity(static)", "random"]
    assert shown.index.tolist() == ["in\u00a0use", "", "", ""]
    assert "AUROC" in shown["measured"].iloc[0]
    next(b for b in at.button if b.label == "Use").click()
    at = again(at)
    assert adopted_detector(demo) == "similarity(static)"
    assert plain(at.table[0].value["detector"])[0] == "similarity(static)"
    helps = [text.help for text in drawn("explore").markdown if text.help]
    assert any("detector similarity(static)" in text for text in plain(pd.Series(helps)))


def test_networks_and_damaged_folders_of_the_workspace_are_rows(demo: Workspace) -> None:
    network_of(demo, "larger")
    (network_of(demo, "half") / CARD_FILE).unlink()
    made(demo, "mine")
    (demo.detectors_folder / "mine" / "card.json").write_text("[", encoding="utf-8")
    at = drawn("detectors", chosen="stance(larger)")
    assert not at.exception
    assert not at.error, [e.value for e in at.error]
    shown = at.table[0].value.set_index(pd.Index(plain(at.table[0].value["detector"])))
    assert shown.index.tolist() == [
        "stance", "stance(larger)", "embedded", "similarity(static)", "random", "stance(half)", "mine",
    ]  # fmt: skip
    assert plain(shown["grade"])[:2] == [shown["grade"].iloc[0].replace("\\", ""), "topic (not graded)"]
    assert shown["threshold"].iloc[1] == shown["threshold"].iloc[0]
    assert "articles" in plain(shown["source of the threshold"])[1]
    assert "stance.json is missing" in plain(shown["measured"])[5]
    assert "card of the detector cannot be read" in plain(shown["measured"])[6]
    next(b for b in at.button if b.label == "Use").click()
    again(at)
    assert adopted_detector(demo) == "stance(larger)"


def test_a_tuned_threshold_is_one_sentence_and_earlier_ones_are_kept(demo: Workspace) -> None:
    version = parse_detector("embedded", demo).version
    first = TunedThreshold("embedded", version, 0.4, "debate--web--bm25 at k=5", "x", 90, 3, 0.0, "2026-11-26T09:00:00+00:00",
                           made_by="Ada", share=0.2, judged=12, before=0.226, called_before=0.45, called_after=0.2)  # fmt: skip
    write_threshold(demo, first)
    write_threshold(demo, replace(first, value=0.5, share=0.1, before=0.4, called_before=0.2, called_after=0.1))
    at = drawn("detectors", chosen="embedded")
    assert not at.error, [e.value for e in at.error]
    shown = at.table[0].value
    at_row = plain(shown["detector"]).index("embedded")
    assert shown["threshold"].iloc[at_row] == 0.5
    assert plain(shown["source of the threshold"])[at_row] == (
        "reached by 10.0% of 90 pairs of debate--web--bm25 at k=5, 12 of them judged; tuned on 2026-11-26 by Ada from 0.4, "
        "which called 20.0% of these pairs supporting, now 10.0%"
    )
    history = at.table[1].value
    assert plain(pd.Series(history.index)) == [f"{version} at 0.5", f"{version} at 0.4"]
    assert "from 0.226, which called 45.0%" in plain(history["source"])[1]
    for path in (demo.thresholds_folder / "history").iterdir():
        path.write_text("[", encoding="utf-8")
    at = drawn("detectors", chosen="embedded")
    assert says(at, "tuned threshold cannot be read", "error")
    assert len(at.table[0].value) == 4


def test_a_training_shows_its_card_and_can_be_deleted(demo: Workspace) -> None:
    made(demo, "mine")
    at = drawn("detectors", chosen="embedded(mine)")
    shown = at.table[0].value
    broken = plain(shown["measured"])[plain(shown["detector"]).index("embedded(mine)")]
    assert re.search(r"'embedded\(mine\)' does not exist", broken), "its weights are missing, which is said in its row"
    assert len(at.get("vega_lite_chart")) == 2
    next(b for b in at.button if b.label == "Delete").click()
    at = again(at)
    assert list_trained(demo) == []
    assert "embedded(mine)" not in plain(at.table[0].value["detector"])


def test_the_detector_in_use_is_not_deleted(demo: Workspace) -> None:
    made(demo, "mine")
    adopt(demo, "embedded(mine)")
    at = drawn("detectors", chosen="embedded(mine)")
    next(b for b in at.button if b.label == "Delete").click()
    at = again(at)
    assert says(at, r"'mine'.*\badopted\b.*`berdseye detector adopt ", "error")
    assert [t.name for t in list_trained(demo)] == ["mine"]


def test_a_training_runs_beside_the_app_until_its_card_is_there(demo: Workspace) -> None:
    trainings.start(demo, "mine", ("--kind", "head", "--demo"))
    with pytest.raises(BadInputError, match="is being trained"):
        trainings.start(demo, "mine", ("--kind", "head", "--demo"))
    until = time.monotonic() + WITHIN
    while (held := trainings.jobs(demo)) and held[0].job.runs and time.monotonic() < until:
        time.sleep(0.2)
    assert held == [], held[0].job.output_tail
    (trained,) = list_trained(demo)
    assert trained.detector == "embedded(mine)"
    with pytest.raises(BadInputError, match="already"):
        trainings.start(demo, "mine", ("--kind", "head", "--demo"))


def test_one_button_makes_a_set_trains_and_says_what_cannot_be_compared(demo: Workspace) -> None:
    at = drawn("detectors")
    assert says(at, r"people have judged: 0\b", "caption")
    next(b for b in at.button if b.label == "Improve").click()
    at = again(at)
    assert says(at, "simulated annotators", "error"), "their votes are not counted without being asked for"
    at.toggle(key="demo-votes").set_value(True)
    at.segmented_control(key="kind").set_value("head")
    next(b for b in at.button if b.label == "Improve").click()
    at = again(at)
    assert not at.error, [e.value for e in at.error]
    until = time.monotonic() + WITHIN
    while (held := trainings.jobs(demo)) and held[0].job.runs and time.monotonic() < until:
        time.sleep(0.2)
    assert held == [], held[0].job.output_tail
    (trained,) = list_trained(demo)
    assert (trained.detector, trained.card["data"]) == ("embedded(judged-1-head)", "judged-1")
    at = drawn("detectors", chosen="embedded(judged-1-head)")
    assert says(at, r"cannot be compared\..*simulated annotators count in training alone"), "nobody has judged a pair"
    assert at.dataframe[0].value["version"].tolist() == ["judged-1"]
    assert adopted_detector(demo) == "stance"


def test_a_training_that_fails_shows_why_and_is_dismissed(demo: Workspace) -> None:
    trainings.start(demo, "mine", ("--kind", "head", "--demo", "--base", "random"))
    until = time.monotonic() + WITHIN
    while (job := trainings.jobs(demo)[0].job).runs and time.monotonic() < until:
        time.sleep(0.2)
    assert "'random'" in job.output_tail
    at = drawn("detectors")
    assert says(at, r":material/error:.*\*\*mine\*\*")
    assert "'random'" in at.code[0].value, "the page shows why"
    next(b for b in at.button if b.label == "Dismiss").click()
    again(at)
    assert trainings.jobs(demo) == []


def test_a_training_stops_immediately(demo: Workspace) -> None:
    trainings.start(demo, "mine", ("--kind", "head", "--demo"))
    job = trainings.jobs(demo)[0].job
    assert job.runs
    stop_job(job)
    assert not job.runs
    assert not replace(job, pid=1).runs, "a process of another command is none of ours"
