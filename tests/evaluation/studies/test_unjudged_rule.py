"""The rule for questions without a label in the top k, in every study of runs, in tuning and in trust."""

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import berdseye
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.corpora import open_corpus
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import Run, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.scores.tuning import stored_weight, tune
from berdseye.evaluation.studies.by_name.study_registry import run_study
from berdseye.evaluation.studies.result import StudyResult
from tests.evaluation.small_workspace import CORPUS, DATASET, QUESTIONS, TEXTS, key, passages

# bm25 ranks passage 0 first for the first question, which has a label of passage 3 alone, and passage 2 for the second.
GOLD = {(0, 0, 3): False, (0, 1, 3): False, (1, 0, 2): True, (1, 0, 3): True}
OPTIONS: dict[str, Any] = {"dataset": DATASET, "corpus": CORPUS, "pipeline": "bm25", "labels": "gold", "min_judged": 0}


@pytest.fixture
def labelled(small: Workspace, run: Run) -> Workspace:
    """Gold labels that name their perspectives, as an imported data set stores them."""
    del run
    texts = [QUESTIONS[question].perspectives[place].text for question, place, _ in GOLD]
    keys = [key(*place) for place in GOLD]
    LabelStore(small).put("gold", "made", keys, [float(v) for v in GOLD.values()], perspectives=texts)
    return small


