"""The rule for unjudged questions where labels and scores leave the workspace: qrels with `unranked`, and bundles."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cached.runs import made
from berdseye.app.cli import cli
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.bundle.verifying import verify
from berdseye.evaluation.bundle.writing import bundle_of
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.studies.comparing import at_growing_k, points_by_k
from tests.evaluation.small_workspace import CORPUS, DATASET, QUESTIONS, key, put_gold

# Passage 0 supports the perspective of the second question, and the run, which is the whole pool, does not hold it there.
GOLD = {(0, 0, 0): True, (0, 1, 0): False, (1, 0, 0): True}
MEASURE = "Precision@1"
LEFT_OUT = "[measures]\nunjudged = 'left-out'\nmin_judged = 0\n"


def put(workspace: Workspace) -> None:
    """Gold labels that name their perspectives, as an imported data set stores them."""
    texts = [QUESTIONS[question].perspectives[place].text for question, place, _ in GOLD]
    keys = [key(*place) for place in GOLD]
    LabelStore(workspace).put("gold", "made", keys, [float(v) for v in GOLD.values()], perspectives=texts)


def invoked(workspace: Workspace, *words: str) -> str:
    result = CliRunner().invoke(cli, [*words, "--workspace", str(workspace.folder)])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("labelled", "ranked"), [("qrels", "run"), ("jsonl", "jsonl"), ("jsonl", "run"), ("qrels", "jsonl")]
)
def test_labels_of_passages_that_no_run_ranked_keep_their_question(
    small: Workspace, run: Run, tmp_path: Path, labelled: str, ranked: str
) -> None:
    put(small)
    labels, ranking = tmp_path / f"labels.{labelled}", tmp_path / f"ranking.{ranked}"
    given = {path: ("--format", "jsonl") if path.suffix == ".jsonl" else () for path in (labels, ranking)}
    invoked(small, "runs", "labels", DATASET, CORPUS, str(labels), "--labels", "gold", *given[labels])
    assert "unranked" in labels.read_text()
    invoked(small, "runs", "export", run.manifest.name, str(ranking), *given[ranking])
    asked = ("evaluate", "--run", str(ranking), "--dataset", DATASET, "--qrels", str(labels), "--min-judged", "off")
    for measures, rule, value, n in (
        (MEASURE, "zero", 0.5, 2), (MEASURE, "left-out", 1.0, 1), ("Recall@3", "zero", 0.5, 2)
    ):  # fmt: skip
        found = json.loads(invoked(small, *asked, "--measures", measures, "--unjudged", rule, "--json"))[measures]
        assert (found["value"], found["n"]) == (pytest.approx(value), n), (measures, rule)


def test_a_count_from_files_has_no_interval_of_a_share(small: Workspace, run: Run, tmp_path: Path) -> None:
    put(small)
    labels, ranking = tmp_path / "labels.qrels", tmp_path / "ranking.run"
    invoked(small, "runs", "labels", DATASET, CORPUS, str(labels), "--labels", "gold")
    invoked(small, "runs", "export", run.manifest.name, str(ranking))
    asked = ("evaluate", "--run", str(ranking), "--dataset", DATASET, "--qrels", str(labels), "--min-judged", "off")
    found = json.loads(invoked(small, *asked, "--measures", "ToCover@2", "--json"))["ToCover@2"]
    # Neither question is covered within 2 passages, so each counts as 3: no passages below 1 and no shares.
    assert found["value"] == 3.0
    assert found["low"] is None or 1 <= found["low"] <= 3.0 <= found["high"] <= 3.0


def test_a_bundle_holds_the_rule_of_the_workspace(small: Workspace, run: Run, judgments: Judgments) -> None:
    put(small)
    (small.folder / "berdseye.toml").write_text(LEFT_OUT)
    again = Workspace.open(small.folder)
    source, measures = parse_label_source("gold"), parse_measures(MEASURE)
    [score] = score_run(again, judgments, run, source, measures)
    assert (score.estimate.value, score.estimate.n) == (1.0, 1)
    bundle = bundle_of(again, judgments, [run], source, measures)
    assert bundle != bundle_of(small, judgments, [run], source, measures)
    path = small.folder / "bundle.zip"
    path.write_bytes(bundle)
    assert not verify(path).mismatches


def test_a_curve_is_over_the_same_questions_at_each_k_under_either_rule(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    put_gold(small, {(0, 0, 0): True, (0, 1, 0): False, (1, 0, 2): True})  # rank 1 and rank 2
    measures = at_growing_k("Precision", 3)
    for rule, ns, values in (("zero", {2}, [50, 50, 100 / 3]), ("left-out", {1}, [100, 50, 100 / 3])):
        scores = score_run(small, judgments, run, parse_label_source("gold"), measures, min_judged="off", unjudged=rule)
        points = points_by_k(scores, measures, 0)
        assert {point["n"] for point in points} == ns
        assert [point["value"] for point in points] == pytest.approx(values)


def test_the_runs_page_keeps_results_by_the_settings(
    small: Workspace, run: Run, monkeypatch: pytest.MonkeyPatch, judgments: Judgments
) -> None:
    def kept_under() -> object:
        opened = Workspace.open(small.folder)
        monkeypatch.setattr("berdseye.app.cached.runs.workspace", lambda: opened)
        monkeypatch.setattr("berdseye.app.cached.runs.judgments", lambda: judgments)
        return made([run.manifest], "gold")

    first = kept_under()
    assert kept_under() == first
    settings = small.folder / "berdseye.toml"
    for text in ("[measures]\nunjudged = 'left-out'\n", "[measures]\nmin_judged = 0.3\n"):
        settings.write_text(text)
        assert kept_under() != first, text
