"""`berdseye detector score, tune, table, contrast, throughput`: what they print, and how they refuse."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli, main
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.runs.stored import load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import unsure_width
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.evaluation.labels.labelled_runs import keyed_run
from tests.app.command_line import output
from tests.detectors.own_networks import network_of

KEYS = [
    "detector",
    "version",
    "n",
    "positives",
    "pct_positive",
    "accuracy",
    "precision",
    "recall",
    "f1",
    "auroc",
    "average_precision",
    "ece",
    "threshold",
    "pairs_per_second",
    "truncated",
    "intervals",
    "unsure",
]
FIGURES = {"accuracy", "precision", "recall", "f1", "auroc", "average_precision", "ece"}
ROWS = [
    ("Trams carry many people quietly, and the city should build more of them.", "Cities should build trams.", 1),
    ("The soup was cold and the bread was stale.", "Cities should build trams.", 0),
    ("Zoos breed rare animals and send them back to the wild.", "Zoos protect species.", 1),
    ("The match ended in a draw after a dull second half.", "Zoos protect species.", 0),
]


def written(path: Path, rows: list[tuple[str, str, int]]) -> Path:
    lines = ["document\tperspective\tlabel", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return written(tmp_path / "pairs.tsv", ROWS)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No workspace at hand."""
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(tmp_path / "none"))


@pytest.mark.usefixtures("nowhere")
def test_score_prints_one_object_with_every_figure_without_a_workspace(pairs: Path) -> None:
    found = json.loads(
        output("detector", "score", pairs, "--detector", "embedded", "--json"), parse_constant=pytest.fail
    )
    assert list(found) == KEYS
    assert set(found["intervals"]) == FIGURES
    assert (found["detector"], found["n"], found["positives"]) == ("embedded", 4, 2)
    assert found["auroc"] == 1.0
    assert all(len(ends) == 2 for ends in found["intervals"].values())
    assert found["pairs_per_second"] > 0
    at_one = json.loads(output("detector", "score", pairs, "--detector", "embedded", "--threshold", 1, "--json"))
    assert (at_one["threshold"], at_one["pct_positive"], at_one["accuracy"]) == (1.0, 0.0, 0.5)
    assert at_one["auroc"] == found["auroc"]


@pytest.mark.usefixtures("nowhere")
def test_what_one_label_leaves_undefined_is_null(tmp_path: Path) -> None:
    path = written(tmp_path / "none.tsv", [row for row in ROWS if not row[2]])
    said = output("detector", "score", path, "--detector", "similarity(static)", "--json")
    found = json.loads(said, parse_constant=pytest.fail)
    assert {name for name in FIGURES if found[name] is None} == {"recall", "auroc", "average_precision"}
    assert found["intervals"]["auroc"] == [None, None]


@pytest.mark.usefixtures("nowhere")
def test_score_without_json_is_for_people(pairs: Path) -> None:
    said = output("detector", "score", pairs, "--detector", "random")
    assert "average precision" in said
    assert "4 pairs, 2 supporting" in said