def figures(result: StudyResult, **place: str) -> list[tuple[float | None, int, float]]:
    """Value, n and judged of the cells of the first table at a place."""
    cells = result.tables[0].cells
    for column, name in place.items():
        cells = cells[cells[column] == name]
    shown = [None if np.isnan(v) else float(v) for v in cells["value"].astype(float)]
    return list(zip(shown, cells["n"].tolist(), cells["judged"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "own", "place", "zero", "left_out"),
    [
        ("berds base", {"k": 1}, {"measure": "MRecall@1"}, (50, 2, 1 / 3), (100, 1, 1)),
        ("berds coverage", {"depth": 1}, {"figure": "% of questions"}, (50, 2, 1 / 3), (100, 1, 1)),
        ("berds union", {"depth": 1}, {}, (50, 2, 1 / 3), (100, 1, 1)),
        ("berds leaning", {"k": 1}, {"leaning": "neither"}, (100, 1, 0), (None, 0, 0)),
        ("berds sycophancy", {"k": 1}, {"asked": "question"}, (None, 1, 0), (None, 0, 0)),
        ("curves", {"measure": "Precision", "deepest": 1}, {}, (50, 2, 1 / 3), (100, 1, 1)),
    ],
)
def test_a_study_of_runs_follows_the_option_or_else_the_setting(
    labelled: Workspace,
    name: str,
    own: dict[str, Any],
    place: dict[str, str],
    zero: tuple[float | None, int, float],
    left_out: tuple[float | None, int, float],
) -> None:
    by_default = run_study(labelled, name, **OPTIONS, **own)
    assert figures(by_default, **place) == [pytest.approx(zero)]
    assert by_default.settings["unjudged"] == "zero"
    asked = run_study(labelled, name, **OPTIONS, **own, unjudged="left-out")
    assert figures(asked, **place) == [pytest.approx(left_out)]
    assert (asked.settings["unjudged"], asked.settings["min_judged"]) == ("left-out", 0)
    assert "left out of the run's figures (unjudged: left-out)" in asked.notes[-1]
    (labelled.folder / "berdseye.toml").write_text("[measures]\nunjudged = 'left-out'\n")
    again = Workspace.open(labelled.folder)
    assert figures(run_study(again, name, **OPTIONS, **own), **place) == [pytest.approx(left_out)]
    back = run_study(again, name, **OPTIONS, **own, unjudged="zero")
    assert figures(back, **place) == [pytest.approx(zero)]


def test_a_study_reports_how_many_values_it_withholds(labelled: Workspace) -> None:
    options = {**OPTIONS, "min_judged": 0.5, "depth": 1}
    # Under zero 1 of 3 pairs is judged, under left-out the one of the remaining question.
    assert run_study(labelled, "berds coverage", **options).notes[0] == "2 values are not shown: judged below 50%."
    assert not [n for n in run_study(labelled, "berds coverage", **options, unjudged="left-out").notes if "shown" in n]


def second_run(workspace: Workspace) -> Run:
    """Another run of depth 1: passage 3 for both questions, labelled for the first alone."""
    by_text = {p.text: p.id for p in passages(workspace).values()}
    ids = np.array([[by_text[TEXTS[3]]], [by_text[TEXTS[3]]], [-1]], dtype=np.int64)
    saved = save_run(
        workspace, dataset=DATASET, corpus=CORPUS, corpus_hash=open_corpus(workspace, CORPUS).manifest.hash,
        pipeline="made", question_ids=[q.id for q in QUESTIONS], ids=ids, scores=np.ones((3, 1), dtype=np.float32),
        milliseconds_per_question=1.0,
    )  # fmt: skip
    return load_run(workspace, saved.name)


def test_trust_follows_the_option(labelled: Workspace) -> None:
    second_run(labelled)
    asked: dict[str, Any] = {
        "dataset": DATASET, "corpus": CORPUS, "measure": "Precision@1", "labels": "gold", "detector": "random",
        "draws": 100, "min_judged": 0,
    }  # fmt: skip
    found = run_study(labelled, "trust", **asked)
    assert found.settings["unjudged"] == "zero"
    # The stored run of bm25 holds passages 0 and 3 at rank 1: one question without a label, and one that is supported.
    by_system = dict(zip(found.tables[0].cells["system"], figures(found), strict=True))
    assert by_system == {"bm25": (0.5, 2, pytest.approx(1 / 3)), "made": (0.5, 2, 1)}
    left_out = run_study(labelled, "trust", **asked, unjudged="left-out")
    assert left_out.settings["unjudged"] == "left-out"
    by_system = dict(zip(left_out.tables[0].cells["system"], figures(left_out), strict=True))
    assert by_system == {"bm25": (1, 1, 1), "made": (0.5, 2, 1)}
    differences = left_out.tables[1].cells.set_index("figure").loc["difference"]
    assert (differences["value"], differences["n"]) == (0, 1), "over the question that both have a value for"


def test_the_weight_of_mmr_is_tuned_and_kept_by_the_rule(labelled: Workspace, judgments: Judgments) -> None:
    pipeline, source, measure = "bm25 >> mmr(tuned)", parse_label_source("gold"), parse_measure("MRecall@1")
    asked = (labelled, judgments, [DATASET], CORPUS, pipeline, source, measure)
    # bm25's first passage stays first under every weight.
    zero = tune(*asked)
    assert (set(zero.scores.values()), zero.unjudged) == ({0.5}, "zero")
    assert stored_weight(*asked) == zero
    assert stored_weight(*asked, unjudged="left-out") is None
    left_out = tune(*asked, unjudged="left-out")
    assert (set(left_out.scores.values()), left_out.unjudged) == ({1.0}, "left-out")
    assert stored_weight(*asked, unjudged="left-out") == left_out


def test_the_commands_and_python_take_the_rule(labelled: Workspace) -> None:
    words = ["--corpus", CORPUS, "--labels", "gold", "--unjudged", "left-out", "--workspace", str(labelled.folder)]
    tuned = CliRunner().invoke(cli, ["tune", "--dataset", DATASET, "--measure", "MRecall@1", "--json", *words])
    assert tuned.exit_code == 0, tuned.output
    assert json.loads(tuned.stdout)["unjudged"] == "left-out"
    covered = CliRunner().invoke(
        cli, ["study", "berds", "union", "--depth", "1", "--min-judged", "off", "--pipeline", "bm25", "--format", "json", *words]
    )  # fmt: skip
    assert covered.exit_code == 0, covered.output
    assert json.loads(covered.stdout)["berds-union"][0]["value"] == 100
    assert "(unjudged: left-out)" in covered.stderr
    options = {**OPTIONS, "depth": 1, "unjudged": "left-out"}
    assert figures(berdseye.open(labelled.folder).study("berds union", **options)) == [(100, 1, 1)]
    with pytest.raises(BadInputError, match="unjudged must be one of 'zero', 'left-out', got 'ignored'"):
        run_study(labelled, "berds union", unjudged="ignored")
