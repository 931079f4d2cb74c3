"""The rule for unjudged questions where labels and scores leave the workspace: qrels with `unranked`, and bundles."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cached.runs import made
from berdseye.app.cli import cli
from berdseye.data.errors import UnavailableError
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import Run, list_runs, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.bundle.tables import BundledScores
from berdseye.evaluation.bundle.verifying import verify
from berdseye.evaluation.bundle.writing import bundle_of
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.scores.scoring import score_run, score_runs
from berdseye.evaluation.scores.unjudged import Unjudged
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.comparing import at_growing_k, comparisons, points_by_k
from berdseye.evaluation.studies.gathering import Selection
from berdseye.evaluation.studies.result import StudyResult
from tests.evaluation.small_workspace import CORPUS, DATASET, QUESTIONS, TEXTS, key, passages, put_gold

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
    found = json.loads(invoked(small, *asked, "--measures", "ToCover@2 ToCover@30", "--json"))
    assert [found[name]["n"] for name in found] == [2, 2]
    # Neither question is covered, so each counts as k + 1 passages. Student's interval of 1, 3, 3, 3 (one value added at either
    # bound) is 2.5 ± 3.182 / 2, that of 1, 31, 31, 31 is 23.5 ± 3.182 * 15 / 2, both cut at 1 and k + 1.
    assert [found["ToCover@2"][end] for end in ("value", "low", "high")] == [3, 1, 3]
    assert [found["ToCover@30"][end] for end in ("value", "low", "high")] == [31, 1, 31]


def test_files_with_labels_follow_the_settings_of_the_workspace(
    small: Workspace, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(small)
    labels, ranking, released = (tmp_path / name for name in ("labels.qrels", "ranking.run", "released.jsonl"))
    invoked(small, "runs", "labels", DATASET, CORPUS, str(labels), "--labels", "gold")
    invoked(small, "runs", "export", run.manifest.name, str(ranking))
    invoked(small, "runs", "export", run.manifest.name, str(released), "--format", "berds", "--labels", "gold")
    against = ["evaluate", "--run", str(ranking), "--qrels", str(labels), "--measures", MEASURE, "--json"]
    carried = ["evaluate", "--run", str(released), "--measures", MEASURE, "--json"]
    (small.folder / "berdseye.toml").write_text(LEFT_OUT)
    monkeypatch.delenv("BERDSEYE_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    for words in (against, carried):
        found = json.loads(invoked(small, *words))[MEASURE]
        assert (found["value"], found["n"]) == (1.0, 1), words
        found = json.loads(invoked(small, *words, "--unjudged", "zero"))[MEASURE]
        assert (found["value"], found["n"]) == (0.5, 2), words
        # Without a workspace: 2 of 3 pairs are judged, and the question without a label counts.
        alone = CliRunner().invoke(cli, words)
        assert alone.exit_code == 0, alone.output
        found = json.loads(alone.stdout)[MEASURE]
        assert (found["value"], found["n"], found["judged"]) == (0.5, 2, pytest.approx(2 / 3)), words
        refused = CliRunner().invoke(cli, [*words, "--workspace", str(tmp_path / "elsewhere")])
        assert isinstance(refused.exception, UnavailableError), words


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
        # Labelled and all pairs at rank 1, 2, 3: of the first question 2 of 2, 4, 6; of the second 0 of 1, then 1 of 2.
        shares = {"zero": [2 / 3, 3 / 6, 3 / 8], "left-out": [1, 1 / 2, 1 / 3]}[rule]
        assert [point["judged"] for point in points] == pytest.approx(shares)


def test_judged_beside_a_difference_is_over_the_questions_of_the_difference(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    """The stored run holds passages 0 and 3 at rank 1, the other one 0 and 2; of the second question only 3 has a label."""
    put_gold(small, {(0, 0, 0): True, (1, 0, 3): True})
    by_text = {p.text: p.id for p in passages(small).values()}
    ids = np.array([[by_text[TEXTS[0]]], [by_text[TEXTS[2]]], [-1]], dtype=np.int64)
    save_run(
        small, dataset=DATASET, corpus=CORPUS, corpus_hash=run.manifest.corpus_hash, pipeline="made",
        question_ids=run.question_ids, ids=ids, scores=np.ones((3, 1), dtype=np.float32), milliseconds_per_question=1.0,
    )  # fmt: skip
    source, [measure] = parse_label_source("gold"), parse_measures(MEASURE)
    stored = [load_run(small, m.name) for m in list_runs(small)]

    def compared(rule: str, floor: float) -> StudyResult:
        scores = score_runs(small, judgments, stored, source, [measure], min_judged=floor, unjudged=rule)
        held = BundledScores.of(scores, source, floor, Unjudged(rule))
        return comparisons(held, Selection((DATASET,), (CORPUS,), ("bm25", "made")), MEASURE)

    for rule, difference, n, share in (("zero", 50, 2, 1 / 3), ("left-out", 0, 1, 1 / 2)):
        cells = compared(rule, 0).tables[0].cells
        assert cells["value"].tolist()[0] == pytest.approx(difference)
        assert (cells["n"].tolist()[0], cells["judged"].tolist()[0]) == (n, pytest.approx(share)), rule
        assert any("fewer than two questions" in note for note in compared(rule, 0).notes) is (n < 2)
        assert not any("drawn at random" in note for note in compared(rule, 0).notes)


def test_a_difference_over_too_few_labels_is_withheld_although_both_values_are_shown() -> None:
    def of(pipeline: str, values: list[float], pairs: list[list[int]]) -> Score:
        held, estimate = np.array(values), mean_with_interval(np.array(values))
        return Score("d", "web", pipeline, MEASURE, "gold", "", 0.6, estimate, held, np.array(pairs))

    # Over their own questions, 3 of 4 and 5 of 8 pairs are judged; over the first question alone, 1 of 2 and 1 of 4.
    scores = [of("a", [1, np.nan, 0], [[1, 2], [0, 2], [2, 2]]), of("b", [0, 1, np.nan], [[1, 4], [4, 4], [0, 4]])]
    selection = Selection(("d",), ("web",), ("a", "b"))
    for floor, shown in ((0.5, False), (0.25, True)):
        held = BundledScores.of(scores, parse_label_source("gold"), floor, Unjudged.LEFT_OUT)
        found = comparisons(held, selection, MEASURE)
        assert found.tables[0].cells["value"].notna().tolist()[0] is shown
        assert found.tables[0].cells["judged"].tolist()[0] == 1 / 4
        assert any("difference of a, web and b, web is not computed" in note for note in found.notes) is not shown


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