@pytest.mark.parametrize(
    "bad", ["Zoos are fine.\tZoos protect species.\tmaybe", "\tZoos protect species.\t1", "one cell"]
)
@pytest.mark.usefixtures("nowhere")
def test_a_bad_row_is_reported_with_file_and_line(
    pairs: Path, bad: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs.write_text(pairs.read_text(encoding="utf-8") + bad + "\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["berdseye", "detector", "score", str(pairs), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 2
    assert told.out == ""
    assert f"{pairs}:6" in "".join(told.err.split("\n"))


def test_score_reports_the_share_that_a_detector_is_unsure_about(pairs: Path, workspace: Workspace) -> None:
    asked = ("detector", "score", pairs, "--detector", "similarity(static)", "--workspace", workspace.folder)
    detector = parse_detector("similarity(static)", workspace)
    p = detector.predict([Pair(text, perspective) for text, perspective, _ in ROWS])
    for threshold in (detector.threshold, float(p[0]), 1.0):
        found = json.loads(output(*asked, "--threshold", str(threshold), "--json"))
        assert found["unsure"] == np.mean(np.abs(p.astype(float) - threshold) < unsure_width(workspace))
    assert re.search(r"^unsure +0\.\d{3}  within 0\.15 of the threshold$", output(*asked), re.MULTILINE)


def test_evaluate_reports_the_share_that_a_detector_is_unsure_about(demo_workspace: Workspace, tmp_path: Path) -> None:
    own = Workspace.open(Path(shutil.copytree(demo_workspace.folder, tmp_path / "own")))
    asked = (
        "evaluate",
        "--run",
        "debate--web--bm25",
        "--measures",
        "Precision@1 Precision@5",
        "--json",
        "-w",
        own.folder,
    )
    detector = parse_detector("stance", own)
    run = load_run(own, "debate--web--bm25")
    rows = json.loads(output(*asked, "--labels", "stance"))
    for row, k in zip(rows, (1, 5), strict=True):
        keys = keyed_run(own, run, load_dataset(own, "debate"), k).keys
        p = LabelStore(own).get("stance", keys[keys != b""].astype(str).tolist(), detector.version)
        assert row["unsure_share"] == np.mean(np.abs(p.astype(float) - detector.threshold) < unsure_width(own))
    assert 0 < rows[1]["unsure_share"] < 1
    said = CliRunner().invoke(cli, [str(word) for word in (*asked, "--labels", "stance")]).stderr
    shown = " ".join(said.split())
    assert f"stance is unsure about {rows[1]['unsure_share']:.1%} of the pairs in the top 5 that it labels" in shown
    assert "unsure_share" not in json.loads(output(*asked, "--labels", "gold"))[1]
    after_gold = p[np.isnan(LabelStore(own).get("gold", keys[keys != b""].astype(str).tolist()))]
    assert 0 < len(after_gold) < len(p)
    near = np.abs(after_gold.astype(float) - detector.threshold) < unsure_width(own)
    assert json.loads(output(*asked, "--labels", "gold>stance"))[1]["unsure_share"] == near.mean()


def test_list_prints_grade_threshold_and_source_and_networks_of_the_workspace(workspace: Workspace) -> None:
    network_of(workspace, "larger")
    (network_of(workspace, "half") / "stance.onnx").unlink()
    asked = ("detector", "list", "--workspace", workspace.folder)
    lines = [line.split("\t") for line in output(*asked).splitlines()]
    assert [cells[0].split()[-1] for cells in lines] == [
        "stance", "stance(larger)", "embedded", "similarity(static)", "random", "stance(half)",
    ]  # fmt: skip
    assert lines[0][0].startswith("* ")
    assert lines[0][2].startswith("grade stance (")
    assert lines[0][3] == f"threshold {StanceDetector().threshold:g}: {StanceDetector().threshold_source}"
    assert lines[1][2:4] == ["grade topic (not graded)", lines[0][3]]
    assert "stance.onnx is missing" in lines[5][2]
    found = {row["detector"]: row for row in json.loads(output(*asked, "--json"))}
    assert (found["stance(larger)"]["grade"], found["stance(larger)"]["problem"]) == ("topic", "")
    assert (found["stance(half)"]["threshold"], found["stance(half)"]["grade"]) == (None, None)


def test_tune_is_used_by_score_until_it_is_forgotten(pairs: Path, workspace: Workspace) -> None:
    asked = ("--detector", "similarity(static)", "--workspace", workspace.folder)
    before = json.loads(output("detector", "score", pairs, *asked, "--json"))["threshold"]
    tuned = json.loads(output("detector", "tune", pairs, *asked, "--json"))
    assert (tuned["n"], tuned["positives"], tuned["data"]) == (4, 2, "pairs.tsv")
    found = json.loads(output("detector", "score", pairs, *asked, "--json"))
    assert found["threshold"] == tuned["value"] != before
    assert found["f1"] == pytest.approx(tuned["f1"])
    assert output("detector", "tune", "--forget", *asked) == ""
    assert json.loads(output("detector", "score", pairs, *asked, "--json"))["threshold"] == before


def test_every_command_that_measures_stance_counts_the_same_cut_pairs(tmp_path: Path, workspace: Workspace) -> None:
    """`stance` reads 64 tokens of a perspective."""
    rows = [
        *ROWS,
        ("Trams are quiet.", "Trams are quiet. " * 30, 1),
        ("Rain fell all day.", "Trams are quiet. " * 30, 0),
    ]
    path = written(tmp_path / "long.tsv", rows)
    for command in (
        ("score", path, "--detector", "stance"),
        ("tune", path, "--detector", "stance"),
        ("throughput", path, "--detector", "stance", "--seconds", 1),
    ):
        arguments = ["detector", *map(str, command), "--workspace", str(workspace.folder), "--json"]
        found = CliRunner().invoke(cli, arguments)
        assert found.exit_code == 0, found.output
        measured = json.loads(found.stdout)
        assert (measured[0] if isinstance(measured, list) else measured)["truncated"] == 2
        assert "have a text that is too long for stance and was cut." in " ".join(found.stderr.split())


def test_tune_refuses_to_choose_on_test_rows(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "judged.csv"
    path.write_text("document,perspective,label,split\na,b,1,test\nc,b,0,test\n", encoding="utf-8")
    with pytest.raises(Exception, match="no row of the split 'dev'"):
        output("detector", "tune", path, "--detector", "random", "--workspace", workspace.folder)


@pytest.mark.usefixtures("nowhere")
def test_table_sets_detectors_beside_the_published_ones(pairs: Path) -> None:
    asked = ("detector", "table", pairs, "--detector", "random", "--detector", "similarity(static)")
    rows = list(csv.DictReader(io.StringIO(output(*asked, "--csv"))))
    assert [row["detector"] for row in rows[:3]] == ["labels", "random", "similarity(static)"]
    assert "gpt-4 (zero-shot)" in {row["detector"] for row in rows}
    found = json.loads(output(*asked, "--json"))
    assert list(found) == ["rows", "unit", "detection", "slices", "domains", "agreement"]
    assert {(row["a"], row["b"]) for row in found["agreement"]} == {
        ("labels", "random"),
        ("labels", "similarity(static)"),
        ("random", "similarity(static)"),
    }
    latex = output(*asked, "--latex", "--part", "agreement")
    assert "\\begin{tabular}" in latex
    assert "similarity(static)" in latex


@pytest.mark.usefixtures("nowhere")
def test_contrast_prints_every_category_and_what_simple_rules_reach() -> None:
    rows = json.loads(output("detector", "contrast", "--detector", "similarity(static)", "--json"))
    assert len({row["category"] for row in rows}) == 6
    assert {"always yes", "always the statement without a negation"} <= {row["detector"] for row in rows}


@pytest.mark.usefixtures("nowhere")
def test_throughput_prints_what_it_took() -> None:
    (row,) = json.loads(output("detector", "throughput", "--detector", "random", "--pairs", 500, "--json"))
    assert (row["detector"], row["pairs"], row["tokens_per_1000"]) == ("random", 499, None)


def test_each_command_explains_itself() -> None:

    for name in ("score", "tune", "teach", "table", "contrast", "throughput"):
        said = CliRunner().invoke(cli, ["detector", name, "--help"]).output
        assert f"berdseye detector {name}" in said


def test_the_list_says_which_detectors_do_not_tell_sides(workspace: Workspace) -> None:
    asked = ("detector", "list", "--workspace", workspace.folder)
    grades = {row["detector"]: row["grade"] for row in json.loads(output(*asked, "--json"))}
    assert grades == {name: "stance" if name == "stance" else "topic" for name in grades}
    lines = [line for line in output(*asked).splitlines() if "\t" in line]
    assert ["grade topic" in line for line in lines] == [grade == "topic" for grade in grades.values()]
    assert len(lines) > 1


def test_a_threshold_moved_with_few_judgments_says_how_to_undo_it(demo_workspace: Workspace, tmp_path: Path) -> None:
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    at = ("--run", "debate--web--bm25", "--detector", "embedded", "--workspace", tmp_path / "workspace")
    moved = CliRunner().invoke(cli, ["detector", "tune", *map(str, at), "--yes"])
    assert moved.exit_code == 0, moved.output
    assert "Fewer than 30 of these pairs are judged" in moved.output
    assert "80 pairs, 0 judged" in moved.output
    assert re.search(
        r"Left out: \d+ judgments by simulated annotators of the demo\. No person has judged", moved.output
    )
    assert "berdseye detector tune --detector 'embedded' --forget" in moved.output
    by_share = CliRunner().invoke(cli, ["detector", "tune", *map(str, at), "--share", "24"])
    assert "Fewer than 30" not in by_share.output
    assert "embedded: 80 pairs, 0 judged\n" in by_share.output
