"""A run under two versions of its data set, worked out by hand: two perspectives of the question about zoos become one."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.perspective_edits.changes import Change
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.versions import create_version
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Pair, Perspective
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import labels_of, parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.scores.versions import compare_versions, question_rows, rows_of, under_version
from tests.evaluation.small_workspace import DATASET, TEXTS, build, judge

NEW = Perspective("Zoos matter.")
MEASURES = parse_measures("MRecall@3 Precision@3")


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Run, Judgments, Annotator]:
    """Version 2 merges the two views on zoos; every pair of the run in version 1 is judged: the second is never supported."""
    workspace, run = build(tmp_path_factory.mktemp("versions") / "workspace")
    judgments = Judgments.open(workspace.judgments_url)
    ana = judgments.sign_in("Ana")
    for text in range(3):
        judge(judgments, ana, 0, 0, text, "supports" if text == 0 else "does not support")
        judge(judgments, ana, 0, 1, text, "does not support")
    judge(judgments, ana, 1, 0, 3, "does not support")
    judge(judgments, ana, 1, 0, 2, "supports")
    log = EditLog(workspace, judgments, DATASET)
    parts = next(q.perspectives for q in log.base if q.id == "zoos")
    log.accept(ana, log.propose(ana, "zoos", Change.of("merge", parts, [NEW])).id, own=True)
    create_version(log, "Ana")
    return workspace, run, judgments, ana


def test_the_difference_is_paired_and_listed_by_question(
    edited: tuple[Workspace, Run, Judgments, Annotator],
) -> None:
    workspace, run, judgments, _ = edited
    found = compare_versions(workspace, judgments, run, ("1", "2"), parse_label_source("human>derived"), MEASURES)
    assert found.versions == ("made", "made@2")
    mrecall, precision = rows_of(found)
    # Before: zoos misses one of its two, cars is covered. After: the first passage supports the merged one.
    assert (mrecall["made"], mrecall["made@2"], mrecall["difference"], mrecall["n"]) == (0.5, 1.0, 0.5, 2)
    assert precision["difference"] == 0.0
    assert (mrecall["judged made"], mrecall["judged made@2"]) == (1.0, 1.0)
    assert float(str(mrecall["low"])) <= 0.5 <= float(str(mrecall["high"]))
    [one, other] = question_rows(found)
    assert (one["question"], one["removed"], one["added"]) == (
        "zoos",
        ["Zoos protect.", "Zoos harm."],
        ["Zoos matter."],
    )
    assert (one["measure"], one["made"], one["made@2"]) == ("MRecall@3", 0.0, 1.0)
    assert other["difference"] == 0.0


def test_what_nobody_judged_is_unjudged_unless_derived_labels_are_asked_for(
    edited: tuple[Workspace, Run, Judgments, Annotator],
) -> None:
    workspace, run, judgments, _ = edited
    second = under_version(workspace, run, "made@2")
    [plain] = score_run(workspace, judgments, second, parse_label_source("human"), MEASURES[:1])
    assert (plain.judged, plain.estimate.n) == (1.0, 1)
    [derived] = score_run(workspace, judgments, second, parse_label_source("human>derived"), MEASURES[:1])
    assert (derived.judged, derived.labels, derived.dataset) == (1.0, "human>derived", "made@2")
    [first] = score_run(workspace, judgments, run, parse_label_source("human>derived"), MEASURES[:1])
    assert first.values[0] == 0.0, "under the first version derived labels change nothing"


def test_a_label_derives_from_any_part_or_from_all_of_them(
    edited: tuple[Workspace, Run, Judgments, Annotator],
) -> None:
    workspace, _, judgments, ana = edited
    source = parse_label_source("derived")
    pairs = [Pair(text, NEW.text) for text in TEXTS]
    np.testing.assert_equal(labels_of(workspace, judgments, source, pairs), [1, 0, 0, np.nan])
    judge(judgments, ana, 0, 0, 3, "does not support")
    assert np.isnan(labels_of(workspace, judgments, source, pairs)[3]), "one part of two says nothing"
    judge(judgments, ana, 0, 1, 3, "supports")
    assert labels_of(workspace, judgments, source, pairs)[3] == 1
    assert np.isnan(labels_of(workspace, judgments, source, [Pair(TEXTS[0], "Zoos harm.")]))


def test_a_merged_perspective_that_is_reworded_derives_through_both(tmp_path: Path) -> None:
    workspace, _ = build(tmp_path / "workspace")
    judgments = Judgments.open(workspace.judgments_url)
    ana = judgments.sign_in("Ana")
    judge(judgments, ana, 0, 0, 0, "supports")
    log = EditLog(workspace, judgments, DATASET)
    parts = next(q.perspectives for q in log.base if q.id == "zoos")
    words = Perspective("Zoos count.")
    back = [Change.of("merge", parts, [NEW]), Change.of("reword", [NEW], [words]), Change.of("reword", [words], [NEW])]
    for change in back:
        log.accept(ana, log.propose(ana, "zoos", change).id, own=True)
    create_version(log, "Ana")
    asked = [Pair(TEXTS[0], text) for text in (words.text, NEW.text, "Zoos matter, perhaps.")]
    # The newest edit that brought "Zoos matter." is the second rewording, which goes round in a circle; the merging tells.
    found = labels_of(workspace, judgments, parse_label_source("derived"), asked)
    np.testing.assert_equal(found, [1, 1, np.nan])
    judgments.engine.dispose()


def test_pooled_measures_take_all_runs_of_the_data_set(edited: tuple[Workspace, Run, Judgments, Annotator]) -> None:
    workspace, run, judgments, _ = edited
    short = under_version(workspace, replace(run, ids=run.ids[:, :1]), "2")
    source = parse_label_source("human>derived")
    [found] = score_run(workspace, judgments, short, source, parse_measures("Recall@1"))
    # What is relevant to the question about cars stands second in the stored run, which is of the first version.
    np.testing.assert_equal(found.values, [1, 0, np.nan])


def test_versions_that_are_none_are_refused(edited: tuple[Workspace, Run, Judgments, Annotator]) -> None:
    workspace, run, judgments, _ = edited
    source = parse_label_source("human")
    with pytest.raises(BadInputError, match="Both versions are made"):
        compare_versions(workspace, judgments, run, ("1", "made"), source, MEASURES)
    with pytest.raises(UnknownNameError, match="made@2"):
        under_version(workspace, run, "7")
    with pytest.raises(BadInputError, match="is not a version of 'made'"):
        under_version(workspace, run, "policy@2")


def test_evaluate_prints_both_versions(edited: tuple[Workspace, Run, Judgments, Annotator]) -> None:
    workspace, run, _, _ = edited
    told = ["evaluate", "--run", run.manifest.name, "--dataset-version", "1", "--dataset-version", "made@2"]
    told += ["--measures", "MRecall@3", "--labels", "human>derived", "-w", str(workspace.folder)]
    result = CliRunner().invoke(cli, [*told, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["measures"][0]["difference"] == 0.5
    assert [q["question"] for q in printed["questions"]] == ["zoos"]
    lines = CliRunner().invoke(cli, told, catch_exceptions=False).stdout.splitlines()
    assert lines[0].startswith("MRecall@3\t0.5000\t1.0000\t0.5000")
    assert lines[1] == "zoos\tMRecall@3\t0.0000\t1.0000"
